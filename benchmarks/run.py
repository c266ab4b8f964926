"""Measure all cases, and write docs/measured/benchmarks.md and a JSON: ``python -m benchmarks.run``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import environment, growth, kernels, peers, report, retrieval, startup
from benchmarks.case import QUICK, Result, Settings
from benchmarks.data import is_present
from benchmarks.process import ROOT


class Group(NamedTuple):
    """A section of the page: its cases, and how one of them is measured."""

    title: str
    cases: tuple[Any, ...]
    measure: Callable[[Any, Settings], Iterator[Result]]


GROUPS = {
    "kernels": Group("Kernels and features", kernels.CASES, kernels.measure),
    "retrieval": Group("Retrieval", retrieval.CASES, retrieval.measure),
    "peers": Group("Peers", peers.CASES, peers.measure),
    "startup": Group("Start-up", startup.CASES, startup.measure),
    "memory": Group("Peak memory", growth.MEMORY, growth.measure_memory),
    "growth": Group("Growth", growth.CURVES, growth.measure_growth),
}
DATA = ROOT / "benchmarks" / "results.json"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, no slow cases")
    parser.add_argument("--list", action="store_true", help="print the names of all cases and stop")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="groups or cases; * and ? match anything")
    parser.add_argument("--output", type=Path, help="page to write, with a JSON beside it")
    parser.add_argument(
        "--merge",
        nargs="+",
        type=Path,
        metavar="JSON",
        help="write the page of earlier runs instead of measuring",
    )
    return parser.parse_args(arguments)


def choose(only: Sequence[str] | None, quick: bool) -> list[tuple[str, Any]]:
    """The chosen (group, case) pairs.

    Quick mode leaves slow cases out, unless their full name is given.
    """
    every = [(group, case) for group, its in GROUPS.items() for case in its.cases]
    if only is not None:
        _check_names(only, every)
        every = [pair for pair in every if any(_matches(*pair, name) for name in only)]
    named = set(only or ())
    return [(group, case) for group, case in every if not (quick and case.slow and case.name not in named)]


def _matches(group: str, case: Any, name: str) -> bool:
    return group == name or fnmatch(case.name, name)


def _check_names(only: Sequence[str], every: Sequence[tuple[str, Any]]) -> None:
    unknown = [name for name in only if not any(_matches(*pair, name) for pair in every)]
    if unknown:
        raise SystemExit(f"no group or case is called {', '.join(unknown)}; --list shows all names")


def measure(group: str, case: Any, settings: Settings) -> list[Result]:
    """Measure one case; what cannot be measured becomes a result that says so."""
    if not is_present(case.dataset):
        return [Result(case.name, group, case.dataset, status="absent")]
    results: list[Result] = []
    try:
        for result in GROUPS[group].measure(case, settings):
            results.append(result)
    except Exception as error:
        progress(f"  {type(error).__name__}: {error}")
        results.append(_failure(group, case, error))
    return results


def _failure(group: str, case: Any, error: Exception) -> Result:
    """A case that raised: the page names the kind of error, the terminal had the message."""
    note = type(error).__name__
    return Result(case.name, group, case.dataset, status="failed", note=note)


def measure_all(pairs: Sequence[tuple[str, Any]], settings: Settings) -> Iterator[tuple[str, list[Result]]]:
    """Measure one case after the other, with a line of progress each."""
    for number, (group, case) in enumerate(pairs, start=1):
        progress(f"[{number}/{len(pairs)}] {group}: {case.name}")
        started = time.perf_counter()
        results = measure(group, case, settings)
        found = [report.format_number(r.measured, r.unit) for r in results if r.measured is not None]
        progress(f"  {', '.join(found[:4])} ({time.perf_counter() - started:.1f} s)")
        yield group, results


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    options = parse(arguments)
    if options.merge:
        _write(options, *merge(options.merge))
        return
    pairs = choose(options.only, options.quick)
    if options.list:
        print("\n".join(f"{group:10} {case.name}" for group, case in pairs))
        return
    described = environment.describe() | {"mode": _mode(options)}
    groups: dict[str, list[Result]] = {group.title: [] for group in GROUPS.values()}
    try:
        for group, results in measure_all(pairs, QUICK if options.quick else Settings()):
            groups[GROUPS[group].title] += results
    except KeyboardInterrupt:
        described["mode"] += ", interrupted"
    described["load average at the end"] = environment.load_average()
    report.show(groups, described)
    _write(options, groups, described)


def merge(files: Sequence[Path]) -> tuple[dict[str, list[Result]], dict[str, Any]]:
    """Results of several runs, by group; of a case that several have, the last. The first tells on what."""
    runs = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    groups: dict[str, list[Result]] = {group.title: [] for group in GROUPS.values()}
    for name, group in GROUPS.items():
        cases: dict[str, list[Result]] = {}
        for run in runs:
            found = [report.result_of(record) for record in run["results"] if record["group"] == name]
            cases |= {case: [r for r in found if r.case == case] for case in {r.case: None for r in found}}
        groups[group.title] = [result for results in cases.values() for result in results]
    described = runs[0]["environment"]
    for key in ("mode", "date", "revision", "load average at the end"):
        described[key] = "; ".join(str(run["environment"].get(key)) for run in runs)
    return groups, described


def _mode(options: argparse.Namespace) -> str:
    only = f", only {' '.join(options.only)}" if options.only else ""
    return ("quick" if options.quick else "full") + only


def _write(options: argparse.Namespace, groups: dict[str, list[Result]], described: dict[str, Any]) -> None:
    """Write where asked; by itself a part of the cases (--only) replaces no page."""
    if options.output is None and options.only is not None:
        return
    page = options.output or report.PAGE
    data = DATA if options.output is None else page.with_suffix(".json")
    report.write(groups, described, page, data)
    progress(f"written: {page} and {data}")


if __name__ == "__main__":
    main()
