"""``python -m reproduction``: the paper's experiments, measured beside the published numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.console import new_table, one_sentence_errors, seconds, stdout
from propkernels.cli.console import print_text as say

if TYPE_CHECKING:
    from reproduction.engine.cells import Store
    from reproduction.engine.jobs import Scope
    from reproduction.engine.runner import News
    from reproduction.engine.sections import Chapter, Experiment, Section

ALL, REPORT = "all", "report"
DEFAULTS, FAIR, NOVELTY = "defaults", "fair", "novelty"  # models as they come: not in the paper
MOLECULES = "molecules"  # beside fingerprints
MOLECULEACE, SCAFFOLDS, COVERAGE = "moleculeace", "scaffolds", "coverage"
HEADLINE = "headline"  # figure and sentences of the README, from the pages
NODES = "nodes"  # nodes of one graph
TEMPORAL = "temporal"  # graphs in time


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...",
            help="Experiments; 'all': every one; 'report': only write the document; 'defaults', 'fair': the "
            "default model, nested, and on the folds of other authors; 'novelty': graphs of one data set "
            "among those of another; 'molecules': beside fingerprints; 'moleculeace': activity cliffs; "
            "'scaffolds': the splits of OGB; 'coverage': of sets and intervals; "
            "'headline': the figure of the README; 'nodes': nodes of one graph; "
            "'temporal': graphs in time; no name: list them.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One repeat, coarser grids, no slow cells.")] = False,
    repeats: Annotated[int | None, typer.Option("--repeats", min=1, help="Repeats of each cell.")] = None,
    dataset: Annotated[list[str] | None, typer.Option("--dataset", help="Only these data sets.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of results.")] = Path("results"),
    document: Annotated[
        Path | None,
        typer.Option("--document", help="For 'report' and all after it: the file; default in OUTPUT."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="For 'report': keep rows of the file that have more repeats.")
    ] = False,
    jobs: arguments.Jobs = -1,
) -> None:
    """Measure every table and figure of the paper, beside the published numbers.

    Finished cells are kept in the folder and not computed again: an interrupted run continues where it
    stopped. Tables are saved as CSV, figures as PNG.
    """
    from reproduction.engine.cells import Store
    from reproduction.engine.jobs import Scope
    from reproduction.registry import experiments

    with one_sentence_errors():
        if names == [HEADLINE]:
            from reproduction.extra.headline import write_headline

            say(write_headline(document or Path("docs")))
            return
        if names in [
            [name]
            for name in (
                DEFAULTS,
                FAIR,
                NOVELTY,
                MOLECULES,
                MOLECULEACE,
                SCAFFOLDS,
                COVERAGE,
                NODES,
                TEMPORAL,
            )
        ]:
            stdout().print(measure_defaults(names[0], dataset or [], repeats, output, document, jobs))
            return
        known, store = experiments(), Store(output)
        if not names:
            list_experiments(list(known.values()))
        elif names == [REPORT]:
            write_report(list(known.values()), store, document or output / "results.md", update)
        else:
            scope = Scope(quick, repeats, tuple(dataset or ()))
            run_and_show(choose(names, known), store, scope, jobs)


def measure_defaults(
    name: str, datasets: list[str], repeats: int | None, output: Path, document: Path | None, jobs: int
) -> str:
    """Measure a default model, write its page, and return the table."""
    from reproduction.extra import defaults, fair, novelty

    page = document or output / f"{name}.md"
    if name == MOLECULES:
        from reproduction.molecules import run as molecules

        return molecules.run(datasets, repeats, output, page)
    if name == MOLECULEACE:
        from reproduction.molecules import activity_cliffs

        return activity_cliffs.run(datasets, repeats, output, page)
    if name == SCAFFOLDS:
        from reproduction.molecules import scaffold_splits

        return scaffold_splits.run(datasets, output, page)
    if name == COVERAGE:
        from reproduction.molecules import coverage

        return coverage.run(datasets, output, page)
    if name == NODES:
        from reproduction.extra import nodes

        return nodes.run(datasets, repeats, output, page, jobs)
    if name == TEMPORAL:
        from reproduction.extra import temporal

        return temporal.run(datasets, output, page, jobs)
    if name == FAIR:
        return fair.run(datasets, output, page, jobs)
    if name == NOVELTY:
        return novelty.run(datasets, repeats, output, page, jobs)
    return defaults.run(datasets, repeats or 1, output, page, jobs)


def choose(names: list[str], known: dict[str, Experiment]) -> list[Experiment]:
    """Return the experiments of these names."""
    wanted = list(known) if ALL in names else names
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"the experiment {name!r} does not exist: choose among {', '.join(known)}, {ALL}, {REPORT}"
            )
    return [known[name] for name in wanted]


def list_experiments(known: list[Experiment]) -> None:
    """Print what there is."""
    table = new_table(["name", "in the paper"], [])
    for one in known:
        table.add_row(one.name, one.title)
    stdout().print(table)
    say("\nRun one with 'python -m reproduction NAME', all with 'all'; '--quick' for a first look.")


def run_and_show(chosen: list[Experiment], store: Store, scope: Scope, jobs: int) -> None:
    """Compute what is missing, save tables and figures, and print the tables."""
    from reproduction.engine.results import count_verdicts, save_figures, save_tables
    from reproduction.engine.runner import run
    from reproduction.engine.sections import chapter

    work = [job for one in chosen for job in one.jobs(scope)]
    with progress() as (tell, title):
        outcome = run(work, store, n_jobs=jobs, tell=tell, title=title)
    found = [chapter(one, store, scope, outcome.absent) for one in chosen]
    for one in found:
        save_tables(one, store.folder)
        save_figures(one, store.folder)
        show(one)
    say(f"\n{count_verdicts(found).removeprefix('## In short').strip()}")
    say(f"{outcome.computed} cells computed, {outcome.kept} were there before; all is in {store.folder}")


def write_report(known: list[Experiment], store: Store, document: Path, update: bool) -> None:
    """Write the document from what is saved."""
    from reproduction.engine.jobs import Scope
    from reproduction.engine.results import write_results
    from reproduction.engine.sections import everything, find_absent

    absent = find_absent([job for one in known for job in one.jobs(Scope())], store)
    write_results([everything(one, store, absent) for one in known], document, update)
    say(f"wrote {document}")


def show(one: Chapter) -> None:
    """Print the tables of an experiment."""
    for section in one.sections:
        say(f"\n{section.title}\n")
        show_section(section)


def show_section(section: Section) -> None:
    """Print a table, its notes, and what was left out."""
    columns = [name for name in section.columns if name != "why"]
    table = new_table(columns[:2], columns[2:])
    notes = list(section.notes)
    for row in section.rows:
        cells = dict(zip(section.columns, row, strict=True))
        table.add_row(*(cells[name] for name in columns))
        if cells.get("why"):
            notes.append(f"{row[1]} on {row[0]}: {cells['why']}")
    if section.rows:
        stdout().print(table)
    for note in notes:
        say(note)


@contextmanager
def progress() -> Iterator[tuple[Callable[[News], None], Callable[[str], None]]]:
    """Show on stderr how far a run is: a bar on a terminal, one line per cell elsewhere."""
    from propkernels._utils.progress import ProgressBar, is_watched

    with ProgressBar("reproduction") as bar:

        def tell(news: News) -> None:
            left = f"about {seconds(news.seconds_left)} left"
            bar.on_progress(news.done, news.total)
            bar.describe(note=left)
            if not is_watched():
                typer.echo(f"{news.done}/{news.total} {describe(news)}, {left}", err=True)

        yield tell, bar.describe


def describe(news: News) -> str:
    """What was measured, in a few words."""
    cell, value = news.cell, news.value
    found: list[Any] = [
        part["accuracy"] for part in value.values() if isinstance(part, dict) and "accuracy" in part
    ]
    accuracies = " / ".join(f"{number:.1f} %" for number in found)
    head = f"{cell.experiment}: {cell.row} on {cell.column}, repeat {cell.repeat}"
    return f"{head}: {accuracies}" if accuracies else head


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(reproduce)


if __name__ == "__main__":
    app(prog_name="python -m reproduction")
