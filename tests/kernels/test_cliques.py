"""Edge words and cumulative sums of subgraph matching by cliques."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import SubgraphMatching
from propkernels.kernels.cliques import SubgraphComparison, _edge_words
from propkernels.kernels.node_kernel import NodeComparison

DIRECTED = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])  # 0 -> 1, 1 <-> 2


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
