"""Write ``docs/measured/suite.md``, how good the tests are, from what was measured: ``python -m fuzz.suite``.

    python -m fuzz.suite --coverage coverage.json       after ``make coverage``
    python -m fuzz.suite --orders flaky-1.xml ...       after ``nox -s flaky``

keep the counts of these reports in ``fuzz/measured`` first; ``make mutate`` writes there itself.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from fuzz.mutants import Mutant
from fuzz.mutation import RESULTS, STATIONS, read_results
from fuzz.report import table

FOLDER = RESULTS.parent
ROOT = FOLDER.parents[1]
DOCUMENT = ROOT / "docs" / "measured" / "suite.md"
HEAD = """# The tests, tested

What the tests would notice, what they run, whether their order matters, and what an installation costs. All
figures are measured; `python -m fuzz.suite` writes this page from `fuzz/measured` and
`docs/measured/results/install.json`.
"""


def read(path: Path) -> Any:
    """Return the content of a JSON file, None without one."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def mutants() -> str:
    """The table of mutants by station, and the survivors."""
    ends, reasons = read_results(RESULTS), read(FOLDER / "equivalent.json") or {}
    drawn = read(RESULTS) or {"seed": 0, "sample": 0}
    counts = {name: _count(ends, reasons, name) for name in STATIONS}
    total = sum(counts.values(), Counter[str]())
    rows = [_mutant_row(name, count) for name, count in counts.items() if count]
    left = [m for m, end in ends.items() if end != "killed" and m.place not in reasons]
    same = [m for m, end in ends.items() if end != "killed" and m.place in reasons]
    header = ["station", "mutants", "killed", "equivalent", "survived", "killed of those that can be, %"]
    return (
        "\n## Mistakes that tests notice\n\n"
        "A mutant is the package with one small mistake: `<` for `<=`, `+` for `-`, 1 for 2, a call left "
        f"out. A test that fails kills it. Drawn at random, {drawn['sample']} per station, seed "
        f"{drawn['seed']}: "
        "`make mutate`. Equivalent: no result can change, for the reason below; such mutants are mostly "
        "sizes of blocks and thresholds of speed. Mutants that survived at first were looked at one by one, "
        "and got a test or a reason. Another seed would find others. Lines are those of the day of the "
        "draw.\n\n"
        f"{table(header, [*rows, _mutant_row('**all**', total)])}\n\n"
        f"Survived:\n\n{_listed(left, {}) or 'None.'}\n\nEquivalent:\n\n{_listed(same, reasons) or 'None.'}\n"
    )


def _count(ends: dict[Mutant, str], reasons: dict[str, str], station: str) -> Counter[str]:
    """Count the mutants of a station by their end."""
    words = (
        "killed" if end == "killed" else "equivalent" if mutant.place in reasons else "survived"
        for mutant, end in ends.items()
        if mutant.station == station
    )
    return Counter(words)


def _mutant_row(name: str, count: Counter[str]) -> list[Any]:
    able = count["killed"] + count["survived"]
    share = f"{100 * count['killed'] / able:.1f}" if able else ""
    return [name, count.total(), count["killed"], count["equivalent"], count["survived"], share]


def _listed(chosen: Iterable[Mutant], reasons: dict[str, str]) -> str:
    """Return one line per mutant, by place."""
    lines = []
    for mutant in sorted(chosen, key=lambda m: (m.station, m.module, m.line, m.node)):
        why = f": {reasons[mutant.place]}" if mutant.place in reasons else ""
        lines.append(
            f"- `{mutant.station}/{mutant.module}.py`: `{mutant.before}` becomes `{mutant.after}`{why}"
        )
    return "\n".join(lines)


def keep_coverage(path: Path) -> None:
    """Keep the lines and branches of a report of ``coverage json``, by folder of the package."""
    folders: dict[str, Counter[str]] = {}
    for name, found in read(path)["files"].items():
        parts = Path(name).parts
        inside = parts[parts.index("propkernels") + 1 :]
        folder = folders.setdefault(inside[0] if len(inside) > 1 else "propkernels", Counter())
        summary = found["summary"]
        folder.update(
            {
                "lines": summary["num_statements"],
                "covered_lines": summary["covered_lines"],
                "branches": summary["num_branches"],
                "covered_branches": summary["covered_branches"],
            }
        )
    _write("coverage.json", {name: dict(folder) for name, folder in sorted(folders.items())})


def coverage() -> str:
    """The table of lines and branches by folder."""
    folders = {name: Counter(counts) for name, counts in (read(FOLDER / "coverage.json") or {}).items()}
    if not folders:
        return ""
    rows = [_coverage_row(name, counts) for name, counts in folders.items()]
    total = sum(folders.values(), Counter[str]())
    return (
        "\n## Lines and branches that tests run\n\n"
        "`make coverage`. Coverage cannot see machine code: compiled loops are counted where the tests "
        'marked "compiled" run them as Python.\n\n'
        + table(
            ["folder", "lines", "run, %", "branches", "taken, %"], [*rows, _coverage_row("**all**", total)]
        )
        + "\n"
    )


def _coverage_row(name: str, counts: Counter[str]) -> list[Any]:
    shares = [
        f"{100 * counts[f'covered_{what}'] / counts[what]:.1f}" if counts[what] else ""
        for what in ("lines", "branches")
    ]
    return [name, f"{counts['lines']:,}", shares[0], f"{counts['branches']:,}", shares[1]]


def keep_orders(paths: Sequence[Path]) -> None:
    """Keep how many tests of runs in random order passed, from JUnit files whose names end in the seed."""
    runs: dict[str, Counter[str]] = {}
    for path in paths:
        seed = path.stem.rsplit("-", 1)[-1]
        for suite in ElementTree.parse(path).getroot().iter("testsuite"):
            counts = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
            runs.setdefault(seed, Counter()).update(counts)
    _write("orders.json", {seed: dict(counts) for seed, counts in sorted(runs.items())})


def orders() -> str:
    """The table of runs in random order."""
    runs = read(FOLDER / "orders.json")
    if not runs:
        return ""
    rows = [
        [
            seed,
            f"{r['tests'] - r['failures'] - r['errors'] - r['skipped']:,}",
            r["failures"] + r["errors"],
            r["skipped"],
        ]
        for seed, r in runs.items()
    ]
    return (
        "\n## Order, hashes and network\n\n"
        "The tests in random order, with another seed of Python's hashes each time, without network, "
        "warnings as errors: `nox -s flaky`.\n\n"
        f"{table(['seed', 'passed', 'failed', 'skipped'], rows)}\n"
    )


def installation() -> str:
    """The table of sizes and times of installations."""
    found = read(ROOT / "docs" / "measured" / "results" / "install.json")
    if not found:
        return ""
    rows = [
        [
            name,
            one["packages"],
            one["megabytes"],
            f"{one['import'] - one['python_start']:.2f}",
            f"{one['first_kernel_empty_cache']:.2f}",
            f"{one['first_kernel_full_cache']:.2f}",
        ]
        for name, one in found["installations"].items()
    ]
    header = ["version", "packages", "MB", "import, s", "first kernel, s", "in later processes, s"]
    return (
        "\n## What an installation costs\n\n"
        f"`pip install` into a fresh environment of Python {found['python']}; processor time, the least of "
        "several processes. The first kernel is a whole process: start Python, import, and compare ten "
        "graphs of eight nodes, with an empty cache of machine code. "
        "`python -m benchmarks.install 0.1.0=OLD.whl 0.2.0=NEW.whl`.\n\n" + table(header, rows) + "\n"
    )


def _write(name: str, content: Any) -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def text() -> str:
    """The whole page."""
    return HEAD + mutants() + coverage() + orders() + installation()


def main(words: Sequence[str] | None = None) -> None:
    """Keep reports, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--coverage", type=Path)
    parser.add_argument("--orders", type=Path, nargs="+")
    options = parser.parse_args(words)
    if options.coverage:
        keep_coverage(options.coverage)
    if options.orders:
        keep_orders(options.orders)
    DOCUMENT.write_text(text(), encoding="utf-8")
    print(DOCUMENT)


if __name__ == "__main__":
    main()
