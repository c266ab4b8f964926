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
    """A weighted sum of decision columns.

    Attributes
    ----------
    weights : ndarray, (columns,)
    speaks_for : Any
        Class favored by a positive sum.
    against : Any
        Class whose decision is subtracted; None: the sum is the decision of one class.
    """

    weights: NDArray[np.float64]
    speaks_for: Any
    against: Any


def compare_decisions(layout: DecisionLayout, names: Sequence[Any], classes: Any) -> Comparison:
    """Return the comparison selected by the parameter ``classes`` of ``explain``.

    Parameters
    ----------
    layout : DecisionLayout
    names : sequence
        All classes, sorted, or the numbers of labels.
    classes : class, pair of classes, or None
        The class whose column is explained; of a pair, the difference of two columns; None: the second of
        two classes. With several labels, the number of one.

    Examples
    --------
    >>> compare_decisions(DecisionLayout(2), ["cup", "pan"], None).weights
    array([1.])
    >>> compare_decisions(DecisionLayout(3), ["cup", "jar", "pan"], ("jar", "cup")).weights
    array([-1.,  1.,  0.])
    """
    known, columns = list(names), np.eye(len(names))
    if layout.multilabel:
        if classes not in known:
            last = len(known) - 1
            raise ValueError(f"classes must be the number of one label, 0 to {last}; got {shown(classes)}")
        return Comparison(columns[classes], classes, None)
    if layout.n_decisions == 1:
        columns = np.array([[-1.0], [1.0]])
        classes = (known[1], known[0]) if classes is None else classes
    pair = list(classes) if isinstance(classes, (tuple, list)) and len(classes) == 2 else [classes]
    if any(one not in known for one in pair) or len(set(pair)) < len(pair):
        raise ValueError(f"classes must be one, or two different ones, of {known}; got {shown(classes)}")
    places = [known.index(one) for one in pair]
    if layout.n_decisions == 1:
        return Comparison(columns[places[0]], pair[0], known[1 - places[0]])
    if len(pair) == 1:
        return Comparison(columns[places[0]], pair[0], None)
    return Comparison(columns[places[0]] - columns[places[1]], *pair)


def explain_rule(
    rule: Rule,
    graphs: GraphDatabase,
    weights: Any,
    intercepts: Any,
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
    speaks_for, against : Any
        The classes compared, if any; see :class:`~propkernels.explain.Explanation`.
    """
    share = np.asarray(weights, dtype=np.float64)
    found = rule.terms(graphs, share[None, :])
    intercept = float(share @ np.asarray(intercepts, dtype=np.float64))
    terms = 0.0 if rule.compares_bins else found.descriptors
    return Explanation(
        found.nodes, graphs.graph_ptr, intercept, graphs, speaks_for, against, descriptor_terms=terms
    )


def explain_predicted(
    rule: Rule,
    graphs: GraphDatabase,
    classes: NDArray[Any],
    intercepts: NDArray[np.float64],
) -> Explanation:
    """Return the explanation of the decision of each graph's predicted class."""
    columns = np.eye(len(classes))
    found = rule.terms(graphs, columns, lambda decisions: (decisions + intercepts).argmax(axis=1))
    return Explanation(
        found.nodes,
        graphs.graph_ptr,
        intercepts[found.chosen],
        graphs,
        classes[found.chosen],
        descriptor_terms=found.descriptors,
    )
