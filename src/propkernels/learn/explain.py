"""From a folded rule to an explanation: every node's bin is looked up in the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counts import count_bins
from propkernels.gram.linear import self_products
from propkernels.gram.normalize import inverse_length
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.codes import CodeStreams
from propkernels.learn.explanation import Explanation
from propkernels.learn.folding import FoldedRule

Values = NDArray[np.float64]


def explain_rule(
    rule: FoldedRule,
    graphs: GraphDatabase,
    weights: Any,
    intercepts: Any,
    n_jobs: int | None,
    speaks_for: Any = None,
    against: Any = None,
) -> Explanation:
    """Write a weighted sum of a rule's decisions as a sum over nodes and iterations.

    Parameters
    ----------
    rule : FoldedRule
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
    codes = rule.coder.codes(graphs, n_jobs)
    columns: dict[int, Values] = {}
    squares, stream = np.zeros(len(graphs)), 0
    for block in [codes] if isinstance(codes, CodeStreams) else codes:
        several = range(len(block.iterations))
        for s in several:
            own = block.salted(block.codes[block.row(s)], s)
            added = _looked_up(own, rule.codes[stream + s], rule.weights[stream + s] @ share)
            t = int(block.iterations[s])
            columns[t] = columns[t] + added if t in columns else added
        if rule.normalize:
            squares += _squares(rule, block, graphs, stream, n_jobs)
        stream += len(several)
    contributions = np.stack([columns[t] for t in sorted(columns)], axis=1)
    if rule.normalize:
        contributions *= inverse_length(squares)[graphs.graph_ids][:, None]
    intercept = float(share @ np.asarray(intercepts, dtype=np.float64))
    return Explanation(contributions, graphs.graph_ptr, intercept, graphs, speaks_for, against)


def _squares(
    rule: FoldedRule, block: CodeStreams, graphs: GraphDatabase, first: int, n_jobs: int | None
) -> Values:
    """What the streams of a block add to k(x, x) of each graph, over all of its bins."""
    counted = count_bins(block, graphs.graph_ptr, rule.codes[first:], n_jobs)
    weights = rule.stream_weights[first:]
    total = np.zeros(len(graphs))
    for stream, weight in zip(counted, weights, strict=False):
        total += weight * self_products(stream.counts)
    return total


def _looked_up(codes: NDArray[np.int64], known: NDArray[np.int64], weights: Values) -> Values:
    """Weight of each code; 0 where it has none."""
    if not len(known):
        return np.zeros(len(codes))
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known, codes, sorter=order), len(known) - 1)
    found = order[at]
    return np.where(known[found] == codes, weights[found], 0.0)
