"""Counts of connected subgraphs against cliques and lists of subgraphs, and symmetries in closed form."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

import propkernels as pk
from propkernels.kernels import SubgraphMatching
from propkernels.kernels.pairs import NodeComparison
from propkernels.kernels.subgraph_matching import SubgraphComparison
from tests.strategies import databases
from tests.zoo import complete_edges, cycle_edges, one, path_edges


def by_cliques(kernel, graphs):
    """The same kernel by cliques of product graphs, pair of graphs by pair."""
    nodes = NodeComparison.learn(graphs, kernel)
    settings = kernel.edge_labels, kernel.edge_weights, True
    sizes = [SubgraphComparison(nodes, np.ones(k), *settings) for k in range(1, kernel.k + 1)]
    return np.stack([comparison.square(comparison.count(graphs, None)) for comparison in sizes])


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(graphs=databases(labelled=True, directed=True, edge_labels=True, max_graphs=3, max_nodes=8))
def test_counted_subgraphs_equal_cliques(graphs):
    for edge_labels in (False, True):
        kernel = SubgraphMatching(k=6, labels="node", edge_labels=edge_labels, edge_weights=edge_labels)
        assert np.array_equal(kernel.fit_transform_cumulative(graphs), by_cliques(kernel, graphs))


@pytest.mark.parametrize(
    ("edges", "n", "symmetries"),
    [
        (complete_edges(7), 7, 5040),
        (cycle_edges(7), 7, 14),
        (path_edges(7), 7, 2),
        ([(0, leaf) for leaf in range(1, 7)], 7, 720),
        ([(a, b) for a in range(3) for b in range(3, 7)], 7, 144),
        ([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 6)], 7, 1),
        ([(a, a + 4) for a in range(4)] + cycle_edges(4), 8, 8),
    ],
)
def test_symmetries(edges, n, symmetries):
    """A graph matches itself in as many ways as it has symmetries."""
    kernels = SubgraphMatching(k=n, labels=None).fit_transform_cumulative(one(n, edges))
    assert kernels[n - 1, 0, 0] - kernels[n - 2, 0, 0] == symmetries


def test_new_graphs_have_kinds_that_training_graphs_do_not():
    """A ring has other symmetries than anything in training; it counts in its own similarity."""
    path, ring = one(5, path_edges(5), [0] * 5), one(5, cycle_edges(5), [0] * 5)
    both = pk.GraphDatabase.concat([path, ring])
    reference = SubgraphMatching(k=5).fit_transform(both)
    kernel = SubgraphMatching(k=5).fit(path)
    assert kernel.transform(both)[:, 0].tolist() == reference[:, 0].tolist()
    assert kernel.self_similarities(both).tolist() == reference.diagonal().tolist()


def test_more_than_one_word_of_candidates():
    """Product graphs of over 64 nodes; a complete graph has falling factorials of matchings."""
    graphs = one(9, complete_edges(9), [0] * 9)
    computed = by_cliques(SubgraphMatching(k=7), graphs)[:, 0, 0]
    assert np.array_equal(SubgraphMatching(k=7).fit_transform_cumulative(graphs)[:, 0, 0], computed)
    terms, cliques = [], 1.0
    for size in range(1, 8):
        cliques *= (10 - size) ** 2 / size
        terms.append(cliques)
    np.testing.assert_allclose(computed, np.cumsum(terms), rtol=1e-12)


def test_many_kinds_outgrow_the_tables():
    """All labels differ: each connected subgraph is a kind of its own, once per graph."""
    upper = np.triu(np.random.default_rng(0).random((26, 26)) < 0.25, 1)
    graph = (upper + upper.T, list(range(26)))
    kernel = SubgraphMatching(k=3).fit_transform([graph, graph])
    triples = sum(graph[0][np.ix_(nodes, nodes)].sum() >= 4 for nodes in combinations(range(26), 3))
    assert triples > 256
    assert (kernel == 26 + upper.sum() + triples).all()
