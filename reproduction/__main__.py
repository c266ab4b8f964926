"""``python -m reproduction``: the paper's experiments, and the pages of docs/measured."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from reproduction.engine.cells import Store
from reproduction.engine.jobs import News, Scope, run
from reproduction.engine.results import write_results
from reproduction.engine.sections import Experiment
from reproduction.extra.records import report
from reproduction.registry import experiments

ALL, REPORT, HEADLINE = "all", "report", "headline"
RECORDS, PAGE = Path("reproduction/records"), Path("docs/measured/results.md")
# pages beyond the paper: name -> module, options that its run takes, and what is measured
PAGES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "defaults": ("extra.defaults", ("repeats", "jobs"), "the default classifier, nested"),
    "fair": ("extra.fair", ("repeats", "jobs"), "the default classifier, on the folds of other authors"),
    "novelty": ("extra.novelty", ("repeats", "jobs"), "graphs of one data set among those of another"),
    "nodes": ("extra.nodes", ("repeats", "jobs"), "nodes of one graph"),
    "temporal": ("extra.temporal", ("jobs",), "graphs in time"),
    "moleculeace": ("molecules.activity_cliffs", ("repeats",), "activity cliffs"),
    "scaffolds": ("molecules.scaffold_splits", (), "the splits of OGB"),
    "coverage": ("molecules.coverage", (), "coverage of sets and intervals"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for; mistakes are told in one sentence."""
    options = parse(arguments)
    try:
        answer(options)
    except (ValueError, OSError, ImportError) as error:
        sys.exit(f"error: {error}")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Measure every table and figure of the paper, and the pages of docs/measured. What is "
        "measured is kept in a folder: an interrupted run continues where it stopped.",
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="experiments, or one page; without a name: list them")
    add("--repeats", type=int, help="repeats of each cell; default: as in the paper")
    add("--dataset", action="append", default=[], help="only this data set; may be given several times")
    add("--method", action="append", default=[], help="only this row, or rows that start with this word")
    add(
        "-o",
        "--output",
        type=Path,
        default=RECORDS,
        metavar="FOLDER",
        help=f"folder of records; default {RECORDS}",
    )
    add("--document", type=Path, metavar="FILE", help="file of the report or page")
    add("--jobs", type=int, default=-1, help="threads, or processes; default: all cores")
    return parser.parse_args(arguments)


def answer(options: argparse.Namespace) -> None:
    """Run experiments, or write a page."""
    known, store, names = experiments(), Store(options.output), options.names
    if not names:
        titles = {name: one.title for name, one in known.items()}
        for name, title in {**titles, **{name: what for name, (_, _, what) in PAGES.items()}}.items():
            print(f"{name:20} {title}")
    elif names == [HEADLINE]:
        print(import_module("reproduction.extra.headline").write_headline(options.document or Path("docs")))
    elif names == [REPORT]:
        write_results(known, store, options.document or PAGE)
        print(f"wrote {options.document or PAGE}")
    elif names[0] in PAGES and len(names) == 1:
        module, takes, _ = PAGES[names[0]]
        document = options.document or Path("results") / f"{names[0]}.md"
        settings = {name: getattr(options, name) for name in takes}
        page = import_module(f"reproduction.{module}")
        print(page.run(options.dataset, options.output, document, **settings))
    else:
        if options.repeats is not None and options.repeats < 1:
            raise ValueError(f"--repeats must be at least 1, got {options.repeats}")
        scope = Scope(options.repeats, tuple(options.dataset), tuple(options.method))
        run_and_show(choose(names, known), store, scope, options.jobs)


def choose(names: list[str], known: dict[str, Experiment]) -> list[Experiment]:
    """Return the experiments of these names."""
    wanted = list(known) if ALL in names else names
    for name in wanted:
        if name not in known:
            others = ", ".join([*known, ALL, REPORT, HEADLINE, *PAGES])
            raise ValueError(f"the experiment {name!r} does not exist: choose among {others}")
    return [known[name] for name in wanted]


def run_and_show(chosen: list[Experiment], store: Store, scope: Scope, jobs: int) -> None:
    """Compute what is missing, and print the tables."""
    work = [job for one in chosen for job in one.state(store, scope).jobs]
    if not work and (scope.datasets or scope.methods):
        raise ValueError("no cell has this data set and method: the names are those of the paper's tables")
    outcome = run(work, store, n_jobs=jobs, tell=lambda news: report(describe(news)))
    for one in chosen:
        for section in one.sections(one.state(store, scope, outcome.absent)):
            print("\n\n".join(filter(None, [f"\n{section.title}", section.markdown(), *section.notes])))
    print(f"{outcome.computed} cells computed, {outcome.kept} were there before; all is in {store.folder}")


def describe(news: News) -> str:
    """What was measured, in a few words."""
    cell, parts = news.cell, [part for part in news.value.values() if isinstance(part, dict)]
    accuracies = " / ".join(f"{np.mean(part['paper']['folds']):.1f} %" for part in parts if "paper" in part)
    head = f"{news.done}/{news.total} {cell.experiment}: {cell.row} on {cell.column}, repeat {cell.repeat}"
    return f"{head}: {accuracies}" if accuracies else head


if __name__ == "__main__":
    main()
