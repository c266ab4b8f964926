"""Refined labels of the device equal those of the CPU, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from propkernels.gpu import device_codes
from tests.gpu.some_graphs import SIZES, many_graphs, on_device


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_refinement_is_the_same_bits(runtime, sizes):
    from propkernels.codes.codes import multiset_codes

    graphs = many_graphs(sizes)
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, graphs.n_nodes).astype(np.uint64) % np.uint64(3)
    edge_keys = rng.integers(0, 2, graphs.adjacency.nnz).astype(np.uint64)
    for edges in (None, edge_keys):
        expected = multiset_codes(graphs, keys, edges, 4).codes
        given = None if edges is None else runtime.to_device(edges)
        computed = device_codes.refined_codes(on_device(runtime, graphs), runtime.to_device(keys), given, 4)
        np.testing.assert_array_equal(runtime.to_host(computed), expected)
