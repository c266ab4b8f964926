"""``propkernels explain``: contributions of the nodes of a graph to its prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import atomic_write
from propkernels.cli import arguments, console

if TYPE_CHECKING:
    from propkernels.datasets import Dataset

PICTURES = (".png", ".svg")
DOTS_PER_INCH = 150
BAR = 24  # letters of the longest bar


@arguments.reads_data
def explain(
    model: arguments.ModelFile,
    name: arguments.Name,
    graph: arguments.GraphNumber,
    output: Annotated[
        Path | None, console.option("--output -o", "Image to write, such as graph.png.", "FILE")
    ] = None,
    force: console.Force = False,
    spoken_for: Annotated[
        str | None,
        console.option(
            "--class",
            "Class to explain (default: the second of two, or the predicted); --flips: class or number "
            "to reach.",
            "CLASS",
        ),
    ] = None,
    top: Annotated[int, console.option("--top", "Nodes, or edits, to print.", "N", min=1)] = 10,
    coverage: Annotated[
        float | None,
        console.option(
            "--coverage",
            "Also tell the set of classes, or the interval, that holds this share of targets.",
            "SHARE",
        ),
    ] = None,
    flips: Annotated[
        bool, console.option("--flips", "List the smallest edits of the graph that change the prediction.")
    ] = False,
    output_format: arguments.FormatOption = "table",
    *,
    source_options: arguments.Input,
) -> None:
    """Show the contribution of each node to a prediction.

    Contributions of nodes and steps add up to the decision value. With -o, the graph (image, molecule) is
    drawn with nodes colored by contribution. With --flips, edits are listed instead: they relabel nodes, and
    add or remove edges and leaves, and each is checked by predicting the edited graph. For molecules, only
    edits with valid valences are listed.
    """
    from propkernels.plotting.panels import forecast

    if output is not None:
        console.check_output(output, force, "graph.png", PICTURES)
    opened = arguments.open_model(model)
    fitted = opened.model
    data, at = source_options.open_graph(name, graph, opened.notes)
    data = opened.prepared(data)
    if flips:
        if output is not None:
            raise ValueError("--output draws contributions: leave out --flips, or --output")
        changes = find_flips(fitted, data, at, top, spoken_for)
        if output_format == "table":
            console.print_text(f"{arguments.title_of(data, at, graph)}\n\n{changes}")
        else:
            console.print_records(changes.records(), output_format)
        return
    chosen = data.graphs[[at]]
    with console.warnings_as_lines(), console.spinner("Explaining"):
        prediction = fitted.predict(chosen)[0]
        explanation = explained(fitted, chosen, prediction, spoken_for)
        named = arguments.name_of_class(fitted, prediction)
        predicted = f"{named:.4g}" if isinstance(named, float) else str(named)
        told = f"predicted {predicted}" if coverage is None else forecast(fitted, chosen, coverage)
    title = f"{arguments.title_of(data, at, graph)}: {told}"
    if output_format == "table":
        console.print_text(f"{title}.")
        print_nodes(explanation, top, node_names(data, at))
    else:
        console.print_records(named_nodes(explanation, top, node_names(data, at)), output_format)
    if output is not None:
        draw(explanation, title, data, at, output)
        typer.echo(f"\nWrote {output}.", err=output_format != "table")


def find_flips(model: Any, data: Dataset, graph: int, top: int, wanted: str | None) -> Any:
    """Return the smallest edits of a graph that change its prediction, or reach a class or number."""
    if not hasattr(model, "counterfactuals"):
        raise ValueError(f"a {type(model).__name__} does not support --flips")
    if not hasattr(data.graphs, "adjacency"):
        raise ValueError(f"{data.name} has images, whose pixels have no edges to edit: use graphs")
    target: Any = None
    if wanted is not None and hasattr(model, "classes_"):
        target = arguments.class_called(model, wanted)
    elif wanted is not None:
        try:
            target = float(wanted)
        except ValueError:
            raise ValueError(f"--class must be a number for this model, got {wanted!r}") from None
    with console.warnings_as_lines(), console.spinner("Searching"):
        return model.counterfactuals(
            data.graphs[graph],
            2,
            top,
            target=target,
            molecule=molecule_of(data, graph),
            label_names=data.graphs.names.labels,
        )


def explained(model: Any, graphs: Any, prediction: Any, spoken_for: str | None) -> Any:
    """Return the explanation for a class; by default for the second of two, or the predicted."""
    if not can_explain(model):
        from propkernels.models.model import why_not_explained

        if not hasattr(model, "kernel_"):
            raise ValueError(f"a {type(model).__name__} has no contributions of nodes to show")
        raise ValueError(why_not_explained(model.kernel_))
    if not hasattr(model, "classes_") or (spoken_for is None and len(model.classes_) == 2):
        return model.explain(graphs)  # decisions are those of predict: positive for the second class
    return model.explain(
        graphs, prediction if spoken_for is None else arguments.class_called(model, spoken_for)
    )


def can_explain(model: Any) -> bool:
    """Whether decision values are sums over nodes."""
    return hasattr(model, "explain") and bool(model.rule_.is_explained)


def node_names(data: Dataset, graph: int) -> list[Any]:
    """Return the names of the nodes of a graph, such as those of a table; empty if there are none."""
    names, ptr = data.extras.get("node_names", ()), data.graphs.graph_ptr
    return list(names[ptr[graph] : ptr[graph + 1]]) if len(names) == ptr[-1] else []


def named_nodes(explanation: Any, top: int, names: list[Any]) -> list[dict[str, Any]]:
    """Return one record per node, with its name if nodes have names."""
    records: list[dict[str, Any]] = explanation.top_nodes(0, top)
    return [one | {"name": names[one["node"]]} for one in records] if names else records


def print_nodes(explanation: Any, top: int, names: list[Any]) -> None:
    """Print the nodes with the largest contributions, and the sum over all nodes."""
    from propkernels.graphs.names import label_text

    console.print_text(f"Contributions {explanation.subject}:\n")
    records = named_nodes(explanation, top, names)
    largest = max((abs(record["total"]) for record in records), default=0.0) or 1.0
    rows = [
        [
            str(record.get("name", record["node"])),
            "-" if record["label"] is None else label_text(record["label"]),
            f"{record['total']:+.4f}",
            "\N{FULL BLOCK}" * round(BAR * abs(record["total"]) / largest),
        ]
        for record in records
    ]
    console.print_table(["node", "label", "total", ""], rows, ["node", "label", ""])
    total, decision = float(explanation.node_totals.sum()), float(explanation.decisions[0])
    whole = explanation.descriptors_of(0)
    described = f", descriptors {whole:+.4f}" if whole else ""
    intercept = f"intercept {explanation.intercept_of(0):+.4f}"
    sums = f"nodes {total:+.4f}{described}, {intercept}: decision {decision:+.4f}"
    console.print_text(f"\nAll {len(explanation.contributions)} {sums}.")


def molecule_of(data: Dataset, graph: int) -> Any:
    """Return the molecule of a graph, with equal order of atoms; None if unknown."""
    molecules = data.extras.get("molecules", data.extras.get("smiles"))
    if molecules is None:
        return None
    from propkernels.convert.rdkit import from_rdkit
    from propkernels.molecules.read_molecules import as_molecules

    (molecule,) = as_molecules([molecules[graph]])
    stored, converted = data.graphs[[graph]].adjacency, from_rdkit([molecule]).adjacency
    return molecule if stored.shape == converted.shape and not abs(stored - converted).nnz else None


def draw(explanation: Any, title: str, data: Dataset, graph: int, output: Path) -> None:
    """Write an image of the graph; molecules are drawn by RDKit."""
    from propkernels.convert.graph_molecules import known_molecule
    from propkernels.graphs import GraphDatabase

    molecule = molecule_of(data, graph)
    if molecule is None and isinstance(data.graphs, GraphDatabase):
        molecule = known_molecule(data.graphs[[graph]])
    if molecule is not None:
        from propkernels.molecules import draw_molecule

        texts = f"{title}\n{explanation.key('atoms')}"
        draw_molecule(explanation, [molecule], title=texts, size=(720, 540)).save(output)
        return
    import_optional("matplotlib", extra="plot", purpose="images of graphs need").use("Agg")
    from propkernels.plotting import plot_explanation

    ptr, places = data.graphs.graph_ptr, data.extras.get("coordinates")
    layout = None if places is None else places[ptr[graph] : ptr[graph + 1]]
    axes: Any = plot_explanation(explanation, layout=layout)
    axes.set_title(title, fontsize=10)
    with atomic_write(output) as stream:
        axes.figure.savefig(stream, format=output.suffix[1:].lower(), dpi=DOTS_PER_INCH)
