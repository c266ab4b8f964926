"""``propkernels explore``, ``audit``, ``demo`` and ``datasets``: pages of data sets, and data to begin."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from propkernels.cli import arguments, console

PAGES = (".html", ".htm")


@arguments.reads_data
def explore(
    name: arguments.Name,
    output: Annotated[Path, console.option("--output -o --html", "Page to write.", "FILE")],
    model: Annotated[
        Path | None, console.option("--model", "Model written by 'fit'; by default, a new model.", "FILE")
    ] = None,
    first: Annotated[
        int | None, console.option("--first", "A sample of N graphs, each class with its share.", "N", min=2)
    ] = None,
    class_names: Annotated[
        str | None, console.option("--class-names", "Names of the classes, in sorted order.", "A,B,...")
    ] = None,
    open_page: Annotated[bool, console.option("--open", "Open the page in a browser.")] = False,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: arguments.Input,
) -> None:
    """Write a page with a map of a data set and a model.

    The page is one file that works offline, for 2 to 50,000 graphs. Without a target, it has only the map.
    """
    from propkernels import explore as make_page

    console.check_output(output, True, "page.html", PAGES)
    # pages of a new model label atoms by their symbols, so that they can be edited and pasted
    opened = arguments.Fitted(None, {}) if model is None else arguments.open_model(model)
    fitted = opened.model
    whole = arguments.one_target(opened.prepared(source_options.open(name, notes=opened.notes, n_jobs=jobs)))
    data = whole if first is None else whole.sample(first, seed)
    is_sample = len(data.graphs) < len(whole.graphs)
    note = f"a sample of {len(data.graphs):,} of {len(whole.graphs):,}" if is_sample else None
    with console.warnings_as_lines(), console.spinner(f"Exploring {data.name}"):
        page = make_page(
            data,
            model=fitted,
            title=data.name,
            ids=None if source_options.id_column is None else arguments.ids_of(data),
            class_names=None if class_names is None else class_names.split(","),
            columns=data.columns,
            note=note,
            random_state=seed,
            n_jobs=jobs,
        )
        page.save(output)
    print_written(output)
    if page.how:
        typer.echo(f"Predictions: {page.how}.", err=True)
    if open_page:
        typer.launch(str(output))


def print_written(path: Path) -> None:
    """Print the name and size of a written page."""
    typer.echo(
        f"Wrote {path} ({console.size_of(path)}). Open it in a browser: it needs no network.", err=True
    )


@arguments.reads_data
def audit(
    name: arguments.Name,
    output: Annotated[
        list[Path] | None,
        console.option(
            "--output -o --html", "Report to write: report.html or report.json; may be repeated.", "FILE"
        ),
    ] = None,
    test: Annotated[
        str | None, console.option("--test", "Data set of test graphs, compared with NAME.", "NAME")
    ] = None,
    force: console.Force = False,
    t_max: arguments.TMax = 5,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: arguments.Input,
) -> None:
    """Check a data set for duplicates, leaks and label errors.

    Prints the findings as sentences: duplicates, conflicting targets, leaks, scores of baselines, and
    suspected label errors. The report adds charts, drawings and tables; JSON holds all numbers.
    """
    for file in output or []:
        console.check_output(file, force, "report.html", (".html", ".json"))
    data = arguments.one_target(source_options.open(name, n_jobs=jobs))
    test_data = None if test is None else arguments.one_target(source_options.open(test, n_jobs=jobs))
    from propkernels.auditing.examine import audit as audit_graphs

    report = audit_graphs(data, test=test_data, t_max=t_max, random_state=seed, n_jobs=jobs)
    console.print_text(str(report))
    console.print_text(
        f"\nThis took {console.seconds(report.seconds)} ({report.processor_seconds:.1f} s of processor time)."
    )
    for file in output or []:
        report.save(file)
        console.print_text(f"Wrote {file} ({console.size_of(file)}).")


def demo(
    output: Annotated[Path, console.option("--output -o --html", "Page to write.", "FILE")] = Path(
        "demo.html"
    ),
) -> None:
    """Write a page of 317 molecules and a model, without a download.

    On a terminal, the page is also opened in a browser.
    """
    from propkernels import explore
    from propkernels.datasets import load

    console.check_output(output, True, "demo.html", PAGES)
    with console.spinner("Making the page"):
        explore(load("FAMILIES"), title="Which family does a molecule belong to?", n_jobs=-1).save(output)
    print_written(output)
    if console.stdout().is_terminal:
        typer.launch(str(output))


def datasets(output_format: arguments.FormatOption = "table") -> None:
    """List the data sets that can be loaded by name."""
    from propkernels.datasets import list_datasets
    from propkernels.datasets.sources import SUPPORTED

    listing = list_datasets()
    if output_format != "table":
        console.print_records([asdict(info) for info in listing], output_format)
        return
    console.print_text(str(listing))
    console.print_text(f"\nA path can be given instead of a name: {SUPPORTED}.")
