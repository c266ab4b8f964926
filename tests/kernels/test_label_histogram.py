"""Label histograms: closed forms, and propagation kernels without steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import propkernels as pk
from propkernels.kernels import LabelHistogram, LabelHistogramFeatures
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
@settings(max_examples=15)
@given(graphs=databases(labelled=True))
def test_label_histogram_is_a_propagation_kernel_without_steps(graphs):
    reference = pk.PropagationKernel(t_max=0, labels="node", random_state=0).fit_transform(graphs)
    assert np.array_equal(LabelHistogram(labels="node").fit_transform(graphs), reference)
    assert np.array_equal(pk.WeisfeilerLehman(labels="node", t_max=0).fit_transform(graphs), reference)
