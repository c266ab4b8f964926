"""Base class of kernels that compare pairs of graphs, by tiles of pairs or by counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from propkernels import _core
from propkernels._utils.arrays import check_room
from propkernels._utils.checks import GraphInput, check_choice, check_positive
from propkernels._utils.parallel import one_blas_thread, run_threads, threaded, whole_runs
from propkernels._utils.progress import ProgressBar
from propkernels._utils.stored import ANY_NUMBER, Offsets, is_array, require
from propkernels.convert.check import check_edges
from propkernels.counts.base_kernels import BaseKernel, Linear
from propkernels.counts.counters import Counter, StreamCounts
from propkernels.counts.products import Counting, normalized, normalized_square
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.kernels.count_kernel import check_options
from propkernels.propagation.attributes import Standardizer, fill_missing
from propkernels.propagation.initial import LABEL_SOURCES, node_keys, resolve_source

Matrix = NDArray[np.float64]
Tile = tuple[slice, slice]
NODES_IN_TILE = 384


class TiledComparison(ABC):
    """Comparison of graphs pair by pair, in tiles of many pairs."""

    depth: int = 1  # number of kernels that one pass yields
    prepared_type: ClassVar[type]  # return type of prepare
    nodes: NodeComparison

    def check_prepared(self, prepared: Any) -> None:
        """Raise if training graphs were prepared for another comparison or other attributes."""
        require(type(prepared) is self.prepared_type, "graphs are prepared for another comparison")
        dimensions = prepared.nodes.points.shape[1]
        require(dimensions == self.nodes.dimensions, "nodes have another number of attributes")

    def explicit(self) -> Counter | None:
        """Return None: the kernel is not a dot product of counts."""
        return None

    def counting(self, prepared: Any, normalize: bool) -> Counting | None:
        """Return None: graphs are not compared bin by bin."""
        return None

    def matrices_at_once(self, prepared: Any) -> int:
        """Return the number of kernel matrices in memory at a time."""
        return self.depth

    @abstractmethod
    def prepare(self, graphs: GraphDatabase) -> Any:
        """Return the data of each graph that ``tile`` needs."""

    @abstractmethod
    def tile(self, left: Any, rows: slice, right: Any, columns: slice) -> Matrix:
        """Return kernel values of prepared graphs, (depth, rows, columns); each depends on its pair alone."""

    def diagonal(self, prepared: Any) -> Matrix:
        """Return self-similarities."""
        own = [slice(i, i + 1) for i in range(len(prepared.nodes.ptr) - 1)]
        tiles = [self.tile(prepared, graph, prepared, graph)[-1, 0] for graph in own]
        return check_finite(np.concatenate([np.empty(0), *tiles]))

    def square(self, prepared: Any) -> Matrix:
        """Return the kernel matrices of all graphs, (depth, n, n); tiles below the diagonal are mirrored."""
        runs, n = _runs(prepared), len(prepared.nodes.ptr) - 1
        kernels = np.empty((self.depth, n, n))

        def one_tile(tile: Tile) -> None:
            rows, columns = tile
            values = check_finite(self.tile(prepared, rows, prepared, columns))
            if rows == columns:
                values = np.triu(values) + np.swapaxes(np.triu(values, 1), 1, 2)
            kernels[:, rows, columns] = values
            kernels[:, columns, rows] = np.swapaxes(values, 1, 2)

        _each(one_tile, [(a, b) for i, a in enumerate(runs) for b in runs[i:]])
        return kernels

    def cumulative(self, prepared: Any) -> Matrix:
        """Return all kernel matrices of one pass."""
        return self.square(prepared)

    def cross(self, graphs: GraphDatabase, train: Any) -> tuple[Matrix, Matrix]:
        """Return the kernel of new graphs against training graphs, and k(x, x) of the new graphs."""
        new = self.prepare(graphs)
        kernel = np.empty((len(graphs), len(train.nodes.ptr) - 1))

        def one_tile(tile: Tile) -> None:
            kernel[tile] = check_finite(self.tile(new, tile[0], train, tile[1]))[-1]

        _each(one_tile, [(a, b) for a in _runs(new) for b in _runs(train)])
        return kernel, self.diagonal(new)


def _runs(prepared: Any) -> list[slice]:
    """Return runs of whole graphs, each the rows or columns of a tile."""
    return [slice(int(a), int(b)) for a, b in pairwise(whole_runs(prepared.nodes.ptr, NODES_IN_TILE))]


def _each(function: Callable[[Tile], None], tiles: list[Tile]) -> None:
    """Apply a function to tiles in threads, with a progress bar."""
    with one_blas_thread(), ProgressBar("Comparing graphs", len(tiles)) as bar:

        def one(tile: Tile) -> None:
            function(tile)
            bar.step()

        run_threads(one, tiles)


def check_finite(values: Matrix) -> Matrix:
    """Return kernel values; raise if any is infinite or NaN."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(values.sum())
    if suspect and not np.isfinite(values).all():
        raise ValueError(
            "the kernel of two graphs is larger than a float can hold: set standardize=True, "
            "or divide the attributes by a constant"
        )
    return values


@dataclass(frozen=True)
class CountedComparison:
    """Comparison of graphs by a dot product of features of their counts."""

    counter: Counter
    base_kernel: BaseKernel = field(default=Linear(), kw_only=True)

    def check_prepared(self, counts: Any) -> None:
        """Raise if training graphs are not given by counts."""
        streams = isinstance(counts, list) and all(isinstance(stream, StreamCounts) for stream in counts)
        require(streams, "training graphs need counts")

    def explicit(self) -> Counter | None:
        """Return the counter of the features."""
        return self.base_kernel.counter(self.counter)

    def counting(self, counts: list[StreamCounts], normalize: bool) -> Counting:
        """Return the counts of the training graphs with their comparison."""
        return Counting(self.counter, counts, bool(self.base_kernel.assigned), False, normalize)

    def explicit_counts(self, counts: list[StreamCounts]) -> list[StreamCounts]:
        """Return the counts of the training graphs by the counter of the features."""
        return self.base_kernel.features(counts)

    def matrices_at_once(self, counts: list[StreamCounts]) -> int:
        """Return the number of kernel matrices in memory at a time."""
        return self.base_kernel.matrices_at_once(counts)

    def prepare(self, graphs: GraphDatabase) -> list[StreamCounts]:
        """Return the counts of the training graphs."""
        return self.counter.count(graphs, None)

    def square(self, counts: list[StreamCounts]) -> Matrix:
        """Return the kernel matrix of the training graphs, (1, n, n)."""
        return self.base_kernel.square(counts)[None]

    def diagonal(self, counts: list[StreamCounts]) -> Matrix:
        """Return self-similarities."""
        return self.base_kernel.diagonal(counts)

    def cross(self, graphs: GraphDatabase, train: list[StreamCounts]) -> tuple[Matrix, Matrix]:
        """Return the kernel of new graphs against training graphs, and k(x, x) of the new graphs."""
        new = self.counter.count(graphs, [stream.codes for stream in train])
        return self.base_kernel.cross(new, train), self.base_kernel.diagonal(new)


class PairwiseKernel(GraphInput, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of kernels that compare pairs of graphs, or explicit features if the kernel has them.

    Subclasses define the comparison by ``_learn``. Pairs are computed in tiles, in threads, with a progress
    bar on a terminal.
    """

    _comparison: Any
    diagonal_: Any
    _prepared: Any
    _n_features_out: int
    normalize: bool
    n_jobs: int | None

    @abstractmethod
    def _learn(self, graphs: GraphDatabase) -> TiledComparison | CountedComparison:
        """Validate the parameters, and return the comparison fitted to the training graphs."""

    @threaded
    def fit(self, X: Graphs, y: object = None) -> Self:
        """Prepare the training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        database = check_edges(X)
        comparison, prepared = self._prepare(database)
        self._keep(comparison, prepared, comparison.diagonal(prepared) if self.normalize else None, database)
        return self

    @threaded
    def fit_transform(self, X: Graphs, y: object = None, **fit_params: object) -> Matrix:
        """Fit, and return the kernel matrix of the training graphs.

        Returns
        -------
        ndarray of shape (n, n)
        """
        kernel = self._fit_kernels(X)[-1]
        return normalized_square(kernel, self.diagonal_) if self.normalize else kernel

    @threaded
    def transform(self, X: Graphs) -> Matrix:
        """Return the kernel of new graphs against the training graphs.

        Returns
        -------
        ndarray of shape (m, n)
        """
        check_is_fitted(self, "_comparison")
        database = check_edges(X)
        comparison = self._comparison
        check_room(len(database), self._n_features_out, comparison.matrices_at_once(self._prepared))
        kernel, diagonal = comparison.cross(database, self._prepared)
        return normalized(kernel, diagonal, self.diagonal_) if self.normalize else kernel

    @threaded
    def self_similarities(self, X: Graphs) -> NDArray[np.float64]:
        """Return k(x, x) of new graphs, before normalization.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self, "_comparison")
        found: NDArray[np.float64] = self._comparison.diagonal(self._comparison.prepare(check_edges(X)))
        return found

    def _restricted(self, t: int | None, normalize: bool) -> Self:
        """Return a fitted copy with or without normalization; t must be None.

        Returns
        -------
        estimator
            Equal to a kernel with these parameters fitted to the same graphs.
        """
        check_is_fitted(self, "_comparison")
        if t is not None:
            raise ValueError(f"{type(self).__name__} has no iterations, got t = {t}")
        kernel = copy(self).set_params(normalize=normalize)
        if normalize and kernel.diagonal_ is None:
            kernel.diagonal_ = self._comparison.diagonal(self._prepared)
        return kernel

    @property
    def _is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts; if so, ``_counter`` exists after fit."""
        return False

    @property
    def _counter(self) -> Counter | None:
        """Counter of the features, if the kernel is a dot product of counts; else None."""
        counter: Counter | None = self._comparison.explicit()
        return counter

    @property
    def _counting(self) -> Counting | None:
        """Counts and their comparison, if graphs are compared bin by bin; else None."""
        counting: Counting | None = self._comparison.counting(self._prepared, bool(self.normalize))
        return counting

    @property
    def _training_counts(self) -> list[StreamCounts]:
        """Counts of the training graphs by ``_counter``."""
        counts: list[StreamCounts] = self._comparison.explicit_counts(self._prepared)
        return counts

    # the steps of fit

    def _prepare(self, database: GraphDatabase) -> tuple[Any, Any]:
        """Validate all parameters; return the fitted comparison and the prepared training graphs."""
        check_options(self)
        comparison: Any = self._learn(database)
        return comparison, comparison.prepare(database)

    def _fit_kernels(self, graphs: Any, cumulative: bool = False) -> Matrix:
        """Fit, and return the kernel, or all kernels of one pass, without normalization: (depth, n, n)."""
        database = check_edges(graphs)
        check_room(len(database), len(database))
        comparison, prepared = self._prepare(database)
        at_once = comparison.matrices_at_once(prepared) + (comparison.depth if cumulative else 0)
        check_room(len(database), len(database), at_once)
        kernels: Matrix = (comparison.cumulative if cumulative else comparison.square)(prepared)
        self._keep(comparison, prepared, kernels[-1].diagonal().copy(), database)
        return kernels

    def _keep(self, comparison: Any, prepared: Any, diagonal: Matrix | None, database: GraphDatabase) -> None:
        self._comparison, self._prepared, self.diagonal_ = comparison, prepared, diagonal
        self._n_features_out = len(database)

    def _check_parts(self) -> None:
        """Raise if the prepared training graphs do not match the comparison."""
        if hasattr(self, "_comparison"):
            fits = isinstance(self._comparison, (TiledComparison, CountedComparison))
            require(fits, "_comparison has a wrong type")
            is_valid = self.diagonal_ is None or is_array(self.diagonal_, "f", 1)
            require(is_valid, "self-similarities must be numbers")
            self._comparison.check_prepared(self._prepared)


ATTRIBUTE_KERNELS = (None, "gaussian", "linear", "truncated")
LINEAR, TRUNCATED = 2, 3


class Nodes(NamedTuple):
    """Labels and attributes of the nodes of several graphs.

    ``ptr`` are the offsets of the graphs, ``keys`` are hashes of labels, ``points`` are attributes (without
    columns if attributes are not compared).
    """

    ptr: Annotated[NDArray[np.int64], Offsets("keys")]
    keys: Annotated[NDArray[np.uint64], ANY_NUMBER]
    points: NDArray[np.float64]

    @property
    def nodes(self) -> Nodes:
        """The nodes themselves, as of what else comparisons prepare."""
        return self

    def _check_parts(self) -> None:
        """Raise if labels and attributes do not match."""
        require(self.keys.ndim == 1 and self.points.ndim == 2, "every node needs a key and attributes")
        require(len(self.keys) == len(self.points), "every node needs a row of attributes")

    def check_pairs(self, pair_ptr: NDArray[np.int64], values: NDArray[Any]) -> None:
        """Raise unless there is one value per ordered pair of nodes of each graph."""
        fits = values.ndim == 1 and np.array_equal(np.diff(pair_ptr), np.diff(self.ptr) ** 2)
        require(fits, "every pair of nodes needs a value")

    def some(self, graphs: slice) -> Nodes:
        """Return the nodes of a run of graphs."""
        ptr = self.ptr[graphs.start : graphs.stop + 1]
        part = slice(ptr[0], ptr[-1])
        return Nodes(ptr - ptr[0], self.keys[part], self.points[part])


@dataclass(frozen=True)
class NodeComparison:
    """Node kernel with parameters resolved on the training graphs.

    Attributes
    ----------
    source : {"node", "degree", None}
        Source of labels.
    kind : int
        Position in ``ATTRIBUTE_KERNELS``.
    gamma : float
        Factor in exp(-gamma |x - y|^2).
    standardizer : Standardizer or None
    elsewhere : ndarray, (D,)
        Mean of the training nodes, which replaces attributes that are missing in a whole graph.
    """

    source: str | None
    kind: int
    gamma: float
    standardizer: Standardizer | None
    elsewhere: NDArray[np.float64]

    def _check_parts(self) -> None:
        """Raise unless there is a standardizer if, and only if, attributes are compared."""
        require(self.kind in range(4), "the kernel of attributes is unknown")
        fits = (self.kind == 0) == (self.standardizer is None)
        require(fits, "a standardizer is needed exactly if attributes are compared")

    @property
    def dimensions(self) -> int:
        """Number of compared attributes."""
        return 0 if self.standardizer is None else len(self.standardizer.mean)

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> NodeComparison:
        """Return a node kernel from validated parameters of an estimator and the training graphs."""
        check_choice(parameters.labels, LABEL_SOURCES, "labels")
        check_choice(parameters.attributes, ATTRIBUTE_KERNELS, "attributes")
        check_choice(parameters.standardize, (True, False), "standardize")
        if parameters.gamma is not None:
            check_positive(parameters.gamma, "gamma")
        labels = parameters.labels
        if parameters.attributes is None:
            return cls(resolve_source(graphs, labels), 0, 1.0, None, np.empty(0))
        if labels == "auto":
            labels = None if graphs.label_column is None else "node"
        standardizer = Standardizer.learn(graphs, parameters.standardize)
        points = standardizer(graphs)
        counts = np.maximum(np.count_nonzero(~np.isnan(points), axis=0), 1)
        gamma = 1 / max(points.shape[1], 1) if parameters.gamma is None else float(parameters.gamma)
        kind = ATTRIBUTE_KERNELS.index(parameters.attributes)
        elsewhere = np.nansum(points, axis=0) / counts
        return cls(resolve_source(graphs, labels), kind, gamma, standardizer, elsewhere)

    def nodes(self, graphs: GraphDatabase) -> Nodes:
        """Return labels and attributes of the nodes of any graphs."""
        keys = node_keys(graphs, self.source)
        if self.standardizer is None:
            return Nodes(graphs.graph_ptr, keys, np.empty((graphs.n_nodes, 0)))
        points = fill_missing(self.standardizer(graphs), graphs, self.elsewhere)
        return Nodes(graphs.graph_ptr, keys, np.ascontiguousarray(points))

    def matrix(self, left: Nodes, right: Nodes) -> NDArray[np.float64]:
        """Return the node kernel between all left and all right nodes."""
        values = np.ones((len(left.keys), len(right.keys)))
        transposed = np.ascontiguousarray(right.points.T)
        if self.kind != 0:
            _core.compare_points(left.points, transposed, self.kind == LINEAR, values)
        if self.kind not in (0, LINEAR):
            far = values > 1.0 if self.kind == TRUNCATED else None
            with np.errstate(over="ignore"):  # with a large gamma, exp(-inf) = 0 is right
                np.exp(np.multiply(values, -self.gamma, out=values), out=values)
            if far is not None:
                values[far] = 0.0
        if self.source is not None:
            values[left.keys[:, None] != right.keys] = 0.0
        return values
