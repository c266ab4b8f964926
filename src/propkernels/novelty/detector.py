"""NoveltyDetector: graphs that share little with any training graph, with p-values and explanations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_integer, check_positive
from propkernels._utils.parallel import threaded
from propkernels._utils.randomness import draw_seed
from propkernels._utils.stored import SOMETIMES, Indices, require
from propkernels._utils.typing import Estimator, Seed, Values
from propkernels.convert.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.novelty.explanation import NoveltyExplanation, nearest_of, parts_of
from propkernels.search.index import GraphIndex

N_FOLDS = 10
MOST_COMPARISONS = 250_000_000  # largest number of pairs of training graphs compared in fit
LEAST_JUDGED = 1000
LEAST_GRAPHS = 3
LEAST_SIMILARITY = 1e-9  # whose logarithm is taken
FENCE = 1.5  # Tukey's fence, in interquartile ranges below the lower quartile


@dataclass(kw_only=True, eq=False, repr=False)
class DetectorParameters:
    """Parameters of :class:`NoveltyDetector`."""

    kernel: Estimator | str | None = None
    n_neighbors: int = 1
    contamination: str | float = "auto"
    random_state: Seed = None
    n_jobs: int | None = None


class NoveltyDetector(DetectorParameters, OutlierMixin, GraphInput, BaseEstimator):
    """Detect graphs that are unlike the training graphs, with p-values and explanations by node.

    The novelty of a graph is one minus its :func:`similarity` to the nearest training graph: the share of the
    neighborhoods of both that they do not share. No abnormal graphs are needed for training. Nearest
    neighbors are exact; a :class:`GraphIndex` finds them without an n x n matrix.

    Parameters
    ----------
    kernel : estimator, str or None, default=None
        What is counted in place of neighborhoods: a kernel of this library that counts codes, or its name.
    n_neighbors : int, default=1
        Number of nearest training graphs whose similarities are averaged; at most the number of graphs
        outside a fold.
    contamination : "auto" or float, default="auto"
        The share of the training graphs that lie below ``offset_``, above 0 and at most 0.5. "auto": as many
        as lie below Tukey's lower fence, 1.5 interquartile ranges below the lower quartile of the logarithms
        of similarities.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of a kernel that is named.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    offset_ : float
        Threshold: ``decision_function`` is ``score_samples`` minus ``offset_``.
    kernel_ : estimator
        The kernel that counts.
    index_ : GraphIndex
        Index of the training graphs.
    judged_ : ndarray of shape (judged,)
        Positions of the training graphs scored against the others: all of up to 15,811,
        else a random sample of at least 1,000 graphs, limited so that ``fit`` makes at most 250 million
        comparisons. New graphs are always compared with all training graphs.
    training_scores_ : ndarray of shape (judged,)
        Score of each of these graphs against all others.
    held_out_scores_ : ndarray of shape (judged,)
        Score of each of these graphs against those outside its fold.

    See Also
    --------
    GraphIndex : The nearest neighbors themselves.
    PropagationClassifier : Its ``applicability`` returns which neighborhoods are unseen.
    propkernels.plotting.plot_explanation : Draws what ``explain`` returns.

    Notes
    -----
    A p-value (:meth:`predict_p`) compares a new graph with held-out training graphs, fold by fold [1]_: with
    the n graphs of ``judged_``. If it has the same distribution as these, the probability of ``p <= a`` is
    at most ``2 a + sqrt(2 / n)`` for ten folds, whatever the distribution [2]_, and close to ``a`` in
    practice.
    The guarantee requires a kernel that learns nothing from the graphs: any but those that standardize
    attributes or number labels.

    References
    ----------
    .. [1] V. Vovk (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74,
       9-28. doi:10.1007/s10472-013-9368-4.
    .. [2] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
       jackknife+. Annals of Statistics 49 (1), 486-507. doi:10.1214/20-AOS1965. Theorem 4.

    Examples
    --------
    >>> import networkx as nx
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    >>> detector = pk.NoveltyDetector(random_state=0).fit(graphs[:55])
    >>> star = pk.from_networkx([nx.star_graph(12)])
    >>> detector.predict(star), bool(detector.predict_p(star)[0] < 0.02)
    (array([-1]), True)
    >>> explanation = detector.explain(star)
    >>> bool(explanation.seen.any())
    False
    """

    _folds: Annotated[NDArray[np.int64], Indices("_folds")]
    held_out_scores_: Values
    index_: GraphIndex
    judged_: Annotated[NDArray[np.int64], Indices("_folds")]
    training_scores_: Values
    _k: int
    offset_: Annotated[float, SOMETIMES]

    def fit(self, X: Graphs, y: object = None) -> Self:
        """Learn scores, threshold and folds from the training graphs.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            At least three; see :func:`propkernels.check_graphs`. A few may be abnormal.
        y : ignored

        Returns
        -------
        self
        """
        return self._learn(X, MOST_COMPARISONS)

    @threaded
    def _learn(self, X: Any, comparisons: float) -> Self:
        """Fit with at most ``comparisons`` pairs of training graphs, which limits the judged graphs."""
        contamination = check_contamination(self.contamination)
        k = check_integer(self.n_neighbors, "n_neighbors", 1)
        graphs = check_graphs(X)
        if len(graphs) < LEAST_GRAPHS:
            raise ValueError(
                f"NoveltyDetector needs at least {LEAST_GRAPHS} graphs, n_samples = {len(graphs)}"
            )
        seed = draw_seed(self.random_state)
        index = GraphIndex(
            kernel=self.kernel, similarity="jaccard", random_state=seed % 2**32, n_jobs=self.n_jobs
        ).fit(graphs)
        folds = deal_folds(len(graphs), seed)
        judged = choose_judged(folds, max(comparisons / len(graphs), LEAST_JUDGED), seed)
        k = max(1, min(k, len(folds) - int(np.bincount(folds).max()) - 1))
        some = graphs if len(judged) == len(graphs) else graphs[judged]
        values = nearest_of(index, some, folds, k, int(folds.max()) + 2, judged)[1].mean(axis=2) - 1
        self.index_, self._folds, self._k, self.judged_ = index, folds, k, judged
        self.training_scores_ = values[-1]
        self.held_out_scores_ = values[folds[judged], np.arange(len(judged))]
        self.offset_ = lower_threshold(self.training_scores_, contamination)
        return self

    # scoring

    def score_samples(self, X: Graphs) -> Values:
        """Return minus the novelty of each graph, from -1 (nothing in common) to 0 (a training graph).

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs
            New graphs. Training graphs would be their own neighbors: see ``training_scores_`` for theirs.

        Returns
        -------
        ndarray of shape (graphs,)
        """
        return self._values(self._checked(X), False)[0]

    def decision_function(self, X: Graphs) -> Values:
        """Return ``score_samples(X) - offset_``: negative for outliers."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Graphs) -> NDArray[np.int64]:
        """Return 1 for graphs like the training graphs, and -1 for outliers."""
        return np.where(self.decision_function(X) < 0, -1, 1).astype(np.int64)

    def fit_predict(self, X: Graphs, y: object = None) -> NDArray[np.int64]:
        """Fit, and return -1 for outliers among the training graphs, else 1.

        Every training graph is scored against all others, however many there are.
        """
        self._learn(X, math.inf)
        return np.where(self.training_scores_ < self.offset_, -1, 1).astype(np.int64)

    def predict_p(self, X: Graphs) -> Values:
        """Return p-values: small if few held-out training graphs have a score as low.

        Calling all graphs with ``p <= a`` novel raises a false alarm with a probability of about ``a``; see
        the notes of the class for what is guaranteed.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs

        Returns
        -------
        ndarray of shape (graphs,)
            From 1 / (judged training graphs + 1) to 1.
        """
        values, folds = self._values(self._checked(X), True)[:-1], self._folds[self.judged_]
        return cross_conformal(values, ranked_by_fold(self.held_out_scores_, folds, len(values)))

    @threaded
    def explain(self, X: Graphs) -> NoveltyExplanation:
        """Return the novelty of graphs, minus their score, as a sum over nodes and iterations.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs

        Returns
        -------
        NoveltyExplanation
            Contribution of each node at each iteration: its neighborhoods that the nearest training graph has
            not. What that graph has in addition is the ``intercept``. Both add up to the novelty.
        """
        graphs = self._checked(X)
        found, first = [], 0
        places, similarities = nearest_of(self.index_, graphs, self._folds, self._k, 1)
        for part in self.index_._counter.parts_of(graphs):
            found.append(parts_of(self.index_, part, places[0, first : first + len(part)]))
            first += len(part)
        nodes, seen = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        sums = np.bincount(graphs.graph_ids, nodes.sum(axis=1), len(graphs))
        lacking = 1 - similarities[0].mean(axis=1) - sums
        return NoveltyExplanation(nodes, graphs.graph_ptr, lacking, graphs, seen=seen)

    @property
    def kernel_(self) -> Estimator:
        """The kernel that counts."""
        return self.index_.kernel_

    def _checked(self, X: Any) -> GraphDatabase:
        check_is_fitted(self, "index_")
        return check_graphs(X)

    @threaded
    def _values(self, graphs: GraphDatabase, by_fold: bool) -> Values:
        """Scores, (folds + 1, graphs), or only the last row without ``by_fold``."""
        rows = int(self._folds.max()) + 2 if by_fold else 1
        return nearest_of(self.index_, graphs, self._folds, self._k, rows)[1].mean(axis=2) - 1

    def _check_parts(self) -> None:
        """Refuse scores and folds of different numbers of graphs."""
        if not hasattr(self, "index_"):
            return
        n_graphs = len(self.index_._names)
        require(self.index_.similarity == "jaccard" and len(self.index_._file.segments) == 1, "another index")
        require(self._folds.shape == (n_graphs,) and n_graphs, "every training graph is in a fold")
        judged = self.judged_.shape
        require(
            self.training_scores_.shape == self.held_out_scores_.shape == judged, "judged graphs need scores"
        )
        n_others = max(n_graphs - int(np.bincount(self._folds).max()), 1)
        require(1 <= self._k <= n_others, "fewer neighbors are left outside a fold")


def check_contamination(contamination: Any) -> float | None:
    """Return the share of outliers, or None for "auto"."""
    if isinstance(contamination, str) and contamination == "auto":
        return None
    if isinstance(contamination, str) or check_positive(contamination, "contamination") > 0.5:
        raise ValueError(f'contamination must be "auto", or above 0 and at most 0.5; got {contamination!r}')
    return float(contamination)


def deal_folds(n_graphs: int, seed: int) -> NDArray[np.int64]:
    """Return a random fold per graph, all folds of about equal size."""
    order = np.random.default_rng(seed).permutation(n_graphs)
    return np.asarray(order % min(N_FOLDS, n_graphs), dtype=np.int64)


def choose_judged(folds: NDArray[np.int64], most: float, seed: int) -> NDArray[np.int64]:
    """Positions of the graphs to score: all, or a random sample of at most ``most``, equally from all folds.

    Examples
    --------
    >>> choose_judged(np.array([0, 1, 0, 1]), 10, 0)
    array([0, 1, 2, 3])
    >>> len(choose_judged(np.array([0, 1, 0, 1]), 2, 0))
    2
    """
    if len(folds) <= most:
        return np.arange(len(folds))
    order = np.random.default_rng([seed, 1]).permutation(len(folds))
    by_fold = order[np.argsort(folds[order], kind="stable")]
    rank = np.arange(len(folds)) - np.searchsorted(folds[by_fold], folds[by_fold])
    return np.sort(by_fold[rank < most // (int(folds.max()) + 1)])


def lower_threshold(scores: Values, contamination: float | None) -> float:
    """Quantile of the scores at ``contamination``; None: Tukey's lower fence of logarithms of similarities.

    Similarities are not negative, so that the fence of the similarities themselves is often below all.

    Examples
    --------
    >>> lower_threshold(np.arange(5.0), 0.25), round(lower_threshold(np.array([0.1, 0.2, 0.4]) - 1, None), 2)
    (1.0, -0.95)
    """
    if contamination is not None:
        return float(np.quantile(scores, contamination))
    low, high = np.quantile(np.log(np.maximum(scores + 1, LEAST_SIMILARITY)), [0.25, 0.75])
    return float(np.exp(low - FENCE * (high - low)) - 1)


def ranked_by_fold(held_out: Values, folds: NDArray[np.int64], n_folds: int) -> list[Values]:
    """Return the held-out scores of each fold, sorted.

    Examples
    --------
    >>> ranked_by_fold(np.array([0.7, 0.1, 3.0]), np.array([0, 0, 1]), 2)
    [array([0.1, 0.7]), array([3.])]
    """
    return [np.sort(held_out[folds == fold]) for fold in range(n_folds)]


def cross_conformal(values: Values, ranked: list[Values]) -> Values:
    """P-value: share of the training graphs, and the new graph itself, with at most the new graph's score.

    Each training graph is compared with the new graph by scores from the graphs outside its fold.

    Parameters
    ----------
    values : ndarray, (folds, new graphs)
    ranked : list of ndarray
        Sorted scores of the training graphs of each fold.

    Examples
    --------
    >>> cross_conformal(np.array([[0.5], [2.5]]), [np.array([0.1, 0.7]), np.array([3.0])])
    array([0.5])
    """
    n_stranger = np.ones(values.shape[1])
    for row, scores in zip(values, ranked, strict=True):
        n_stranger += np.searchsorted(scores, row, side="right")
    return n_stranger / (sum(map(len, ranked)) + 1)
