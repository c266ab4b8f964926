"""Base kernels <Phi_t, Phi_t> between count features (Algorithm 1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.arrays import rows_of, sum_in_order
from propkernels._utils.checks import check_choice
from propkernels._utils.parallel import active_device, by_rows, run_threads, threads_for
from propkernels.counts.columns import join_streams
from propkernels.counts.counters import Counter, StreamCounts
from propkernels.counts.levels import LevelCounter, count_levels, levels_of
from propkernels.counts.products import (
    ENTRIES_OF_A_STEP,
    add_matrix,
    add_sparse,
    add_stream_ratios,
    rectangular_gram,
    self_products,
    square_gram,
    sums_of_rows,
)

MATRIX_IN_CACHE = 2**21  # entries of a matrix of few graphs
MANY_RATIOS = 16  # streams of a ratio kernel whose products take less time than the steps between them
Matrix = NDArray[np.float64]
Streams = Sequence[StreamCounts]
Products = list[tuple[float, list[StreamCounts]]]


class BaseKernel(ABC):
    """Kernel between the counts of one stream; the kernels of streams are summed with their weights.

    If ``is_dot_product``, the kernel is the dot product of the features that ``features`` returns.
    """

    is_dot_product = False
    has_constant_diagonal = False  # normalization only rescales the kernel
    assigned: bool | None = None  # bins add the smaller counts (True) or products; None: not a sum over bins
    is_ratio = False

    def counter(self, counter: Counter) -> Counter | None:
        """Return a counter of the features whose dot product is the kernel; None if there are none."""
        return None

    def features(self, streams: list[StreamCounts]) -> list[StreamCounts]:
        """Return the features whose dot product is the kernel."""
        raise TypeError(f"{type(self).__name__} is not a dot product of counts")

    def fit(self, streams: Streams) -> BaseKernel:
        """Learn parameters from the training counts; most kernels have none."""
        return self

    def matrices_at_once(self, streams: Streams) -> int:
        """Return the largest number of matrices of the kernel's shape in memory at a time."""
        return 5

    def square_of(self, counts: csr_array) -> Matrix:
        """Return the kernel among graphs, (n, n)."""
        return self.cross_of(counts, counts)

    @abstractmethod
    def cross_of(self, left: csr_array, right: csr_array) -> Matrix:
        """Return the kernel between graphs, (m, n), for counts with the same columns."""

    @abstractmethod
    def diagonal_of(self, counts: csr_array) -> NDArray[np.float64]:
        """Return k(x, x) of each graph."""

    def square(self, streams: Streams) -> Matrix:
        """Return the kernel among training graphs, summed over streams."""
        if self.is_ratio and _are_many(streams):
            total = np.zeros((streams[0].counts.shape[0],) * 2)
            self._add_ratios(total, streams)
            return total
        total = self.square_stream(streams[0])
        for stream in streams[1:]:
            self.add_square(total, stream)
        return total

    def at(self, iteration: int) -> BaseKernel:
        """Return the kernel between the counts of one iteration."""
        return self

    def square_stream(self, stream: StreamCounts) -> Matrix:
        """Return the contribution of one stream to the kernel among training graphs."""
        return _scaled(self.at(stream.iteration).square_of(stream.counts), stream.weight)

    def add_square(self, total: Matrix, stream: StreamCounts) -> None:
        """Add the contribution of one stream to the kernel among training graphs, in place."""
        add_matrix(total, self.square_stream(stream))

    def products(self, streams: Streams) -> Products | None:
        """Return weights and streams whose products sum to the kernel; None if there are none."""
        return None

    def cross(self, new: Streams, train: Streams) -> Matrix:
        """Return the kernel of new against training graphs, including bins not seen in fit."""
        return sum_in_order(
            self.at(x.iteration).cross_of(x.counts, _widen(y.counts, x.counts.shape[1])) * x.weight
            for x, y in zip(new, train, strict=True)
        )

    def diagonal(self, streams: Streams) -> NDArray[np.float64]:
        """Return k(x, x) of each graph over all of its bins, including those not seen in fit."""
        work = sum(s.counts.nnz for s in streams) // ENTRIES_OF_A_STEP
        parts = np.array(run_threads(lambda s: self.diagonal_of(s.counts), streams, work=work))
        return _in_order(parts, streams)

    def diagonal_in(self, kernel: Matrix, streams: Streams) -> NDArray[np.float64]:
        """Return k(x, x) as :meth:`diagonal` does, given the kernel among training graphs."""
        if self.is_dot_product and all(stream.weight == 1.0 for stream in streams):
            return kernel.diagonal().copy()  # whole numbers: the same in any order
        return self.diagonal(streams)

    def cumulative(self, streams: Streams) -> Matrix:
        """Return the kernels for t_max = 0, 1, ...: each adds one iteration to the one before."""
        n, n_kernels = streams[0].counts.shape[0], streams[-1].iteration + 1
        kernels = np.zeros((n_kernels, n, n))
        for t in range(n_kernels):
            if t:
                add_matrix(kernels[t], kernels[t - 1])
            own = [stream for stream in streams if stream.iteration == t]
            if self.is_ratio and _are_many(streams):
                self._add_ratios(kernels[t], own)
                continue
            for stream in own:  # one by one, as in square, so that rounding is the same
                self.add_square(kernels[t], stream)
        return kernels

    def _add_ratios(self, total: Matrix, streams: Streams) -> None:
        """Add the ratios of many small streams to the kernel among training graphs, at once, in order."""
        counts, weights = [stream.counts for stream in streams], [stream.weight for stream in streams]
        add_stream_ratios(counts, weights, bool(self.assigned), total)


def _in_order(parts: Matrix, streams: Streams) -> NDArray[np.float64]:
    """Return the weighted sum of one row per stream, in order, for any number of graphs."""
    parts *= np.array([s.weight for s in streams])[:, None]
    return np.asarray(np.add.accumulate(parts, axis=0, out=parts)[-1])


def _widen(counts: csr_array, n_bins: int) -> csr_array:
    """Return counts with empty columns appended."""
    return rows_of(counts.data, counts.indices, counts.indptr, (counts.shape[0], n_bins))


class Linear(BaseKernel):
    """Dot product of counts; streams with equal weights share one matrix product."""

    is_dot_product = True
    assigned = False

    def counter(self, counter: Counter) -> Counter:
        """Return the counter: counts are the features."""
        return counter

    def features(self, streams: list[StreamCounts]) -> list[StreamCounts]:
        """Return the counts, which are the features."""
        return streams

    def matrices_at_once(self, streams: Streams) -> int:
        """Return 1 if all streams share one product; else 2, the sum and the next product."""
        return 1 if len(_by_weight(streams)) == 1 else 2

    def square_of(self, counts: csr_array) -> Matrix:
        """Return Phi Phi^T."""
        return square_gram([counts])

    def cross_of(self, left: csr_array, right: csr_array) -> Matrix:
        """Return X Y^T."""
        return rectangular_gram(left, right)

    def diagonal_of(self, counts: csr_array) -> NDArray[np.float64]:
        """Return the squared length of each count vector."""
        return self_products(counts)

    def diagonal(self, streams: Streams) -> NDArray[np.float64]:
        """Return k(x, x) of each graph over all of its bins; counts on a device are squared there."""
        device = active_device()
        found = None if device is None else device.diagonal(streams)
        if found is not None:
            return np.asarray(found)
        return _in_order(sums_of_rows([s.counts for s in streams], True), streams)

    def products(self, streams: Streams) -> Products:
        """Return the streams of equal weight."""
        return [(weight, [streams[i] for i in group]) for weight, group in _by_weight(streams)]

    def square(self, streams: Streams) -> Matrix:
        """Return the kernel among training graphs, with streams side by side."""
        total: Matrix | None = None
        for weight, group in self.products(streams):
            part = _scaled(square_gram([stream.counts for stream in group]), weight)
            if total is None:
                total = part
            else:
                add_matrix(total, part)
        assert total is not None
        return total

    def cross(self, new: Streams, train: Streams) -> Matrix:
        """Return the kernel against training graphs, without bins not seen in fit, which contribute 0."""
        known = [len(s.codes) for s in train]
        return sum_in_order(
            _scaled(
                rectangular_gram(
                    join_streams([new[i] for i in group], [known[i] for i in group]),
                    join_streams([train[i] for i in group]),
                ),
                weight,
            )
            for weight, group in _by_weight(train)
        )

    def cumulative(self, streams: Streams) -> Matrix:
        """Return the kernels for t_max = 0, 1, ...; integers are summed before they are weighted."""
        weights = {s.weight for s in streams}
        if len(weights) > 1:
            return super().cumulative(streams)
        n, n_kernels = streams[0].counts.shape[0], streams[-1].iteration + 1
        kernels = np.zeros((n_kernels, n, n))
        for t in range(n_kernels):
            if t:
                add_matrix(kernels[t], kernels[t - 1])
            add_matrix(kernels[t], square_gram([s.counts for s in streams if s.iteration == t]))
        weight = weights.pop()
        for kernel in kernels if weight != 1.0 else ():
            _scaled(kernel, weight)
        return kernels


def _by_weight(streams: Streams) -> list[tuple[float, list[int]]]:
    """Return the distinct weights with the numbers of their streams."""
    weights = list(dict.fromkeys(s.weight for s in streams))
    return [(w, [i for i, s in enumerate(streams) if s.weight == w]) for w in weights]


def _scaled(gram: Matrix, weight: float) -> Matrix:
    """Multiply by a weight in place."""
    if weight != 1.0:
        by_rows(lambda rows: np.multiply(gram[rows], weight, out=gram[rows]), gram.shape)
    return gram


class Ratio(BaseKernel):
    """Ratio s / (l + r - s) per stream; 0 for two empty graphs.

    s is the dot product of both graphs, l and r those of each with itself. The ratio is not a dot product of
    counts, but s times a factor per pair of graphs, so it is still a sum over bins.
    """

    has_constant_diagonal = True
    is_ratio = True

    def matrices_at_once(self, streams: Streams) -> int:
        """Return 2: the sum and the next product."""
        return 2

    def square_of(self, counts: csr_array) -> Matrix:
        """Return the ratios among graphs."""
        own = self._shared.diagonal_of(counts)
        return _ratio(self._shared.square_of(counts), own, own)

    def add_square(self, total: Matrix, stream: StreamCounts) -> None:
        """Add the ratios of one stream among training graphs, in place."""
        own = self._shared.diagonal_of(stream.counts)
        _ratio(self._shared.square_of(stream.counts), own, own, stream.weight, total)

    def cross_of(self, left: csr_array, right: csr_array) -> Matrix:
        """Return the ratios between graphs."""
        own, other = self._shared.diagonal_of(left), self._shared.diagonal_of(right)
        return _ratio(self._shared.cross_of(left, right), own, other)

    def diagonal_of(self, counts: csr_array) -> NDArray[np.float64]:
        """Return 1 for each graph with nodes, else 0."""
        return (self._shared.diagonal_of(counts) > 0).astype(np.float64)

    _shared: BaseKernel  # the dot product s


def _are_many(streams: Streams) -> bool:
    """Whether there are so many streams of so few graphs that steps of Python would take most of the time."""
    is_small = streams[0].counts.shape[0] ** 2 <= MATRIX_IN_CACHE
    return len(streams) >= MANY_RATIOS and is_small and active_device() is None


class Tanimoto(Ratio):
    """<x, y> / (<x, x> + <y, y> - <x, y>), per stream; two empty graphs have similarity 0."""

    assigned = False
    _shared = Linear()


class Intersection(BaseKernel):
    """Histogram intersection: the sum over bins of the smaller count.

    It is the dot product of levels: ``min(a, b) = sum over k of [a >= k] [b >= k]``.
    """

    is_dot_product = True
    assigned = True

    def counter(self, counter: Counter) -> Counter:
        """Return a counter of levels."""
        return LevelCounter(counter)

    def features(self, streams: list[StreamCounts]) -> list[StreamCounts]:
        """Return the levels of counts."""
        return levels_of(streams)

    def matrices_at_once(self, streams: Streams) -> int:
        """Return 2: the sum and the next product."""
        return 2

    def square_of(self, counts: csr_array) -> Matrix:
        """Return the histogram intersection among graphs."""
        return square_gram([count_levels(counts)[0]])

    def products(self, streams: Streams) -> Products:
        """Return the levels of streams of equal weight."""
        return Linear().products(levels_of(streams, coded=False))

    def square(self, streams: Streams) -> Matrix:
        """Return the kernel among training graphs, from all levels at once."""
        return Linear().square(levels_of(streams, coded=False))

    def cross(self, new: Streams, train: Streams) -> Matrix:
        """Return the kernel against training graphs; integers are summed before they are weighted."""

        def summed(group: list[int]) -> Matrix:
            total = np.zeros((new[0].counts.shape[0], train[0].counts.shape[0]))
            for x, y in ((new[i].counts, train[i].counts) for i in group):
                add_sparse(x, _widen(y, x.shape[1]), True, total)
            return total

        return sum_in_order(_scaled(summed(group), weight) for weight, group in _by_weight(train))

    def cumulative(self, streams: Streams) -> Matrix:
        """Return the kernels for t_max = 0, 1, ..., from the levels of each iteration."""
        return Linear().cumulative(levels_of(streams, coded=False))

    def cross_of(self, left: csr_array, right: csr_array) -> Matrix:
        """Return the histogram intersection between graphs."""
        return rectangular_gram(left, right, minimum=True)

    def diagonal_of(self, counts: csr_array) -> NDArray[np.float64]:
        """Return the number of counted nodes of each graph."""
        return sums_of_rows([counts], squared=False)[0]


class Jaccard(Ratio):
    """Multiset Jaccard: sum of smaller counts over sum of larger counts; 0 for two empty graphs."""

    assigned = True
    _shared = Intersection()


def _ratio(
    shared: Matrix,
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    weight: float = 1.0,
    total: Matrix | None = None,
) -> Matrix:
    """Add s / (l + r - s) times a weight to ``total``; by default, replace s. 0 / 0 is 0."""
    found = shared if total is None else total
    _core.weigh_ratios(shared, left, right, weight, total is not None, found, threads_for(shared.size))
    return found


class RadialBasis(BaseKernel):
    """exp(-gamma_t |x - y|^2); 1 / gamma_t is the mean squared length of the training counts at t."""

    gamma: float = 1.0

    def fit(self, streams: Streams) -> BaseKernel:
        """Learn gamma from the training counts of each iteration, independent of t_max."""
        lengths: dict[int, list[float]] = {}
        for stream in streams:
            lengths.setdefault(stream.iteration, []).append(float(self_products(stream.counts).mean()))
        self.gammas = {
            t: len(several) / sum(several) if any(several) else 1.0 for t, several in lengths.items()
        }
        return self

    def at(self, iteration: int) -> RadialBasis:
        """Return the kernel with the gamma of one iteration."""
        kernel = RadialBasis()
        kernel.gamma = self.gammas[iteration]
        return kernel

    def cross_of(self, left: csr_array, right: csr_array) -> Matrix:
        """Return scikit-learn's RBF kernel between graphs."""
        from sklearn.metrics.pairwise import rbf_kernel

        if left.shape[1] == 0:  # graphs without nodes are equal; scikit-learn requires a column
            return np.ones((left.shape[0], right.shape[0]))
        return np.asarray(rbf_kernel(left, right, gamma=self.gamma))

    def diagonal_of(self, counts: csr_array) -> NDArray[np.float64]:
        """Return 1 for each graph."""
        return np.ones(counts.shape[0])


class UserKernel(BaseKernel):
    """A function ``kernel(X, Y) -> (m, n) array`` of two sparse count matrices, applied per stream."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def cross_of(self, left: csr_array, right: csr_array) -> Matrix:
        """Return the kernel between graphs; raise an error if its shape is wrong."""
        kernel = np.array(self.function(left, right), dtype=np.float64, order="C")
        if kernel.shape != (left.shape[0], right.shape[0]):
            raise ValueError(
                f"base_kernel returned shape {kernel.shape} for {left.shape[0]} by {right.shape[0]} graphs"
            )
        return kernel

    def diagonal_of(self, counts: csr_array) -> NDArray[np.float64]:
        """Return k(x, x), computed graph by graph."""
        return np.array([self.cross_of(counts[[i]], counts[[i]])[0, 0] for i in range(counts.shape[0])])


_BY_NAME: dict[str, type[BaseKernel]] = {
    "linear": Linear,
    "rbf": RadialBasis,
    "intersection": Intersection,
    "tanimoto": Tanimoto,
    "jaccard": Jaccard,
}


def resolve_base_kernel(base_kernel: Any) -> BaseKernel:
    """Return the base kernel of that name, or a wrapper of a function."""
    if callable(base_kernel):
        return UserKernel(base_kernel)
    check_choice(base_kernel, tuple(_BY_NAME), "base_kernel")
    return _BY_NAME[base_kernel]()
