"""Baselines of the paper: label histograms in closed form, attributes against their naive twin."""

import numpy as np
import pytest
from hypothesis import given, settings

from propkernels.kernels import AttributeKernel, LabelHistogram, LabelHistogramFeatures
from tests.kernels.test_pairs import attributed
from tests.naive_baselines import attribute_kernel, gram_of, node_kernel, plain_graphs
from tests.strategies import databases

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
GRAPHS = [(PATH, ["C", "O", "C"]), (PATH, ["C", "C", "N"]), (PATH, ["N", None, "N"])]
COUNTS = np.array([[2, 1, 0, 0], [2, 0, 1, 0], [0, 0, 2, 1]])  # C, O, N, unobserved


@pytest.mark.parametrize("base_kernel", ["linear", "intersection"])
def test_kernel_and_features_count_labels(base_kernel):
    if base_kernel == "linear":
        expected = COUNTS @ COUNTS.T
    else:
        expected = np.minimum(COUNTS[:, None], COUNTS[None]).sum(axis=2)
    assert np.array_equal(LabelHistogram(base_kernel=base_kernel).fit_transform(GRAPHS), expected)
    phi = LabelHistogramFeatures(base_kernel=base_kernel).fit_transform(GRAPHS)
    assert np.array_equal((phi @ phi.T).toarray(), expected)


def test_degrees_of_nodes_are_labels():
    assert np.array_equal(LabelHistogram(labels="degree").fit_transform(GRAPHS), np.full((3, 3), 5.0))
    assert np.array_equal(LabelHistogram(labels=None).fit_transform(GRAPHS), np.full((3, 3), 9.0))


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=databases(labelled=True, n_attributes=2, min_nodes=0))
def test_attributes_equal_the_naive_twin(graphs):
    for attributes in ("gaussian", "linear", "truncated"):
        nodes = node_kernel(False, attributes, 0.5)
        reference = gram_of(lambda a, b, nodes=nodes: attribute_kernel(a, b, nodes), plain_graphs(graphs))
        kernel = AttributeKernel(attributes=attributes, standardize=False)
        np.testing.assert_allclose(kernel.fit_transform(graphs), reference, rtol=1e-9, atol=1e-12)


def test_standardized_by_the_training_graphs():
    graphs = attributed()
    kernel = AttributeKernel().fit(graphs)
    scaled = graphs.with_attributes(graphs.node_attributes * [3.0, 0.1] + [5.0, -7.0])
    other = AttributeKernel().fit(scaled)
    np.testing.assert_allclose(other.transform(scaled[:6]), kernel.transform(graphs[:6]), rtol=1e-9)
