"""``propkernels explore``: HTML page with a map, a model and editable graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import compile_loops, open_dataset, open_model
from propkernels.cli.console import size_of, spinner, warnings_as_lines


def explore(
    name: arguments.Name,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML page to write.")],
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Model written by 'fit'; by default, a new model."),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="Title; default: name of the data set.")
    ] = None,
    first: Annotated[
        int | None, typer.Option("--first", min=2, metavar="N", help="Only the first N graphs.")
    ] = None,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    smiles_column: arguments.SmilesColumn = None,
    target_column: arguments.TargetColumn = None,
) -> None:
    """Write a page with a map of a data set and a model.

    The page is one file that works offline, for 2 to 50,000 graphs. Without a target, it has only the map.
    """
    from propkernels import explore as make_page

    fitted, node_labels = (None, "symbol") if model is None else open_model(model)
    columns: dict[str, Any] = {"smiles_column": smiles_column, "target_column": target_column}
    data = open_dataset(name, target_required=False, **columns, node_labels=node_labels)
    compile_loops()
    part = slice(first)
    has_target = len(data.target) == len(data.graphs) and data.target.ndim == 1
    smiles = data.extras.get("smiles")
    with warnings_as_lines(), spinner(f"Exploring {data.name}"):
        make_page(
            data.graphs[part],
            data.target[part] if has_target else None,
            fitted,
            title=title or data.name,
            class_names=(data.target_names or None) if first is None else None,
            label_names=data.label_names,
            molecules=None if smiles is None else smiles[part],
            random_state=seed,
            n_jobs=jobs,
        ).save(output)
    print_written(output)


def print_written(path: Path) -> None:
    """Print the name and size of a written page."""
    typer.echo(f"Wrote {path} ({size_of(path)}). Open it in a browser: it needs no network.", err=True)
