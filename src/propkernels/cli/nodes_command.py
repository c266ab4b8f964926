"""``propkernels nodes fit`` and ``propkernels nodes predict``: targets of the nodes of one graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from propkernels.cli import arguments
from propkernels.cli.console import (
    Force,
    OneSentenceErrors,
    PlainUsage,
    check_output,
    print_text,
    spinner,
    write_csv,
)

if TYPE_CHECKING:
    from propkernels.graphs.database import GraphDatabase

nodes = typer.Typer(
    cls=OneSentenceErrors,
    no_args_is_help=True,
    help="Predict targets of the nodes of one graph.",
    rich_markup_mode=None,
)
Edges = Annotated[
    Path, typer.Argument(metavar="EDGES", help="CSV or TSV file, one edge per line: two columns of nodes.")
]
NodeTable = Annotated[
    Path | None,
    typer.Option("--nodes", metavar="FILE", help="CSV or TSV file, one node per line; first column: name."),
]
Directed = Annotated[bool, typer.Option("--directed", help="Edges lead from the first to the second node.")]
Attributes = Annotated[
    str | None,
    typer.Option("--attributes", metavar="A,B", help="Columns of numbers; default: all but the label."),
]
Label = Annotated[
    str, typer.Option("--label", metavar="COLUMN", help="Column of the target; empty cells are unknown.")
]


class NodeTables(NamedTuple):
    """A graph read from tables.

    Attributes
    ----------
    graph : GraphDatabase
    names : list of str
        Name of each node.
    columns : list of str
        Names of the attributes.
    target : list of str or None
        Cell of the target column per node; None where it is empty or the node is in no table.
    """

    graph: GraphDatabase
    names: list[str]
    columns: list[str]
    target: list[str | None]


def read_tables(
    edges: Path, node_table: Path | None, label: str | None, wanted: list[str] | None, directed: bool
) -> NodeTables:
    """Return the graph of a table of edges and a table of nodes; nodes in the order of their tables."""
    import numpy as np
    from scipy.sparse import coo_array

    from propkernels.datasets.tables import read_table
    from propkernels.graphs.database import GraphDatabase

    ends = list(read_table(edges).values())[:2]
    if len(ends) < 2:
        raise ValueError(f"{edges} needs two columns: the nodes at both ends of an edge")
    table = {} if node_table is None else read_table(node_table)
    keys = next(iter(table.values()), [])
    if len(set(keys)) < len(keys):
        raise ValueError(f"{node_table} names a node twice")
    number = {name: i for i, name in enumerate(dict.fromkeys([*keys, *ends[0], *ends[1]]))}
    rows, columns = ([number[name] for name in column] for column in ends)
    n = len(number)
    once = coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    once.data[:] = 1.0  # an edge that is listed twice is one edge, as one that is listed in both directions
    wiring = once if directed else once.maximum(once.T)
    target = _target(table, label, n, node_table)
    chosen = [name for name in list(table)[1:] if name != label] if wanted is None else wanted
    values = _attributes(table, chosen, n, node_table)
    graph = GraphDatabase(wiring, [0, n], node_attributes=values)
    return NodeTables(graph, list(number), chosen, target)


def _attributes(table: dict[str, list[str]], chosen: list[str], n: int, path: Any) -> Any:
    """Return the columns of numbers; NaN where a cell is empty or a node is in no table; None without any."""
    import numpy as np

    from propkernels.datasets.tables import listed_names

    unknown = [name for name in chosen if name not in table]
    if unknown and path is None:
        raise ValueError(f"the column {unknown[0]!r} is needed: give the table of nodes by --nodes")
    if unknown:
        raise ValueError(f"{path} has no column {unknown[0]!r}; its columns are {listed_names(list(table))}")
    if not chosen:
        return None
    values = np.full((n, len(chosen)), np.nan)
    for j, name in enumerate(chosen):
        for i, cell in enumerate(table[name]):
            try:
                values[i, j] = float(cell) if cell.strip() else np.nan
            except ValueError:
                reason = f"row {i + 1} of column {name!r} of {path} is not a number: {cell[:40]!r}"
                raise ValueError(f"{reason}; name the columns of numbers with --attributes") from None
    return values


def _target(table: dict[str, list[str]], label: str | None, n: int, path: Any) -> list[str | None]:
    if label is None:
        return [None] * n
    if label not in table:
        raise ValueError(f"{path or 'without --nodes there'} has no column {label!r}")
    cells = [cell.strip() or None for cell in table[label]]
    return cells + [None] * (n - len(cells))


@nodes.command(cls=PlainUsage)
def fit(
    edges: Edges,
    label: Label,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write, such as model.pk.")
    ],
    node_table: NodeTable = None,
    attributes: Attributes = None,
    directed: Directed = False,
    numbers: Annotated[bool, typer.Option("--numbers", help="The target is a number, not a class.")] = False,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE", help="CSV file of predictions for all nodes."),
    ] = None,
    force: Force = False,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
) -> None:
    """Learn from the nodes with a target, and write the model."""
    check_output(output, force, "model.pk")
    if predictions is not None:
        check_output(predictions, force, "predictions.csv")
    tables = read_tables(edges, node_table, label, _listed(attributes), directed)
    import propkernels as pk
    from propkernels.storage.model_files import write_model

    model: Any = pk.NodeRegressor if numbers else pk.NodeClassifier
    with spinner(f"Learning from {sum(v is not None for v in tables.target)} nodes"):
        model = model(random_state=seed, n_jobs=jobs).fit(tables.graph, _values(tables.target, numbers))
    write_model(model, output, {"attributes": json.dumps(tables.columns), "directed": json.dumps(directed)})
    print_text(f"{tables.graph.n_nodes} nodes, {tables.graph.n_edges} edges; score {model.score_:.3f}")
    print_text(f"seen: {'; '.join(model.views_)}")
    print_text(f"wrote {output}")
    if predictions is not None:
        write_predictions(model, None, tables, predictions, numbers)


@nodes.command(cls=PlainUsage)
def predict(
    path: Annotated[Path, typer.Argument(metavar="MODEL", help="File written by 'propkernels nodes fit'.")],
    edges: Edges,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="CSV file of predictions.")],
    node_table: NodeTable = None,
    label: Annotated[
        str | None, typer.Option("--label", metavar="COLUMN", help="Column of known targets, if any.")
    ] = None,
    attributes: Attributes = None,
    directed: Directed = False,
    force: Force = False,
) -> None:
    """Predict the nodes of another graph, some of whose targets may be known.

    Attributes are the columns that the model was trained on, by name; directed edges stay directed.
    """
    check_output(output, force, "predictions.csv")
    import propkernels as pk
    from propkernels.storage.model_files import read_model

    model, notes = read_model(path)
    if not isinstance(model, (pk.NodeClassifier, pk.NodeRegressor)):
        raise ValueError(
            f"{path} holds a {type(model).__name__}: 'propkernels nodes fit' writes models of nodes"
        )
    wanted = _listed(attributes) if attributes is not None else noted_columns(notes)
    directed = directed or notes.get("directed") == "true"
    tables = read_tables(edges, node_table, label, wanted, directed)
    write_predictions(model, tables.graph, tables, output, isinstance(model, pk.NodeRegressor))


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else names.split(",")


def noted_columns(notes: dict[str, str]) -> list[str] | None:
    """Return the names of the attributes that a model file notes; None without such a note."""
    try:
        names = json.loads(notes.get("attributes", "null"))
    except ValueError:
        names = "?"
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError("the model notes no list of attributes: name them by --attributes")
    return names


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
    write_csv(output, list(columns), zip(*columns.values(), strict=True))
    print_text(f"wrote {output}")
