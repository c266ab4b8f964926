"""Scores of normality: training data, protocol, and the score from sizes of graphs.

Every score is learned once without each fold of the training graphs, and once from all of them. Values
therefore have one row per fold and a last row for all training graphs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase

Values = NDArray[np.float64]
MAD_OF_NORMAL = 1.4826  # standard deviation of a normal distribution per unit of median absolute deviation
SMALLEST = 1e-150  # scale of a statistic


class Training(NamedTuple):
    """Training graphs, their index and their folds.

    Attributes
    ----------
    graphs : GraphDatabase or GridDatabase
    index : GraphIndex
        Index of these graphs, in their order.
    folds : ndarray of int64, (graphs,)
        Fold of each graph, 0, 1, ...; no fold is empty.
    n_neighbors : int
    judged : ndarray of int64, (judged,), or None
        Positions of the training graphs to score; None: all.
    """

    graphs: GraphDatabase
    index: Any
    folds: NDArray[np.int64]
    n_neighbors: int
    judged: NDArray[np.int64] | None = None

    def of_judged(self, values: Values) -> Values:
        """Columns of the judged graphs."""
        return values if self.judged is None else values[:, self.judged]

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """Mask of training graphs excluded from each row, (folds + 1, graphs); the last row excludes none."""
        return left_out(self.folds)


def left_out(folds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of the graphs of each fold, (folds + 1, graphs); the last row is all False.

    Examples
    --------
    >>> left_out(np.array([1, 0, 1])).astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 0, 0]])
    """
    return np.arange(folds.max() + 2)[:, None] == folds


class Score(ABC):
    """A learned score; larger is more normal."""

    @abstractmethod
    def of_new(self, graphs: GraphDatabase, index: Any, by_fold: bool) -> Values:
        """Return the scores of new graphs: (folds + 1, graphs), or only the last row, (1, graphs)."""

    @abstractmethod
    def check_rows(self, n_graphs: int, n_rows: int) -> None:
        """Refuse a score of another number of training graphs, or of rows (folds + 1)."""


def center_and_scale(values: Values) -> tuple[Values, Values]:
    """Median and normalized median absolute deviation of each column.

    If more than half of the values are equal, the scale is the mean absolute deviation; if all are equal,
    it is 1.

    Examples
    --------
    >>> center, scale = center_and_scale(np.array([[0.0, 3.0], [1.0, 3.0], [4.0, 3.0]]))
    >>> center, scale
    (array([1., 3.]), array([1.4826, 1.    ]))
    """
    center = np.median(values, axis=0)
    distances = np.abs(values - center)
    scale = MAD_OF_NORMAL * np.median(distances, axis=0)
    scale = np.where(scale > 0, scale, distances.mean(axis=0))
    return center, np.where(scale > 0, scale, 1.0)


def are_scales(centers: Values, scales: Values) -> bool:
    """Whether numbers can be centered and divided without overflow."""
    return bool(np.isfinite(centers).all() and ((scales >= SMALLEST) & (scales < np.inf)).all())


@dataclass(frozen=True)
class SizeScore(Score):
    """Robust z-scores of the number of nodes, the number of edges and the mean degree.

    The score is minus the mean of their absolute values. Numbers of nodes and edges enter as logarithms.

    Attributes
    ----------
    centers, scales : ndarray, (folds + 1, 3)
    """

    centers: Values
    scales: Values

    def check_rows(self, n_graphs: int, n_rows: int) -> None:
        """Refuse any shape but three statistics per row."""
        require(self.centers.shape == self.scales.shape == (n_rows, 3), "every fold needs three sizes")
        require(are_scales(self.centers, self.scales), "scales of sizes are positive")

    @classmethod
    def learn(cls, training: Training) -> tuple[SizeScore, Values]:
        """Return the score and its values for the training graphs; medians include the graph itself."""
        sizes = size_features(training.graphs)
        found = [center_and_scale(sizes[~out]) for out in training.left_out]
        score = cls(np.array([center for center, _ in found]), np.array([scale for _, scale in found]))
        return score, training.of_judged(score._values(sizes, slice(None)))

    def of_new(self, graphs: GraphDatabase, index: Any, by_fold: bool) -> Values:
        """Return the scores of new graphs."""
        return self._values(size_features(graphs), slice(None) if by_fold else slice(-1, None))

    def _values(self, sizes: Values, rows: slice) -> Values:
        centers, scales = self.centers[rows, None], self.scales[rows, None]
        return np.asarray(-np.mean(np.abs(sizes - centers) / scales, axis=2))


def size_features(graphs: Any) -> Values:
    """Logarithms of the numbers of nodes and adjacency entries, and entries per node: (graphs, 3)."""
    nodes = graphs.graph_sizes.astype(np.float64)
    if isinstance(graphs, GridDatabase):  # pixels of a grid share one neighborhood; no edges are stored
        return np.stack([np.log1p(nodes), np.zeros(len(nodes)), np.zeros(len(nodes))], axis=1)
    entries = np.diff(graphs.adjacency.indptr[graphs.graph_ptr]).astype(np.float64)
    return np.stack([np.log1p(nodes), np.log1p(entries), entries / np.maximum(nodes, 1)], axis=1)
