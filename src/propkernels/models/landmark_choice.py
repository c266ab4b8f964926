"""Kernel values of many graphs with some of them, the landmarks, and their sums over parts of folds.

Folds are unions of parts that no fold cuts. The products of kernel values are summed over each part once, so
that the machine of a fold costs only a sum of matrices and a solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import one_blas_thread, run_threads
from propkernels.graphs.database import GraphDatabase
from propkernels.models.folds import Folds, Indices
from propkernels.models.kernel_sources import Slice
from propkernels.models.landmarks import Equations

Matrix = NDArray[np.float64]
Values = NDArray[np.float64]
LANDMARKS = 4000  # fewer were less accurate on folds within the training molecules of HIV
MOST_VALUES = 2**29  # kernel values in memory, in single precision: with more graphs, landmarks are fewer
AT_ONCE = 250  # landmarks that are compared with all graphs at a time
ROWS_AT_ONCE = 4096  # graphs whose products are summed at a time
MOST_PARTS = 10  # of folds, each with a matrix of products


def landmark_count(n_graphs: int) -> int:
    """Return the number of landmarks for so many graphs.

    Examples
    --------
    >>> landmark_count(100), landmark_count(50_000), landmark_count(1_000_000)
    (100, 4000, 536)
    """
    return max(1, min(LANDMARKS, n_graphs, MOST_VALUES // max(n_graphs, 1)))


def choose_landmarks(target: NDArray[Any], n_landmarks: int, seed: int) -> Indices:
    """Return positions of landmarks, ascending: at random, equally many of each class if possible.

    Examples
    --------
    >>> found = choose_landmarks(np.array([0] * 90 + [1] * 10), 40, seed=0)
    >>> len(found), int(np.sum(found >= 90))
    (40, 10)
    """
    order = np.random.default_rng(seed).permutation(len(target))
    if target.ndim > 1 or target.dtype.kind not in "iu":
        return np.sort(order[:n_landmarks])
    classes = target[order]
    members = sorted((order[classes == c] for c in np.unique(target)), key=len)
    chosen, left = list[Indices](), n_landmarks
    for number, own in enumerate(members):  # the rarest class first
        chosen.append(own[: left // (len(members) - number)])
        left -= len(chosen[-1])
    return np.sort(np.concatenate(chosen))


def parts_of(folds: Folds, n_graphs: int) -> list[Indices]:
    """Return the parts of all graphs that no test set of a fold cuts; one part if they would be many.

    Examples
    --------
    >>> folds = [(np.array([2, 3]), np.array([0, 1])), (np.array([0, 1]), np.array([2, 3]))]
    >>> [part.tolist() for part in parts_of(folds, 5)]
    [[4], [2, 3], [0, 1]]
    """
    everyone = np.arange(n_graphs)
    if len(folds) > MOST_PARTS:
        return [everyone]
    held = np.zeros((n_graphs, max(len(folds), 1)), dtype=bool)
    for number, (_, test) in enumerate(folds):
        held[test, number] = True
    kinds, of = np.unique(held, axis=0, return_inverse=True)
    if len(kinds) > MOST_PARTS:
        return [everyone]
    return [np.flatnonzero(of.ravel() == kind) for kind in range(len(kinds))]


def kernel_rows(kernel: Any, graphs: GraphDatabase, landmarks: Indices) -> NDArray[np.float32]:
    """Return kernel values of all graphs with landmarks, (graphs, landmarks), of a kernel fitted to all."""
    rows = np.empty((len(graphs), len(landmarks)), dtype=np.float32)
    for start in range(0, len(landmarks), AT_ONCE):
        some = landmarks[start : start + AT_ONCE]
        rows[:, start : start + len(some)] = np.asarray(kernel.transform(graphs[some])).T
    return rows


@dataclass(frozen=True, eq=False)
class LandmarkSource:
    """Kernel values of all graphs with landmarks; folds use the landmarks among their training graphs.

    Attributes
    ----------
    rows : ndarray of float32, (graphs, landmarks)
    landmarks : ndarray of int, (landmarks,)
        Positions among the graphs, ascending.
    parts : list of ndarray of int
        Parts of the graphs that folds do not cut.
    weights : ndarray of shape (graphs,)
        Weight of each graph's errors.
    products : list of ndarray, (landmarks, landmarks)
        Weighted products of the rows of each part; empty: not summed yet.
    """

    rows: NDArray[np.float32]
    landmarks: Indices
    parts: list[Indices]
    weights: Values
    products: list[Matrix] = field(default_factory=list)

    def with_products(self, n_jobs: int | None) -> LandmarkSource:
        """Return the same with the products of all parts, which folds share; a single part is not shared."""
        if len(self.parts) == 1:
            return self
        found = run_threads(lambda part: self.sum_products(part, self.weights[part]), self.parts, n_jobs)
        return replace(self, products=found)

    def slice(self, train: Indices, test: Indices, scaled: bool) -> Slice:
        """Return rows divided by the mean k(z, z) of the training landmarks, the unit of C."""
        own = self.rows[self.landmarks, np.arange(len(self.landmarks))].astype(np.float64)
        place = np.full(len(self.rows), -1, dtype=np.int64)
        place[train] = np.arange(len(train))
        columns = np.flatnonzero(place[self.landmarks] >= 0)
        unit = float(own[columns].mean()) or 1.0 if scaled and len(columns) else 1.0
        places = place[self.landmarks[columns]]
        of = partial(SomeRows, self, columns=columns, places=places, n_known=len(train), unit=unit)
        return Slice(of, train, test, unit)

    def sum_products(self, graphs: Indices, weights: Values) -> Matrix:
        """Return the weighted sum of the products of the rows of some graphs."""
        total = np.zeros((len(self.landmarks),) * 2)
        with one_blas_thread():
            for run in _runs(len(graphs)):
                scaled = np.sqrt(weights[run])[:, None] * self.rows[graphs[run]]
                total += scaled.T @ scaled  # one array twice: half of the products
        return total

    def products_of(self, graphs: Indices, weights: Values) -> Matrix:
        """Return the products of some graphs: a sum over parts if these are whole parts."""
        inside = np.zeros(len(self.rows), dtype=bool)
        inside[graphs] = True
        taken = [inside[part] for part in self.parts]
        is_whole = inside.sum() == len(graphs) and all(some.all() or not some.any() for some in taken)
        if not (self.products and is_whole and np.array_equal(weights, self.weights[graphs])):
            return self.sum_products(graphs, weights)
        total = np.zeros((len(self.landmarks),) * 2)
        for products, some in zip(self.products, taken, strict=True):
            if some.all():
                total += products
        return total


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Kernel values of some graphs with the landmarks of a fold.

    Attributes
    ----------
    source : LandmarkSource
    graphs : ndarray of int
        Positions of the graphs.
    columns : ndarray of int
        Numbers of the landmarks of the fold.
    places : ndarray of int
        Positions of these landmarks among the training graphs of the fold.
    n_known : int
        Number of training graphs.
    unit : float
        Divisor of the kernel values.
    """

    source: LandmarkSource
    graphs: Indices
    columns: Indices
    places: Indices
    n_known: int
    unit: float

    @property
    def shape(self) -> tuple[int, int]:
        """Number of graphs, and of training graphs."""
        return len(self.graphs), self.n_known

    @property
    def between(self) -> Matrix:
        """Kernel values between the landmarks of the fold."""
        own = self.source.rows[self.source.landmarks[self.columns]][:, self.columns]
        return np.asarray(own, dtype=np.float64) / self.unit

    def __matmul__(self, coefficients: Matrix) -> Matrix:
        """Return the product with one row of coefficients per training graph, those of landmarks."""
        chosen = coefficients[self.places] / self.unit
        with one_blas_thread():
            return np.concatenate([block @ chosen for _, block in self._blocks()])

    def equations(self, columns: Matrix, weights: Values) -> Equations:
        """Return the sums over the graphs that least squares need."""
        products = self.source.products_of(self.graphs, weights)
        if len(self.columns) < len(products):
            products = products[np.ix_(self.columns, self.columns)]
        products /= self.unit**2
        right = weights[:, None] * np.column_stack([columns, np.ones(len(columns))])
        sides = np.zeros((len(self.columns), right.shape[1]))
        for run, block in self._blocks():
            sides += block.T @ right[run]
        return Equations(products, sides / self.unit)

    def _blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """Yield runs of the graphs with their rows in double precision, not divided."""
        for run in _runs(len(self.graphs)):
            yield run, self.source.rows[self.graphs[run]][:, self.columns].astype(np.float64)


def _runs(n_graphs: int) -> Iterator[slice]:
    for start in range(0, max(n_graphs, 1), ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, n_graphs))


def landmark_sources(
    restricted: Callable[[int | None, bool | None], Any],
    graphs: GraphDatabase,
    target: NDArray[Any],
    keys: list[tuple[int | None, bool | None]],
    folds: Folds,
    weights: Values | None,
    seed: int,
    n_jobs: int | None,
) -> dict[tuple[int | None, bool | None], LandmarkSource]:
    """Return the kernel values of each t_max and normalization.

    Parameters
    ----------
    restricted : callable
        Returns the kernel fitted to all graphs with a t_max and a normalization.
    graphs, target, folds, seed, n_jobs
        As for :func:`~propkernels.models.candidates.candidates`.
    keys : list of (t_max, normalize)
    weights : ndarray or None
    """
    landmarks = choose_landmarks(target, landmark_count(len(graphs)), seed)
    parts = parts_of(folds, len(graphs))
    shares = np.ones(len(graphs)) if weights is None else weights
    sources = {}
    for key in keys:
        rows = kernel_rows(restricted(*key), graphs, landmarks)
        sources[key] = LandmarkSource(rows, landmarks, parts, shares).with_products(n_jobs)
    return sources
