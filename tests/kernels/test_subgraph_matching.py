"""The subgraph matching kernel against its twin and GraKeL."""

import numpy as np
import pytest
from hypothesis import given, settings

import propkernels as pk
from propkernels.kernels import SubgraphMatching
from tests.naive_baselines import gram_of, node_kernel, plain_graphs, subgraph_matching
from tests.strategies import databases
from tests.zoo import cycle_edges, labelled_zoo, one


def naive(graphs, k, nodes, **options):
    """Cumulative kernels, (k, n, n)."""
    plain = plain_graphs(graphs)
    sizes = [
        gram_of(lambda a, b, s=s: subgraph_matching(a, b, k, nodes, **options)[s], plain) for s in range(k)
    ]
    return np.cumsum(sizes, axis=0)


@pytest.mark.slow
@settings(max_examples=12)
@given(graphs=databases(labelled=True, directed=True, max_graphs=2, max_nodes=5))
def test_equals_the_naive_twin(graphs):
    for connected in (True, False):
        reference = naive(graphs, 4, node_kernel(True, None), connected=connected)
        kernel = SubgraphMatching(k=4, labels="node", connected=connected)
        assert np.array_equal(kernel.fit_transform_cumulative(graphs), reference)
        assert np.array_equal(kernel.fit_transform(graphs), reference[-1])


@pytest.mark.slow
@settings(max_examples=10)
@given(graphs=databases(labelled=True, edge_labels=True, n_attributes=2, max_graphs=2, max_nodes=4))
def test_edge_labels_and_attributes_equal_the_naive_twin(graphs):
    for attributes in ("gaussian", "linear", "truncated"):
        reference = naive(graphs, 3, node_kernel(True, attributes, 0.5), edge_labels=True)
        kernel = SubgraphMatching(k=3, edge_labels=True, attributes=attributes, standardize=False)
        np.testing.assert_allclose(kernel.fit_transform_cumulative(graphs), reference, rtol=1e-9, atol=1e-9)


def test_lambdas_weigh_the_sizes():
    graphs = labelled_zoo()[:12]
    sizes = np.diff(SubgraphMatching(k=3).fit_transform_cumulative(graphs), axis=0, prepend=0)
    computed = SubgraphMatching(k=3, lambdas=[1, 0.5, 2]).fit_transform(graphs)
    np.testing.assert_allclose(computed, sizes[0] + 0.5 * sizes[1] + 2 * sizes[2])


@pytest.mark.parametrize("connected", [True, False], ids=["counted", "cliques"])
def test_weights_tell_edges_apart_if_asked_for(connected):
    """Two nodes without an edge match in both rings, if subgraphs need not be connected."""
    ring = [one(4, cycle_edges(4), [0] * 4, weights=w) for w in (1.0, 2.0)]
    graphs, apart = pk.GraphDatabase.concat(ring), 0 if connected else 8
    kernel = SubgraphMatching(k=2, connected=connected)
    assert kernel.fit_transform(graphs)[0, 1] == 16 + 32 + apart
    assert kernel.set_params(edge_weights=True).fit_transform(graphs)[0, 1] == 16 + apart


def test_words_of_edges_tell_directions_apart_and_every_pair_has_one():
    graphs = pk.check_graphs([np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])])  # 0 -> 1, 1 <-> 2
    prepared = SubgraphMatching(k=2, labels=None, connected=False).fit(graphs)._counts
    words = prepared.edges.reshape(3, 3)
    assert not words[[0, 1, 2, 0, 2], [0, 1, 2, 2, 0]].any()
    assert words[1, 2] == words[2, 1]
    assert len({int(words[0, 1]), int(words[1, 0]), int(words[1, 2])}) == 3
    prepared._check_parts()
    with pytest.raises(ValueError, match="every pair of nodes"):
        prepared._replace(edges=prepared.edges[:4], pair_ptr=np.array([0, 4]))._check_parts()
