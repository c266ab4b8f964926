"""How trained machines decide: columns of decisions and their classes, rules, probabilities.

Where the kernel is a dot product of counts, a decision is ``sum_i a_i k(x, x_i) + b``, which is
``<phi(x), sum_i a_i phi(x_i)> + b``: the sum over the training graphs is done once, no training graph has to
be kept, and a decision takes time linear in the nodes of the new graph. This is folding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, softmax
from sklearn.svm import SVC

from propkernels.counting.counters import Codes, Counter, StreamCounts
from propkernels.counting.joined import JoinedCounter
from propkernels.gram.linear import inverse_length, self_products
from propkernels.graphs.database import GraphDatabase
from propkernels.utils.arrays import offsets, sum_in_order

Matrix = NDArray[np.float64]


def pairwise_coefficients(machine: SVC, n_graphs: int) -> tuple[Matrix, NDArray[np.float64]]:
    """Return coefficients (graphs, pairs of classes) and intercepts of libsvm's one-against-one machines.

    Decision p is ``sum_i coefficients[i, p] K(x, x_i) + intercepts[p]``; positive votes for the first class
    of the pair, as in ``SVC.decision_function(decision_function_shape="ovo")``.
    """
    classes = len(machine.n_support_)
    ends = offsets(machine.n_support_)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    coefficients = np.zeros((n_graphs, len(pairs)))
    for p, (i, j) in enumerate(pairs):
        for own, row in ((i, j - 1), (j, i)):
            support = slice(ends[own], ends[own + 1])
            coefficients[machine.support_[support], p] = machine.dual_coef_[row, support]
    sign = -1.0 if classes == 2 else 1.0  # scikit-learn turns the two-class case around
    return sign * coefficients, sign * np.asarray(machine.intercept_, dtype=np.float64)


def vote(decisions: Matrix, n_classes: int) -> NDArray[np.int64]:
    """Class with most votes of the pairs, the first among equals: libsvm's own rule."""
    votes = np.zeros((len(decisions), n_classes), dtype=np.int64)
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    for p, (i, j) in enumerate(pairs):
        votes[:, i] += decisions[:, p] > 0
        votes[:, j] += decisions[:, p] <= 0
    return votes.argmax(axis=1)


def class_scores(decisions: Matrix, n_classes: int) -> Matrix:
    """One score per class from the pairs' decisions, as SVC's ``decision_function_shape="ovr"``.

    A score is the number of votes, plus the sum of decisions squeezed into (-1/3, 1/3): it orders classes
    with equally many votes, and no others.
    """
    votes, sums = np.zeros((2, len(decisions), n_classes))
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        is_second = decisions[:, p] < 0
        votes[:, i] += ~is_second
        votes[:, j] += is_second
        sums[:, i] += decisions[:, p]
        sums[:, j] -= decisions[:, p]
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


@dataclass(frozen=True)
class DecisionLayout:
    """Meaning of decision columns.

    Attributes
    ----------
    n_classes : int
        Number of classes.
    pairwise : bool
        One column for each pair of classes, positive for the first (libsvm); otherwise one for each class
        against the rest, or, with two classes, a single one that is positive for the second.
    multilabel : bool
        One column for each label by itself, positive where the graph has it.
    """

    n_classes: int
    pairwise: bool
    multilabel: bool = False

    def columns(self, classes: NDArray[np.int64]) -> Matrix:
        """Return 1 and -1 as least squares predict them: one column per class, a single one for two."""
        if self.pairwise or self.multilabel:
            raise ValueError("only columns of classes against the rest are targets of least squares")
        own = np.arange(self.n_classes)[1 if self.n_classes == 2 else 0 :]
        return np.where(classes[:, None] == own, 1.0, -1.0)

    def predictions(self, decisions: Matrix) -> NDArray[np.int64]:
        """Class number of each row; 0 or 1 for each label, if there are several."""
        if self.multilabel:
            return (decisions > 0).astype(np.int64)
        if self.pairwise:
            return vote(decisions, self.n_classes)
        if self.n_classes == 2:
            return (decisions[:, 0] > 0).astype(np.int64)
        return decisions.argmax(axis=1)

    def scores(self, decisions: Matrix) -> Matrix:
        """One score per class; for two classes a single one, for the second."""
        if not self.pairwise:
            return decisions
        return -decisions if self.n_classes == 2 else class_scores(decisions, self.n_classes)

    def of_pairs(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn weights of pairs of classes, positive for the first, into weights of the columns.

        Where columns are classes, a pair's decision is the difference of two columns.
        """
        if self.pairwise:
            return weights
        columns = np.zeros(self.n_classes)
        for weight, (first, second) in zip(weights, combinations(range(self.n_classes), 2), strict=True):
            columns[first] += weight
            columns[second] -= weight
        return columns[1:] if self.n_classes == 2 else columns


@dataclass(frozen=True)
class FoldedRule:
    """Decisions as sums of bin weights.

    Attributes
    ----------
    counter : Counter
        Counts any graph.
    codes : list of ndarray of int64
        For each stream, the codes of the bins that have weights.
    weights : list of ndarray, (bins, decisions)
        The weights; a stream's own weight in the kernel is multiplied in.
    stream_weights : ndarray, (streams,)
        What each stream counts in k(x, x).
    normalize : bool
        Whether decisions are divided by sqrt(k(x, x)).
    """

    counter: Counter
    codes: list[NDArray[np.int64]]
    weights: list[Matrix]
    stream_weights: NDArray[np.float64]
    normalize: bool

    def scaled(self, unit: float) -> FoldedRule:
        """Return a rule whose decisions are multiplied by a number."""
        weights = [unit * table for table in self.weights]
        return FoldedRule(self.counter, self.codes, weights, self.stream_weights, self.normalize)

    def decisions(self, graphs: GraphDatabase, n_jobs: int | None) -> Matrix:
        """Return decision values without intercepts, (graphs, decisions)."""
        streams = self.counter.count(graphs, self.codes, n_jobs)
        total = np.zeros((len(graphs), self.weights[0].shape[1]))
        for stream, weights in zip(streams, self.weights, strict=True):
            total += stream.counts[:, : len(weights)] @ weights
        return total * self.inverse_lengths(streams)[:, None]

    def inverse_lengths(self, streams: Sequence[StreamCounts]) -> NDArray[np.float64]:
        """Return 1 / sqrt(k(x, x)) of each graph over all its bins; 1 without normalization."""
        if not self.normalize:
            return np.ones(streams[0].counts.shape[0])
        return inverse_length(weighted_squares(streams, self.stream_weights))


@dataclass(frozen=True)
class KernelRule:
    """Decisions as sums over training graphs, for kernels that are not dot products of counts."""

    kernel: Any
    coefficients: Matrix

    def scaled(self, unit: float) -> KernelRule:
        """Return a rule whose decisions are multiplied by a number."""
        return KernelRule(self.kernel, unit * self.coefficients)

    def decisions(self, graphs: GraphDatabase, n_jobs: int | None) -> Matrix:
        """Return decision values without intercepts, (graphs, decisions).

        A sparse product adds up in the order of the training graphs, and leaves out those that do not count.
        BLAS adds in an order that depends on how many graphs there are.
        """
        rows = np.asarray(self.kernel.transform(graphs), dtype=np.float64)
        return np.asarray((csr_array(self.coefficients.T) @ rows.T).T)


@dataclass(frozen=True)
class SumRule:
    """Sums of the decisions of several rules, of which not all are folded."""

    rules: list[FoldedRule | KernelRule]

    def scaled(self, unit: float) -> SumRule:
        """Return a rule whose decisions are multiplied by a number."""
        return SumRule([rule.scaled(unit) for rule in self.rules])

    def decisions(self, graphs: GraphDatabase, n_jobs: int | None) -> Matrix:
        """Return decision values without intercepts, (graphs, decisions)."""
        return sum_in_order(rule.decisions(graphs, n_jobs) for rule in self.rules)


Rule = FoldedRule | KernelRule | SumRule


def decision_rule(kernel: Any, coefficients: Matrix) -> FoldedRule | KernelRule:
    """Turn a fitted kernel and dual coefficients, (training graphs, decisions), into a rule.

    Folded wherever the kernel is a dot product of counts.
    """
    if getattr(kernel, "counter_", None) is None:
        return KernelRule(kernel, coefficients)
    counts = kernel.training_counts_
    if kernel.normalize:
        squares = weighted_squares(counts, [stream.weight for stream in counts])
        coefficients = coefficients * inverse_length(squares)[:, None]
    weights = [np.asarray(s.weight * (s.counts.T @ coefficients)) for s in counts]
    return _folded(kernel, counts, [stream.codes for stream in counts], weights)


def primal_rule(kernel: Any, coefficients: Matrix) -> FoldedRule:
    """Turn a fitted kernel and weights of the columns of its features, (columns, decisions), into a rule.

    Columns are those of the streams side by side, each stream's in the order of its codes (``sort_bins``).
    """
    counts = kernel.training_counts_
    parts = np.split(coefficients, np.cumsum([len(stream.codes) for stream in counts])[:-1])
    weights = [np.sqrt(s.weight) * part for s, part in zip(counts, parts, strict=True)]
    return _folded(kernel, counts, [np.sort(stream.codes) for stream in counts], weights)


def mean_rule(rules: Sequence[FoldedRule | KernelRule], kernels: Sequence[Any]) -> Rule:
    """Average the decisions of rules; those that are folded become one.

    Parameters
    ----------
    rules : sequence of FoldedRule or KernelRule
    kernels : sequence of estimators
        The fitted kernel of each.
    """
    folded, streams, parts = [], [], []
    for rule, kernel in zip(rules, kernels, strict=True):
        share = rule.scaled(1 / len(rules))
        if isinstance(share, FoldedRule):
            folded.append(share)
            streams.append(kernel.training_counts_)
        else:
            parts.append(share)
    several: list[Any] = [joined_rule(folded, streams), *parts] if folded else parts
    return several[0] if len(several) == 1 else SumRule(several)


def joined_rule(rules: Sequence[FoldedRule], streams: Sequence[list[StreamCounts]]) -> FoldedRule:
    """Add up the decisions of folded rules: one rule that counts as all of them do.

    Parameters
    ----------
    rules : sequence of FoldedRule
    streams : sequence of list of StreamCounts
        What each of them counts in some graphs: streams are ordered by their iterations.
    """
    if len(rules) == 1:
        return rules[0]
    normalized = [rule.normalize for rule in rules]
    counter = JoinedCounter.of([r.counter for r in rules], np.ones(len(rules)), normalized, streams)
    parts = [iter(zip(r.codes, r.weights, r.stream_weights, strict=True)) for r in rules]
    codes, weights, stream_weights = zip(*(next(parts[part]) for part in counter.parts), strict=True)
    return FoldedRule(counter, list(codes), list(weights), np.array(stream_weights), False)


def _folded(
    kernel: Any, counts: Sequence[StreamCounts], codes: list[NDArray[np.int64]], weights: list[Matrix]
) -> FoldedRule:
    stream_weights = np.array([stream.weight for stream in counts])
    return FoldedRule(kernel.counter_, codes, weights, stream_weights, kernel.normalize)


def counted_by(rule: Rule) -> list[tuple[Counter, list[Codes]]]:
    """How a rule counts: each of its counters, and for each stream the bins of the training graphs."""
    if isinstance(rule, SumRule):
        return [part for one in rule.rules for part in counted_by(one)]
    if isinstance(rule, FoldedRule):
        counter = rule.counter
        return counter.split(rule.codes) if isinstance(counter, JoinedCounter) else [(counter, rule.codes)]
    kernel = rule.kernel
    if not hasattr(kernel, "coder_") or not hasattr(kernel, "counts_"):
        name = type(kernel).__name__
        raise TypeError(f"{name} compares graphs without counting bins: no surroundings can be looked up")
    return [(kernel.coder_, [stream.codes for stream in kernel.counts_])]


def weighted_squares(streams: Sequence[StreamCounts], weights: Any) -> NDArray[np.float64]:
    """Return k(x, x) of each graph: the weighted sum over streams of the squared lengths of its counts."""
    return sum_in_order(w * self_products(s.counts) for s, w in zip(streams, weights, strict=True))


def self_similarities(kernel: Any, graphs: GraphDatabase) -> NDArray[np.float64]:
    """Return k(x, x) of new graphs, over all of their bins, for a fitted kernel of this library."""
    if not hasattr(kernel, "self_similarities"):
        raise TypeError(f"{type(kernel).__name__} does not tell how similar a new graph is to itself")
    own = kernel.self_similarities(graphs)
    return (own > 0).astype(np.float64) if kernel.normalize else np.asarray(own, dtype=np.float64)


@dataclass(frozen=True)
class Calibration:
    """Multinomial logistic model of scores.

    Attributes
    ----------
    coefficients : ndarray of shape (scores, classes), or (1, labels)
    intercepts : ndarray of shape (classes,)
    multilabel : bool
        Each score has a logistic model of its own, of one label.
    """

    coefficients: Matrix
    intercepts: NDArray[np.float64]
    multilabel: bool = False

    @classmethod
    def learn(cls, scores: Matrix, target: NDArray[np.int64]) -> Calibration:
        """Fit to scores of graphs that were not learned from.

        A class that no score was learned for (it is in no fold) gets probability 0.
        """
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=1e3, max_iter=1000).fit(scores, target)
        if len(model.classes_) == 2:
            zero = np.zeros_like(model.coef_[0])
            return cls(np.column_stack([zero, model.coef_[0]]), np.array([0.0, model.intercept_[0]]))
        return cls(model.coef_.T.copy(), model.intercept_.copy())

    @classmethod
    def learn_columns(cls, scores: Matrix, target: Matrix) -> Calibration:
        """Fit one model per label, from the graphs that have an entry (not NaN) for it."""
        models = []
        for column, values in zip(scores.T, target.T, strict=True):
            known = ~np.isnan(values)
            labels = values[known].astype(np.int64)
            if len(np.unique(labels)) < 2:
                models.append((1.0, 0.0))
                continue
            one = cls.learn(column[known, None], labels)
            models.append((float(one.coefficients[0, 1]), float(one.intercepts[1])))
        slopes, intercepts = np.array(models).T
        return cls(slopes[None, :], intercepts, True)

    def probabilities(self, scores: Matrix) -> Matrix:
        """Return class probabilities, or those of the labels, one row per graph."""
        if self.multilabel:
            return np.asarray(expit(scores * self.coefficients + self.intercepts))
        return np.asarray(softmax(scores @ self.coefficients + self.intercepts, axis=1))
