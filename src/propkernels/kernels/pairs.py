"""Kernels that compare pairs of graphs by their nodes: tiles of pairs, and kernels of nodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.checks import check_choice, check_positive
from propkernels._utils.parallel import one_blas_thread, run_threads, whole_runs
from propkernels._utils.progress import ProgressBar
from propkernels._utils.stored import ANY_NUMBER, Offsets, require
from propkernels.convert.check import check_edges
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.count_kernel import Comparison, CountKernel
from propkernels.propagation.attributes import Standardizer, fill_missing, observed_means
from propkernels.propagation.initial import LABEL_SOURCES, node_keys, resolve_source

Matrix = NDArray[np.float64]
Tile = tuple[slice, slice]
NODES_IN_TILE = 384


class TiledComparison(Comparison):
    """Comparison of graphs pair by pair, in tiles of many pairs, in threads, with a progress bar.

    The data of graphs begin with their nodes.
    """

    data_type: ClassVar[type]  # of what ``count`` returns
    nodes: NodeComparison

    @abstractmethod
    def tile(self, left: Any, rows: slice, right: Any, columns: slice) -> Matrix:
        """Return kernel values of graphs, (rows, columns); each depends on its pair alone."""

    def check_data(self, data: Any, n_graphs: int) -> None:
        """Raise if the data belong to another comparison, to other graphs or to other attributes."""
        require(type(data) is self.data_type, "the data belong to another comparison")
        require(len(data.nodes.ptr) - 1 == n_graphs, "every graph needs a self-similarity")
        dimensions = data.nodes.points.shape[1]
        require(dimensions == self.nodes.dimensions, "nodes have another number of attributes")

    def diagonal(self, data: Any) -> Matrix:
        """Return self-similarities."""
        own = [slice(i, i + 1) for i in range(len(data.nodes.ptr) - 1)]
        tiles = [self.tile(data, graph, data, graph)[0] for graph in own]
        return check_finite(np.concatenate([np.empty(0), *tiles]))

    def square(self, data: Any) -> Matrix:
        """Return the kernel matrix of all graphs; tiles below the diagonal are mirrored."""
        runs, n = _runs(data), len(data.nodes.ptr) - 1
        kernel = np.empty((n, n))

        def one_tile(tile: Tile) -> None:
            rows, columns = tile
            values = check_finite(self.tile(data, rows, data, columns))
            if rows == columns:
                values = np.triu(values) + np.triu(values, 1).T
            kernel[rows, columns] = values
            kernel[columns, rows] = values.T

        _each(one_tile, [(a, b) for i, a in enumerate(runs) for b in runs[i:]])
        return kernel

    def cross(self, new: Any, train: Any) -> Matrix:
        """Return the kernel of new graphs against training graphs."""
        kernel = np.empty((len(new.nodes.ptr) - 1, len(train.nodes.ptr) - 1))

        def one_tile(tile: Tile) -> None:
            kernel[tile] = check_finite(self.tile(new, tile[0], train, tile[1]))

        _each(one_tile, [(a, b) for a in _runs(new) for b in _runs(train)])
        return kernel


def _runs(data: Any) -> list[slice]:
    """Return runs of whole graphs, each the rows or columns of a tile."""
    return [slice(int(a), int(b)) for a, b in pairwise(whole_runs(data.nodes.ptr, NODES_IN_TILE))]


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
        if parameters.gamma is not None:
            check_positive(parameters.gamma, "gamma")
        labels = parameters.labels
        if parameters.attributes is None:
            return cls(resolve_source(graphs, labels), 0, 1.0, None, np.empty(0))
        if labels == "auto":
            labels = None if graphs.label_column is None else "node"
        standardizer = Standardizer.learn(graphs, parameters.standardize)
        points = standardizer(graphs)
        gamma = 1 / max(points.shape[1], 1) if parameters.gamma is None else float(parameters.gamma)
        kind = ATTRIBUTE_KERNELS.index(parameters.attributes)
        return cls(resolve_source(graphs, labels), kind, gamma, standardizer, observed_means(points))

    def nodes(self, graphs: GraphDatabase) -> Nodes:
        """Return labels and attributes of the nodes of any graphs."""
        keys = node_keys(check_edges(graphs), self.source)
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


@dataclass(kw_only=True, eq=False, repr=False)
class AttributeKernel(CountKernel):
    """Mean of a node kernel over all pairs of nodes, without edges: the baseline A of the paper.

    Parameters
    ----------
    attributes : {"gaussian", "linear", "truncated"}, default="gaussian"
        Kernel between attributes: ``exp(-gamma |x - y|^2)``; x . y; or the Gaussian if ``|x - y| <= 1``,
        else 0.
    labels : {"auto", "node", "degree", None}, default=None
        Labels that must be equal; None: labels are not compared.
    gamma : float or None, default=None
        Factor in the exponent; None: 1 / (number of attribute dimensions).
    standardize : bool, default=True
        Scale attributes to mean 0 and variance 1 over the training nodes. Missing values are replaced by the
        mean of the graph, or of the training nodes.
    normalize : bool, default=False
        Divide k(x, y) by sqrt(k(x, x) k(y, y)).
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores.

    See Also
    --------
    PropagationKernel : Compares labels, structure and attributes.
    propkernels.kernels.LabelHistogram : The baseline for labels.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 7.4, the baseline A.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> edge = np.array([[0, 1], [1, 0]])
    >>> graphs = [(edge, None, [[0.0], [0.0]]), (edge, None, [[0.0], [1.0]])]
    >>> pk.kernels.AttributeKernel(standardize=False).fit_transform(graphs).round(3)
    array([[1.   , 0.684],
           [0.684, 0.684]])
    """

    attributes: str = "gaussian"
    labels: str | None = None
    gamma: float | None = None
    standardize: bool = True
    normalize: bool = False
    n_jobs: int | None = None

    _is_dot_product = False

    def _learn_coder(self, graphs: GraphDatabase) -> MeanOverPairs:
        check_edges(graphs)
        check_choice(self.attributes, ATTRIBUTE_KERNELS[1:], "attributes")
        return MeanOverPairs(NodeComparison.learn(graphs, self))


@dataclass(frozen=True)
class MeanOverPairs(TiledComparison):
    """Mean node kernel over all pairs of nodes."""

    nodes: NodeComparison
    data_type: ClassVar[type] = Nodes

    def count(self, graphs: GraphDatabase, known: None) -> Nodes:
        """Return labels and attributes of the nodes."""
        return self.nodes.nodes(graphs)

    def tile(self, left: Nodes, rows: slice, right: Nodes, columns: slice) -> NDArray[np.float64]:
        """Return the kernel between two runs of graphs, (rows, columns)."""
        a, b = left.some(rows), right.some(columns)
        out = np.empty((len(a.ptr) - 1, len(b.ptr) - 1))
        _core.sum_blocks(self.nodes.matrix(a, b), a.ptr, b.ptr, out)
        return out / np.maximum(np.outer(np.diff(a.ptr), np.diff(b.ptr)), 1)
