"""Attribute codes of the device equal those of the CPU, to the bit."""

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils.parallel import running_on
from propkernels.gpu.pipeline import Device
from tests.gpu.test_pipeline import attributed

SETTINGS = [
    {"attributes": "sum", "n_hashes": 2},
    {"attributes": "product", "attribute_bin_width": (0.5, 2.0, 1.0)},
    {"attributes": "joint", "attribute_metric": "l2"},
    {"attributes": "sum", "attribute_metric": "hellinger"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_counts_are_the_same(runtime, settings):
    graphs = attributed()
    counter = pk.PropagationKernel(t_max=1, random_state=0, **settings).fit(graphs)._coder
    with running_on(Device(runtime)):
        found = counter.count(graphs, None)
    expected = counter.count(graphs, None)
    assert len(found) == len(expected) > 1
    for one, other in zip(found, expected, strict=True):
        assert (one.iteration, one.weight) == (other.iteration, other.weight)
        order, rank = np.argsort(one.codes), np.argsort(other.codes)
        np.testing.assert_array_equal(one.codes[order], other.codes[rank])
        np.testing.assert_array_equal(one.counts.toarray()[:, order], other.counts.toarray()[:, rank])
