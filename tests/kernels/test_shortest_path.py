"""The shortest-path kernel against its twin and GraKeL."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.kernels import ShortestPathFeatures
from tests.naive_baselines import gram_of, node_kernel, plain_graphs, shortest_path_kernel
from tests.strategies import databases
from tests.zoo import cycle_edges, one, path_edges


def naive(graphs, nodes, weighted=True, labels="node"):
    return gram_of(lambda a, b: shortest_path_kernel(a, b, nodes, weighted), plain_graphs(graphs, labels))


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=databases(labelled="any", partial=True, directed=True, weighted=True, max_graphs=3))
def test_equals_the_naive_twin(graphs):
    for weighted in (True, False):
        reference = naive(graphs, node_kernel(True, None), weighted)
        computed = pk.ShortestPath(labels="node", weighted=weighted).fit_transform(graphs)
        assert np.array_equal(computed, reference)


@pytest.mark.slow
@settings(max_examples=15)
@given(graphs=databases(labelled=True, directed=True, weighted=True, n_attributes=2, max_graphs=3))
def test_attributes_equal_the_naive_twin(graphs):
    for attributes in ("gaussian", "linear", "truncated"):
        for labels in ("node", None):
            nodes = node_kernel(labels == "node", attributes, 0.5)
            reference = naive(graphs, nodes)
            kernel = pk.ShortestPath(labels=labels, attributes=attributes, standardize=False)
            np.testing.assert_allclose(kernel.fit_transform(graphs), reference, rtol=1e-9, atol=1e-9)


def test_weighted_and_unweighted_graphs_meet():
    """Lengths are numbers: two edges of weight 1 are as long as one of weight 2."""
    long = one(2, [(0, 1)], [5, 6], weights=2.0)
    short = one(3, path_edges(3), [5, 0, 6])
    kernel = pk.ShortestPath().fit(short)
    assert kernel.transform(long)[0, 0] == 2.0
    assert pk.ShortestPath().fit(long).transform(short)[0, 0] == 2.0


def test_edge_labels_along_the_path():
    def chain(names):
        return one(3, path_edges(3), [0, 1, 2], edge_labels=names)

    graphs = pk.GraphDatabase.concat([chain("ab"), chain("ab"), chain("ba"), chain("aa")])
    kernel = pk.ShortestPath(edge_labels=True).fit_transform(graphs)
    assert np.array_equal(kernel[0], [6, 6, 0, 2])
    square = one(4, cycle_edges(4), [0, 1, 2, 3], edge_labels="abab")
    turned = one(4, cycle_edges(4), [0, 1, 2, 3], edge_labels="abba")
    both = pk.GraphDatabase.concat([square, square, turned])
    kernel = pk.ShortestPath(edge_labels=True).fit_transform(both)
    assert kernel[0, 0] == kernel[0, 1] == 12
    assert kernel[0, 2] == 4


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("labels", [None, "node"])
def test_leaves_of_one_node_are_searched_from_once(labels, n_jobs):
    """Leaves share a parent and a label, or only one of them, or are each other's parent."""
    edges = [(0, 1), (1, 2), *((0, leaf) for leaf in range(3, 8)), (2, 8), (2, 9), (10, 11), (12, 12)]
    tree = one(14, edges, [0, 1, 0, 0, 0, 1, 0, None, 1, 1, 0, 0, 2, 2])
    alone = pk.ShortestPath(labels=labels, n_jobs=n_jobs).fit_transform(tree)
    together = pk.ShortestPath(labels=labels).fit_transform(pk.GraphDatabase.concat([tree, tree]))
    assert np.array_equal(together, np.full((2, 2), alone[0, 0]))


@pytest.mark.slow
def test_a_star_of_many_nodes_takes_two_searches():
    n = 50_000
    ends = np.concatenate([np.zeros(n, dtype=int), np.arange(1, n + 1)])
    star = csr_array((np.ones(2 * n), (ends, np.roll(ends, n))), shape=(n + 1, n + 1))
    found = ShortestPathFeatures(labels=None).fit_transform(pk.from_adjacency([star]))
    assert sorted(found.data.tolist()) == [2 * n, n * (n - 1)]


def test_searches_that_take_minutes_are_warned_of(monkeypatch):
    monkeypatch.setattr("propkernels.kernels.shortest_path.MANY_STEPS", 10)
    with pytest.warns(UserWarning, match="shortest paths from 4 nodes .* take minutes or more: Propagation"):
        pk.ShortestPath().fit(one(4, [(0, 1), (1, 2), (2, 3)]))


def test_edits_follow_an_entry_of_labels():
    graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    tuples = np.empty(graphs.n_nodes, dtype=object)
    tuples[:] = [(str(label), i % 2) for i, label in enumerate(graphs.node_labels)]
    graphs = graphs.with_labels(tuples)
    kernel = pk.ShortestPath(labels=0, base_kernel="intersection")
    model = pk.PropagationRegressor(kernel=kernel, C=1.0, random_state=0).fit(
        graphs, graphs.graph_sizes * 1.0
    )
    found = model.counterfactuals(graphs[0], max_edits=1, allowed={"labels": [("O", 1), ("C", 0)]})
    np.testing.assert_array_equal(found.decision, model.predict([one.graph for one in found]))
