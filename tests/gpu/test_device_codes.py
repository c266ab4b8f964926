"""Codes of the device equal those of the CPU, to the bit."""

from itertools import pairwise

import numpy as np
import pytest

from propkernels.codes.codes import (
    LocalitySensitiveHash,
    in_key_order,
    label_codes,
    multiset_codes,
    stream_numbers,
)
from propkernels.gpu import device_codes
from propkernels.gpu.device_codes import DeviceOperator
from propkernels.propagation import Diffusion, LabelPropagation, LabelSpreading, PartialAbsorption
from propkernels.propagation.initial import initial_distributions, label_column, label_source, learn_prior
from tests.gpu.some_graphs import SIZES, many_graphs, on_device
from tests.zoo import hide_labels

SCHEMES = [
    Diffusion(),
    Diffusion(0.3),
    Diffusion(0.2, "symmetric"),
    Diffusion(0.1, "none"),
    Diffusion(isolated="vanish"),
    LabelSpreading(0.8),
    PartialAbsorption(0.4),
    LabelPropagation(),
    LabelPropagation(clamp="before"),
]


def both_codes(runtime, graphs, scheme, t_max=5, n_hashes=1, plain=False):
    """Codes of the device and of the CPU."""
    column = label_column(graphs, label_source(graphs, "auto"))
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    lsh = LocalitySensitiveHash("tv", 1e-5, 7)
    expected = label_codes(graphs, scheme, initial, lsh, t_max, n_hashes)
    streams = stream_numbers(t_max, n_hashes)
    ordered, keys = in_key_order(initial)
    operator = scheme.prepare(graphs, ordered)
    fields = {}
    if not plain:
        for name in ("spread", "keep", "restart", "pushed_back", "vanished"):
            value = getattr(operator, name)
            fields[name] = None if value is None else runtime.to_device(np.ascontiguousarray(value))
    arrays = (ordered.rows.astype(np.int32), ordered.table @ lsh.vectors(keys, streams), lsh.offsets(streams))
    computed = device_codes.propagated_codes(
        on_device(runtime, graphs, operator.adjacency),
        DeviceOperator(**fields),
        *(runtime.to_device(np.ascontiguousarray(array)) for array in arrays),
        n_hashes,
    )
    return runtime.to_host(computed), expected.codes


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_codes_are_the_same_bits(runtime, sizes, scheme):
    graphs = many_graphs(sizes)
    if isinstance(scheme, LabelPropagation) and graphs.n_nodes:
        graphs = hide_labels(graphs, 0.3, random_state=0)
    computed, expected = both_codes(runtime, graphs, scheme)
    np.testing.assert_array_equal(computed, expected)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_hashes", [1, 3])
def test_weights_directions_and_several_hashes(runtime, directed, n_hashes):
    graphs = many_graphs(SIZES["mixed"], weighted=True, directed=directed)
    computed, expected = both_codes(runtime, graphs, Diffusion(0.1), 6, n_hashes)
    np.testing.assert_array_equal(computed, expected)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_refinement_is_the_same_bits(runtime, sizes):
    graphs = many_graphs(sizes)
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, graphs.n_nodes).astype(np.uint64) % np.uint64(3)
    edge_keys = rng.integers(0, 2, graphs.adjacency.nnz).astype(np.uint64)
    for edges in (None, edge_keys):
        expected = multiset_codes(graphs, keys, edges, 4).codes
        given = None if edges is None else runtime.to_device(edges)
        computed = device_codes.refined_codes(on_device(runtime, graphs), runtime.to_device(keys), given, 4)
        np.testing.assert_array_equal(runtime.to_host(computed), expected)


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
