"""NoveltyDetector: scores graphs by their similarity to the training graphs, and explains scores by node."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.checks import GraphInput, check_choice, check_integer, check_positive
from propkernels._utils.locks import derived
from propkernels._utils.parallel import threaded
from propkernels._utils.randomness import draw_seed
from propkernels._utils.stored import SOMETIMES, Indices, require
from propkernels._utils.typing import Estimator, Seed
from propkernels.convert.check import check_graphs
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.named import named_kernel
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.novelty.neighbor_scores import DensityScore, NeighborScore, OneClassScore
from propkernels.novelty.novelty_explanation import NoveltyExplanation
from propkernels.novelty.novelty_scores import (
    SizeScore,
    Training,
    Values,
    are_scales,
    center_and_scale,
    left_out,
)
from propkernels.novelty.rarity import RarityScore
from propkernels.search.index import GraphIndex

SCORES: dict[str, Any] = {
    "neighbors": NeighborScore,
    "density": DensityScore,
    "one_class_svm": OneClassScore,
    "rarity": RarityScore,
    "size": SizeScore,
}
COMBINED = ("neighbors", "size")  # combine() relies on this order
SHARPNESS = 3  # exponent of the weights of the two scores
DEFAULT_T_MAX = 4
N_FOLDS = 10
MOST_COMPARISONS = 250_000_000  # largest number of pairs of training graphs compared in fit
LEAST_JUDGED = 1000
LEAST_GRAPHS = 3
FENCE = 1.5  # Tukey's fence, in interquartile ranges below the lower quartile


class NoveltyDetector(OutlierMixin, GraphInput, BaseEstimator):
    """Detect graphs that are unlike the training graphs, with p-values and explanations by node.

    No abnormal graphs are needed for training. Nearest neighbors are exact; a :class:`GraphIndex` finds them
    without an n x n matrix.

    Parameters
    ----------
    kernel : estimator, str or None, default=None
        A kernel of this library that counts codes; always used normalized. None: the intersection
        kernel ``PropagationKernel(base_kernel="intersection", t_max=4)``.
    score : {"auto", "neighbors", "density", "one_class_svm", "rarity", "size"}, default="auto"
        Score of normality; larger for more normal graphs.

        - "neighbors": mean similarity to the ``n_neighbors`` nearest training graphs.
        - "density": minus the local outlier factor [1]_ on the distances of the kernel.
        - "one_class_svm": decisions of a one-class SVM [2]_; takes the whole kernel matrix in fit.
        - "rarity": minus the information content of a graph's bins under their smoothed training
          frequencies, per node and iteration, in nats.
        - "size": minus the mean absolute robust z-score of the number of nodes, of edges and of the mean
          degree.
        - "auto": "neighbors" and "size" together, each in robust standard deviations from the median of
          training graphs, each scored against all others. The score is a weighted mean with weights ``w**3``
          and ``(1 - w)**3``, where ``w`` is the median similarity of a training graph to its nearest
          neighbors; or "neighbors" alone, if that is lower. Sizes decide where all neighbors are far, unless
          those of a graph are farther than usual.
    n_neighbors : int, default=1
        Number of neighbors for "neighbors" and "density"; at most the number of graphs outside a fold.
    contamination : "auto" or float, default="auto"
        The share of the training graphs that lie below ``offset_``, above 0 and at most 0.5. "auto": as many
        as lie below Tukey's lower fence, 1.5 interquartile ranges below the lower quartile.
    random_state : int, RandomState or None, default=None
        Seed of the default kernel and of the folds.
    n_jobs : int or None, default=None
        Threads; None is one, -1 all cores.

    Attributes
    ----------
    offset_ : float
        Threshold: ``decision_function`` is ``score_samples`` minus ``offset_``.
    kernel_ : estimator
        The normalized kernel.
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
    A p-value (:meth:`predict_p`) compares a new graph with held-out training graphs, fold by fold [3]_: with
    the n graphs of ``judged_``. If it has the same distribution as these, the probability of ``p <= a`` is
    at most ``2 a + sqrt(2 / n)`` for ten folds, whatever the distribution [4]_, and close to ``a`` in
    practice.
    The guarantee requires a kernel that learns nothing from the graphs: any but those that standardize
    attributes or number labels.

    References
    ----------
    .. [1] M. M. Breunig, H.-P. Kriegel, R. T. Ng and J. Sander (2000). LOF: identifying density-based local
       outliers. SIGMOD, 93-104. doi:10.1145/342009.335388.
    .. [2] B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola and R. C. Williamson (2001). Estimating the
       support of a high-dimensional distribution. Neural Computation 13 (7), 1443-1471.
       doi:10.1162/089976601750264965.
    .. [3] V. Vovk (2015). Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence 74,
       9-28. doi:10.1007/s10472-013-9368-4.
    .. [4] R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani (2021). Predictive inference with the
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

    _centers: Values
    _folds: Annotated[NDArray[np.int64], Indices("_folds")]
    held_out_scores_: Values
    index_: GraphIndex
    judged_: Annotated[NDArray[np.int64], Indices("_folds")]
    _scales: Values
    _scores: dict[str, Any]
    training_scores_: Values
    _used: list[str]
    offset_: Annotated[float, SOMETIMES]
    _is_lower: Annotated[bool, SOMETIMES]

    def __init__(
        self,
        *,
        kernel: Estimator | str | None = None,
        score: str = "auto",
        n_neighbors: int = 1,
        contamination: str | float = "auto",
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.score = score
        self.n_neighbors = n_neighbors
        self.contamination = contamination
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        check_choice(self.score, ("auto", *SCORES), "score")
        k = check_integer(self.n_neighbors, "n_neighbors", 1)
        graphs = check_graphs(X)
        if len(graphs) < LEAST_GRAPHS:
            raise ValueError(
                f"NoveltyDetector needs at least {LEAST_GRAPHS} graphs, n_samples = {len(graphs)}"
            )
        seed = draw_seed(self.random_state)
        index = GraphIndex(kernel=self._kernel(seed), n_jobs=self.n_jobs).fit(graphs)
        folds = deal_folds(len(graphs), seed)
        judged = choose_judged(folds, max(comparisons / len(graphs), LEAST_JUDGED), seed)
        is_sample = len(judged) < len(graphs)
        training = Training(graphs, index, folds, k, judged if is_sample else None)
        used = list(COMBINED) if self.score == "auto" else [self.score]
        learned = {name: SCORES[name].learn(training) for name in dict.fromkeys([*used, "rarity"])}
        values = np.array([learned[name][1] for name in used])
        self.index_, self._folds, self._used, self.judged_ = index, folds, used, judged
        self._scores = {name: score for name, (score, _) in learned.items()}
        self._centers, self._scales = scales_of(values, folds[judged])
        self._is_lower = True
        combined = combine(values, self._centers, self._scales)
        self.training_scores_ = combined[-1]
        self.held_out_scores_ = combined[folds[judged], np.arange(len(judged))]
        self.offset_ = lower_threshold(self.training_scores_, contamination)
        return self

    def _kernel(self, seed: int) -> Any:
        """Copy of the kernel, normalized; the default kernel gets the seed."""
        if self.kernel is not None:
            return clone(named_kernel(self.kernel, random_state=seed % 2**32))
        return PropagationKernel(
            base_kernel="intersection", t_max=DEFAULT_T_MAX, normalize=True, random_state=seed % 2**32
        )

    # scoring

    def score_samples(self, X: Graphs) -> Values:
        """Return the score of each graph, larger for more normal graphs; see ``score``.

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
        return _signs(self.decision_function(X))

    def fit_predict(self, X: Graphs, y: object = None) -> NDArray[np.int64]:
        """Fit, and return -1 for outliers among the training graphs, else 1.

        Every training graph is scored against all others, however many there are.
        """
        self._learn(X, math.inf)
        return _signs(self.training_scores_ - self.offset_)

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
        values = self._values(self._checked(X), True)
        # kept with the index, which every fit replaces
        ranked = derived(self.index_, "held-out scores by fold", self._ranked)
        return cross_conformal(values[:-1], ranked)

    @threaded
    def explain(self, X: Graphs) -> NoveltyExplanation:
        """Return the rarity of graphs as a sum over nodes and iterations, for any ``score``.

        Parameters
        ----------
        X : GraphDatabase or sequence of graphs

        Returns
        -------
        NoveltyExplanation
            Contribution of each node at each iteration, and the number of occurrences of its bin in training.
        """
        graphs = self._checked(X)
        rarity = self._scores["rarity"]
        around = rarity.neighborhoods(graphs)
        contributions = around.information * rarity.shares(graphs)[:, None]
        known = around.seen, around.numbers
        return NoveltyExplanation(contributions, graphs.graph_ptr, 0.0, graphs, None, None, *known)

    @property
    def kernel_(self) -> Estimator:
        """The normalized kernel."""
        return self.index_.kernel_

    def _ranked(self) -> list[Values]:
        return ranked_by_fold(self.held_out_scores_, self._folds[self.judged_], int(self._folds.max()) + 1)

    def _checked(self, X: Any) -> GraphDatabase:
        check_is_fitted(self, "index_")
        return check_graphs(X)

    @threaded
    def _values(self, graphs: GraphDatabase, by_fold: bool) -> Values:
        """Scores, (folds + 1, graphs), or only the last row without ``by_fold``."""
        values = np.array([self._scores[name].of_new(graphs, self.index_, by_fold) for name in self._used])
        rows = values.shape[1]
        # detectors of version 0.2.0 have the mean alone
        is_lower = getattr(self, "_is_lower", False)
        return combine(values, self._centers[:, -rows:], self._scales[:, -rows:], is_lower)

    def _check_parts(self) -> None:
        """Refuse scores, folds and scales of different numbers of graphs."""
        if not hasattr(self, "index_"):
            return
        n_graphs = len(self.index_._names)
        require(self._folds.shape == (n_graphs,) and n_graphs, "every training graph is in a fold")
        judged = self.judged_.shape
        require(
            self.training_scores_.shape == self.held_out_scores_.shape == judged, "judged graphs need scores"
        )
        n_rows = int(self._folds.max()) + 2
        shape = (len(self._used), n_rows)
        require(
            self._centers.shape == self._scales.shape == shape and shape[0] in (1, 2), "folds need scales"
        )
        require(are_scales(self._centers, self._scales), "scales are positive")
        require({"rarity", *self._used} == set(self._scores), "names of scores do not match")
        for name, score in self._scores.items():
            require(type(score) is SCORES.get(name), f"{name} is a score of another kind")
            score.check_rows(n_graphs, n_rows)


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


def scales_of(values: Values, folds: NDArray[np.int64]) -> tuple[Values, Values]:
    """Center and scale of each score among the graphs outside each fold: two arrays (scores, folds + 1).

    A single score is not rescaled: center 0 and scale 1.
    """
    n_scores, rows = values.shape[:2]
    if n_scores == 1:
        return np.zeros((1, rows)), np.ones((1, rows))
    pairs = [center_and_scale(values[:, row, ~out].T) for row, out in enumerate(left_out(folds))]
    return np.array([c for c, _ in pairs]).T, np.array([s for _, s in pairs]).T


def combine(values: Values, centers: Values, scales: Values, is_lower: bool = True) -> Values:
    """Return one score, (rows, graphs): the weighted mean of the scores after centering and scaling.

    The score of neighbors takes its place where it is lower.

    Parameters
    ----------
    values : ndarray, (scores, rows, graphs)
        One score, or those of ``COMBINED``.
    centers, scales : ndarray, (scores, rows)
    is_lower : bool, default=True
        False: the mean alone.

    Examples
    --------
    >>> values, parts = np.array([[[0.1]], [[-1.0]]]), (np.array([[0.5], [-1.0]]), np.array([[0.1], [1.0]]))
    >>> combine(values, *parts, is_lower=False).round(2), combine(values, *parts).round(2)
    (array([[-2.]]), array([[-4.]]))
    """
    units = (values - centers[:, :, None]) / scales[:, :, None]
    if len(values) == 1:
        return np.asarray(units[0])
    weight = weight_of_neighbors(centers[0])[:, None]
    mean = weight * units[0] + (1.0 - weight) * units[1]
    return np.asarray(np.minimum(mean, units[0]) if is_lower else mean)


def weight_of_neighbors(similarity: Values) -> Values:
    """Weight of the neighbor score, by the similarity of normal graphs to neighbors; sizes get the rest.

    Examples
    --------
    >>> weight_of_neighbors(np.array([0.0, 0.25, 0.5, 0.75, 1.0])).round(3)
    array([0.   , 0.036, 0.5  , 0.964, 1.   ])
    """
    near = np.clip(similarity, 0.0, 1.0) ** SHARPNESS
    far = (1.0 - np.clip(similarity, 0.0, 1.0)) ** SHARPNESS
    return np.asarray(near / (near + far))


def lower_threshold(scores: Values, contamination: float | None) -> float:
    """Quantile of the scores at ``contamination``; None: Tukey's lower fence.

    Examples
    --------
    >>> lower_threshold(np.arange(5.0), 0.25), lower_threshold(np.arange(5.0), None)
    (1.0, -2.0)
    """
    if contamination is not None:
        return float(np.quantile(scores, contamination))
    low, high = np.quantile(scores, [0.25, 0.75])
    return float(low - FENCE * (high - low))


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


def _signs(decisions: Values) -> NDArray[np.int64]:
    return np.where(decisions < 0, -1, 1).astype(np.int64)
