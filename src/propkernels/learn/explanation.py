"""Explanations: a decision as a sum over nodes and iterations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counts import count_blocks
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.codes import CodeStreams
from propkernels.learn.folding import FoldedRule


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions that add up to decisions.

    Attributes
    ----------
    contributions : ndarray of shape (nodes, t_max + 1)
        What each node adds at each iteration; positive speaks for the first of the two classes compared.
    graph_ptr : ndarray of shape (graphs + 1,)
        Which nodes belong to which graph.
    intercept : float
        What is added once a graph.
    """

    contributions: NDArray[np.float64]
    graph_ptr: NDArray[np.int64]
    intercept: float

    @property
    def decisions(self) -> NDArray[np.float64]:
        """Decision value of each graph: the sum of its contributions, and the intercept."""
        sums = np.concatenate([[0.0], np.cumsum(self.contributions.sum(axis=1))])
        return np.diff(sums[self.graph_ptr]) + self.intercept

    def of_graph(self, graph: int) -> NDArray[np.float64]:
        """Contributions of one graph's nodes."""
        return self.contributions[self.graph_ptr[graph] : self.graph_ptr[graph + 1]]


def explain_rule(
    rule: FoldedRule, graphs: GraphDatabase, decision: int, sign: float, intercept: float, n_jobs: int | None
) -> Explanation:
    """Look every node's bin up in the folded weights."""
    codes = rule.coder.codes(graphs, n_jobs)
    blocks = [codes] if isinstance(codes, CodeStreams) else list(codes)
    iterations = np.concatenate([block.iterations for block in blocks])
    contributions = np.zeros((graphs.n_nodes, int(iterations.max()) + 1))
    stream = 0
    for block in blocks:
        for s in range(len(block.iterations)):
            own = block.salted(block.codes[block.row(s)], s)
            weights = rule.weights[stream][:, decision]
            contributions[:, block.iterations[s]] += _looked_up(own, rule.codes[stream], weights)
            stream += 1
    lengths = rule.inverse_lengths(count_blocks(blocks, graphs.graph_ptr, rule.codes, n_jobs))
    contributions *= sign * lengths[graphs.graph_ids][:, None]
    return Explanation(contributions, graphs.graph_ptr, intercept)


def _looked_up(
    codes: NDArray[np.int64], known: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weight of each code; 0 where it has none."""
    if not len(known):
        return np.zeros(len(codes))
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known, codes, sorter=order), len(known) - 1)
    found = order[at]
    return np.where(known[found] == codes, weights[found], 0.0)
