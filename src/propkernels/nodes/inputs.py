"""Columns of numbers that are propagated: attributes with node labels, positional statistics, and targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse

from propkernels import _core
from propkernels._utils.randomness import label_keys
from propkernels._utils.stored import is_whole, require
from propkernels._utils.typing import Matrix
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.propagation_kernel import PropagationCoder, PropagationKernel
from propkernels.models.defaults import has_views
from propkernels.propagation.schemes import directed_adjacency, walk_operator

Columns = dict[str, NDArray[np.float64]]
DAMPING = 0.85  # of PageRank
PAGERANK_STEPS = 30
MOST_RELATIONS = 64  # edge labels with a column each; rarer ones have none
MOST_NODE_LABELS = 1000  # node labels with a column each; rarer ones have none
MOST_NUMBERS = 2**25  # nodes times columns; more attributes are reduced to ``N_COMPONENTS`` columns
N_COMPONENTS = 256
N_CODES = 2**11  # hashed columns of codes
CODE_STEPS, CODE_HASHES, CODE_WIDTH = 2, 4, 0.2
COLUMNS_AT_ONCE = 16  # whose means and deviations are computed
SPARSE_BELOW = 0.5  # share of entries other than 0 below which nonnegative attributes are counts of words


@dataclass(frozen=True)
class AttributeInputs:
    """Preparation of attributes and node labels, learned in fit.

    Counts of words (sparse matrices, and nonnegative ones that are mostly 0) are divided by their norm per
    node; other attributes are standardized. Node labels add one column each. Wide matrices are projected on
    their principal directions.

    Attributes
    ----------
    width : int
        Number of attributes.
    labels : tuple
        Node labels with a column.
    by_norm : bool
        Rows of attributes are divided by their norm; otherwise columns are standardized.
    middle, unit : ndarray, (attributes,)
        Mean and spread of attributes; a missing attribute is replaced by the mean.
    directions : ndarray, (columns, components), or None
        Projection of wide matrices.
    """

    width: int
    labels: tuple[Hashable, ...]
    by_norm: bool
    middle: Matrix
    unit: Matrix
    directions: Matrix | None = None

    def _check_parts(self) -> None:
        """Raise unless attributes, labels and directions have the same number of columns."""
        require(self.middle.shape == (self.width,) == self.unit.shape, "every attribute needs mean and unit")
        _require_units(self.middle, self.unit)
        fits = self.directions is None or len(self.directions) == self.width + len(self.labels)
        require(fits, "every column needs a row of directions")

    @property
    def n_columns(self) -> int:
        """Number of columns to propagate."""
        return self.width + len(self.labels) if self.directions is None else self.directions.shape[1]

    @classmethod
    def learn(cls, graphs: GraphDatabase, seed: int) -> AttributeInputs | None:
        """Return the preparation for a graph; None if it has neither attributes nor node labels."""
        matrix, labels = graphs.attribute_matrix, _frequent_labels(graphs)
        width = 0 if matrix is None else matrix.shape[1]
        if not width and not labels:
            return None
        by_norm = width > 0 and _are_counts(matrix)
        middle, unit = _means_and_units(matrix, width)
        plain = cls(width, labels, by_norm, middle, unit)
        if graphs.n_nodes * plain.n_columns <= MOST_NUMBERS or plain.n_columns <= N_COMPONENTS:
            return plain
        return cls(width, labels, by_norm, middle, unit, _directions(plain.columns(graphs), seed))

    def columns(self, graphs: GraphDatabase) -> Matrix | csr_array:
        """Return the columns of all nodes: a sparse matrix if attributes are counts, else a dense one."""
        full = self.full_columns(graphs)
        return full if self.directions is None else np.asarray(full @ self.directions)

    def full_columns(self, graphs: GraphDatabase) -> Matrix | csr_array:
        """Return the columns before the projection on directions."""
        matrix = graphs.attribute_matrix
        found = 0 if matrix is None else matrix.shape[1]
        if found != self.width:
            raise ValueError(f"the graph has {found} attributes, and the one in fit had {self.width}")
        parts: list[Any] = [self._prepared(matrix)] if self.width else []
        if self.labels:
            parts.append(_one_hot(graphs.label_column, self.labels, graphs.n_nodes))
        if self.by_norm or not self.width:
            return csr_array(hstack(parts, format="csr"))
        dense = [part.toarray() if issparse(part) else part for part in parts]
        return dense[0] if len(dense) == 1 else np.hstack(dense)

    def _prepared(self, matrix: Any) -> Any:
        filled = _filled(matrix, self.middle)
        if not self.by_norm:
            return _in_units(filled, self.middle, self.unit)
        counts = csr_array(filled)
        norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
        scale = np.divide(1.0, norms, out=np.ones_like(norms), where=norms > 0)
        data = counts.data * np.repeat(scale, np.diff(counts.indptr))
        return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)

    def names(self) -> list[str]:
        """Return the names of attributes and node labels, before the projection."""
        return [f"attribute {i}" for i in range(self.width)] + [f"label {value}" for value in self.labels]


def _frequent_labels(graphs: GraphDatabase) -> tuple[Hashable, ...]:
    """Return the node labels with a column; of tuples, their entries, as (place, value)."""
    column = graphs.label_column
    if column is None:
        return ()
    if not isinstance(column, LabelColumn):
        return tuple(column.values[:MOST_NODE_LABELS])
    numbers: Counter[Hashable] = Counter()
    by_entry = has_views(column)
    counts = np.bincount(column.ids[column.observed], minlength=len(column.values))
    for value, count in zip(column.values, counts.tolist(), strict=True):
        for one in _entries(value, by_entry) if count else ():
            numbers[one] += count
    values = tuple(numbers)
    # equally frequent labels are ordered by their keys, since the order of nodes must not matter
    order = np.lexsort((label_keys(values), -np.array([numbers[value] for value in values])))
    return tuple(values[i] for i in order[:MOST_NODE_LABELS])


def _entries(value: Any, by_entry: bool) -> list[Any]:
    if not (by_entry and isinstance(value, tuple)):
        return [value]
    return [(i, one) for i, one in enumerate(value) if one is not None]


def _one_hot(column: Any, values: tuple[Hashable, ...], n_nodes: int) -> csr_array:
    """Return one column per value, 1 at nodes with that label (or an entry of it), or its probability."""
    if column is None:
        return csr_array((n_nodes, len(values)))
    place, by_entry = {value: i for i, value in enumerate(values)}, has_views(column)
    pairs = [
        (row, place[one])
        for row, value in enumerate(column.values)
        for one in _entries(value, by_entry)
        if one in place
    ]
    rows, chosen = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    table = csr_array((np.ones(len(rows)), (rows, chosen)), shape=(len(column.values) + 1, len(values)))
    if isinstance(column, LabelColumn):
        return csr_array(table[np.where(column.observed, column.ids, len(column.values))])
    known = csr_array(column.probabilities.multiply(column.known[:, None]))
    return csr_array(known @ table[:-1])


def _are_counts(matrix: Any) -> bool:
    data = matrix.data if issparse(matrix) else matrix
    if data.size and np.nanmin(data) < 0:
        return False
    return issparse(matrix) or np.count_nonzero(data) < SPARSE_BELOW * data.size


def _require_units(middle: Matrix, unit: Matrix) -> None:
    """Raise unless stored means are finite and units are positive."""
    usable = np.isfinite(middle).all() and ((unit > 0) & (unit < np.inf)).all()
    require(bool(usable), "means are finite and units are positive")


def _in_units(values: Matrix, middle: Matrix, unit: Matrix) -> Matrix:
    """Return columns minus their means, in units; raise ValueError if this overflows."""
    with np.errstate(over="ignore"):
        scaled = values - middle
        scaled /= unit
    if not np.isfinite([scaled.min(initial=0.0), scaled.max(initial=0.0)]).all():
        raise ValueError("columns of nodes are too large for the units of those in fit")
    return scaled


def _means_and_units(matrix: Any, width: int) -> tuple[Matrix, Matrix]:
    """Return mean and standard deviation (1 for constant columns) of the observed entries of each column."""
    if not width:
        return np.zeros(0), np.ones(0)
    if issparse(matrix):
        missing = np.bincount(matrix.indices[np.isnan(matrix.data)], minlength=width)
        number = np.maximum(matrix.shape[0] - missing, 1)
        data = np.nan_to_num(matrix.data)
        middle = np.bincount(matrix.indices, data, width) / number
        spread = np.sqrt(np.maximum(np.bincount(matrix.indices, data**2, width) / number - middle**2, 0))
    else:
        middle, spread = np.zeros((2, width))
        for first in range(0, width, COLUMNS_AT_ONCE):
            part = matrix[:, first : first + COLUMNS_AT_ONCE]
            observed = ~np.isnan(part).all(axis=0)
            middle[first : first + COLUMNS_AT_ONCE][observed] = np.nanmean(part[:, observed], axis=0)
            spread[first : first + COLUMNS_AT_ONCE][observed] = np.nanstd(part[:, observed], axis=0)
    return middle, np.where(spread > 1e-12 * np.maximum(np.abs(middle), 1e-300), spread, 1.0)


def _filled(matrix: Any, middle: Matrix) -> Any:
    """Return the matrix with missing entries replaced by the mean of their column."""
    if issparse(matrix):
        missing = np.isnan(matrix.data)
        if not missing.any():
            return matrix
        data = np.where(missing, middle[matrix.indices], matrix.data)
        return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    missing = np.isnan(matrix)
    return np.where(missing, middle, matrix) if missing.any() else matrix


def _directions(matrix: Any, seed: int) -> Matrix:
    """Return the leading right singular vectors, (columns, 256), by a randomized method."""
    from sklearn.utils.extmath import randomized_svd

    _, _, vectors = randomized_svd(matrix, N_COMPONENTS, n_iter=2, random_state=seed, flip_sign=True)
    return np.ascontiguousarray(vectors.T)


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
    columns: Columns = {"degree": np.log1p(graphs.degrees)}
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


@dataclass(frozen=True)
class StructureInputs:
    """Standardized positional statistics, learned in fit.

    Attributes
    ----------
    names : tuple of str
    middle, unit : ndarray, (statistics,)
    directed : bool
        Whether outgoing and incoming edges are counted separately.
    relations : tuple
        Edge labels with columns.
    """

    names: tuple[str, ...]
    middle: Matrix
    unit: Matrix
    directed: bool
    relations: tuple[Hashable, ...]

    def _check_parts(self) -> None:
        """Raise unless every statistic has mean and unit."""
        shape = (len(self.names),)
        require(self.middle.shape == shape == self.unit.shape, "every statistic needs mean and unit")
        _require_units(self.middle, self.unit)

    @classmethod
    def learn(cls, graphs: GraphDatabase) -> tuple[StructureInputs, Matrix]:
        """Return the statistics to use, and their standardized values."""
        directed, relations = graphs.is_directed, frequent_relations(graphs)
        found = structure_columns(graphs, directed, relations)
        raw = np.column_stack(list(found.values()))
        middle, unit = _means_and_units(raw, raw.shape[1])
        inputs = cls(tuple(found), middle, unit, directed, relations)
        return inputs, (raw - middle) / unit

    def columns(self, graphs: GraphDatabase) -> Matrix:
        """Return the standardized statistics of all nodes."""
        found = structure_columns(graphs, self.directed, self.relations)
        return _in_units(np.column_stack([found[name] for name in self.names]), self.middle, self.unit)


@dataclass(frozen=True)
class NodeInputs:
    """Sources of columns, learned in fit.

    Attributes
    ----------
    attributes : AttributeInputs or None
    structure : StructureInputs
    coder : PropagationCoder or None
        Codes of neighborhoods.
    n_codes : int
        Number of hashed columns of codes.
    direction : str
        Direction in which walks cross directed edges.
    """

    attributes: AttributeInputs | None
    structure: StructureInputs
    coder: PropagationCoder | None
    n_codes: int
    direction: str

    def _check_parts(self) -> None:
        """Raise if the number of hashed columns is out of range."""
        require(is_whole(self.n_codes, 1), "the number of hashed columns is out of range")

    def column_names(self, source: str) -> list[str]:
        """Return the names of the propagated columns of attributes or positional statistics."""
        if source == "structure":
            return list(self.structure.names)
        assert self.attributes is not None
        if self.attributes.directions is None:
            return self.attributes.names()
        return [f"component {k}" for k in range(self.attributes.n_columns)]


def learn_inputs(graphs: GraphDatabase, direction: str, codes: bool, seed: int) -> tuple[NodeInputs, Matrix]:
    """Return the sources of columns of a graph, and its standardized positional statistics."""
    structure, values = StructureInputs.learn(graphs)
    attributes = AttributeInputs.learn(graphs, seed)
    coder = _learn_coder(graphs, seed) if codes else None
    return NodeInputs(attributes, structure, coder, N_CODES, direction), values


def _learn_coder(graphs: GraphDatabase, seed: int) -> PropagationCoder:
    """Return the coder of neighborhoods: diffusion of node labels, or of orders of magnitude of degrees."""
    kernel = PropagationKernel(
        labels="log_degree" if graphs.label_column is None else "node",
        edge_labels=graphs.edge_label_column is not None,
        t_max=CODE_STEPS,
        n_hashes=CODE_HASHES,
        bin_width=CODE_WIDTH,
        random_state=seed,
    )
    return PropagationCoder.learn(graphs, kernel, None)
