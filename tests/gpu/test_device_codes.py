"""Codes of the device equal those of the CPU, to the bit."""

from itertools import pairwise

import numpy as np
import pytest

import propkernels as pk
from propkernels.codes import codes as host
from propkernels.gpu.device_codes import device_graphs, label_streams, refinement_streams
from propkernels.propagation import (
    Convolution,
    Diffusion,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
)
from propkernels.propagation.initial import initial_distributions, label_column, label_source, learn_prior
from tests.gpu.some_graphs import SIZES, many_graphs
from tests.zoo import hide_labels

RNG = np.random.default_rng(0)
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
IMAGES = {
    "plane": [RNG.integers(0, 3, (5, 7)), RNG.integers(0, 3, (1, 4)), RNG.integers(0, 3, (9, 2))],
    "volume": [RNG.integers(0, 3, (3, 4, 5))],
    "missing": [np.where(RNG.random((6, 6)) < 0.3, -1, RNG.integers(0, 3, (6, 6)))],
}
FILTERS = [
    *(Convolution(boundary=boundary) for boundary in ("renormalize", "zero", "wrap", "reflect")),
    *(Convolution(clamp=clamp) for clamp in ("after", "before")),
]
FLAT = [Convolution((1, 8)), Convolution((2, 16), "reflect"), Convolution(np.ones((9, 9)))]
every_size = pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)


def check_codes(runtime, graphs, scheme, t_max=5, n_hashes=1):
    column = label_column(graphs, label_source(graphs, "auto"))
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    arguments = (graphs, scheme, initial, host.LocalitySensitiveHash("tv", 1e-5, 7), t_max, n_hashes, None)
    computed = runtime.to_host(label_streams(runtime, *arguments).codes)
    np.testing.assert_array_equal(computed, host.label_codes(*arguments).codes)


@pytest.mark.slow
@every_size
@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_codes_are_the_same_bits(runtime, sizes, scheme):
    graphs = many_graphs(sizes)
    if isinstance(scheme, LabelPropagation) and graphs.n_nodes:
        graphs = hide_labels(graphs, 0.3, random_state=0)
    check_codes(runtime, graphs, scheme)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_hashes", [1, 3])
def test_weights_directions_and_several_hashes(runtime, directed, n_hashes):
    graphs = many_graphs(SIZES["mixed"], weighted=True, directed=directed)
    check_codes(runtime, graphs, Diffusion(0.1), 6, n_hashes)


@pytest.mark.parametrize("scheme", FILTERS + FLAT, ids=lambda scheme: " ".join(repr(scheme).split()))
@pytest.mark.parametrize("images", IMAGES.values(), ids=IMAGES)
def test_pixels_have_the_same_bits(runtime, images, scheme):
    if scheme in FLAT and images is IMAGES["volume"]:
        pytest.skip("a filter of the plane")
    check_codes(runtime, pk.GridDatabase(images), scheme, 4, 2)


def test_what_only_the_cpu_can_is_left_to_it(runtime):
    grids = pk.GridDatabase(IMAGES["plane"])
    column = label_column(grids, "node")
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    lsh = host.LocalitySensitiveHash("hellinger", 1e-5, 3)
    assert label_streams(runtime, grids, Convolution(), initial, lsh, 2, 1, None) is None


@every_size
def test_refinement_is_the_same_bits(runtime, sizes):
    graphs, rng = many_graphs(sizes), np.random.default_rng(0)
    keys = rng.integers(0, 2**63, graphs.n_nodes).astype(np.uint64) % np.uint64(3)
    for edges in (None, rng.integers(0, 2, graphs.adjacency.nnz).astype(np.uint64)):
        computed = refinement_streams(graphs, keys, edges, 4, runtime).codes
        expected = host.multiset_codes(graphs, keys, edges, 4).codes
        np.testing.assert_array_equal(runtime.to_host(computed), expected)


@every_size
def test_packets_cover_all_graphs_and_fit(runtime, sizes):
    """What does not fit the shared memory of a device would not be noticed on the host."""
    given = many_graphs(sizes)
    graphs = device_graphs(given.graph_ptr, given.adjacency, runtime, True)
    packets = runtime.to_host(graphs.packets)
    assert (packets[0], packets[-1]) == (0, len(sizes))
    assert (np.diff(packets) > 0).all()
    ptr = runtime.to_host(graphs.graph_ptr)
    for first, last in pairwise(packets.tolist()):
        assert ptr[last] - ptr[first] <= graphs.capacity or last == first + 1
    assert graphs.n_packets == len(packets) - 1
