"""Write ``docs/RELIABILITY.md`` from the counts of all runs: ``python -m fuzz.report``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from fuzz.counts import runs

DOCUMENT = Path(__file__).parent.parent / "docs" / "RELIABILITY.md"
ABOUT = {
    "invariances": "one of 16 invariances of a random estimator with random parameters on random graphs",
    "hostile": "hostile graphs, matrices with broken indices, labels, attributes, images and parameters",
    "files": "damaged and forged data sets, models, indexes and checkpoints",
    "parts": "damaged and forged folders: Parquet, feature parts, manifests, plans, shards, matrices",
    "twins": "the package beside slow implementations in exact arithmetic, written from the papers",
    "grids": "images: convolution beside diffusion on the same grid as a graph, batches, masks, borders",
    "learning": "an index after a random history of adding and removing; classifiers and regressors",
    "processes": "one result, to the bit, in two interpreters that hash strings differently",
    "?": "the process ended before it could say which",
}
AIMS = {"random cases": 200_000, "kills": 500, "minutes of soak": 60}
# What is known about findings, by how they begin.
KNOWN = {
    "exact lazy diffusion: [[[1.0, 0.0, 1.0], [0.0, 5.0, 1.0]": "from t = 2 on, the two distributions of the "
    "last graph are closer than 3e-13, and the bins of this check are 1e-9 wide: they share one",
    "python -m reproduction: another result": "these were not looked at one by one; in 14 of the same kind "
    "that were, only the processor seconds of a cell differed, 0.000 or 0.001; they are left out now",
    "exact label propagation, before: [[[9.0, 4.0, 4.0]": "weights a million times apart: two distributions "
    "differ by less than the bins of this check are wide; it draws weights between 0.1 and 10 now",
    "exact label propagation, before: [[[0.0, 0.0], [0.0, 9.0]]": "two distributions are 1e-18 apart, since "
    "0.3 is not 3/10 in binary: they share a bin of 1e-9",
    "a damaged part was taken for a whole one": "fixed: the checksum of each part lies beside it",
    "invalid value encountered in sqrt": "fixed: rounding, or a forger, made the similarity of a graph with "
    "itself negative",
    "overflow encountered in cast": "fixed: numbers beyond those of 64 bits are refused",
    "prefix t=2: [[1.0, 0.1976934175396371": "fixed: lengths are added up in the same order, to the same "
    "last bit",
    "invalid value encountered in cast": "by the harness itself, when it makes whole numbers of infinity",
    "IndexError: list index out of range": "fixed: a journal without a line end is damaged",
    "DamagedFolderError": "fixed: a sentence that does not speak of Python",
    "weights times 2**79": "labels='log_degree' follows the weights, so that this invariance does not hold; "
    "the check leaves such kernels out now",
    "TypeError: save_model takes an estimator of this library": "a clear sentence, but the harness took a "
    "reader of molecules for an estimator of graphs",
    "ValueError: molecule 0: [[[1.0, 0.0, 1.0, 1.0]": "fixed: it is shown in few characters",
    "RecursionError: maximum recursion depth exceeded while getting the repr": "fixed, by the same",
    "TypeError: 'float' object is not iterable": "fixed: a sentence says what is expected",
    "save a model: Ctrl-C shows a traceback: OSError: [Errno 9]": "fixed: the handle was closed twice",
    "evaluate: the next run after SIGKILL ends with -99": "it was stopped after 120 s on a busy machine, so "
    "whether it would have ended is not known; undisturbed runs ended within 300 s, the job is now smaller",
}
KINDS = ("right", "refused", "wrong", "unclear", "warning", "crash", "hang")
HEAD = """# Reliability

What the harness in `fuzz/` has tried, and what it found. This page is written by `python -m fuzz.report` from
the counts in `fuzz/counts`, which every run of the harness adds to.

| command | what it does |
|---|---|
| `make fuzz SECONDS=600` | random cases in child processes with limits of memory and time |
| `python -m fuzz.kill --kills 500` | SIGKILL, SIGTERM and SIGINT at random moments of writing |
| `python -m fuzz.soak --minutes 60` | four threads: fit, predict, explain, query, add, remove, save, load |
| `python -m fuzz.faults` | full disk, read-only folder, no home, closed pipes, odd locales, clock put back |
"""
PROMISES = """
## What may be relied on

- **Threads.** Databases and fitted estimators never change, and may be used from any number of threads; `fit`
  replaces what was learned, so do not fit an estimator that other threads use. A `GraphIndex` may be changed
  while others ask: each query sees one moment, and changes follow one another.
- **Input.** Every sparse matrix is checked before a compiled loop sees it: offsets, indices, lengths, types.
  The arrays of a database are copies, and read-only. Weights of a graph add up to less than 4.5e307 and those
  of a node to at least 2.2e-308; then powers of two in the weights change no bit of a kernel that divides by
  degrees. Attributes lie between -1e150 and 1e150, bins are at least 1e-100 wide, `(t_max + 1) * n_hashes` is
  at most 2^20. What lies outside is refused in one sentence.
- **Files.** A file is the old one or the new one, never half of one. A checkpoint is believed only where its
  fingerprint (of the bytes of all graphs and options), shapes, types and checksums fit. Files of version 0.1
  are read with the same answers (`tests/golden`).
"""


def table(header: list[str], rows: list[list[Any]]) -> str:
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def reached() -> str:
    """What was aimed at, and what has been done so far."""
    done = {
        "random cases": sum(sum(run["counts"].values()) for run in runs("fuzz")),
        "kills": sum(run["kills"] for run in runs("kill")),
        "minutes of soak": round(sum(run["minutes"] for run in runs("soak"))),
    }
    rows = [
        [name, f"{aim:,}", f"{done[name]:,}", "yes" if done[name] >= aim else "not yet"]
        for name, aim in AIMS.items()
    ]
    return f"\n## How much was tried\n\n{table(['', 'aim', 'so far', 'reached'], rows)}\n\n{bounds()}\n"


def bounds() -> str:
    """Cases whose compiled loops compared every index with the bounds of its array."""
    checked = [run for run in runs("fuzz") if run["boundscheck"] == "1"]
    number = sum(sum(run["counts"].values()) for run in checked)
    found = [f for run in checked for f in run["findings"] if "IndexError" in f["text"]]
    places = ", ".join(f"`{f['where']}` ({f['times']} times)" for f in found) or "nowhere"
    return (
        f"{number:,} of the random cases ran with `NUMBA_BOUNDSCHECK=1`; an index left its array: {places}."
    )


def cases() -> str:
    """Random cases, added up over all runs."""
    counts: Counter[str] = Counter()
    seconds = 0
    for run in runs("fuzz"):
        counts.update(run["counts"])
        seconds += run["seconds"]
    if not counts:
        return "\n## Random cases\n\nNone yet.\n"
    by_family = {name: Counter[str]() for name in ABOUT}
    for key, number in counts.items():
        family, *_, kind = key.split()
        by_family[family][kind] += number
    rows = [
        [f"{name}: {ABOUT[name]}", f"{sum(found.values()):,}", *(f"{found[kind]:,}" for kind in KINDS)]
        for name, found in by_family.items()
        if found
    ]
    total = Counter[str]()
    for found in by_family.values():
        total.update(found)
    rows.append(["**all**", f"{sum(total.values()):,}", *(f"{total[kind]:,}" for kind in KINDS)])
    text = (
        f"\n## Random cases\n\n{sum(total.values()):,} cases in {seconds:,} s. A case is one generated input "
        'put through one check. "Refused": in one clear sentence, as hostile input should be. "Unclear": an '
        'error that is not such a sentence. "Warning": numpy warned of overflow.\n\n'
        f"{table(['family', 'cases', *KINDS], rows)}\n"
    )
    lines = findings()
    if lines:
        text += (
            "\nFindings of all runs, those that have been fixed since included, and how many cases ran after "
            "the last run that saw them:\n\n" + "\n".join(lines) + "\n"
        )
    return text


def findings() -> list[str]:
    """One line for findings of one kind in one module that begin alike."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    done = 0
    for run in runs("fuzz"):
        done += sum(run["counts"].values())
        for f in run["findings"]:
            key = (f["kind"], f["where"].split(":")[0], f["text"][:30])
            group = groups.setdefault(key, {**f, "times": 0})
            group["times"] += f["times"]
            group["seen"] = done
    return [
        f"- {f['kind']} ({f['times']} times, first in case {f['number']}; {done - f['seen']:,} cases since) "
        f"in `{f['where']}`: {_plain(f['text'])}{_why(f['text'])}"
        for f in groups.values()
    ]


def _plain(text: str) -> str:
    return " ".join(text.replace("|", " ").replace("<", "(").replace(">", ")").split())[:160]


def kills() -> str:
    """Kills, added up over all runs."""
    counts, findings, slowest = Counter[str](), Counter[str](), 0.0
    for run in runs("kill"):
        counts.update(run["counts"])
        findings.update(run["findings"])
        slowest = max(slowest, run["slowest_interrupt_seconds"])
    early = counts.pop("ended before", 0)
    if not counts:
        return "\n## Kills\n\nNone yet.\n"
    names = sorted({key.rpartition(" ")[0] for key in counts})
    signals = ("SIGKILL", "SIGTERM", "SIGINT")
    rows = [[name, *(counts[f"{name} {signal}"] for signal in signals)] for name in names]
    rows.append(["**all**", *(sum(row[i] for row in rows) for i in (1, 2, 3))])
    text = (
        f"\n## Kills\n\n{sum(counts.values())} kills ({early} more came after the end). Ctrl-C took "
        f"{slowest:.2f} s at most.\n\n{table(['job', *signals], rows)}\n"
    )
    if findings:
        text += "\nFindings of all runs, those that have been fixed since included:\n\n"
        text += (
            "\n".join(f"- {what} ({number} times){_why(what)}" for what, number in findings.items()) + "\n"
        )
    else:
        text += "\nNo broken file, no other result afterwards, nothing left over.\n"
    return text


def _why(finding: str) -> str:
    return next((f": {why}" for start, why in KNOWN.items() if finding.startswith(start)), "")


def soaks() -> str:
    """Every soak in a row of its own."""
    rows = [
        [
            f"{run['minutes']:g} min",
            f"{sum(run['operations'].values()):,}",
            run["n_wrong"],
            f"{run['memory_mib']['first third']} / {run['memory_mib']['last third']} MiB",
            f"{run['memory_growth_percent']:+.2f} %",
            f"{run['descriptors']['before']} / {run['descriptors']['after']}",
        ]
        for run in runs("soak")
    ]
    header = ["length", "operations", "wrong answers", "memory, first / last third", "growth", "descriptors"]
    return "\n## Soak\n\n" + (table(header, rows) + "\n" if rows else "None yet.\n")


def faults() -> str:
    """The last run."""
    last = list(runs("faults"))[-1:]
    if not last:
        return "\n## Faults\n\nNone yet.\n"
    rows = [[name, result or "as it should be"] for name, result in last[0]["results"].items()]
    return "\n## Faults\n\n" + table(["without", "outcome"], rows).replace("--:", "---") + "\n"


def main() -> None:
    """Write the document."""
    DOCUMENT.write_text(
        HEAD + PROMISES + reached() + cases() + kills() + soaks() + faults(), encoding="utf-8"
    )
    print(DOCUMENT)


if __name__ == "__main__":
    main()
