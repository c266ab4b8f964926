"""Packets hold whole graphs and fit their capacity."""

from itertools import pairwise

import numpy as np
import pytest

from propkernels import _core
from tests.gpu.some_graphs import SIZES, many_graphs, on_device


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_packets_cover_all_graphs_and_fit(runtime, sizes):
    graphs = on_device(runtime, many_graphs(sizes))
    packets = runtime.to_host(graphs.packets)
    assert (packets[0], packets[-1]) == (0, len(sizes))
    assert (np.diff(packets) > 0).all()
    ptr = runtime.to_host(graphs.graph_ptr)
    for first, last in pairwise(packets.tolist()):
        assert ptr[last] - ptr[first] <= graphs.capacity or last == first + 1
    assert graphs.n_packets == len(packets) - 1


@pytest.mark.parametrize(
    ("sizes", "first"),
    [
        ([2, 2, 2, 2], [0, 2, 4]),
        ([4, 1, 3, 1], [0, 1, 3, 4]),
        ([9, 1, 0, 9, 0, 1], [0, 1, 3, 4, 6]),
        ([0, 0, 0], [0, 3]),
        ([7], [0, 1]),
    ],
)
def test_a_packet_ends_before_the_graph_that_would_not_fit(sizes, first):
    packets = np.full(len(sizes) + 2, -1, dtype=np.int32)
    n_packets = _core.cut_packets(np.concatenate([[0], np.cumsum(sizes)]), 4, packets)
    assert packets[: n_packets + 1].tolist() == first


def test_nodes_of_graphs_beyond_a_packet(runtime):
    sizes = SIZES["mixed"]
    graphs = on_device(runtime, many_graphs(sizes))
    large = graphs.large_nodes
    beyond = [i for i, size in enumerate(sizes) if size > graphs.capacity]
    assert large.graphs.tolist() == beyond
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    nodes = np.concatenate([np.arange(ptr[i], ptr[i + 1]) for i in beyond])
    np.testing.assert_array_equal(runtime.to_host(large.nodes), nodes)
    np.testing.assert_array_equal(
        runtime.to_host(large.graph_of), np.repeat(beyond, [sizes[i] for i in beyond])
    )
    packets = runtime.to_host(graphs.packets).tolist()
    assert all({graph, graph + 1} <= set(packets) for graph in beyond)
    assert on_device(runtime, many_graphs([5, 7])).large_nodes is None
