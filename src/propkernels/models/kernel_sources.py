"""Kernel values or features of all candidates t_max from one pass, and their slices for folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.base import clone

from propkernels import _core
from propkernels._utils.checks import shown
from propkernels._utils.locks import cached_property
from propkernels._utils.parallel import threads_for
from propkernels.counts.columns import join_streams
from propkernels.counts.counters import StreamCounts
from propkernels.counts.products import inverse_length, self_products
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.sum_kernel import aligned_weights
from propkernels.models.folds import Indices

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Slice:
    """Kernel values or features of one fold, computed when they are first read.

    Attributes
    ----------
    rows : callable
        Returns the rows of some graphs: kernel values against the training graphs, or features.
    train, test : ndarray of int
        Positions of the training graphs and of the test graphs.
    unit : float
        Divisor of ``known`` and ``unknown``.
    """

    rows: Callable[[Indices], Any]
    train: Indices
    test: Indices
    unit: float

    @cached_property
    def known(self) -> Any:
        """Rows of the training graphs, ndarray or csr_array."""
        return self.rows(self.train)

    @cached_property
    def unknown(self) -> Any:
        """Rows of the test graphs, ndarray or csr_array."""
        return self.rows(self.test)

    def read(self) -> None:
        """Compute all rows, before several threads read them."""
        _ = self.known, self.unknown


class Source(Protocol):
    """Kernel values or features of one candidate, for any fold."""

    def slice(self, train: Indices, test: Indices, scaled: bool) -> Slice:
        """Return the rows to fit on the training graphs and to predict the test graphs."""


@dataclass(frozen=True)
class GramSource:
    """Slices of a kernel matrix, normalized on demand, so that the matrix is stored once.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        Kernel of all graphs, not normalized.
    normalize : bool
        Whether slices are normalized.
    n_jobs : int or None
    """

    matrix: Matrix
    normalize: bool
    n_jobs: int | None = None

    def slice(self, train: Indices, test: Indices, scaled: bool) -> Slice:
        """Return blocks of the matrix, divided by the mean of the training diagonal, the unit of C."""
        unit = float(self._diagonal[train].mean()) or 1.0 if scaled else 1.0
        return Slice(partial(self._part, columns=train, unit=unit), train, test, unit)

    @cached_property
    def _diagonal(self) -> NDArray[np.float64]:
        diagonal = self.matrix.diagonal()
        return (diagonal > 0).astype(np.float64) if self.normalize else diagonal.copy()

    @cached_property
    def _factors(self) -> NDArray[np.float64]:
        return inverse_length(self.matrix.diagonal())

    def _part(self, rows: Indices, columns: Indices, unit: float) -> Matrix:
        left, right = (self._factors[rows], self._factors[columns]) if self.normalize else (None, None)
        part = np.empty((len(rows), len(columns)))
        taken = self.matrix, *(np.ascontiguousarray(i, dtype=np.int64) for i in (rows, columns))
        _core.take_block(*taken, left, right, unit, part, threads_for(part.size, self.n_jobs))
        if self.normalize and rows is columns:
            np.fill_diagonal(part, self._diagonal[rows] / unit)
        return part


@dataclass(frozen=True)
class AlignedSource:
    """Slices of a weighted sum of kernels, whose weights are learned from the training graphs of each slice.

    Attributes
    ----------
    parts : ndarray of shape (parts, n, n)
        Kernel matrices of all graphs, one per part of the sum.
    target : ndarray of shape (n,)
        Target of the weights; only the entries of training graphs are used.
    normalize : bool
        Whether slices of the sum are normalized.
    n_jobs : int or None
    """

    parts: Matrix
    target: NDArray[Any]
    normalize: bool
    n_jobs: int | None = None

    def slice(self, train: Indices, test: Indices, scaled: bool) -> Slice:
        """Return blocks of the weighted sum, with weights learned from the training graphs."""
        known = np.stack([part[np.ix_(train, train)] for part in self.parts])
        weights = aligned_weights(known, self.target[train])
        total = np.tensordot(weights, self.parts, axes=1)
        return GramSource(total, self.normalize, self.n_jobs).slice(train, test, scaled)


@dataclass(frozen=True)
class FeatureSource:
    """Rows of sparse features whose dot product is the kernel; a smaller t_max has the first columns.

    Attributes
    ----------
    features : csr_array of shape (n, columns)
        Columns of all iterations, grouped by t.
    n_columns : int
        Number of columns of this candidate.
    lengths : ndarray of shape (n,)
        k(x, x) of each graph.
    normalize : bool
    """

    features: csr_array
    n_columns: int
    lengths: NDArray[np.float64]
    normalize: bool

    def slice(self, train: Indices, test: Indices, scaled: bool) -> Slice:
        """Return rows, divided by the square root of the mean k(x, x) of the training graphs."""
        diagonal = (self.lengths > 0).astype(np.float64) if self.normalize else self.lengths
        unit = np.sqrt(float(diagonal[train].mean()) or 1.0) if scaled else 1.0
        return Slice(lambda rows: self._rows(rows, unit), train, test, float(unit))

    def _rows(self, rows: Indices, unit: float) -> csr_array:
        part = self.features[rows]
        if self.n_columns < part.shape[1]:
            part = part[:, : self.n_columns]
        factors = inverse_length(self.lengths[rows]) if self.normalize else np.ones(len(rows))
        return csr_array(diags_array(factors / unit) @ part)


def feature_sources(
    streams: list[StreamCounts], normalize: list[bool]
) -> dict[tuple[int, bool], FeatureSource]:
    """Return sources for every t and normalization, from the counts of one pass.

    Bins should be sorted (``sort_bins``), so that rounding does not depend on the order of nodes.
    """
    scaled = [csr_array(stream.counts * np.sqrt(stream.weight)) for stream in streams]
    parts = [StreamCounts(c, s.codes, s.iteration, 1.0) for c, s in zip(scaled, streams, strict=True)]
    features = join_streams(parts)
    iterations = np.array([stream.iteration for stream in streams])
    ends = np.cumsum([stream.counts.shape[1] for stream in streams])
    lengths = np.cumsum([self_products(part.counts) for part in parts], axis=0)
    last = {int(t): int(np.flatnonzero(iterations == t)[-1]) for t in np.unique(iterations)}
    return {
        (t, flag): FeatureSource(features, int(ends[s]), lengths[s], flag)
        for t, s in last.items()
        for flag in normalize
    }


KernelStack = dict[int | None, Matrix]


def check_kernel(kernel: Any, steps: tuple[int, ...] | None) -> None:
    """Raise if an object is neither a kernel nor a model, or has no t_max to choose."""
    if not isinstance(kernel, type) and hasattr(kernel, "predict") and hasattr(kernel, "get_params"):
        if steps is not None:
            raise ValueError(f"t_max cannot be chosen for a model: set it in {type(kernel).__name__}")
        return
    if isinstance(kernel, type) or not (hasattr(kernel, "fit_transform") and hasattr(kernel, "get_params")):
        raise TypeError(f"kernel must be an estimator with fit_transform, got {shown(kernel)}")
    if steps is not None and not has_steps(kernel):
        raise ValueError(
            f"t_max cannot be chosen: {type(kernel).__name__} has no parameter t_max "
            "or no method fit_transform_cumulative"
        )


def has_steps(kernel: Any) -> bool:
    """Return whether the kernel has a parameter t_max whose values one pass covers."""
    return hasattr(kernel, "fit_transform_cumulative") and "t_max" in kernel.get_params(deep=False)


def redrawn(kernel: Any, seed: int) -> Any:
    """Return an unfitted copy of the kernel with every random_state set to the seed."""
    names = [name for name in kernel.get_params() if f"__{name}".endswith("__random_state")]
    return clone(kernel).set_params(**dict.fromkeys(sorted(names), seed))


def compute_stack(kernel: Any, graphs: GraphDatabase, steps: tuple[int, ...] | None) -> KernelStack:
    """Return kernel matrices by t_max from one pass; a kernel without t_max has the key None.

    The matrices are views of one array.
    """
    if not has_steps(kernel):
        return {None: _as_matrix(kernel.fit_transform(graphs), len(graphs))}
    if steps is None:
        kernels = kernel.fit_transform_cumulative(graphs)
        return {t: _as_matrix(matrix, len(graphs)) for t, matrix in enumerate(kernels)}
    kernel = kernel.set_params(t_max=steps[-1])
    if len(steps) == 1:
        return {steps[0]: _as_matrix(kernel.fit_transform(graphs), len(graphs))}
    kernels = kernel.fit_transform_cumulative(graphs)
    return {t: _as_matrix(kernels[t], len(graphs)) for t in steps}


def _as_matrix(kernel: Any, n_graphs: int) -> Matrix:
    """Return a kernel matrix as float64, without gaps; raise if its shape is not (n_graphs, n_graphs)."""
    matrix = np.ascontiguousarray(kernel, dtype=np.float64)
    if matrix.shape != (n_graphs, n_graphs):
        raise ValueError(
            f"the kernel of {n_graphs} graphs has shape {matrix.shape}, expected {(n_graphs, n_graphs)}"
        )
    return matrix
