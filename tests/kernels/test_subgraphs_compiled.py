"""Cliques and counted subgraphs against lists of all common subgraphs."""

from itertools import combinations, permutations

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels.cliques_compiled import Side, _count_bits, _lowest_bit, match_subgraphs

pytestmark = pytest.mark.compiled
GENERATOR = np.random.default_rng(0)


def is_connected(nodes, edges):
    reached, before = {nodes[0]}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {v for v in nodes for u in reached if edges[u, v]}
    return len(reached) == len(nodes)


def all_matches(nodes, edges, edges2, k, connected):
    """Sum over all bijections between subsets that keep edges and gaps, of the products of node kernels."""
    totals = np.zeros(k)
    for size in range(1, k + 1):
        for left in combinations(range(len(edges)), size):
            if connected and not is_connected(left, edges):
                continue
            for right in permutations(range(len(edges2)), size):
                pairs = list(zip(left, right, strict=True))
                if all(edges[u, v] == edges2[x, y] for (u, x), (v, y) in combinations(pairs, 2)):
                    totals[size - 1] += np.prod([nodes[u, x] for u, x in pairs])
    return totals


def symmetric(n, kinds):
    upper = np.triu(GENERATOR.integers(0, kinds + 1, (n, n)), 1)
    return (upper + upper.T).astype(np.uint64)


@pytest.mark.slow
@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("all_one", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_cliques_are_common_subgraphs(connected, all_one, k):
    sizes, sizes2 = (3, 9), (8, 2)
    edges, edges2 = [symmetric(n, 2) for n in sizes], [symmetric(n, 2) for n in sizes2]
    nodes = GENERATOR.integers(0, 2 if all_one else 3, (12, 10)).astype(float)
    sides = []
    for matrices in (edges, edges2):
        ptr = np.cumsum([0, *map(len, matrices)])
        pair_ptr = np.cumsum([0, *(matrix.size for matrix in matrices)])
        sides.append(Side(ptr, pair_ptr, np.concatenate([matrix.ravel() for matrix in matrices])))
    out = np.empty((k, 2, 2))
    match_subgraphs(nodes, *sides, k, connected, all_one, out)
    for i, j in np.ndindex(2, 2):
        a, b = sides[0].ptr[i], sides[1].ptr[j]
        block = nodes[a : a + sizes[i], b : b + sizes2[j]]
        np.testing.assert_array_equal(out[:, i, j], all_matches(block, edges[i], edges2[j], k, connected))


def test_bits():
    for x in (1, 2, 40, 2**63, 2**64 - 1, 0xF0F0 << 40):
        assert _count_bits(np.uint64(x)) == x.bit_count()
        assert _lowest_bit(np.uint64(x)) == (x & -x).bit_length() - 1


def test_many_kinds_outgrow_the_tables():
    """All labels differ: each connected subgraph is a kind of its own, once per graph."""
    upper = np.triu(np.random.default_rng(0).random((26, 26)) < 0.25, 1)
    graph = (upper + upper.T, list(range(26)))
    kernel = pk.SubgraphMatching(k=3).fit_transform([graph, graph])
    adjacency = graph[0].astype(int)
    triples = sum(is_connected(nodes, adjacency) for nodes in combinations(range(26), 3))
    assert triples > 256
    assert (kernel == 26 + upper.sum() + triples).all()


def test_symmetries_and_twins():
    """A star of k leaves matches itself in k! ways; nodes that can be exchanged are tried once."""
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1
    complete = np.ones((4, 4)) - np.eye(4)
    kernel = pk.SubgraphMatching(k=5, labels=None).fit_transform([star, complete])
    for i, j in np.ndindex(2, 2):
        edges, edges2 = (star, complete)[i], (star, complete)[j]
        nodes = np.ones((len(edges), len(edges2)))
        assert kernel[i, j] == all_matches(nodes, edges, edges2, 5, True).sum()
