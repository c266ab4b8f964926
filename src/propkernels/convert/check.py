"""check_graphs: convert any supported input of estimators to a GraphDatabase."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from itertools import groupby
from typing import Any, cast

import numpy as np

import propkernels.convert.adjacency as adjacency
import propkernels.convert.edges as edges
import propkernels.convert.networkx as networkx
import propkernels.convert.pyg as pyg
import propkernels.convert.rdkit as rdkit
from propkernels._utils.checks import kind_of
from propkernels.convert.build import Faults, as_fault
from propkernels.convert.networkx import is_networkx
from propkernels.convert.pandas import one_graph
from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase, join
from propkernels.graphs.grid_database import Graphs, Grid, GridDatabase, OneGraph

ACCEPTED = (
    "a GraphDatabase, or a list of graphs of networkx, igraph, PyTorch Geometric or RDKit, of SMILES, "
    "of (adjacency, node_labels[, node_attributes]) tuples, of adjacency matrices, of lists of edges as "
    "tuples, of node-link dictionaries, of DataFrames of edges, or of graphs taken from databases"
)
ADAPTERS: dict[str, tuple[Callable[[Any], bool], Callable[[list[Any], Faults], GraphDatabase]]] = {
    "networkx": (networkx.is_networkx, networkx.convert),
    "igraph": (networkx.is_igraph, networkx.converted(lambda graph: graph.to_networkx())),
    "rdkit": (rdkit.is_mol, rdkit.convert),
    "pyg": (pyg.is_pyg, pyg.convert),
    "smiles": (lambda graph: isinstance(graph, str), rdkit.convert_smiles),
    "edges": (edges.is_edge_list, edges.convert),
    "node-link": (edges.is_node_link, networkx.converted(networkx.of_node_link)),
    "matrix": (adjacency.is_adjacency, adjacency.convert),
}


def check_graphs(graphs: Graphs) -> GraphDatabase:
    """Convert any supported input to a GraphDatabase.

    Parameters
    ----------
    graphs : GraphDatabase, GridDatabase, array of shape (n, m, m), sequence, or dict of graphs by id
        A sequence may mix graphs of other libraries, which are read as their ``from_X`` does by default
        (:func:`from_networkx`, :func:`from_pyg`, :func:`from_rdkit`, :func:`from_smiles` for texts,
        :func:`from_edges` for lists of tuples: call these for other options; igraph graphs through their
        ``to_networkx()``, node-link dictionaries like networkx graphs), tuples ``(adjacency, node_labels)``
        or ``(adjacency, node_labels, node_attributes)`` with a dense or scipy sparse adjacency, bare
        adjacency matrices that can be nothing else, DataFrames of edges or ``(edges, nodes)``, one graph
        each, and single graphs taken from databases, or databases of one graph.

    Returns
    -------
    GraphDatabase
        The same object if it is a GraphDatabase. A GridDatabase is returned unchanged: it has the same
        interface except for edges.

    Raises
    ------
    TypeError, ValueError
        If a graph is invalid; the message names the graph and the reason.

    See Also
    --------
    GraphDatabase : What it returns.
    from_networkx : With other names of node and edge data.
    from_pandas : From tables.
    from_smiles : From texts.

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> pk.check_graphs([nx.path_graph(3), ([[0, 1], [1, 0]], ["C", "O"])])
    GraphDatabase(2 graphs, 5 nodes, 3 edges, 2 node labels, 3 unobserved)
    """
    database: Any = graphs  # a GridDatabase has the interface of a GraphDatabase, except for edges
    if isinstance(graphs, (list, tuple)) and len(graphs) > 0 and isinstance(graphs[0], Grid):
        database = GridDatabase.concat(database)
    elif isinstance(graphs, Mapping) and not edges.is_node_link(graphs):
        database = check_graphs(list(graphs.values())).with_ids(list(graphs))
    elif not isinstance(graphs, (GraphDatabase, GridDatabase)):
        found = list(_by_kind(_as_several(graphs)))
        database = join([part for _, part in found], "graph", [first for first, _ in found])
    if len(database) == 0:
        raise ValueError("at least one graph is needed, got none (0 graphs)")
    return cast("GraphDatabase", database)


def check_graph(graph: OneGraph) -> GraphDatabase:
    """Convert one graph, or a database of graphs whose nodes are one set.

    Parameters
    ----------
    graph : GraphDatabase, graph taken from a database, or anything that a list for ``check_graphs`` may hold
        A networkx, igraph or RDKit graph, data of PyTorch Geometric, an adjacency matrix, or a tuple
        ``(adjacency, node_labels[, node_attributes])``. Tables are one graph, too: a DataFrame of edges
        (columns "source" and "target", "head" and "tail", or the first two; "weight", "relation"), or a tuple
        of DataFrames ``(edges, nodes)`` (columns "node" or the first), whose other columns are used as in
        :func:`from_pandas`: leave a target out. Other lists are read as several graphs.

    Returns
    -------
    GraphDatabase

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> import networkx as nx, propkernels as pk
    >>> pk.convert.check_graph(nx.path_graph(3))
    GraphDatabase(1 graph, 3 nodes, 2 edges)
    """
    return named_graph(graph)[0]


def named_graph(graph: OneGraph, target: str | None = None) -> tuple[GraphDatabase, list[Any] | None]:
    """Return one graph, as :func:`check_graph` does, and the names of its nodes; None if they have none.

    Nodes of networkx graphs, vertices of igraph graphs with the attribute "name", and rows of tables have
    names. A column ``target`` of the table of nodes is left out, if there is one.
    """
    given: Any = graph
    if tables := _tables_of(given):
        edges, *nodes = tables
        left = [] if target is None else [target]
        return one_graph(edges, *(table.drop(columns=left, errors="ignore") for table in nodes))
    database: Any = check_graphs([given] if is_one_graph(given) else given)
    if isinstance(database, GridDatabase):
        raise TypeError("models of nodes need a graph with edges, and a grid stores none")
    if is_networkx(given):
        return database, list(given.nodes)
    has_names = networkx.is_igraph(given) and "name" in given.vs.attributes()
    return cast("GraphDatabase", database), given.vs["name"] if has_names else None


def target_column(graph: OneGraph, column: str) -> Any:
    """Return a column of the table of nodes; raise ValueError if there is none."""
    tables = _tables_of(graph)
    if len(tables) < 2 or column not in tables[1].columns:
        there = f"has the columns {list(map(str, tables[1].columns))}" if len(tables) > 1 else "is not given"
        raise ValueError(f"y names the column {column!r} of the table of nodes, which {there}")
    return tables[1][column].to_numpy()


def _tables_of(graph: Any) -> tuple[Any, ...]:
    """Return one or two DataFrames as a tuple; an empty one for anything else."""
    tables = graph if isinstance(graph, tuple) else (graph,)
    are_tables = 1 <= len(tables) <= 2 and all(hasattr(t, "columns") and hasattr(t, "iloc") for t in tables)
    return tables if are_tables else ()


def is_one_graph(graph: Any) -> bool:
    """Return whether this is one graph, which ``check_graphs`` takes only in a list."""
    if isinstance(graph, tuple):
        first = graph[0] if graph else ()
        return not isinstance(first, (tuple, Graph)) and _kind_of(first) in (None, "matrix")
    kind = _kind_of(graph)
    if kind == "matrix":
        return getattr(graph, "ndim", 0) == 2
    return isinstance(graph, Graph) or (kind is not None and not _is_batch(graph))


def check_edges(graphs: Any) -> GraphDatabase:
    """Convert like ``check_graphs``, and raise an error for grids, which store no edges.

    Raises
    ------
    TypeError, ValueError
    """
    database = check_graphs(graphs)
    _ = database.adjacency  # raises an error for grids
    return database


def warn_of_missing_labels(graphs: Any, stacklevel: int = 3) -> None:
    """Warn if some graphs have node labels and others have nodes without."""
    column = graphs.label_column
    if column is None or bool(column.observed.all()):
        return
    n_labels = np.bincount(graphs.graph_ids[column.observed], minlength=len(graphs))
    without = np.flatnonzero((n_labels == 0) & (graphs.graph_sizes > 0))
    if len(without) and n_labels.any():
        warnings.warn(
            f"graph {without[0]} has no node labels and graph {n_labels.argmax()} has, so they share no "
            "neighborhood: label both, or compare structure alone by "
            'kernel=pk.WeisfeilerLehman(labels="degree")',
            stacklevel=stacklevel,
        )


def _by_kind(graphs: Iterable[Any]) -> Iterator[tuple[int, GraphDatabase]]:
    """Convert consecutive graphs of the same kind together; yield the first position and the database.

    Databases and tables are converted one by one, up to the first invalid item.
    """
    first = 0
    for kind, run in groupby(graphs, _kind_of):
        if kind is None:
            for graph in run:  # which may be endless
                yield first, _one_graph(graph, first)
                first += 1
        else:
            several = list(run)
            yield first, ADAPTERS[kind][1](several, Faults("raise", len(several), first=first))
            first += len(several)


def _kind_of(graph: Any) -> str | None:
    """Return the converter of a graph; None for databases, tables and anything else."""
    if isinstance(graph, (Graph, GraphDatabase)) or _tables_of(graph):
        return None
    return next((kind for kind, (takes, _) in ADAPTERS.items() if takes(graph)), None)


def _as_several(graphs: Any) -> Iterable[Any]:
    if isinstance(graphs, str):
        raise TypeError(
            f"expected several graphs, got the text {graphs[:60]!r}: put SMILES into a list, [text]; "
            "files are read by pk.datasets.open_source(path)"
        )
    if isinstance(graphs, Graph) or (_kind_of(graphs) not in (None, "matrix") and not _is_batch(graphs)):
        raise TypeError(
            f"expected several graphs, got one {type(graphs).__name__}: put it into a list, [graph]"
        )
    if isinstance(graphs, np.ndarray) and graphs.ndim == 3 and graphs.dtype != object:
        return graphs
    if isinstance(graphs, np.ndarray) and graphs.dtype.kind not in "OUT":
        raise TypeError(f"expected {ACCEPTED}; got an array of {graphs.dtype} numbers")
    if _is_batch(graphs):
        return list(pyg.from_pyg(graphs))
    if hasattr(graphs, "columns") and hasattr(graphs, "iloc"):
        raise TypeError(
            "a table is read by pk.from_pandas(edges, nodes), which takes the names of its columns; of a "
            "table of molecules, pass the column of SMILES"
        )
    flat = hasattr(graphs, "__iter__") and getattr(graphs, "ndim", 1) == 1
    if isinstance(graphs, (bytes, Set)) or not flat:
        raise TypeError(f"expected {ACCEPTED}; got {kind_of(graphs)}")
    return cast("Iterable[Any]", graphs)  # graphs are converted in order, up to the first invalid one


def _is_batch(graphs: Any) -> bool:
    """Return whether this is a Batch of PyTorch Geometric."""
    return pyg.is_pyg(graphs) and hasattr(graphs, "to_data_list")


def _one_graph(graph: Any, position: int) -> GraphDatabase:
    if isinstance(graph, Graph):
        return graph.database
    if isinstance(graph, GraphDatabase) and len(graph) == 1:
        return graph
    if tables := _tables_of(graph):
        with Faults("raise", 1, first=position).reading(0), as_fault():
            return one_graph(*tables)[0]
    kind, hint = "None" if graph is None else f"a {type(graph).__name__}", ""
    if isinstance(graph, GraphDatabase):
        kind, hint = f"{kind} of {len(graph)} graphs", " (GraphDatabase.concat joins databases)"
    raise TypeError(f"graph {position} is {kind}; expected {ACCEPTED}{hint}")
