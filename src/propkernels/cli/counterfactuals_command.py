"""``propkernels counterfactuals``: smallest edits of a graph that change its prediction."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from propkernels.cli import arguments
from propkernels.cli.arguments import ModelFile, check_graph, class_called, open_model
from propkernels.cli.console import print_records, print_text, spinner
from propkernels.cli.explain_command import molecule_of
from propkernels.cli.inputs import Input, reads_data, title_of


@reads_data
def counterfactuals(
    model: ModelFile,
    name: arguments.Name,
    graph: Annotated[int, typer.Option("--graph", "-g", min=0, metavar="N", help="Graph number, from 0.")],
    max_edits: Annotated[
        int, typer.Option("--max-edits", min=1, max=2, metavar="1|2", help="Single edits, or also pairs.")
    ] = 2,
    top: Annotated[int, typer.Option("--top", min=1, metavar="N", help="Number of changes to print.")] = 10,
    target: Annotated[
        str | None,
        typer.Option("--to", metavar="CLASS|X", help="Class or number to reach; by default any other class."),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--allow",
            metavar="KIND",
            help="Kind of edits: relabel, add_edge, remove_edge, add_leaf or remove_leaf; may be repeated.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=0, metavar="N", help="Maximum number of pairs of edits to try."),
    ] = None,
    output_format: arguments.FormatOption = "table",
    *,
    source_options: Input,
) -> None:
    """Find the smallest edits that change a prediction.

    Edits relabel nodes, and add or remove edges and leaves. Every result is checked by predicting the edited
    graph. For molecules, only edits with valid valences are listed.
    """
    fitted, notes = open_model(model)
    if not hasattr(fitted, "counterfactuals"):
        raise ValueError(
            f"{model} contains a {type(fitted).__name__}, which does not support counterfactuals"
        )
    data = source_options.open(name, notes=notes)
    check_graph(data, graph)
    if not hasattr(data.graphs, "adjacency"):
        raise ValueError(f"{data.name} has images, whose pixels have no edges to edit: use graphs")
    with spinner("Searching"):
        result = fitted.counterfactuals(
            data.graphs[graph],
            max_edits,
            top,
            target=_named(fitted, target),
            allowed=kinds or None,
            molecule=molecule_of(data, graph),
            budget=budget,
            label_names=data.label_names,
        )
    if output_format == "table":
        print_text(f"{title_of(data, graph)}\n\n{result}")
    else:
        print_records(result.records(), output_format)


def _named(model: Any, target: str | None) -> Any:
    """Return the class with this name, or the number of a regressor's target."""
    if target is None:
        return None
    if not hasattr(model, "classes_"):
        try:
            return float(target)
        except ValueError:
            raise ValueError(f"--to must be a number for this model, got {target!r}") from None
    return class_called(model, target)
