"""``propkernels help``: help of a command, or of the options for reading data."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, get_type_hints

import typer

from propkernels.cli.arguments import Input


def help(
    context: typer.Context,
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="A command, or input: how data is read.")
    ] = None,
) -> None:
    """Show the help of a command, or how all commands read data (input)."""
    root: Any = context.parent
    if topic is None:
        typer.echo(root.get_help())
        return
    command = root.command.get_command(root, topic)
    if command is None:
        raise ValueError(f"there is no command {topic!r}; 'propkernels help' lists them")
    with command.make_context(topic, [], parent=root, resilient_parsing=True) as inner:
        typer.echo(inner.get_help())


def input_options(**options: Any) -> None:
    """Options of all commands that read a data set.

    NAME is a data set (see 'propkernels datasets') or a path: TU folder or zip, Parquet, CSV, SDF or SMI of
    molecules, JSON, edge list, point cloud, edges.csv,nodes.csv, or a folder of images, clouds or graphs.

    In tables of edges and nodes, columns of numbers are attributes, text is the label, and "weight" is the
    weight of edges; a line names columns that are not used.
    """


OPTIONS = get_type_hints(Input, include_extras=True)
input_options.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in OPTIONS.items()
    ]
)
input_options.__annotations__ = OPTIONS
