"""Scores from similarities: the nearest training graphs, their density, and a one-class SVM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_room
from propkernels._utils.parallel import run_threads
from propkernels._utils.stored import Indices, require
from propkernels.graphs.database import GraphDatabase
from propkernels.novelty.novelty_scores import Score, Training, Values
from propkernels.search.nearest import Query, largest

Places = NDArray[np.int64]
OTHER_SCORES = 'the other scores need no such matrix: score="neighbors", say'
NU = 0.1  # nu: largest share of training graphs outside the boundary of the one-class SVM


def for_each_row(index: Any, graphs: GraphDatabase, use: Callable[[int, Values], Any]) -> list[Any]:
    """Apply ``use`` to each graph's similarities to all graphs of an index, one row at a time."""
    queries = Query.all(index._counter.count(graphs, None))

    def use_row(row: int) -> Any:
        return use(row, index._file.similarities(queries[row]))

    return run_threads(use_row, range(len(graphs)))


def nearest_by_fold(values: Values, folds: Places, k: int, rows: int, own: int | None = None) -> Places:
    """Positions of the k most similar graphs outside each fold, (rows, k); last row: among all graphs.

    Parameters
    ----------
    values : ndarray, (graphs,)
        Similarities.
    folds : ndarray, (graphs,)
    k, rows : int
        ``rows`` is the number of folds plus 1, or 1.
    own : int, optional
        Position of the query, if it is one of the graphs; it is never its own neighbor.

    Examples
    --------
    >>> nearest_by_fold(np.array([0.9, 0.5, 0.7]), np.array([0, 1, 1]), 1, 3)
    array([[2],
           [0],
           [0]])
    """
    if own is not None:
        values = values.copy()
        values[own] = -np.inf
    best = largest(values, k)
    places = np.tile(best, (rows, 1))
    # Folds that hold none of the k nearest graphs have the same answer as the last row.
    for fold in np.unique(folds[best]) if rows > 1 else ():
        others = np.flatnonzero(folds != fold)
        places[fold] = others[largest(values[others], k)]
    return places


def neighbors_of(
    index: Any, graphs: GraphDatabase, folds: Places, k: int, rows: int, own: Places | None = None
) -> tuple[Places, Values]:
    """Positions and similarities of the nearest training graphs, (rows, graphs, k).

    ``own`` holds the positions of the graphs if they are training graphs themselves.
    """

    def nearest(query: int, values: Values) -> tuple[Places, Values]:
        places = nearest_by_fold(values, folds, k, rows, None if own is None else int(own[query]))
        return places, values[places]

    places, similarities = zip(*for_each_row(index, graphs, nearest), strict=True)
    return np.stack(places, axis=1), np.stack(similarities, axis=1)


def possible_neighbors(training: Training) -> int:
    """Return n_neighbors, or the number of graphs outside the largest fold if that is smaller."""
    n_others = len(training.folds) - int(np.bincount(training.folds).max()) - 1
    return max(min(training.n_neighbors, n_others), 1)


def check_neighbors(folds: Places, k: int) -> None:
    """Refuse a k larger than the number of graphs outside any fold."""
    require(folds.ndim == 1 and len(folds) > 0, "a score needs training graphs")
    n_others = max(len(folds) - int(np.bincount(folds).max()), 1)
    require(1 <= k <= n_others, "fewer neighbors are left outside a fold")


@dataclass(frozen=True)
class NeighborScore(Score):
    """Mean similarity to the k nearest training graphs.

    Attributes
    ----------
    folds : ndarray of int64, (training graphs,)
    k : int
    """

    folds: Annotated[Places, Indices("folds")]
    k: int

    def _check_parts(self) -> None:
        """Refuse a k larger than the number of graphs outside any fold."""
        check_neighbors(self.folds, self.k)

    def check_rows(self, n_graphs: int, n_rows: int) -> None:
        """Refuse folds of another number of graphs."""
        require(
            len(self.folds) == n_graphs and int(self.folds.max()) + 2 == n_rows, "folds are of other graphs"
        )

    @classmethod
    def learn(cls, training: Training) -> tuple[NeighborScore, Values]:
        """Return the score and its values for the training graphs, which are not their own neighbors."""
        score = cls(training.folds, possible_neighbors(training))
        own = np.arange(len(training.folds)) if training.judged is None else training.judged
        graphs = training.graphs if training.judged is None else training.graphs[own]
        return score, score._values(graphs, training.index, score.n_rows, own)

    def of_new(self, graphs: GraphDatabase, index: Any, by_fold: bool) -> Values:
        """Return the scores of new graphs."""
        return self._values(graphs, index, self.n_rows if by_fold else 1)

    @property
    def n_rows(self) -> int:
        """Number of folds plus 1."""
        return int(self.folds.max()) + 2

    def _values(self, graphs: GraphDatabase, index: Any, rows: int, own: Places | None = None) -> Values:
        similarities = neighbors_of(index, graphs, self.folds, self.k, rows, own)[1]
        return np.asarray(similarities.mean(axis=2))


@dataclass(frozen=True)
class DensityScore(Score):
    """Minus the local outlier factor (Breunig et al., 2000) on distances of the normalized kernel.

    Attributes
    ----------
    folds : ndarray of int64, (training graphs,)
    k : int
    reaches : ndarray, (folds + 1, training graphs)
        Distance from each training graph to its k-th nearest neighbor (k-distance).
    densities : ndarray, (folds + 1, training graphs)
        Local reachability densities.
    """

    folds: Annotated[Places, Indices("folds")]
    k: int
    reaches: Values
    densities: Values

    def _check_parts(self) -> None:
        """Refuse arrays of reaches and densities without one value per fold and graph."""
        check_neighbors(self.folds, self.k)
        shape = (int(self.folds.max()) + 2, len(self.folds))
        require(
            self.reaches.shape == self.densities.shape == shape, "every graph needs a density in each fold"
        )

    def check_rows(self, n_graphs: int, n_rows: int) -> None:
        """Refuse folds of another number of graphs."""
        require(self.reaches.shape == (n_rows, n_graphs), "folds are of other graphs")

    @classmethod
    def learn(cls, training: Training) -> tuple[DensityScore, Values]:
        """Return the score and its values for the training graphs."""
        k, rows = possible_neighbors(training), int(training.folds.max()) + 2
        everyone = np.arange(len(training.folds))
        near = neighbors_of(training.index, training.graphs, training.folds, k, rows, everyone)
        places, distances = near[0], kernel_distances(near[1])
        reaches = distances[:, :, -1]
        densities = local_densities(places, distances, reaches)
        score = cls(training.folds, k, reaches, densities)
        return score, training.of_judged(-np.mean(_taken(densities, places), axis=2) / densities)

    def of_new(self, graphs: GraphDatabase, index: Any, by_fold: bool) -> Values:
        """Return the scores of new graphs."""
        rows = len(self.reaches) if by_fold else 1
        places, similarities = neighbors_of(index, graphs, self.folds, self.k, rows)
        reaches, known = self.reaches[-rows:], self.densities[-rows:]
        densities = local_densities(places, kernel_distances(similarities), reaches)
        return np.asarray(-np.mean(_taken(known, places), axis=2) / densities)


def kernel_distances(similarities: Values) -> Values:
    """Distance in the feature space of a normalized kernel k: sqrt(2 - 2 k)."""
    return np.sqrt(np.maximum(2.0 - 2.0 * similarities, 0.0))


def local_densities(places: Places, distances: Values, reaches: Values) -> Values:
    """Inverse of the mean reachability distance; scikit-learn's small constant keeps it finite."""
    reachable = np.maximum(distances, _taken(reaches, places))
    return np.asarray(1.0 / (reachable.mean(axis=2) + 1e-10))


def _taken(values: Values, places: Places) -> Values:
    """Values at positions, row by row: (rows, graphs, k)."""
    return np.stack([row[at] for row, at in zip(values, places, strict=True)])


@dataclass(frozen=True)
class OneClassScore(Score):
    """Decisions of a one-class SVM (Schölkopf et al., 2001) on the normalized kernel.

    Attributes
    ----------
    coefficients : ndarray, (training graphs, folds + 1)
        Dual coefficients; 0 for graphs of the excluded fold.
    intercepts : ndarray, (folds + 1,)
    """

    coefficients: Values
    intercepts: Values

    def check_rows(self, n_graphs: int, n_rows: int) -> None:
        """Refuse any number of SVMs but one per fold and one for all graphs."""
        require(self.coefficients.shape == (n_graphs, n_rows), "every graph needs a coefficient in each fold")
        require(self.intercepts.shape == (n_rows,), "every fold needs an intercept")

    @classmethod
    def learn(cls, training: Training) -> tuple[OneClassScore, Values]:
        """Return the score and its values for the training graphs, from the SVM without their fold.

        Leave-one-out would need one SVM per graph.
        """
        check_room(len(training.folds), len(training.folds), 3, ways_out=OTHER_SCORES)
        matrix = np.array(for_each_row(training.index, training.graphs, lambda _, values: values))
        out = training.left_out
        machines = [_one_class_machine(matrix, np.flatnonzero(~row)) for row in out]
        score = cls(np.array([c for c, _ in machines]).T, np.array([b for _, b in machines]))
        values = (matrix @ score.coefficients + score.intercepts).T
        values[-1] = values[training.folds, np.arange(len(matrix))]
        return score, training.of_judged(values)

    def of_new(self, graphs: GraphDatabase, index: Any, by_fold: bool) -> Values:
        """Return the scores of new graphs."""
        rows = slice(None) if by_fold else slice(-1, None)
        coefficients, intercepts = self.coefficients[:, rows], self.intercepts[rows]
        decided = for_each_row(index, graphs, lambda _, values: values @ coefficients)
        return np.asarray((np.array(decided) + intercepts).T)


def _one_class_machine(matrix: Values, members: Places) -> tuple[Values, float]:
    """Dual coefficients of all training graphs, and the intercept, of an SVM trained on ``members``."""
    from sklearn.svm import OneClassSVM

    machine = OneClassSVM(kernel="precomputed", nu=NU).fit(matrix[np.ix_(members, members)])
    coefficients = np.zeros(len(matrix))
    coefficients[members[machine.support_]] = machine.dual_coef_[0]
    return coefficients, float(machine.intercept_[0])
