"""Codes, counts and features of the device equal those of the CPU, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels._utils.randomness import mix
from propkernels.gpu import device_codes, device_counts
from propkernels.gpu.device_codes import DeviceOperator
from propkernels.gpu.packets import DeviceGraphs
from propkernels.hashing.codes import LocalitySensitiveHash, in_key_order, label_codes, stream_numbers
from propkernels.propagation.initial import initial_distributions, label_column, label_source, learn_prior


def many_graphs(sizes, seed=0, weighted=False, directed=False):
    """Random sparse graphs of given sizes, some without edges."""
    rng = np.random.default_rng(seed)
    blocks = []
    for size in sizes:
        density = min(1.0, 3.0 / max(size, 1)) * (rng.random() > 0.1)
        matrix = rng.random((size, size)) * (rng.random((size, size)) < density)
        matrix = np.triu(matrix, 1)
        matrix = matrix if directed else matrix + matrix.T
        blocks.append((matrix if weighted else (matrix > 0) * 1.0, rng.integers(0, 4, size).tolist()))
    return pk.check_graphs(blocks)


SIZES = {
    "molecules": [int(size) for size in np.random.default_rng(1).integers(1, 41, 60)],
    "mixed": [5, 170, 3, 0, 0, 319, 320, 321, 900, 1, 2, 160, 161],
    "large": [700, 400],
    "tiny": [1] * 900,
    "empty": [0, 0],
}
SCHEMES = [
    pk.Diffusion(),
    pk.Diffusion(0.3),
    pk.Diffusion(0.2, "symmetric"),
    pk.Diffusion(0.1, "none"),
    pk.Diffusion(isolated="vanish"),
    pk.LabelSpreading(0.8),
    pk.PartialAbsorption(0.4),
    pk.LabelPropagation(),
    pk.LabelPropagation(clamp="before"),
]


def on_device(runtime, graphs, adjacency=None):
    adjacency = graphs.adjacency if adjacency is None else adjacency
    weights = None if (adjacency.data == 1).all() else runtime.to_device(adjacency.data)
    arrays = (
        graphs.graph_ptr.astype(np.int64),
        adjacency.indptr.astype(np.int32),
        adjacency.indices.astype(np.int32),
    )
    return DeviceGraphs(runtime, *(runtime.to_device(array) for array in arrays), weights)


def both_codes(runtime, graphs, scheme, t_max=5, n_hashes=1, plain=False):
    """Codes of the device and of the CPU."""
    column = label_column(graphs, label_source(graphs, "auto"))
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    lsh = LocalitySensitiveHash("tv", 1e-5, 7)
    expected = label_codes(graphs, scheme, initial, lsh, t_max, n_hashes, 1)
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
    if isinstance(scheme, pk.LabelPropagation) and graphs.n_nodes:
        graphs = pk.datasets.hide_labels(graphs, 0.3, random_state=0)
    computed, expected = both_codes(runtime, graphs, scheme)
    np.testing.assert_array_equal(computed, expected)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("n_hashes", [1, 3])
def test_weights_directions_and_several_hashes(runtime, directed, n_hashes):
    graphs = many_graphs(SIZES["mixed"], weighted=True, directed=directed)
    computed, expected = both_codes(runtime, graphs, pk.Diffusion(0.1), 6, n_hashes)
    np.testing.assert_array_equal(computed, expected)


def test_the_plain_walk_needs_no_arrays(runtime):
    computed, expected = both_codes(runtime, many_graphs(SIZES["mixed"]), pk.Diffusion(), 10, plain=True)
    np.testing.assert_array_equal(computed, expected)


def columns_of(t_max, n_hashes, n_features, runtime):
    t, h = np.divmod(np.arange((t_max + 1) * n_hashes), n_hashes)
    return device_counts.Columns(n_features, words=runtime.to_device(mix(t, h)))


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [2**20, 2**4, 1000, 1])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_hashed_counts_equal_the_features(runtime, sizes, n_features):
    graphs = many_graphs(sizes)
    expected = pk.PropagationFeatures(t_max=4, n_features=n_features, random_state=3).fit_transform(graphs)
    column = label_column(graphs, label_source(graphs, "auto"))
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    lsh = LocalitySensitiveHash("tv", 1e-5, 3)
    streams = label_codes(graphs, pk.Diffusion(), initial, lsh, 4, 1, 1)
    rows = device_counts.count_columns(
        on_device(runtime, graphs),
        runtime.to_device(streams.codes),
        columns_of(4, 1, n_features, runtime),
        1.0,
    )
    computed = csr_array(
        tuple(map(runtime.to_host, (rows.values, rows.columns, rows.indptr))), expected.shape
    )
    np.testing.assert_array_equal(computed.indptr, expected.indptr)
    np.testing.assert_array_equal(computed.indices, expected.indices)
    np.testing.assert_array_equal(computed.data, expected.data)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_a_vocabulary_equals_the_features(runtime, sizes):
    graphs = many_graphs(sizes)
    features = pk.PropagationFeatures(t_max=3, random_state=3, propagation=pk.Diffusion(isolated="vanish"))
    expected = features.fit_transform(graphs)
    (streams,) = features.coder_.codes(graphs, 1)
    listed, bins = device_counts.vocabulary(runtime.to_device(streams.codes), runtime)
    for computed, known in zip(bins, features.stream_codes_, strict=True):
        np.testing.assert_array_equal(runtime.to_host(computed), known)
    columns = device_counts.Columns(max(expected.shape[1], 1), listed=listed)
    rows = device_counts.count_columns(on_device(runtime, graphs), None, columns, 1.0)
    np.testing.assert_array_equal(runtime.to_host(rows.indptr), expected.indptr)
    np.testing.assert_array_equal(runtime.to_host(rows.columns), expected.indices)
    np.testing.assert_array_equal(runtime.to_host(rows.values), expected.data)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_refinement_is_the_same_bits(runtime, sizes):
    from propkernels.hashing.refinement import multiset_codes

    graphs = many_graphs(sizes)
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, graphs.n_nodes).astype(np.uint64) % np.uint64(3)
    edge_keys = rng.integers(0, 2, graphs.adjacency.nnz).astype(np.uint64)
    for edges in (None, edge_keys):
        expected = multiset_codes(graphs, keys, edges, 4, 1).codes
        given = None if edges is None else runtime.to_device(edges)
        computed = device_codes.refined_codes(on_device(runtime, graphs), runtime.to_device(keys), given, 4)
        np.testing.assert_array_equal(runtime.to_host(computed), expected)
