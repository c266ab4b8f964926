"""Results as aligned tables in the terminal, a page in Markdown, and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.case import Result
from benchmarks.growth import draw
from benchmarks.process import ROOT
from propkernels._utils.safe_files import atomic_write

PAGE = ROOT / "docs" / "measured" / "benchmarks.md"
COLUMNS = (
    "case",
    "data set",
    "threads",
    "part",
    "target",
    "measured",
    "processor",
    "verdict",
    "note",
)
RIGHT = ("threads", "target", "measured", "processor")
LOADS = ("load average", "load average at the end")
INTRODUCTION = """\
# Benchmarks

Written by `python -m benchmarks.run` (`make bench`); do not edit. The runs that this page combines are listed
under "mode" at the end. Kernels use t_max = 10 (t = 0, ..., 10), bin width 1e-5 and total variation.

- **Seconds** are the best of several repeats after one warm-up call, on data already in memory. `threads` is
  `n_jobs`, and the linear algebra library gets as many threads; `processor` is the CPU time of all cores
  together, which other programs disturb least. Targets are for two cores.
- **Memory** is the peak resident set of a fresh process that imports, loads and computes once. Features hold
  at most 50 bytes per node and iteration at a time (tests/kernels/test_guard.py); when graphs are streamed
  in blocks into hashed columns, only the nodes of a block count.
- **Ratios** to other libraries are taken within one run, on the same graphs, converted before the timing.
"""


def format_number(value: float, unit: str) -> str:
    """Three digits and the unit; milliseconds below a tenth of a second.

    Examples
    --------
    >>> format_number(0.0123, "s"), format_number(412.3, "MB"), format_number(338.6, "times")
    ('12.3 ms', '412 MB', '339 x')
    """
    if unit == "s" and abs(value) < 0.1:
        return f"{1000 * value:.3g} ms"
    digits = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{digits} {'x' if unit == 'times' else unit}"


def cells(result: Result) -> list[str]:
    """One line of the table."""
    bound = f"{result.bound} " if result.bound else ""
    measured = "" if result.measured is None else bound + format_number(result.measured, result.unit)
    target = "" if result.target is None else format_number(result.target, result.unit)
    relation = (">= " if result.at_least else "<= ") if target else ""
    return [
        result.case,
        result.dataset or "",
        str(result.threads or ""),
        result.part,
        relation + target,
        measured,
        "" if result.processor is None else format_number(result.processor, "s"),
        result.verdict,
        result.note,
    ]


def lines_of(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Names of the columns and the lines; empty columns are dropped."""
    lines = [cells(result) for result in results]
    kept = [i for i in range(len(COLUMNS)) if any(line[i] for line in lines)]
    return [COLUMNS[i] for i in kept], [[line[i] for i in kept] for line in lines]


def rich_table(title: str, results: Sequence[Result]) -> Table:
    """A group's results for the terminal; misses stand out."""
    columns, lines = lines_of(results)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in RIGHT else "left", no_wrap=column != "note")
    for result, line in zip(results, lines, strict=True):
        table.add_row(*line, style="red" if result.verdict.startswith(("missed", "failed")) else None)
    return table


def markdown_table(results: Sequence[Result]) -> str:
    """The same in Markdown."""
    columns, lines = lines_of(results)
    rule = ["---:" if column in RIGHT else "---" for column in columns]
    every = [columns, rule, *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in every)


def summary(results: Sequence[Result]) -> str:
    """How many targets are met, and which are not."""
    judged = [r for r in results if r.target is not None and r.measured is not None]
    missed = [r for r in judged if not r.verdict.startswith("met")]
    text = f"{len(judged) - len(missed)} of {len(judged)} targets met."
    names = [f"{r.case} (n_jobs={r.threads})" if r.threads else r.case for r in missed]
    return text + (f" Not met: {', '.join(names)}." if names else "")


def _first_loads(value: Any) -> list[float]:
    """The average of the last minute; of merged runs none."""
    return [] if isinstance(value, str) else list(value[:1])


def warning(environment: dict[str, Any]) -> str:
    """Say it where other programs were busy on the machine."""
    loads = [load for key in LOADS for load in _first_loads(environment.get(key, []))]
    cores = environment.get("cores") or 1
    if max(loads, default=0.0) <= cores + 1:
        return ""
    return (
        f"**The machine was busy** (load average {', '.join(map(str, loads))} on {cores} cores): seconds are "
        "too long, and ratios favor the shorter call, which finds a quiet moment more easily.\n"
    )


def environment_lines(environment: dict[str, Any]) -> list[str]:
    return [f"- {key}: {_plain(value)}" for key, value in environment.items()]


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def markdown_page(groups: dict[str, list[Result]], environment: dict[str, Any]) -> str:
    """The whole page: how, verdicts, one table per group, on what."""
    everything = [result for results in groups.values() for result in results]
    parts = [INTRODUCTION, warning(environment), summary(everything) + "\n"]
    parts += [section(title, results) for title, results in groups.items() if results]
    parts += ["## Measured on\n", *environment_lines(environment)]
    return "\n".join(parts) + "\n"


def section(title: str, results: Sequence[Result]) -> str:
    """A group's table, and its picture if it has one."""
    picture = f"![{title}](pictures/growth.svg)\n" if results[0].group == "growth" else ""
    return f"## {title}\n\n{markdown_table(results)}\n\n{picture}"


def write(groups: dict[str, list[Result]], environment: dict[str, Any], page: Path, data: Path) -> None:
    """Write the page and the JSON."""
    _write_whole(page, markdown_page(groups, environment))
    results = [asdict(r) | {"verdict": r.verdict} for results in groups.values() for r in results]
    _write_whole(data, json.dumps({"environment": environment, "results": results}, indent=1))
    if any(result["group"] == "growth" for result in results):
        draw(results, page.parent / "pictures" / "growth.svg")


def section_between(begin: str, end: str) -> str:
    """Return what stands between two marks of the page; nothing if they are not there."""
    return PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]


def replace_section(text: str, begin: str, end: str) -> None:
    """Put a section with its marks into the page: over the old one, or at the end."""
    head, first, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    tail = rest.partition(end)[2] if first else ""
    parts = [part.strip("\n") for part in (head, text, tail)]
    PAGE.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def _write_whole(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(text.encode())


def result_of(record: dict[str, Any]) -> Result:
    """A result as it was written to the JSON."""
    return Result(**{key: value for key, value in record.items() if key != "verdict"})


def show(groups: dict[str, list[Result]], environment: dict[str, Any]) -> None:
    """Print everything, as wide as the tables are."""
    console = Console(highlight=False, markup=False, width=None if Console().is_terminal else 200)
    for title, results in groups.items():
        if results:
            console.print(rich_table(title, results), "")
    console.print("\n".join(environment_lines(environment)))
    console.print(warning(environment), end="")
    console.print(summary([result for results in groups.values() for result in results]))
