"""A fixed zoo of awkward graphs, to be walked through by every estimator.

``zoo()`` is the whole of it, a dict of small databases by name; ``labelled_zoo()`` joins those whose node
labels are observed integers into one database; ``zoo_databases()`` feeds ``pytest.mark.parametrize``::

    @pytest.mark.parametrize(("name", "database"), zoo_databases())
"""

from functools import cache

import numpy as np
from scipy.sparse import coo_array

from propkernels.graphs import GraphDatabase
from propkernels.graphs.labels import LabelColumn

# entries whose nodes do not all carry an observed integer label
OTHER_LABELS = {
    "string labels",
    "tuple labels",
    "mixed-type labels",
    "float labels",
    "partially observed labels",
    "partially observed strings",
    "unobserved labels",
    "no labels",
    "only attributes",
}
WITH_ATTRIBUTES = {"attributes 1-d", "attributes 3-d", "only attributes", "attributes not observed"}


def one(n, edges=(), labels="int", *, weights=None, directed=False, attributes=None, edge_labels=None):
    """Return a database of one graph; ``labels="int"`` labels node i with i % 3."""
    pairs = list(edges)
    values = np.broadcast_to(np.asarray(1.0 if weights is None else weights), (len(pairs),)).tolist()
    names = [None] * len(pairs) if edge_labels is None else list(edge_labels)
    entries = [(i, j, w, name) for (i, j), w, name in zip(pairs, values, names, strict=True)]
    if not directed:
        entries += [(j, i, w, name) for i, j, w, name in entries if i != j]
    rows, cols = [e[0] for e in entries], [e[1] for e in entries]
    matrix = coo_array((np.array([e[2] for e in entries], dtype=float), (rows, cols)), shape=(n, n))
    labels = np.arange(n) % 3 if isinstance(labels, str) else labels
    given = None if edge_labels is None else [e[3] for e in entries]
    return GraphDatabase(matrix, [0, n], labels, attributes, given)


def path_edges(n):
    return [(i, i + 1) for i in range(n - 1)]


def cycle_edges(n):
    return [*path_edges(n), (n - 1, 0)]


def complete_edges(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def _shapes():
    bipartite = [(i, j) for i in range(3) for j in range(3, 7)]
    return {
        "single node": one(1),
        "two nodes": one(2, [(0, 1)]),
        "no edges": one(4),
        "no nodes": one(0),
        "no nodes among others": GraphDatabase.concat(
            [one(0), one(3, path_edges(3)), one(0), one(0), one(1)]
        ),
        "self-loops": one(3, [(0, 0), (0, 1), (1, 2), (2, 2)]),
        "lone self-loop": one(1, [(0, 0)]),
        "isolated nodes": one(5, [(1, 3)]),
        "several components": one(8, [(0, 1), (1, 2), (2, 0), (3, 4), (5, 6)]),
        "star": one(7, [(0, i) for i in range(1, 7)]),
        "long path": one(60, path_edges(60)),
        "cycle": one(6, cycle_edges(6)),
        "odd cycle": one(5, cycle_edges(5)),
        "complete graph": one(6, complete_edges(6)),
        "bipartite": one(7, bipartite),
    }


def _edges():
    dead_ends = [(0, 1), (1, 2), (0, 3), (3, 0)]
    return {
        "weighted": one(4, cycle_edges(4), weights=[0.5, 2.0, 1.25, 3.0]),
        "directed with dead ends": one(5, dead_ends, directed=True),
        "directed cycle": one(4, cycle_edges(4), directed=True),
        "directed and weighted": one(3, [(0, 1), (1, 0), (1, 2)], weights=[1.0, 2.5, 0.25], directed=True),
        "tiny weights": one(4, path_edges(4), weights=1e-12),
        "huge weights": one(4, path_edges(4), weights=1e12),
        "tiny and huge weights": one(4, complete_edges(4), weights=[1e-12, 1e12, 1, 1e12, 1e-12, 1]),
        "edge labels": one(4, cycle_edges(4), edge_labels=["single", "double", "single", "aromatic"]),
    }


def _labels():
    ring = cycle_edges(5)
    return {
        "many labels": one(30, cycle_edges(30), np.arange(30)),
        "one label": one(5, ring, [7] * 5),
        "large labels": one(5, ring, [2**40, -(2**40), 2**62, 0, -7]),
        "string labels": one(5, ring, ["C", "O", "C", "", "N\u00e9"]),
        "tuple labels": one(5, ring, [("C", 1), ("C", 2), ("C", 1), (), ("O", (1, 2))]),
        "mixed-type labels": one(5, ring, [1, "1", (1,), b"1", 1.5]),
        "float labels": one(5, ring, [0.5, 0.25, 0.5, 2.0, -3.5]),
        "partially observed labels": one(5, ring, [0, -1, 2, -1, 0]),
        "partially observed strings": one(5, ring, ["a", None, "b", float("nan"), "a"]),
        "unobserved labels": one(5, ring, [-1] * 5),
        "no labels": one(5, ring, None),
    }


def _attributes():
    ring, rng = cycle_edges(5), np.random.default_rng(0)
    gaps = np.array([0.5, np.nan, 1.0, -2.0, np.nan])
    return {
        "attributes 1-d": one(5, ring, attributes=rng.normal(size=5)),
        "attributes 3-d": one(5, ring, attributes=rng.normal(size=(5, 3))),
        "attributes not observed": one(5, ring, attributes=gaps),
        "only attributes": one(5, ring, None, attributes=rng.normal(size=(5, 2))),
    }


def _pairs():
    kite = one(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], [0, 1, 0, 2, 1])
    order = [3, 0, 4, 2, 1]
    twin = GraphDatabase(kite.adjacency[order][:, order], [0, 5], kite.node_labels[order])
    return {
        "two identical graphs": GraphDatabase.concat([kite, kite]),
        "isomorphic pair": GraphDatabase.concat([kite, twin]),
    }


@cache
def zoo():
    """Return every animal by name; most databases hold one graph, some a few."""
    return {**_shapes(), **_edges(), **_labels(), **_attributes(), **_pairs()}


def zoo_databases(*, attributes=True):
    """Return all (name, database) pairs, for parametrize; without ``attributes``, those that have none."""
    return [(name, database) for name, database in zoo().items() if attributes or name not in WITH_ATTRIBUTES]


def labelled_databases():
    """Return the (name, database) pairs in which every node has an integer label."""
    return [(name, database) for name, database in zoo().items() if name not in OTHER_LABELS]


@cache
def labelled_zoo():
    """Return all integer-labelled graphs, weighted and directed ones too, without their attributes."""
    return GraphDatabase.concat([database.with_attributes(None) for _, database in labelled_databases()])


@cache
def undirected_zoo():
    """Return the integer-labelled graphs whose adjacency is symmetric."""
    kept = [database for _, database in labelled_databases() if not database.is_directed]
    return GraphDatabase.concat([database.with_attributes(None) for database in kept])


def without_label(graphs, node):
    """The same graphs, one label of them hidden."""
    ids = graphs.label_column.ids.copy()
    ids[node] = -1
    return graphs.with_labels(LabelColumn(ids, graphs.label_column.values))


def hide_labels(graphs, fraction, random_state=0):
    """Graphs in which some of the observed labels, drawn at random, are unobserved."""
    column = graphs.label_column
    observed, ids = np.flatnonzero(column.observed), column.ids.copy()
    number = round(fraction * len(observed))
    ids[np.random.RandomState(random_state).permutation(observed)[:number]] = -1
    return graphs.with_labels(LabelColumn(ids, column.values))
