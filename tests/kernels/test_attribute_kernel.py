"""AttributeKernel against its naive twin; missing and standardized attributes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from propkernels.kernels import AttributeKernel
from tests.kernels.test_pairwise_kernel import attributed
from tests.naive_baselines import attribute_kernel, gram_of, node_kernel, plain_graphs
from tests.strategies import databases
from tests.zoo import labelled_zoo


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=databases(labelled=True, n_attributes=2, min_nodes=0))
def test_equals_the_naive_twin(graphs):
    for attributes in ("gaussian", "linear", "truncated"):
        nodes = node_kernel(False, attributes, 0.5)
        reference = gram_of(lambda a, b, nodes=nodes: attribute_kernel(a, b, nodes), plain_graphs(graphs))
        kernel = AttributeKernel(attributes=attributes, standardize=False)
        np.testing.assert_allclose(kernel.fit_transform(graphs), reference, rtol=1e-9, atol=1e-12)


def test_needs_attributes():
    with pytest.raises(ValueError, match="no node attributes"):
        AttributeKernel().fit(labelled_zoo())
    with pytest.raises(ValueError, match="attributes must be one of"):
        AttributeKernel(attributes=None).fit(attributed())
    with pytest.raises(ValueError, match="gamma must be"):
        AttributeKernel(gamma=0).fit(attributed())


def test_missing_attributes_stand_at_the_mean():
    graphs = attributed()
    values = graphs.node_attributes.copy()
    values[::5, 0] = np.nan
    kernel = AttributeKernel().fit_transform(graphs.with_attributes(values))
    assert np.isfinite(kernel).all()


def test_standardized_by_the_training_graphs():
    graphs = attributed()
    kernel = AttributeKernel().fit(graphs)
    scaled = graphs.with_attributes(graphs.node_attributes * [3.0, 0.1] + [5.0, -7.0])
    other = AttributeKernel().fit(scaled)
    np.testing.assert_allclose(other.transform(scaled[:6]), kernel.transform(graphs[:6]), rtol=1e-9)
