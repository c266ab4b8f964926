"""The GraphHopper kernel against its twin and GraKeL."""

import numpy as np
import pytest
from hypothesis import given, settings

import propkernels as pk
from propkernels.kernels import GraphHopper
from tests.naive_baselines import gram_of, graph_hopper_kernel, node_kernel, plain_graphs
from tests.strategies import databases
from tests.zoo import labelled_zoo, one, path_edges


def naive(graphs, nodes, weighted=True):
    return gram_of(lambda a, b: graph_hopper_kernel(a, b, nodes, weighted), plain_graphs(graphs))


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=databases(labelled="any", partial=True, directed=True, weighted=True, max_graphs=3))
def test_equals_the_naive_twin(graphs):
    for weighted in (True, False):
        reference = naive(graphs, node_kernel(True, None), weighted)
        computed = GraphHopper(labels="node", weighted=weighted).fit_transform(graphs)
        assert np.array_equal(computed, reference)


@pytest.mark.slow
@settings(max_examples=15)
@given(graphs=databases(labelled=True, directed=True, weighted=True, n_attributes=2, max_graphs=3))
def test_attributes_equal_the_naive_twin(graphs):
    for attributes in ("gaussian", "linear"):
        for labels in ("node", None):
            reference = naive(graphs, node_kernel(labels == "node", attributes, 0.5))
            kernel = GraphHopper(labels=labels, attributes=attributes, standardize=False)
            np.testing.assert_allclose(kernel.fit_transform(graphs), reference, rtol=1e-9, atol=1e-9)


def test_transform_to_new_graphs_with_longer_paths():
    short, long = one(4, path_edges(4)), one(9, path_edges(9))
    both = pk.GraphDatabase.concat([short, long])
    for normalize in (False, True):
        reference = GraphHopper(normalize=normalize).fit_transform(both)
        computed = GraphHopper(normalize=normalize).fit(short).transform(long)
        np.testing.assert_allclose(computed[0, 0], reference[1, 0], rtol=1e-12)


def test_runs_of_graphs_count_the_same(monkeypatch):
    reference = GraphHopper().fit_transform(labelled_zoo())
    monkeypatch.setattr("propkernels.kernels.graph_hopper.PAIRS_IN_MEMORY", 5)
    np.testing.assert_array_equal(GraphHopper().fit_transform(labelled_zoo()), reference)
