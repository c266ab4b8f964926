"""``propkernels nodes fit``, ``predict`` and ``explain``: targets of the nodes of one graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propkernels.cli import arguments, console

if TYPE_CHECKING:
    from propkernels.datasets.graph_tables import NodeTables

nodes = typer.Typer(
    cls=console.OneSentenceErrors,
    no_args_is_help=True,
    help="Predict targets of the nodes of one graph.",
    rich_markup_mode=None,
)
Edges = Annotated[
    Path,
    typer.Argument(metavar="EDGES", help="Table of edges (CSV, TSV): columns source and target, or two."),
]
NodeTable = Annotated[
    Path | None, console.option("--nodes", "Table of nodes (CSV, TSV); first column: name.", "FILE")
]
ModelOfNodes = Annotated[
    Path, typer.Argument(metavar="MODEL", help="File written by 'propkernels nodes fit'.")
]


@nodes.command(cls=console.PlainUsage)
def fit(
    edges: Edges,
    target: Annotated[
        str, console.option("--target", "Column of the target; blank cells are unknown.", "COLUMN")
    ],
    output: Annotated[Path, console.option("--output -o", "File to write, such as model.pk.", "FILE")],
    node_table: NodeTable = None,
    columns: arguments.KeyColumns = None,
    numbers: Annotated[bool, console.option("--numbers", "The target is a number, not a class.")] = False,
    predictions: Annotated[
        Path | None, console.option("--predictions", "CSV file of predictions for all nodes.", "FILE")
    ] = None,
    force: console.Force = False,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
) -> None:
    """Learn from the nodes with a target, and write the model."""
    console.check_output(output, force, "model.pk")
    if predictions is not None:
        console.check_output(predictions, force, "predictions.csv", other=output)
    import propkernels as pk
    from propkernels.datasets.graph_tables import read_nodes
    from propkernels.storage.model_files import write_model

    with console.warnings_as_lines():
        tables = read_nodes(edges, node_table, target, keys=arguments.key_columns(columns))
    kind: Any = pk.NodeRegressor if numbers else pk.NodeClassifier
    with console.spinner(f"Learning from {sum(v is not None for v in tables.target)} nodes"):
        model = kind(random_state=seed, n_jobs=jobs).fit(tables.graph, _values(tables.target, numbers))
    model._names = tuple(tables.names)
    write_model(model, output, {"columns": json.dumps(tables.columns)})
    console.print_text(
        f"{tables.graph.n_nodes} nodes, {tables.graph.n_edges} edges; score {model.score_:.3f}"
    )
    console.print_text(f"seen: {'; '.join(model.views_)}")
    console.print_text(f"wrote {output}")
    if predictions is not None:
        write_predictions(model, None, tables, predictions, numbers)


@nodes.command(cls=console.PlainUsage)
def predict(
    path: ModelOfNodes,
    edges: Edges,
    output: Annotated[Path, console.option("--output -o", "CSV file of predictions.", "FILE")],
    node_table: NodeTable = None,
    target: Annotated[
        str | None, console.option("--target", "Column of known targets, if any.", "COLUMN")
    ] = None,
    columns: arguments.KeyColumns = None,
    force: console.Force = False,
) -> None:
    """Predict the nodes of another graph.

    Columns are those that the model was trained on, by name. Some targets may be known.
    """
    console.check_output(output, force, "predictions.csv")
    import propkernels as pk
    from propkernels.datasets.graph_tables import read_nodes

    model, notes = _model_of_nodes(path)
    with console.warnings_as_lines():
        keys = arguments.key_columns(columns)
        tables = read_nodes(edges, node_table, target, noted_columns(notes), keys)
    write_predictions(model, tables.graph, tables, output, isinstance(model, pk.NodeRegressor))


@nodes.command(cls=console.PlainUsage)
def explain(
    path: ModelOfNodes,
    node: Annotated[str, typer.Argument(metavar="NODE", help="Name of a node of the training graph.")],
    top: Annotated[int, console.option("--top", "Number of rows.", "N", min=1)] = 10,
) -> None:
    """Show what a prediction about a node comes from."""
    model, _ = _model_of_nodes(path)
    named = {str(name): number for number, name in enumerate(model.node_names_)}
    if node not in named:
        from propkernels._utils.checks import shown

        raise ValueError(f"the training graph has no node {node!r}; its nodes are {shown(list(named))}")
    number = named[node]
    only = [i == number for i in range(len(named))]
    console.print_text(f"{node}: {model.predict(nodes=only)[0]}")
    console.print_text(model.explain(only).table(0, top))


def _model_of_nodes(path: Path) -> tuple[Any, dict[str, str]]:
    """Return a model of nodes, and the notes of its file."""
    import propkernels as pk
    from propkernels.storage.model_files import read_model

    model, notes = read_model(path)
    if not isinstance(model, (pk.NodeClassifier, pk.NodeRegressor)):
        raise ValueError(
            f"{path} holds a {type(model).__name__}: 'propkernels nodes fit' writes models of nodes"
        )
    return model, dict(notes)


def noted_columns(notes: dict[str, str]) -> dict[str, Any]:
    """Return the columns that a model file notes."""
    try:
        noted = dict(json.loads(notes.get("columns", "")))
        weight = noted.pop("weight")
        names = [name for names in noted.values() for name in names] + ([] if weight is None else [weight])
        is_valid = set(noted) == {"label", "attributes", "edge_label"}
        if not is_valid or not all(isinstance(name, str) for name in names):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            "the model notes no columns of tables: fit it again by 'propkernels nodes fit'"
        ) from None
    return noted | {"weight": weight}


def _values(cells: list[str | None], numbers: bool) -> Any:
    """Return targets as numbers with NaN, or as texts with None."""
    import numpy as np

    if numbers:
        return np.array([np.nan if cell is None else _number(cell) for cell in cells])
    return np.array(cells, dtype=object)


def _number(cell: str) -> float:
    """Return the number of a cell of the target."""
    from propkernels._utils.cells import kind_of_cell

    if kind_of_cell(cell) not in ("int64", "large", "double"):
        raise ValueError(f"the target {cell[:40]!r} is not a number")
    return float(cell)


def write_predictions(model: Any, graph: Any, tables: NodeTables, output: Path, numbers: bool) -> None:
    """Write one line per node: name, prediction, and the probability of the predicted class."""
    known = _values(tables.target, numbers) if any(cell is not None for cell in tables.target) else None
    given = (graph, None if graph is None else known)
    predicted = model.predict(*given)
    chances = None if numbers or model.calibration_ is None else model.predict_proba(*given).max(axis=1)
    columns = {"node": tables.names, "prediction": predicted}
    if chances is not None:
        columns["probability"] = [f"{chance:.4f}" for chance in chances]
    console.write_csv(output, list(columns), zip(*columns.values(), strict=True))
    console.print_text(f"wrote {output}")
