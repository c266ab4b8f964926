"""Weisfeiler-Lehman kernels against their naive twin and GraKeL."""

import numpy as np
import pytest
from hypothesis import given, settings

import propkernels as pk
from tests.naive_baselines import plain_graphs, subtree_kernels
from tests.strategies import databases
from tests.zoo import labelled_zoo


@pytest.mark.slow
@settings(max_examples=30)
@given(graphs=databases(labelled="any", partial=True, directed=True, weighted=True))
def test_equals_the_naive_twin(graphs):
    reference = subtree_kernels(plain_graphs(graphs), 4)
    kernel = pk.WeisfeilerLehman(t_max=4, labels="node")
    assert np.array_equal(kernel.fit_transform_cumulative(graphs), reference)


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=databases(labelled=True, edge_labels=True, directed=True))
def test_edge_labels_equal_the_naive_twin(graphs):
    reference = subtree_kernels(plain_graphs(graphs), 3, edge_labels=True)
    kernel = pk.WeisfeilerLehman(t_max=3, labels="node", edge_labels=True)
    assert np.array_equal(kernel.fit_transform_cumulative(graphs), reference)


@pytest.mark.parametrize("labels", ["node", "degree", None])
def test_the_zoo(labels):
    reference = subtree_kernels(plain_graphs(labelled_zoo(), labels), 5)[-1]
    computed = pk.WeisfeilerLehman(t_max=5, labels=labels).fit_transform(labelled_zoo())
    assert np.array_equal(computed, reference)


def test_weights_matter_only_if_asked_for():
    edge = np.array([[0.0, 1.0], [1.0, 0.0]])
    graphs = [(edge, [0, 0]), (2 * edge, [0, 0])]
    ignored = pk.WeisfeilerLehman(t_max=1).fit_transform(graphs)
    told_apart = pk.WeisfeilerLehman(t_max=1, edge_weights=True).fit_transform(graphs)
    assert np.array_equal(ignored, [[8, 8], [8, 8]])
    assert np.array_equal(told_apart, [[8, 4], [4, 8]])
