"""Explanations of decisions: contributions of nodes and iterations that add up exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counters import StreamCounts
from propkernels.counting.joined import padded_sum
from propkernels.graphs.database import GraphDatabase
from propkernels.learn.explain.explanation import Explanation
from propkernels.learn.machines.decisions import FoldedRule, KernelRule, Rule, SumRule, joined_rule
from propkernels.utils.checks import shown

Values = NDArray[np.float64]


class Comparison(NamedTuple):
    """A weighted sum of the decisions between pairs of classes.

    Attributes
    ----------
    weights : ndarray, (pairs,)
        What each decision counts; pairs in the order (0, 1), (0, 2), ..., positive for the first.
    speaks_for : Any
        The class that a positive sum speaks for.
    against : Any
        The class it is compared with; None: the mean over all others.
    """

    weights: NDArray[np.float64]
    speaks_for: Any
    against: Any


def compare_classes(names: Sequence[Any], classes: Any = None) -> Comparison:
    """Return what the parameter ``classes`` of ``explain`` stands for.

    Parameters
    ----------
    names : sequence
        All classes, sorted.
    classes : pair, one class, or None
        Two classes are compared with each other, one with the mean of the others; None: the second of
        two classes with the first.

    Examples
    --------
    >>> compare_classes(["cup", "pan"]).weights
    array([-1.])
    >>> compare_classes(["cup", "jar", "pan"], "jar").weights
    array([-0.5,  0. ,  0.5])
    """
    known = list(names)
    if classes is None and len(known) > 2:
        raise ValueError(f"name the two classes to compare, or one to compare with the others, of {known}")
    first, others = _sides(known, (known[1], known[0]) if classes is None else classes)
    pairs = [(i, j) for i in range(len(known)) for j in range(i + 1, len(known))]
    weights = np.zeros(len(pairs))
    for other in others:
        weights[pairs.index((min(first, other), max(first, other)))] = 1.0 if first < other else -1.0
    against = known[others[0]] if len(others) == 1 else None
    return Comparison(weights / len(others), known[first], against)


def _sides(known: list[Any], classes: Any) -> tuple[int, list[int]]:
    """Number of the class spoken for, and those of the classes it is compared with."""
    if isinstance(classes, (tuple, list)) and len(classes) == 2:
        first, second = classes
        if first not in known or second not in known or first == second:
            raise ValueError(f"classes must be two different ones of {known}; got {(first, second)}")
        return known.index(first), [known.index(second)]
    if classes not in known:
        raise ValueError(f"classes must be one or two of {known}; got {shown(classes)}")
    first = known.index(classes)
    return first, [i for i in range(len(known)) if i != first]


NUMBERS_AT_ONCE = 2**23  # factors and weights that are in memory while ratios of counts are explained


def is_explained(rule: Rule) -> bool:
    """Whether the decisions of a rule are sums over nodes."""
    if isinstance(rule, SumRule):
        return all(map(is_explained, rule.rules))
    return isinstance(rule, FoldedRule) or getattr(rule.kernel, "shared_", None) is not None


def explain_rule(
    rule: Rule,
    graphs: GraphDatabase,
    weights: Any,
    intercepts: Any,
    n_jobs: int | None,
    speaks_for: Any = None,
    against: Any = None,
) -> Explanation:
    """Write a weighted sum of a rule's decisions as a sum over nodes and iterations.

    What a bin adds is shared by the nodes in it: each adds the weight of its bin. Where bins count something
    else than nodes, the weight of each counted thing is shared equally by its nodes: a pair of nodes at a
    distance (shortest paths) by both, a subgraph by all of its nodes; a place on a path (GraphHopper) belongs
    to the node at that place.

    Ratios of counts (Tanimoto, Jaccard) have no weights of bins that hold for all graphs. There, the
    similarity to each training graph is shared by the nodes whose bins the training graph has too.

    Parameters
    ----------
    rule : FoldedRule, KernelRule or SumRule
    graphs : GraphDatabase or GridDatabase
    weights : array-like, (decisions,)
        What each decision counts: ``[1.0]`` where the rule has one.
    intercepts : array-like, (decisions,)
        What is added to each decision.
    n_jobs : int or None
    speaks_for, against : Any
        The classes compared, if any; see :class:`Explanation`.
    """
    share = np.asarray(weights, dtype=np.float64)
    contributions = _contributions(rule, graphs, share, n_jobs)
    intercept = float(share @ np.asarray(intercepts, dtype=np.float64))
    return Explanation(contributions, graphs.graph_ptr, intercept, graphs, speaks_for, against)


def _contributions(rule: Rule, graphs: GraphDatabase, share: Values, n_jobs: int | None) -> Values:
    """What each node adds at each iteration to a weighted sum of decisions, (nodes, iterations)."""
    if isinstance(rule, SumRule):
        return reduce(padded_sum, [_contributions(part, graphs, share, n_jobs) for part in rule.rules])
    explained = _by_weights if isinstance(rule, FoldedRule) else _by_training_graphs
    return explained(rule, graphs, share, n_jobs)


def _by_weights(rule: Any, graphs: GraphDatabase, share: Values, n_jobs: int | None) -> Values:
    """Contributions to decisions of a folded rule, (nodes, iterations)."""
    values = [table @ share for table in rule.weights]
    contributions = rule.counter.contributions(graphs, rule.codes, values, n_jobs)
    if rule.normalize:
        lengths = rule.inverse_lengths(rule.counter.count(graphs, rule.codes, n_jobs))
        contributions *= lengths[graphs.graph_ids][:, None]
    return np.asarray(contributions)


def _by_training_graphs(rule: Any, graphs: GraphDatabase, share: Values, n_jobs: int | None) -> Values:
    """Contributions to sums over training graphs of dot products times factors, (nodes, iterations).

    For one graph x, the factors f_i(x) are numbers: sum_i a_i f_i(x) <x, y_i> = <x, sum_i a_i f_i(x) y_i>, so
    that its bins have the weights sum_i a_i f_i(x) y_i, for this graph alone: a column of (bins, graphs).
    """
    kernel, coefficients = rule.kernel, rule.coefficients @ share
    some = np.flatnonzero(coefficients)
    counter, streams = kernel.shared_
    known, codes = [s.counts[some].T.tocsr() for s in streams], [s.codes for s in streams]
    parts = []
    for block in _blocks(graphs, streams):
        factors = [factor[:, some] * coefficients[some] for factor in kernel.pair_factors(block)]
        values = [np.asarray(counts @ factor.T) for counts, factor in zip(known, factors, strict=True)]
        parts.append(counter.contributions(block, codes, values, n_jobs))
    return np.concatenate(parts) if parts else np.zeros((0, streams[-1].iteration + 1))


def _blocks(graphs: GraphDatabase, streams: Sequence[StreamCounts]) -> Iterator[GraphDatabase]:
    """Runs of graphs whose factors to all training graphs, and weights of all bins, fit the memory."""
    size = max(NUMBERS_AT_ONCE // max(sum(sum(s.counts.shape) for s in streams), 1), 1)
    return (graphs[start : start + size] for start in range(0, len(graphs), size))


def rule_at(rule: Rule, graphs: GraphDatabase, n_jobs: int | None) -> FoldedRule:
    """Return the weights of bins: the rule itself where it is folded, else their means over some graphs.

    The weights of a ratio of counts hold for one graph alone, see :func:`explain_rule`.
    """
    if isinstance(rule, FoldedRule):
        return rule
    if isinstance(rule, KernelRule):
        return _mean_weights(rule, graphs)
    rules = [rule_at(part, graphs, n_jobs) for part in rule.rules]
    return joined_rule(rules, [one.counter.count(graphs[:1], None, n_jobs) for one in rules])


def _mean_weights(rule: KernelRule, graphs: GraphDatabase) -> FoldedRule:
    """Means over graphs x of the weights sum_i a_i f_i(x) y_i: those of the mean factors."""
    counter, streams = rule.kernel.shared_
    totals = [np.zeros(s.counts.shape[0]) for s in streams]
    for block in _blocks(graphs, streams):
        for total, factor in zip(totals, rule.kernel.pair_factors(block), strict=True):
            total += factor.sum(axis=0)
    weights = [
        np.asarray(s.counts.T @ (rule.coefficients * (total / max(len(graphs), 1))[:, None]))
        for s, total in zip(streams, totals, strict=True)
    ]
    return FoldedRule(counter, [s.codes for s in streams], weights, np.ones(len(streams)), False)
