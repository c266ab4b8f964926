"""Subgraph matching by cliques: edge words, cumulative sums, and lists of all common subgraphs."""

import numpy as np
import pytest

import propkernels as pk
from propkernels import _core
from propkernels.kernels import SubgraphMatching
from propkernels.kernels.node_kernel import NodeComparison
from propkernels.kernels.subgraph_matching import SubgraphComparison, _edge_words
from tests.kernels.common_subgraphs import all_matches

DIRECTED = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])  # 0 -> 1, 1 <-> 2
GENERATOR = np.random.default_rng(0)


def test_words_tell_directions_apart_and_gaps_are_0():
    graphs = pk.check_graphs([DIRECTED])
    words = _edge_words(graphs, np.array([0, 9]), None).reshape(3, 3)
    assert not words[[0, 1, 2, 0, 2], [0, 1, 2, 2, 0]].any()
    assert words[0, 1] != words[1, 0]
    assert words[1, 2] == words[2, 1]
    assert len({int(words[0, 1]), int(words[1, 0]), int(words[1, 2])}) == 3


def test_layers_are_weighted_and_cumulative():
    graphs = pk.check_graphs([DIRECTED + DIRECTED.T, np.ones((3, 3)) - np.eye(3)])
    nodes = NodeComparison.learn(graphs, SubgraphMatching(labels=None))
    layers = {}
    for lambdas in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (2.0, 3.0, 5.0)):
        comparison = SubgraphComparison(nodes, np.array(lambdas), False, False, True)
        prepared = comparison.prepare(graphs)
        layers[lambdas] = comparison.tile(prepared, slice(0, 2), prepared, slice(0, 2))
    single = [layers[key][-1] for key in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    weighted = [2 * single[0], 3 * single[1], 5 * single[2]]
    assert np.array_equal(layers[2.0, 3.0, 5.0], np.cumsum(weighted, axis=0))


def test_edges_of_other_pairs_are_refused():
    graphs = pk.check_graphs([DIRECTED])
    nodes = NodeComparison.learn(graphs, SubgraphMatching(labels=None))
    prepared = SubgraphComparison(nodes, np.ones(2), False, False, True).prepare(graphs)
    prepared._check_parts()
    with pytest.raises(ValueError, match="every pair of nodes"):
        prepared._replace(edges=prepared.edges[:4], pair_ptr=np.array([0, 4]))._check_parts()


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
        sides.append((ptr, pair_ptr, np.concatenate([matrix.ravel() for matrix in matrices])))
    out = np.empty((k, 2, 2))
    _core.match_subgraphs(nodes, *sides, k, connected, all_one, out)
    for i, j in np.ndindex(2, 2):
        a, b = sides[0][0][i], sides[1][0][j]
        block = nodes[a : a + sizes[i], b : b + sizes2[j]]
        np.testing.assert_array_equal(out[:, i, j], all_matches(block, edges[i], edges2[j], k, connected))
