"""Counts of connected subgraphs against lists of all common subgraphs."""

from itertools import combinations

import numpy as np
import pytest

from propkernels.kernels import SubgraphMatching
from tests.kernels.common_subgraphs import all_matches, is_connected

pytestmark = pytest.mark.compiled


def test_many_kinds_outgrow_the_tables():
    """All labels differ: each connected subgraph is a kind of its own, once per graph."""
    upper = np.triu(np.random.default_rng(0).random((26, 26)) < 0.25, 1)
    graph = (upper + upper.T, list(range(26)))
    kernel = SubgraphMatching(k=3).fit_transform([graph, graph])
    adjacency = graph[0].astype(int)
    triples = sum(is_connected(nodes, adjacency) for nodes in combinations(range(26), 3))
    assert triples > 256
    assert (kernel == 26 + upper.sum() + triples).all()


def test_symmetries_and_twins():
    """A star of k leaves matches itself in k! ways; nodes that can be exchanged are tried once."""
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1
    complete = np.ones((4, 4)) - np.eye(4)
    kernel = SubgraphMatching(k=5, labels=None).fit_transform([star, complete])
    for i, j in np.ndindex(2, 2):
        edges, edges2 = (star, complete)[i], (star, complete)[j]
        nodes = np.ones((len(edges), len(edges2)))
        assert kernel[i, j] == all_matches(nodes, edges, edges2, 5, True).sum()
