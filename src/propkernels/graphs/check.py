"""check_graphs: the one door through which graphs enter an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.graph import Graph
from propkernels.graphs.join import join
from propkernels.graphs.networkx import is_networkx, one_from_networkx

ACCEPTED = (
    "a GraphDatabase, or a list of networkx graphs, of (adjacency, node_labels[, node_attributes]) tuples, "
    "of adjacency matrices, or of graphs taken from databases"
)


def check_graphs(graphs: Any) -> GraphDatabase:
    """Turn whatever a user holds into a GraphDatabase.

    Parameters
    ----------
    graphs : GraphDatabase or sequence
        A sequence may mix networkx graphs (node data "label" and "attributes", edge data "weight" and
        "label"; use :func:`from_networkx` for other names), tuples ``(adjacency, node_labels)`` or
        ``(adjacency, node_labels, node_attributes)`` with a dense or scipy sparse adjacency, bare
        adjacency matrices, and single graphs taken from databases.

    Returns
    -------
    GraphDatabase
        The very same object if it was one.

    Raises
    ------
    TypeError, ValueError
        One sentence naming the graph and what is wrong with it.
    """
    if not isinstance(graphs, GraphDatabase):
        graphs = join_graphs([_one_graph(graph, i) for i, graph in enumerate(_as_list(graphs))])
    if len(graphs) == 0:
        raise ValueError("at least one graph is needed, got none (0 graphs)")
    return graphs


def join_graphs(singles: Sequence[GraphDatabase]) -> GraphDatabase:
    """Join databases of one graph each, speaking of graphs in the errors."""
    try:
        return join(singles)
    except ValueError as error:
        raise ValueError(str(error).replace("item ", "graph ")) from None


def _as_list(graphs: Any) -> list[Any]:
    if isinstance(graphs, Graph) or is_networkx(graphs):
        raise TypeError(
            f"expected several graphs, got one {type(graphs).__name__}: put it into a list, [graph]"
        )
    if isinstance(graphs, (str, bytes, dict)) or issparse(graphs) or not hasattr(graphs, "__iter__"):
        raise TypeError(f"expected {ACCEPTED}; got {type(graphs).__name__}")
    if isinstance(graphs, np.ndarray) and graphs.dtype != object:
        raise TypeError(f"expected {ACCEPTED}; got an array of {graphs.dtype} numbers")
    return list(graphs)


def _one_graph(graph: Any, position: int) -> GraphDatabase:
    if isinstance(graph, Graph):
        return graph.database
    if is_networkx(graph):
        return one_from_networkx(graph, position)
    if isinstance(graph, tuple) and 1 <= len(graph) <= 3:
        return _from_tuple(graph, position)
    if issparse(graph) or isinstance(graph, np.ndarray):
        return _from_tuple((graph,), position)
    raise TypeError(f"graph {position} is a {type(graph).__name__}; expected {ACCEPTED}")


def _from_tuple(parts: Sequence[Any], position: int) -> GraphDatabase:
    adjacency, *rest = parts
    labels, attributes = (*rest, None, None)[:2]
    try:
        n = adjacency.shape[0] if hasattr(adjacency, "shape") and adjacency.ndim else len(adjacency)
        dense_empty = n == 0 and not issparse(adjacency)
        matrix = np.zeros((0, 0)) if dense_empty else adjacency
        return GraphDatabase(matrix, [0, n], labels, attributes)
    except (TypeError, ValueError) as error:
        message = str(error).replace(" of graph 0", "")
        raise type(error)(f"graph {position}: {message}") from None
