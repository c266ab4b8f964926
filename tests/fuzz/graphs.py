"""Random small graphs as plain values, which can be printed and turned into any form."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

import propkernels as pk

WEIGHTS = (1.0, 2.0, 0.5, 3.25, 0.1, 0.3, 1e-3, 1e3)
LABELS = {
    "int": (0, 1, 2, 3),
    "str": ("a", "b", "", "é"),
    "any": (0, "a", (0, "b"), 0.5, True, b"x", frozenset({1, 2}), "0", 2**70),
}
FORMS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok", "dense", "int64", "unsorted", "zeros", "twice")


@dataclass(frozen=True)
class Plain:
    """One graph: number of nodes, weights by (row, column), labels (None: unobserved), attributes."""

    n: int
    edges: tuple[tuple[int, int, float], ...]
    labels: tuple[Any, ...] | None
    attributes: tuple[tuple[float, ...], ...] | None

    def dense(self):
        matrix = np.zeros((self.n, self.n))
        for i, j, weight in self.edges:
            matrix[i, j] = weight
        return matrix


def random_graphs(rng, n_graphs=None):
    """A few graphs that share what they have: labels or none, attributes or none."""
    number = int(rng.integers(1, 5)) if n_graphs is None else n_graphs
    style = {
        "weighted": rng.random() < 0.4,
        "directed": rng.random() < 0.3,
        "labels": rng.choice(["int", "int", "str", "any", "none"]),
        "hidden": rng.choice([0.0, 0.0, 0.3, 1.0]),
        "dimensions": int(rng.choice([0, 1, 2, 3])),
        "missing": rng.choice([0.0, 0.0, 0.3]),
        "density": rng.choice([0.2, 0.5, 0.9]),
        "most": int(rng.choice([3, 5, 8])),
    }
    return [_one_graph(rng, style) for _ in range(number)]


def _one_graph(rng, style):
    n = int(rng.integers(0, style["most"] + 1))
    edges = {}
    for i in range(n):
        for j in range(n if style["directed"] else i + 1):
            if rng.random() < style["density"] * (0.2 if i == j else 1):
                weight = float(rng.choice(WEIGHTS)) if style["weighted"] else 1.0
                edges[i, j] = weight
                if not style["directed"]:
                    edges[j, i] = weight
    labels = None
    if style["labels"] != "none":
        kinds = LABELS[style["labels"]]
        labels = tuple(
            None if rng.random() < style["hidden"] else kinds[rng.integers(len(kinds))] for _ in range(n)
        )
    attributes = None
    if style["dimensions"]:
        values = np.round(rng.normal(size=(n, style["dimensions"])), 2)
        values[rng.random(values.shape) < style["missing"]] = np.nan
        attributes = tuple(tuple(float(v) for v in row) for row in values)
    return Plain(n, tuple((i, j, w) for (i, j), w in sorted(edges.items())), labels, attributes)


def database(graphs):
    """All graphs in one database."""
    sizes = [graph.n for graph in graphs]
    matrix = sp.block_diag([sp.csr_array(g.dense()) for g in graphs], format="csr") if sum(sizes) else None
    adjacency = np.zeros((0, 0)) if matrix is None else sp.csr_array(matrix)
    labels = _joined([g.labels for g in graphs])
    attributes = None
    if graphs[0].attributes is not None:
        rows = [row for graph in graphs for row in graph.attributes or ()]
        attributes = np.array(rows, dtype=float).reshape(sum(sizes), -1) if rows else np.zeros((0, 1))
    return pk.GraphDatabase(adjacency, np.cumsum([0, *sizes]), labels, attributes)


def _joined(labels):
    if labels[0] is None:
        return None
    array = np.empty(sum(map(len, labels)), dtype=object)
    for place, value in enumerate(label for own in labels for label in own):
        array[place] = value
    return array


def in_form(matrix, form):
    """The same adjacency in another representation."""
    if form == "dense":
        return matrix
    if form == "int64":
        csr = sp.csr_array(matrix)
        return sp.csr_array(
            (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=csr.shape
        )
    coo = sp.coo_array(matrix)
    rows, columns = coo.coords
    if form == "unsorted":
        return sp.coo_array((coo.data[::-1], (rows[::-1], columns[::-1])), shape=matrix.shape).tocsr()
    if form == "zeros":
        i, j = np.nonzero(matrix == 0)
        data = np.concatenate([coo.data, np.zeros(len(i))])
        return sp.coo_array(
            (data, (np.concatenate([rows, i]), np.concatenate([columns, j]))), shape=matrix.shape
        )
    if form == "twice":
        data = np.concatenate([coo.data / 2, coo.data / 2])
        return sp.coo_array((data, (np.tile(rows, 2), np.tile(columns, 2))), shape=matrix.shape)
    return coo.asformat(form)


def tuples(graphs, form="dense"):
    """Each graph as (adjacency, labels, attributes); one without nodes has as many attributes as others."""
    width = next((len(row) for graph in graphs for row in graph.attributes or ()), 1)
    return [
        (
            in_form(graph.dense(), form),
            None if graph.labels is None else _joined([graph.labels]),
            None
            if graph.attributes is None
            else np.array(graph.attributes, dtype=float).reshape(graph.n, -1 if graph.n else width),
        )
        for graph in graphs
    ]
