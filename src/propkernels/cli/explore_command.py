"""``propkernels explore``: HTML page with a map, a model and editable graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import (
    Fitted,
    Input,
    ids_of,
    one_target,
    open_model,
    reads_data,
)
from propkernels.cli.console import size_of, spinner, warnings_as_lines

if TYPE_CHECKING:
    pass


@reads_data
def explore(
    name: arguments.Name,
    output: Annotated[Path, typer.Option("--output", "-o", "--html", metavar="FILE", help="Page to write.")],
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Model written by 'fit'; by default, a new model."),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option("--first", min=2, metavar="N", help="A sample of N graphs, each class with its share."),
    ] = None,
    class_names: Annotated[
        str | None,
        typer.Option("--class-names", metavar="A,B,...", help="Names of the classes, in sorted order."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    *,
    source_options: Input,
) -> None:
    """Write a page with a map of a data set and a model.

    The page is one file that works offline, for 2 to 50,000 graphs. Without a target, it has only the map.
    """
    from propkernels import explore as make_page

    # pages of a new model label atoms by their symbols, so that they can be edited and pasted
    opened = Fitted(None, {}) if model is None else open_model(model)
    fitted = opened.model
    whole = one_target(opened.prepared(source_options.open(name, notes=opened.notes, n_jobs=jobs)))
    data = whole if first is None else whole.sample(first, seed)
    is_sample = len(data.graphs) < len(whole.graphs)
    note = f"a sample of {len(data.graphs):,} of {len(whole.graphs):,}" if is_sample else None
    with warnings_as_lines(), spinner(f"Exploring {data.name}"):
        page = make_page(
            data,
            model=fitted,
            title=data.name,
            ids=None if source_options.id_column is None else ids_of(data),
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
    typer.echo(f"Wrote {path} ({size_of(path)}). Open it in a browser: it needs no network.", err=True)
