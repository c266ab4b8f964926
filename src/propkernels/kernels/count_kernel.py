"""Kernels computed from counts of codes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from propkernels.counting.counts import StreamCounts
from propkernels.gram.base_kernels import BaseKernel, resolve_base_kernel
from propkernels.gram.normalize import normalized
from propkernels.graphs.check import check_graphs
from propkernels.kernels.count_estimator import Coder, CountEstimator

Matrix = NDArray[np.float64]


class CountKernel(ClassNamePrefixFeaturesOutMixin, CountEstimator):
    """Kernel matrices from counts: fit, transform, and the cumulative kernels of one pass."""

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
        self._keep(*self._learn(X))
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Matrix:
        """Fit, and return the kernel matrix of the training graphs.

        Returns
        -------
        ndarray of shape (n, n)
        """
        learned = base_kernel, _, counts, diagonal = self._learn(X)
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
        learned = base_kernel, _, counts, _ = self._learn(X)
        kernels = base_kernel.cumulative(counts, self.n_jobs)
        if self.normalize:
            for kernel in kernels:
                diagonal = kernel.diagonal().copy()
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
        new = self._count(self.coder_, database, [s.codes for s in self.counts_])
        kernel = self.base_kernel_.cross(new, self.counts_, self.n_jobs)
        if self.normalize:
            normalized(kernel, self.base_kernel_.diagonal(new), self.diagonal_)
        return kernel

    def _learn(self, graphs: Any) -> tuple[BaseKernel, Coder, list[StreamCounts], NDArray[np.float64]]:
        """All that can fail in fit; the estimator is as it was until ``_keep``."""
        base_kernel = resolve_base_kernel(self.base_kernel)
        coder, counts = self._count_training(graphs)
        base_kernel.fit(counts)
        return base_kernel, coder, counts, base_kernel.diagonal(counts)

    def _keep(
        self, base_kernel: BaseKernel, coder: Coder, counts: list[StreamCounts], diagonal: NDArray[np.float64]
    ) -> None:
        self.base_kernel_, self.coder_ = base_kernel, coder
        self.counts_, self.diagonal_ = counts, diagonal
        self._n_features_out = len(diagonal)

    @abstractmethod
    def _learn_coder(self, graphs: Any) -> Any: ...


def _unit_diagonal(kernel: Matrix, diagonal: NDArray[np.float64]) -> None:
    """Write the exact 1 (0 for an empty graph) that rounding may have missed."""
    np.fill_diagonal(kernel, (diagonal > 0).astype(np.float64))
