"""check_graphs: the one door through which graphs enter an estimator."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np
from scipy.sparse import issparse

from propkernels.graphs.database import Graph, GraphDatabase, join
from propkernels.graphs.grids.database import Grid, GridDatabase
from propkernels.graphs.networkx import is_networkx, one_from_networkx
from propkernels.graphs.validation import (
    check_adjacency,
    check_attributes,
    check_node_labels,
    check_square,
    check_weights,
    naming_graph,
)

ACCEPTED = (
    "a GraphDatabase, or a list of networkx graphs, of (adjacency, node_labels[, node_attributes]) tuples, "
    "of adjacency matrices, or of graphs taken from databases"
)


def check_graphs(graphs: Any) -> GraphDatabase:
    """Turn whatever a user holds into a GraphDatabase.

    Parameters
    ----------
    graphs : GraphDatabase, GridDatabase or sequence
        A sequence may mix networkx graphs (node data "label" and "attributes", edge data "weight" and
        "label"; use :func:`from_networkx` for other names), tuples ``(adjacency, node_labels)`` or
        ``(adjacency, node_labels, node_attributes)`` with a dense or scipy sparse adjacency, bare
        adjacency matrices, and single graphs taken from databases.

    Returns
    -------
    GraphDatabase
        The very same object if it was one. A GridDatabase comes back as itself: it offers the same face,
        but for its edges.

    Raises
    ------
    TypeError, ValueError
        One sentence naming the graph and what is wrong with it.

    See Also
    --------
    GraphDatabase : What it returns.
    from_networkx : With other names of node and edge data.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> edge = np.array([[0, 1], [1, 0]])
    >>> len(pk.check_graphs([(edge, ["C", "O"]), (edge, ["C", "C"])]))
    2
    """
    if isinstance(graphs, GridDatabase) or _are_grids(graphs):
        graphs = graphs if isinstance(graphs, GridDatabase) else GridDatabase.concat(graphs)
    elif not isinstance(graphs, GraphDatabase):
        graphs = join([_one_graph(graph, i) for i, graph in enumerate(_as_list(graphs))], "graph")
    if len(graphs) == 0:
        raise ValueError("at least one graph is needed, got none (0 graphs)")
    return graphs


def _are_grids(graphs: Any) -> bool:
    return isinstance(graphs, (list, tuple)) and len(graphs) > 0 and isinstance(graphs[0], Grid)


def _as_list(graphs: Any) -> list[Any]:
    if isinstance(graphs, Graph) or is_networkx(graphs):
        raise TypeError(
            f"expected several graphs, got one {type(graphs).__name__}: put it into a list, [graph]"
        )
    if isinstance(graphs, np.ndarray) and graphs.dtype != object:
        raise TypeError(f"expected {ACCEPTED}; got an array of {graphs.dtype} numbers")
    flat = hasattr(graphs, "__iter__") and getattr(graphs, "ndim", 1) == 1
    if isinstance(graphs, (str, bytes, Mapping, Set)) or not flat:
        raise TypeError(f"expected {ACCEPTED}; got {type(graphs).__name__}")
    return list(graphs)


def _one_graph(graph: Any, position: int) -> GraphDatabase:
    if isinstance(graph, Graph):
        return graph.database
    if is_networkx(graph):
        return one_from_networkx(graph, position)
    if issparse(graph) or isinstance(graph, np.ndarray):
        graph = (graph,)
    if not isinstance(graph, tuple):
        raise TypeError(f"graph {position} is a {type(graph).__name__}; expected {ACCEPTED}{_hint(graph)}")
    if not 1 <= len(graph) <= 3:
        raise TypeError(f"graph {position} is a tuple of {len(graph)} items; expected {ACCEPTED}")
    with naming_graph(position):
        return _from_parts(*graph)


def _hint(graph: Any) -> str:
    return " (GraphDatabase.concat joins databases)" if isinstance(graph, GraphDatabase) else ""


def _from_parts(adjacency: Any, node_labels: Any = None, node_attributes: Any = None) -> GraphDatabase:
    if is_networkx(adjacency):
        raise TypeError("a networkx graph stands in the list alone, its node labels are its node data")
    square = check_square(np.zeros((0, 0)) if _is_empty_list(adjacency) else adjacency)
    graph_ptr = np.array([0, square.shape[0]], dtype=np.int64)
    matrix, _ = check_adjacency(square, None, graph_ptr)
    check_weights(matrix, graph_ptr)
    labels = check_node_labels(node_labels, graph_ptr)
    attributes = check_attributes(node_attributes, graph_ptr)
    return GraphDatabase._assemble(matrix, graph_ptr, labels, attributes, None)


def _is_empty_list(adjacency: Any) -> bool:
    """Whether this is ``[]`` or its array, the way a graph without nodes is written down."""
    empty = isinstance(adjacency, (list, tuple)) and not adjacency
    return empty or getattr(adjacency, "shape", None) == (0,)
