"""Hypothesis strategies for graphs and databases, and the permutations that kernels must not notice.

Examples shrink towards few graphs, few nodes, no edges, label 0 and weight 1.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from propkernels.graphs import GraphDatabase

WEIGHTS = (1.0, 2.0, 0.5, 3.25, 1e-3, 1e3)
LABEL_KINDS = {
    "int": st.integers(0, 3),
    "str": st.sampled_from(["a", "b", "c", ""]),
    "any": st.one_of(st.integers(0, 2), st.sampled_from(["a", "0"]), st.sampled_from([(0,), ("a", 1), 0.5])),
}


@st.composite
def graphs(
    draw: st.DrawFn,
    min_nodes: int = 0,
    max_nodes: int = 6,
    *,
    labelled: bool | str = True,
    partial: bool = False,
    weighted: bool = False,
    directed: bool = False,
    loops: bool = True,
    n_attributes: int | None = None,
    edge_labels: bool = False,
) -> GraphDatabase:
    """Databases of one graph.

    Parameters
    ----------
    labelled : bool or "int", "str", "any"
        True means integers 0 to 3, False no labels at all.
    partial : bool
        Whether some labels may be unobserved.
    weighted, directed, loops : bool
        Whether weights other than 1, one-way edges and self-loops may (not must) occur.
    n_attributes : int, optional
        Dimensions of the node attributes; None for no attributes.
    edge_labels : bool
        Whether edges carry labels 0 to 2, the same in both directions unless ``directed``.
    """
    n = draw(st.integers(min_nodes, max_nodes))
    pairs = [
        (i, j) for i in range(n) for j in range(n) if (i < j) or (directed and i > j) or (loops and i == j)
    ]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2 * n)) if pairs else []
    weight, name = st.sampled_from(WEIGHTS if weighted else (1.0,)), st.integers(0, 2)
    values, names = np.zeros((n, n)), np.zeros((n, n), dtype=np.int64)
    for i, j in edges:
        values[i, j] = draw(weight)
        names[i, j] = draw(name) if edge_labels else 0
    if not directed:
        values, names = np.maximum(values, values.T), np.maximum(names, names.T)
    return GraphDatabase(
        csr_array(values),
        [0, n],
        _labels(draw, n, labelled, partial),
        _attributes(draw, n, n_attributes),
        names[values != 0] if edge_labels else None,
    )


def _labels(draw: st.DrawFn, n: int, labelled: bool | str, partial: bool) -> Any:
    if labelled is False:
        return None
    kind = LABEL_KINDS["int" if labelled is True else labelled]
    values = draw(st.lists(st.one_of(kind, st.none()) if partial else kind, min_size=n, max_size=n))
    array = np.empty(n, dtype=object)
    array[:] = values
    return array


def _attributes(draw: st.DrawFn, n: int, dimensions: int | None) -> Any:
    if dimensions is None:
        return None
    number = st.integers(-8, 8).map(lambda k: k / 4)
    return np.array(draw(st.lists(number, min_size=n * dimensions, max_size=n * dimensions))).reshape(
        n, dimensions
    )


@st.composite
def databases(
    draw: st.DrawFn, min_graphs: int = 1, max_graphs: int = 5, max_nodes: int = 6, **options: Any
) -> GraphDatabase:
    """Databases of several graphs; the options are those of ``graphs``."""
    singles = draw(st.lists(graphs(max_nodes=max_nodes, **options), min_size=min_graphs, max_size=max_graphs))
    return GraphDatabase.concat(singles)


def permutations(n: int) -> st.SearchStrategy[list[int]]:
    """Orders of ``n`` things, shrinking to the identity."""
    return st.permutations(range(n))


def node_order(database: GraphDatabase, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of the nodes that keeps each graph's nodes together."""
    ptr = database.graph_ptr
    parts = [start + rng.permutation(stop - start) for start, stop in pairwise(ptr)]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def permute_nodes(database: GraphDatabase, rng: np.random.Generator) -> GraphDatabase:
    """Renumber the nodes of every graph at random: the same graphs to any kernel."""
    order = node_order(database, rng)
    coo = database.adjacency.tocoo()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    rows, cols = (position[axis] for axis in coo.coords)
    entries = np.lexsort((cols, rows))
    matrix = csr_array((coo.data, (rows, cols)), shape=coo.shape)
    return GraphDatabase(
        matrix,
        database.graph_ptr,
        None if database.label_column is None else database.label_column.take(order),
        None if database.node_attributes is None else database.node_attributes[order],
        None if database.edge_label_column is None else database.edge_label_column.take(entries),
    )


def permute_graphs(database: GraphDatabase, rng: np.random.Generator) -> tuple[GraphDatabase, np.ndarray]:
    """Return the graphs in a random order, and the order: ``permuted[i]`` is ``database[order[i]]``."""
    order = rng.permutation(len(database))
    return database[order], order
