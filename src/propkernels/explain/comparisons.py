"""Explanations of decisions: comparisons of classes, and exact sums over nodes and iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels.explain.decision_columns import DecisionLayout
from propkernels.explain.explanation import Explanation
from propkernels.explain.rule import Rule
from propkernels.graphs.database import GraphDatabase


class Comparison(NamedTuple):
    """A weighted sum of the decisions between pairs of classes.

    Attributes
    ----------
    weights : ndarray, (pairs,)
        Weight of each decision; pairs in the order (0, 1), (0, 2), ..., positive for the first class.
    speaks_for : Any
        Class favored by a positive sum.
    against : Any
        Class it is compared with; None: the mean of all others.
    """

    weights: NDArray[np.float64]
    speaks_for: Any
    against: Any


def compare_classes(names: Sequence[Any], classes: Any = None) -> Comparison:
    """Return the comparison selected by the parameter ``classes`` of ``explain``.

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


def compare_decisions(layout: DecisionLayout, names: Sequence[Any], classes: Any) -> Comparison:
    """Return the comparison as a weighted sum of decision columns; of several labels, the column of one."""
    if not layout.multilabel:
        compared = compare_classes(names, classes)
        return compared._replace(weights=layout.of_pairs(compared.weights))
    if classes not in names:
        last = len(names) - 1
        raise ValueError(f"classes must be the number of one label, 0 to {last}; got {shown(classes)}")
    return Comparison(np.eye(len(names))[classes], classes, None)


def _sides(known: list[Any], classes: Any) -> tuple[int, list[int]]:
    """Number of the class favored by positive contributions, and numbers of the classes compared with it."""
    if isinstance(classes, (tuple, list)) and len(classes) == 2:
        first, second = classes
        if first not in known or second not in known or first == second:
            raise ValueError(f"classes must be two different classes of {known}; got {(first, second)}")
        return known.index(first), [known.index(second)]
    if classes not in known:
        raise ValueError(f"classes must be one or two of {known}; got {shown(classes)}")
    first = known.index(classes)
    return first, [i for i in range(len(known)) if i != first]


def explain_rule(
    rule: Rule,
    graphs: GraphDatabase,
    weights: Any,
    intercepts: Any,
    n_jobs: int | None,
    speaks_for: Any = None,
    against: Any = None,
) -> Explanation:
    """Return the explanation of a weighted sum of a rule's decisions, as a sum over nodes and iterations.

    Each node contributes the weight of its bin. If bins count items other than nodes, the weight of an item
    is divided equally among its nodes: among the two ends of a shortest path, or among all nodes of a
    subgraph; a position on a path (GraphHopper) belongs to the node at that position.

    For ratios of counts (Tanimoto, Jaccard), weights of bins differ from graph to graph. There, the
    similarity to each training graph is divided among the nodes whose bins also occur in that training graph.

    Parameters
    ----------
    rule : Rule
        A rule on counts of bins.
    graphs : GraphDatabase or GridDatabase
    weights : array-like, (decisions,)
        Weight of each decision; ``[1.0]`` for a rule with one decision.
    intercepts : array-like, (decisions,)
        Intercept of each decision.
    n_jobs : int or None
    speaks_for, against : Any
        The classes compared, if any; see :class:`~propkernels.explain.Explanation`.
    """
    share = np.asarray(weights, dtype=np.float64)
    found = rule.terms(graphs, share[None, :], n_jobs)
    intercept = float(share @ np.asarray(intercepts, dtype=np.float64))
    terms = 0.0 if rule.compares_bins else found.descriptors
    return Explanation(
        found.nodes, graphs.graph_ptr, intercept, graphs, speaks_for, against, descriptor_terms=terms
    )


def explain_predicted(
    rule: Rule,
    graphs: GraphDatabase,
    layout: DecisionLayout,
    classes: NDArray[Any],
    intercepts: NDArray[np.float64],
    n_jobs: int | None,
) -> Explanation:
    """Return the explanation of each graph's predicted class against the mean of the others."""
    weights = np.stack([compare_decisions(layout, classes.tolist(), one).weights for one in classes.tolist()])
    found = rule.terms(graphs, weights, n_jobs, lambda decisions: layout.predictions(decisions + intercepts))
    return Explanation(
        found.nodes,
        graphs.graph_ptr,
        np.array([share @ intercepts for share in weights])[found.chosen],
        graphs,
        classes[found.chosen],
        descriptor_terms=found.descriptors,
    )
