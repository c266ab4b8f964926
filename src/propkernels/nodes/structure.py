"""Positional statistics of nodes: degrees, triangles, cores, PageRank, and numbers of edges per relation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation.schemes import directed_adjacency, walk_operator

Columns = dict[str, NDArray[np.float64]]
DAMPING = 0.85  # of PageRank
PAGERANK_STEPS = 30
MOST_RELATIONS = 64  # edge labels with a column each; rarer ones have none


def structure_columns(
    graphs: GraphDatabase, directed: bool = False, relations: tuple[object, ...] = ()
) -> Columns:
    """Return statistics of all nodes by name; large counts enter as log(1 + count).

    Parameters
    ----------
    graphs : GraphDatabase
    directed : bool
        Whether outgoing and incoming edges are counted separately.
    relations : tuple
        Edge labels whose outgoing and incoming edges are counted.

    Returns
    -------
    dict of str to ndarray of float64, (N,)
    """
    wiring = simple_graph(graphs)
    columns = {"degree": np.log1p(graphs.degrees)}
    if directed:
        columns["in-degree"] = np.log1p(np.asarray(graphs.adjacency.sum(axis=0)).ravel())
    triangles, neighbors = triangles_of(wiring), np.diff(wiring.indptr).astype(np.float64)
    columns["triangles"] = np.log1p(triangles)
    pairs = neighbors * (neighbors - 1) / 2
    columns["clustering"] = np.divide(triangles, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    columns["core"] = np.log1p(cores_of(wiring))
    columns["PageRank"] = np.log(pagerank(graphs) * np.maximum(graphs.graph_sizes[graphs.graph_ids], 1))
    return columns | relation_columns(graphs, directed, relations)


def simple_graph(graphs: GraphDatabase) -> csr_array:
    """Return the symmetric adjacency without weights, loops and parallel edges."""
    both = directed_adjacency(graphs, "both")
    if both.diagonal().any():
        both = csr_array(both, copy=True)
        both.setdiag(0)
        both.eliminate_zeros()
    return both


def triangles_of(wiring: csr_array) -> NDArray[np.float64]:
    """Return the number of triangles at each node of a simple graph."""
    degrees = np.diff(wiring.indptr)
    rank = np.empty(len(degrees), dtype=np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(len(degrees))
    counts = np.zeros(len(degrees), dtype=np.int64)
    _core.triangle_counts(wiring.indptr, wiring.indices, rank, counts)
    return counts.astype(np.float64)


def cores_of(wiring: csr_array) -> NDArray[np.float64]:
    """Return the core number of each node of a simple graph."""
    cores = np.zeros(wiring.shape[0], dtype=np.int64)
    _core.core_numbers(wiring.indptr, wiring.indices, cores)
    return cores.astype(np.float64)


def pagerank(graphs: GraphDatabase) -> NDArray[np.float64]:
    """Return the PageRank of each node within its graph, by 30 steps with damping 0.85.

    Nodes without outgoing edges keep their share.
    """
    jump = 1 / np.maximum(graphs.graph_sizes[graphs.graph_ids], 1).astype(np.float64)
    walk = walk_operator(graphs, 0.0, "follow")
    is_symmetric = walk.adjacency is graphs.adjacency and not graphs.is_directed
    matrix = walk.adjacency if is_symmetric else csr_array(walk.adjacency.T)
    rank = jump
    for _ in range(PAGERANK_STEPS):
        moved = matrix @ (walk.spread * rank) + walk.keep * rank
        rank = DAMPING * moved + (1 - DAMPING) * jump
    return np.asarray(rank)


def frequent_relations(graphs: GraphDatabase) -> tuple[object, ...]:
    """Return the edge labels that get a column: all, or the 64 most frequent."""
    column = graphs.edge_label_column
    if column is None:
        return ()
    numbers = np.bincount(column.ids[column.observed], minlength=len(column.values))
    order = np.argsort(-numbers, kind="stable")[:MOST_RELATIONS]
    return tuple(column.values[i] for i in order if numbers[i])


def relation_columns(graphs: GraphDatabase, directed: bool, relations: tuple[object, ...]) -> Columns:
    """Return, per relation, log(1 + number) of outgoing edges, and of incoming edges of directed graphs."""
    if not relations:
        return {}
    column = graphs.edge_label_column
    if column is None:
        column = LabelColumn(np.full(graphs.adjacency.nnz, -1, dtype=np.int32), ())
    number = {value: i for i, value in enumerate(column.values)}
    sources = np.repeat(np.arange(graphs.n_nodes), np.diff(graphs.adjacency.indptr))
    ends = {"outgoing": sources} | ({"incoming": graphs.adjacency.indices} if directed else {})
    columns = {}
    for relation in relations:
        chosen = column.ids == number.get(relation, -2)
        for word, nodes in ends.items():
            counts = np.bincount(nodes[chosen], minlength=graphs.n_nodes)
            columns[f"{relation}, {word}"] = np.log1p(counts.astype(np.float64))
    return columns
