"""Kernels computed from counts of codes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from propkernels.gram.base_kernels import resolve_base_kernel
from propkernels.gram.normalize import normalized
from propkernels.graphs.check import check_graphs
from propkernels.kernels.count_estimator import CountEstimator

Matrix = NDArray[np.float64]


class CountKernel(ClassNamePrefixFeaturesOutMixin, CountEstimator):
    """Kernel matrices from counts: fit, transform, and the cumulative kernels of one pass."""

    base_kernel: Any
    normalize: bool

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Learn the bins of the training graphs.

        Parameters
        ----------
        graphs : GraphDatabase or sequence of graphs
            See :func:`propkernels.check_graphs`.
        y : ignored

        Returns
        -------
        self
        """
        base_kernel = resolve_base_kernel(self.base_kernel)
        coder, counts = self._count_training(graphs)
        self.base_kernel_ = base_kernel.fit(counts)
        self.coder_, self.counts_ = coder, counts
        self.diagonal_ = self.base_kernel_.diagonal(counts)
        self._n_features_out = len(self.diagonal_)
        return self

    def fit_transform(self, graphs: Any, y: Any = None, **fit_params: Any) -> Matrix:
        """Fit, and return the kernel matrix of the training graphs.

        Returns
        -------
        ndarray of shape (n, n)
        """
        self.fit(graphs, y)
        return self._normalize(self.base_kernel_.square(self.counts_, self.n_jobs))

    def fit_transform_cumulative(self, graphs: Any, y: Any = None) -> Matrix:
        """Fit, and return the kernels for every smaller number of iterations, from one pass.

        Returns
        -------
        ndarray of shape (t_max + 1, n, n)
            Entry ``t`` is the kernel matrix with ``t_max=t``.
        """
        self.fit(graphs, y)
        kernels = self.base_kernel_.cumulative(self.counts_, self.n_jobs)
        if self.normalize:
            for kernel in kernels:
                diagonal = kernel.diagonal().copy()
                _unit_diagonal(normalized(kernel, diagonal, diagonal), diagonal)
        return kernels

    def transform(self, graphs: Any) -> Matrix:
        """Return the kernel of new graphs against the fitted ones.

        Labels and bins that were not seen in fit are treated exactly; in particular, normalisation uses
        all of a new graph's bins.

        Returns
        -------
        ndarray of shape (m, n)
        """
        check_is_fitted(self, "counts_")
        database = check_graphs(graphs)
        new = self._count(self.coder_, database, [s.codes for s in self.counts_])
        kernel = self.base_kernel_.cross(new, self.counts_, self.n_jobs)
        if self.normalize:
            normalized(kernel, self.base_kernel_.diagonal(new), self.diagonal_)
        return kernel

    def _normalize(self, kernel: Matrix) -> Matrix:
        if self.normalize:
            _unit_diagonal(normalized(kernel, self.diagonal_, self.diagonal_), self.diagonal_)
        return kernel

    @abstractmethod
    def _learn_coder(self, graphs: Any) -> Any: ...


def _unit_diagonal(kernel: Matrix, diagonal: NDArray[np.float64]) -> None:
    """Write the exact 1 (0 for an empty graph) that rounding may have missed."""
    np.fill_diagonal(kernel, (diagonal > 0).astype(np.float64))
