"""Write ``docs/measured/reliability.md`` from the counts of all runs: ``python -m fuzz.report``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from fuzz.counts import runs
from fuzz.families import FAMILIES

DOCUMENT = Path(__file__).parent.parent / "docs" / "measured" / "reliability.md"
AIM = 1_000_000
# What is known about findings that are left, by how they begin.
KNOWN = {
    "featurize: signal SIGABRT": "the C library ends a process that has no memory for a thread's variables",
    "invalid value encountered in multiply": "by the harness, which multiplied infinity by 0; mended since",
    "can't encode character '\\ud800'": "by pandas, when the harness made its input; mended since",
    "invalid value encountered in cast": "by scikit-learn, when it tells whole numbers; mended since",
    "which did not occur in fit": "a sentence, which the harness met outside of its check of refusals",
    "fork beside threads": "numba's lock, where a thread compiles at the moment of a fork",
}
HEAD = """# Reliability

What the harness in `fuzz/` has tried, and what is left of what it found. `python -m fuzz.report` writes this
page from the counts in `fuzz/counts`; a workflow runs the harness every night. Files that once broke
something are kept in `fuzz/corpus`, and a test reads them all.

| command | what it does |
|---|---|
| `make fuzz SECONDS=600` | random cases in child processes with limits of memory and time |
| `python -m fuzz.calls` | the first, second, ... `write`, `fsync`, `replace`, `open`, `mmap` fails |
| `python -m fuzz.memory` | processes that run out of memory at random points |
| `python -m fuzz.races` | several processes on one folder; links, forks, few descriptors, closed pipes |
| `python -m fuzz.kill` | SIGKILL, SIGTERM and SIGINT at random moments of writing |
| `python -m fuzz.soak` | four threads: fit, predict, explain, query, add, remove, save, load |
| `python -m fuzz.faults` | full disk, read-only folder, no home, closed pipes, odd locales, clock put back |
| `python -m fuzz.costs` | time and memory against size |
| `make boundscheck` | all tests with every index of every compiled loop checked |
"""
PROMISES = """
## What may be relied on

- **Threads.** Databases and fitted estimators never change, and may be used from any number of threads; `fit`
  replaces what was learned, so do not fit an estimator that other threads use. A `GraphIndex` may be changed
  while others ask: each query sees one moment, and changes follow one another.
- **Input.** Offsets, sizes and indices from outside pass one check before anything else touches them.
  The arrays of a database are copies, and read-only. Weights of a graph add up to less than 4.5e307 and those
  of a node to at least 2.2e-308; then powers of two in the weights change no bit of a kernel that divides by
  degrees. Attributes lie between -1e150 and 1e150, bins are at least 1e-100 wide, `(t_max + 1) * n_hashes` is
  at most 2^20. What lies outside is refused in one sentence.
- **Files.** A file is the old one or the new one, never half of one. What `save_model` takes, `load_model`
  reads. A checkpoint is believed only where its fingerprint (of the bytes of all graphs and options), shapes,
  types and checksums fit. Files of version 0.1 are read with the same answers (`tests/golden`).

What is promised about files from strangers, and which test checks it, is in `SECURITY.md`.
"""
TOOLS = {
    "calls": "system calls that failed, one per run",
    "memory": "processes with too little memory",
    "races": "scenes with several processes, links, forks, few descriptors or closed pipes",
    "costs": "measurements of time and memory against size",
}


def table(header: list[str], rows: list[list[Any]]) -> str:
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def families() -> dict[str, Counter[str]]:
    """How many cases of each family ended how, over all runs."""
    found = {name: Counter[str]() for name in FAMILIES}
    for run in runs("fuzz"):
        for key, number in run["counts"].items():
            family, *_, kind = key.split()
            found.setdefault(family, Counter())[kind] += number
    return found


def left() -> dict[str, list[dict[str, Any]]]:
    """Findings of the last run of each family: what was found before has been mended."""
    last: dict[str, list[dict[str, Any]]] = {}
    for run in runs("fuzz"):
        for family in sorted({key.split()[0] for key in run["counts"]}):
            last[family] = [found for found in run["findings"] if found.get("family") == family]
    return last


def cases() -> str:
    """The table of all cases, and what is left of their findings."""
    rows, remaining, total = [], left(), Counter[str]()
    for name, kinds in families().items():
        if kinds:
            about = FAMILIES[name].about if name in FAMILIES else "of earlier runs"
            found = sum(kinds.values()) - kinds["right"] - kinds["refused"]
            row = {"cases": sum(kinds.values()), "right": kinds["right"], "refused": kinds["refused"]}
            row |= {"found": found, "left": len(remaining.get(name, []))}
            total.update(row)
            rows.append([f"**{name}**: {about}", *(f"{value:,}" for value in row.values())])
    for tool, about in TOOLS.items():
        kept = list(runs(tool))
        if kept:
            found = sum(len(run["findings"]) for run in kept)
            row = {
                "cases": sum(run["cases"] for run in kept),
                "found": found,
                "left": len(kept[-1]["findings"]),
            }
            total.update(row)
            rows.append([f"**{tool}**: {about}", f"{row['cases']:,}", "", "", row["found"], row["left"]])
    kills = sum(run["kills"] for run in runs("kill"))
    rows.append(["**kill**: kills at random moments of writing", f"{kills:,}", "", "", "", 0])
    total["cases"] += kills
    names = ("cases", "right", "refused", "found", "left")
    rows.append(["**all**", *(f"{total[name]:,}" for name in names)])
    header = ["family", *names]
    text = (
        f"\n## How much was tried\n\n{total['cases']:,} cases; the aim is {AIM:,}. A case is one generated "
        'input put through one check. "Refused": in one clear sentence, as hostile input should be. "Found": '
        'cases, or kinds of failures, that ended otherwise, in all runs. "Left": kinds of failures in the '
        f"last run.\n\n{table(header, rows)}\n\n{hours()} {bounds()} {soaks()} {faults()}\n"
    )
    return text + findings(remaining)


def findings(remaining: dict[str, list[dict[str, Any]]]) -> str:
    """One line per kind of failure that the last runs have met."""
    lines = [
        f"- {name}, {f['kind']} ({f['times']} times) in `{f['where']}`: {_plain(f['text'])}"
        for name, several in remaining.items()
        for f in several
    ]
    for tool in TOOLS:
        lines += [f"- {tool}: {_plain(what)}" for run in list(runs(tool))[-1:] for what in run["findings"]]
    body = "\n".join(line + _why(line) for line in lines) or "Nothing."
    return f"\n## What is left\n\n{body}\n"


def bounds() -> str:
    """Cases whose compiled loops compared every index with the bounds of its array."""
    checked = [run for run in runs("fuzz") if run["boundscheck"] == "1"]
    number = sum(sum(run["counts"].values()) for run in checked)
    return f"{number:,} of the cases ran with `NUMBA_BOUNDSCHECK=1`."


def hours() -> str:
    """The time of all runs of random cases and soaks, as a clock on the wall tells it."""
    seconds = sum(run["seconds"] for run in runs("fuzz")) + 60 * sum(run["minutes"] for run in runs("soak"))
    return f"Random cases and soaks took {seconds / 3600:.1f} hours in all, on two cores that had other work."


def soaks() -> str:
    """All soaks in a sentence."""
    kept = list(runs("soak"))
    minutes, wrong = round(sum(run["minutes"] for run in kept)), sum(run["n_wrong"] for run in kept)
    operations = sum(sum(run["operations"].values()) for run in kept)
    growth = max((run["memory_growth_percent"] for run in kept), default=0.0)
    return (
        f"Soaks of {minutes} minutes: {operations:,} operations of four threads, {wrong} wrong answers, "
        f"memory grew by {growth:.1f} % at most."
    )


def faults() -> str:
    """The last run of faults in a sentence."""
    last = list(runs("faults"))[-1:]
    if not last:
        return ""
    wrong = [f"{name} ({result})" for name, result in last[0]["results"].items() if result]
    return f"{len(last[0]['results'])} faults of the system: {', '.join(wrong) or 'each ended as it should'}."


def _plain(text: str) -> str:
    return " ".join(text.replace("|", " ").replace("<", "(").replace(">", ")").split())[:160]


def _why(line: str) -> str:
    return next((f" ({why})" for start, why in KNOWN.items() if start in line), "")


def text() -> str:
    """The whole page."""
    return HEAD + PROMISES + cases()


def main() -> None:
    """Write the document."""
    DOCUMENT.write_text(text(), encoding="utf-8")
    print(DOCUMENT)


if __name__ == "__main__":
    main()
