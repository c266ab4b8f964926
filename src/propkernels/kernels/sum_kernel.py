"""SumKernel: a weighted sum of kernels, with given weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import check_room, sum_in_order
from propkernels._utils.checks import GraphInput, check_weights, shown
from propkernels._utils.parallel import threaded
from propkernels._utils.stored import SOMETIMES, Indices, not_negative, require
from propkernels._utils.typing import Estimator, Floats, Record
from propkernels.convert.check import check_graphs
from propkernels.counts.counters import (
    Counter,
    Known,
    Occurrences,
    StreamCounts,
    Values,
    after_known,
)
from propkernels.counts.products import inverse_length, normalized, normalized_square, self_products
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.kernels.count_kernel import check_options
from propkernels.kernels.shortest_path import ShortestPath
from propkernels.kernels.weisfeiler_lehman import WeisfeilerLehman

Matrix = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SumParameters:
    """Parameters of :class:`SumKernel`."""

    kernels: Sequence[Estimator] | None = None
    _: KW_ONLY
    weights: Floats | None = None
    normalize_parts: bool = True
    normalize: bool = False
    n_jobs: int | None = None


class SumKernel(SumParameters, GraphInput, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Weighted sum of kernels.

    The features of a sum of kernels are the features of all parts. If all parts are dot products of counts,
    so is the sum: models fold it, explain it and search it like a single kernel.

    Parameters
    ----------
    kernels : list of estimators or None, default=None
        The parts. None: ``[WeisfeilerLehman(), ShortestPath()]``.
    weights : None or sequence of float, default=None
        One nonnegative weight per part; None: 1 each.
    normalize_parts : bool, default=True
        Normalize each part before the sum, regardless of its parameter ``normalize``, so that no part
        dominates; False: parts are added unchanged.
    normalize : bool, default=False
        Divide the sum k(x, y) by sqrt(k(x, x) k(y, y)).
    n_jobs : int or None, default=None
        Number of threads of the parts whose own ``n_jobs`` is None; None means 1, -1 all cores.

    Attributes
    ----------
    kernels_ : list of estimators
        The fitted parts.
    weights_ : ndarray of shape (parts,)
    diagonal_ : ndarray of shape (n,)
        Self-similarity of each training graph, before normalization.

    See Also
    --------
    PropagationKernel : A kernel to sum; several values of ``attribute_bin_width`` are a sum as well.

    References
    ----------
    .. [1] B. Schölkopf and A. J. Smola (2002). Learning with Kernels. MIT Press. Sums of kernels.

    Examples
    --------
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> parts = [pk.kernels.LabelHistogram(), pk.WeisfeilerLehman(t_max=2)]
    >>> pk.SumKernel(parts, weights=[0.5, 2]).fit_transform(data.graphs).shape
    (30, 30)
    """

    diagonal_: NDArray[np.float64]
    kernels_: list[Any]
    weights_: NDArray[np.float64]
    _n_features_out: Annotated[int, SOMETIMES]

    # parameters of the parts: kernel0, kernel0__t_max, ...

    def get_params(self, deep: bool = True) -> Record:
        """Return the parameters; with ``deep``, also those of the parts, such as kernel0__t_max."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.kernels, (list, tuple)):
            for i, kernel in enumerate(self.kernels):
                parameters[f"kernel{i}"] = kernel
                if hasattr(kernel, "get_params") and not isinstance(kernel, type):
                    parameters |= {f"kernel{i}__{k}": v for k, v in kernel.get_params().items()}
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters of the sum and of its parts."""
        for name in [name for name in parameters if name.startswith("kernel") and name[6:].isdigit()]:
            kernels, place = list(self.kernels or ()), int(name[6:])
            if place >= len(kernels):
                raise ValueError(f"the part {name} does not exist: SumKernel has {len(kernels)} parts")
            kernels[place] = parameters.pop(name)
            self.kernels = kernels
        super().set_params(**parameters)
        return self

    @threaded
    def fit(self, X: Graphs, y: object = None) -> Self:
        """Fit the parts.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        graphs, (parts, weights) = check_graphs(X), self._parts()
        diagonals = [part.fit(graphs).self_similarities(graphs) for part in parts]
        self._keep(parts, weights, [_unit(part, d) for part, d in zip(parts, diagonals, strict=True)])
        return self

    @threaded
    def fit_transform(self, X: Graphs, y: object = None, **fit_params: object) -> Matrix:
        """Fit, and return the kernel matrix of the training graphs.

        Returns
        -------
        ndarray of shape (n, n)
        """
        graphs, (parts, weights) = check_graphs(X), self._parts()
        check_room(len(graphs), len(graphs), 2 * len(parts))
        stack = np.stack([np.asarray(part.fit_transform(graphs), dtype=np.float64) for part in parts])
        self._keep(parts, weights, [matrix.diagonal().copy() for matrix in stack])
        return self._finish(weighted_sum(weights, list(stack)))

    @threaded
    def fit_transform_cumulative(self, X: Graphs, y: object = None) -> Matrix:
        """Fit, and return the sums of t_max = 0, 1, ... from one pass of each part.

        A part with fewer iterations than t_max contributes its last iteration.

        Returns
        -------
        ndarray of shape (t_max + 1, n, n)
        """
        graphs, (parts, weights) = check_graphs(X), self._parts()
        for part in parts:
            if not hasattr(part, "fit_transform_cumulative"):
                raise TypeError(f"{type(part).__name__} has no iterations, so the sum has none")
        check_room(len(graphs), len(graphs), 2 * len(parts))
        stacks = [np.asarray(part.fit_transform_cumulative(graphs)) for part in parts]
        self._keep(parts, weights, [stack[-1].diagonal().copy() for stack in stacks])
        last = max(len(stack) for stack in stacks)
        at = [[stack[min(t, len(stack) - 1)] for stack in stacks] for t in range(last)]
        return np.stack([self._finish(weighted_sum(weights, matrices)) for matrices in at])

    @threaded
    def transform(self, X: Graphs) -> Matrix:
        """Return the kernel of new graphs against the training graphs.

        Returns
        -------
        ndarray of shape (m, n)
        """
        check_is_fitted(self, "kernels_")
        graphs = check_graphs(X)
        check_room(len(graphs), len(self.diagonal_), len(self.kernels_) + 2)
        kernel = weighted_sum(self.weights_, [np.asarray(part.transform(graphs)) for part in self.kernels_])
        return (
            normalized(kernel, self.self_similarities(graphs), self.diagonal_) if self.normalize else kernel
        )

    @threaded
    def self_similarities(self, X: Graphs) -> NDArray[np.float64]:
        """Return k(x, x) of new graphs, before normalization of the sum.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self, "kernels_")
        graphs = check_graphs(X)
        return weighted_sum(
            self.weights_, [_unit(part, part.self_similarities(graphs)) for part in self.kernels_]
        )

    @property
    def _is_dot_product(self) -> bool:
        """Whether all parts are dot products of counts; if so, ``_counter`` exists after fit."""
        return all(getattr(kernel, "_is_dot_product", False) for kernel in self._given())

    @property
    def _weighted_parts(self) -> list[tuple[float, Any]]:
        """Pairs of weight and fitted part."""
        return list(zip(self.weights_.tolist(), self.kernels_, strict=True))

    @property
    def _counter(self) -> Counter | None:
        """Counter of the features, if all parts are dot products of counts; else None."""
        counters = [part._counter for part in self.kernels_]
        if any(counter is None for counter in counters):
            return None
        streams = [part._training_counts for part in self.kernels_]
        return JoinedCounter.of(counters, self.weights_, [part.normalize for part in self.kernels_], streams)

    @property
    def _training_counts(self) -> list[StreamCounts]:
        """Counts of the training graphs by ``_counter``."""
        counter = self._counter
        if not isinstance(counter, JoinedCounter):
            raise TypeError("this sum is not a dot product of counts")
        return counter.join([part._training_counts for part in self.kernels_])

    def _restricted(self, t: int | None, normalize: bool) -> Self:
        """Return a fitted copy with or without normalization; t must be None."""
        check_is_fitted(self, "kernels_")
        if t is not None:
            raise ValueError(f"SumKernel has no parameter t_max, got t = {t}")
        return copy(self).set_params(normalize=normalize)

    # the steps of fit

    def _given(self) -> list[Any]:
        """Return the kernels of the parameter ``kernels``, validated."""
        if self.kernels is None:
            return [WeisfeilerLehman(), ShortestPath()]
        if not isinstance(self.kernels, (list, tuple)) or not self.kernels:
            raise TypeError(f"kernels must be a list of at least one kernel, got {shown(self.kernels)}")
        for kernel in self.kernels:
            if isinstance(kernel, type) or not hasattr(kernel, "self_similarities"):
                raise TypeError(f"kernels must be kernels of this library, got {shown(kernel)}")
        return list(self.kernels)

    def _parts(self) -> tuple[list[Any], NDArray[np.float64]]:
        """Return unfitted copies of the parts, and their weights."""
        check_options(self)
        parts = [clone(kernel) for kernel in self._given()]
        for part in parts if self.normalize_parts else ():
            part.set_params(normalize=True)
        return parts, check_weights(self.weights, len(parts), "weights")

    def _keep(self, parts: list[Any], weights: Matrix, diagonals: Sequence[Matrix]) -> None:
        self.kernels_, self.weights_ = parts, weights
        self.diagonal_ = weighted_sum(weights, diagonals)
        self._n_features_out = len(self.diagonal_)

    def _finish(self, kernel: Matrix) -> Matrix:
        if self.normalize:
            normalized_square(kernel, kernel.diagonal().copy())
        return kernel

    def _check_parts(self) -> None:
        """Raise unless parts are kernels with weights, fitted to the same graphs."""
        if hasattr(self, "kernels_"):
            require(
                all(hasattr(part, "self_similarities") for part in self.kernels_), "parts must be kernels"
            )
            shape = (len(self.kernels_),)
            require(self.kernels_ and self.weights_.shape == shape, "every kernel needs a weight")
            sizes = {part._n_features_out for part in self.kernels_}
            require(sizes == {len(self.diagonal_)}, "kernels must be fitted to the same graphs")


def weighted_sum(weights: NDArray[np.float64], parts: Sequence[Matrix]) -> Matrix:
    """Return the weighted sum of matrices, added in order."""
    return sum_in_order(weight * part for weight, part in zip(weights, parts, strict=True))


def _unit(part: Any, diagonal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the self-similarities of a part after its normalization."""
    return (diagonal > 0).astype(np.float64) if part.normalize else diagonal


Stream = TypeVar("Stream")


@dataclass(frozen=True)
class JoinedCounter(Counter):
    """Joins the counts of several counters (parts), optionally divided by their length.

    Attributes
    ----------
    counters : list of Counter
    weights : ndarray, (counters,)
        Weight of each part in the sum.
    normalized : ndarray of bool, (counters,)
        Whether the counts of each part are scaled to length 1 per graph.
    parts : ndarray of int64, (streams,)
        Part of each stream; streams are ordered by iteration, then by part.
    """

    counters: list[Counter]
    weights: NDArray[np.float64]
    normalized: NDArray[np.bool_]
    parts: Annotated[NDArray[np.int64], Indices("counters")]

    def _check_parts(self) -> None:
        """Raise an error unless each counter has a nonnegative weight."""
        shape = (len(self.counters),)
        require(
            self.counters and self.weights.shape == self.normalized.shape == shape, "counters need weights"
        )
        require(not_negative(self.weights), "weights are not negative")

    @classmethod
    def of(
        cls,
        counters: list[Counter],
        weights: Values,
        normalized: Sequence[bool],
        streams: Sequence[list[StreamCounts]],
    ) -> JoinedCounter:
        """Return the join of counters; ``streams`` are the streams of each counter."""
        order = sorted((s.iteration, part) for part, counted in enumerate(streams) for s in counted)
        parts = np.array([part for _, part in order], dtype=np.int64)
        return cls(counters, weights, np.array(normalized, dtype=np.bool_), parts)

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return the counts of all parts; ``known`` codes are the first columns."""
        streams = self.join([counter.count(graphs, None) for counter in self.counters])
        if known is None:
            return streams
        return [after_known(stream, codes) for stream, codes in zip(streams, known, strict=True)]

    def join(self, streams: Sequence[list[StreamCounts]]) -> list[StreamCounts]:
        """Return the streams of all parts in order, weighted, and normalized where requested."""
        ready = []
        for part, weight, is_normalized in zip(streams, self.weights, self.normalized, strict=True):
            scales = inverse_lengths(part) if is_normalized else None
            ready.append(iter([_scaled(stream, float(weight), scales) for stream in part]))
        if len(self.parts) != sum(map(len, streams)):
            raise ValueError(f"the parts count {sum(map(len, streams))} streams, not {len(self.parts)}")
        return [_next(ready[part]) for part in self.parts]

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield the items of all parts."""
        items = [self._items(part, counter, graphs) for part, counter in enumerate(self.counters)]
        return (_next(items[part]) for part in self.parts)

    def _items(self, part: int, counter: Counter, graphs: GraphDatabase) -> Iterator[Occurrences]:
        scales = inverse_lengths(counter.count(graphs, None)) if self.normalized[part] else None
        weight = float(self.weights[part])
        for items in counter.occurrences(graphs):
            product = items.scales if scales is None else scales
            if scales is not None and items.scales is not None:
                product = scales * items.scales
            yield replace(items, weight=weight * items.weight, scales=product)


def _next(streams: Iterator[Stream]) -> Stream:
    """Return the next stream of a part; raise an error if there is none."""
    for stream in streams:
        return stream
    raise ValueError("a part counts fewer streams than are listed of it")


def inverse_lengths(streams: Sequence[StreamCounts]) -> Values:
    """Return 1 / sqrt(k(x, x)) of each graph; 0 where k(x, x) is 0."""
    return inverse_length(sum_in_order(s.weight * self_products(s.counts) for s in streams))


def _scaled(stream: StreamCounts, weight: float, scales: Values | None) -> StreamCounts:
    counts = stream.counts
    if scales is not None:
        data = counts.data * np.repeat(scales, np.diff(counts.indptr))
        counts = csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    return StreamCounts(counts, stream.codes, stream.iteration, weight * stream.weight)
