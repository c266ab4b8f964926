"""Base classes of the estimators that count codes: what they share, and kernel matrices."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import check_room
from propkernels._utils.checks import GraphInput, shown
from propkernels._utils.parallel import running_on
from propkernels._utils.stored import require
from propkernels.convert.check import check_graphs
from propkernels.counting.counters import Counter, StreamCounts
from propkernels.gram.base_kernels import BaseKernel, resolve_base_kernel
from propkernels.gram.countings import Counting
from propkernels.gram.products import normalized
from propkernels.graphs.database import GraphDatabase

SWITCHES = ("normalize", "sparse_output", "standardize")


def check_options(estimator: Any) -> None:
    """Refuse switches that are neither True nor False, and a number of threads that is none."""
    for name in SWITCHES:
        value = getattr(estimator, name, False)
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name} must be True or False, got {shown(value)}")
    n_jobs = estimator.n_jobs
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral)):
        raise TypeError(f"n_jobs must be None or a whole number, got {shown(n_jobs)}")
    if n_jobs == 0:
        raise ValueError("n_jobs must be None, a number of threads, or -1 for all cores; got 0")


class CountEstimator(GraphInput, TransformerMixin, BaseEstimator, ABC):
    """Graphs in, codes counted: subclasses say how graphs get their codes, by ``_learn_coder``."""

    n_jobs: int | None
    device: str = "cpu"  # of estimators that have no such parameter

    @abstractmethod
    def _learn_coder(self, graphs: GraphDatabase) -> Counter:
        """Check the parameters and learn how to code graphs."""

    def _count_training(self, graphs: GraphDatabase) -> tuple[Any, list[StreamCounts]]:
        check_options(self)
        coder = self._learn_coder(graphs)
        return coder, coder.count(graphs, None, self.n_jobs)

    def _device(self, graphs: GraphDatabase) -> Any:
        """The GPU to compute on, or None for the CPU."""
        if isinstance(self.device, str) and self.device == "cpu":
            return None
        from propkernels.gpu.pipeline import resolve_device

        return resolve_device(self.device, graphs.n_nodes)


Matrix = NDArray[np.float64]


class CountKernel(ClassNamePrefixFeaturesOutMixin, CountEstimator):
    """Kernel matrices from counts: fit, transform, and the cumulative kernels of one pass."""

    base_kernel_: BaseKernel
    coder_: Any
    counts_: list[StreamCounts]
    diagonal_: NDArray[np.float64]
    _n_features_out: int
    base_kernel: Any
    normalize: bool

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the bins of the training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        database = check_graphs(X)
        with running_on(self._device(database)):
            self._keep(*self._learn(database))
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Matrix:
        """Fit, and return the kernel matrix of the training graphs.

        Returns
        -------
        ndarray of shape (n, n)
        """
        database = check_graphs(X)
        check_room(len(database), len(database))
        with running_on(self._device(database)):
            learned = base_kernel, _, counts, diagonal = self._learn(database)
            check_room(len(database), len(database), base_kernel.matrices_at_once(counts))
            kernel = base_kernel.square(counts, self.n_jobs)
        if self.normalize:
            _unit_diagonal(normalized(kernel, diagonal, diagonal), diagonal)
        self._keep(*learned)
        return kernel

    def fit_transform_cumulative(self, X: Any, y: Any = None) -> Matrix:
        """Fit, and return the kernels for every smaller number of iterations, from one pass.

        Returns
        -------
        ndarray of shape (t_max + 1, n, n)
            Entry ``t`` is the kernel matrix with ``t_max=t``.
        """
        database = check_graphs(X)
        check_room(len(database), len(database))
        with running_on(self._device(database)):
            learned = base_kernel, _, counts, _ = self._learn(database)
            n_kernels = counts[-1].iteration + 1
            check_room(len(database), len(database), n_kernels + base_kernel.matrices_at_once(counts))
            kernels = base_kernel.cumulative(counts, self.n_jobs)
        if self.normalize:
            for t, kernel in enumerate(kernels):  # lengths as a fit with t_max=t rounds them
                diagonal = base_kernel.diagonal([s for s in counts if s.iteration <= t])
                _unit_diagonal(normalized(kernel, diagonal, diagonal), diagonal)
        self._keep(*learned)
        return kernels

    def transform(self, X: Any) -> Matrix:
        """Return the kernel of new graphs against the fitted ones.

        Labels and bins that were not seen in fit are treated exactly; in particular, normalisation uses
        all of a new graph's bins.

        Returns
        -------
        ndarray of shape (m, n)
        """
        check_is_fitted(self, "counts_")
        database = check_graphs(X)
        check_room(len(database), len(self.diagonal_), self.base_kernel_.matrices_at_once(self.counts_))
        new = self._count(database)
        kernel = self.base_kernel_.cross(new, self.counts_, self.n_jobs)
        if self.normalize:
            normalized(kernel, self.base_kernel_.diagonal(new), self.diagonal_)
        return kernel

    def self_similarities(self, X: Any) -> NDArray[np.float64]:
        """Return k(x, x) of new graphs over all of their bins, before normalization.

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self, "counts_")
        return self.base_kernel_.diagonal(self._count(check_graphs(X)))

    @property
    def is_dot_product(self) -> bool:
        """Whether the kernel is a dot product of counts; then a fitted one has a ``counter_``."""
        return resolve_base_kernel(self.base_kernel).is_dot_product

    @property
    def has_constant_diagonal(self) -> bool:
        """Whether all graphs with nodes are equally similar to themselves, normalized or not."""
        return resolve_base_kernel(self.base_kernel).has_constant_diagonal

    @property
    def counter_(self) -> Counter | None:
        """How graphs are counted, where the kernel is a dot product of counts; else None."""
        return self.base_kernel_.counter(self.coder_)

    @property
    def training_counts_(self) -> list[StreamCounts]:
        """Counts of the training graphs, as ``counter_`` counts them."""
        return self.base_kernel_.features(self.counts_)

    @property
    def counting_(self) -> Counting | None:
        """How counts are compared, where that is done bin by bin; else None."""
        base_kernel = self.base_kernel_
        if base_kernel.assigned is None:
            return None
        return Counting(
            self.coder_, self.counts_, base_kernel.assigned, base_kernel.is_ratio, bool(self.normalize)
        )

    def _count(self, graphs: GraphDatabase) -> list[StreamCounts]:
        with running_on(self._device(graphs)):
            return self.coder_.count(graphs, [stream.codes for stream in self.counts_], self.n_jobs)

    def restricted(self, t: int | None, normalize: bool) -> Self:
        """Return a fitted copy with fewer iterations, from what this kernel has counted.

        Parameters
        ----------
        t : int or None
            The last iteration; None: as many as this kernel has.
        normalize : bool
            Whether the copy is normalized.

        Returns
        -------
        estimator
            As if a kernel with these parameters had been fitted on the same graphs.
        """
        check_is_fitted(self, "counts_")
        kernel = clone(self).set_params(normalize=normalize)
        if t is None:
            kernel._keep(self.base_kernel_, self.coder_, self.counts_, self.diagonal_)
            return kernel
        kernel.set_params(t_max=t)
        counts = [stream for stream in self.counts_ if stream.iteration <= t]
        diagonal = self.base_kernel_.diagonal(counts)
        kernel._keep(self.base_kernel_, self.coder_.restricted(t), counts, diagonal)
        return kernel

    def _learn(
        self, graphs: GraphDatabase
    ) -> tuple[BaseKernel, Any, list[StreamCounts], NDArray[np.float64]]:
        """Compute what fit learns without touching self, so that a failed fit changes nothing."""
        base_kernel = resolve_base_kernel(self.base_kernel)
        coder, counts = self._count_training(graphs)
        base_kernel.fit(counts)
        return base_kernel, coder, counts, base_kernel.diagonal(counts)

    def _keep(
        self, base_kernel: BaseKernel, coder: Any, counts: list[StreamCounts], diagonal: NDArray[np.float64]
    ) -> None:
        self.base_kernel_, self.coder_ = base_kernel, coder
        self.counts_, self.diagonal_ = counts, diagonal
        self._n_features_out = len(diagonal)

    @abstractmethod
    def _learn_coder(self, graphs: Any) -> Any: ...

    def check_parts(self) -> None:
        """Refuse counts of streams that are not of the same graphs."""
        if hasattr(self, "counts_"):
            sizes = {stream.counts.shape[0] for stream in self.counts_}
            require(len(sizes) == 1, "all streams count in the same graphs")
            require(isinstance(self.coder_, Counter), "something must count")
            require(self.diagonal_.shape == (*sizes,), "every graph needs its self-similarity")


def _unit_diagonal(kernel: Matrix, diagonal: NDArray[np.float64]) -> None:
    """Write the exact 1 (0 for an empty graph) that rounding may have missed."""
    np.fill_diagonal(kernel, (diagonal > 0).astype(np.float64))
