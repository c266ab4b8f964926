"""Counts and features of the device equal those of the CPU, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels._utils.arrays import sum_in_order
from propkernels._utils.randomness import mix
from propkernels.codes.codes import LocalitySensitiveHash, label_codes
from propkernels.gpu import device_counts
from propkernels.propagation import Diffusion
from propkernels.propagation.initial import initial_distributions, label_column, label_source, learn_prior
from tests.gpu.some_graphs import SIZES, many_graphs, on_device


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
    streams = label_codes(graphs, Diffusion(), initial, lsh, 4, 1)
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
    features = pk.PropagationFeatures(t_max=3, random_state=3, propagation=Diffusion(isolated="vanish"))
    expected = features.fit_transform(graphs)
    (streams,) = features._coder.codes(graphs)
    listed, bins = device_counts.vocabulary(runtime.to_device(streams.codes), runtime)
    for computed, known in zip(bins, features._stream_codes, strict=True):
        np.testing.assert_array_equal(runtime.to_host(computed), known)
    columns = device_counts.Columns(max(expected.shape[1], 1), listed=listed)
    rows = device_counts.count_columns(on_device(runtime, graphs), None, columns, 1.0)
    np.testing.assert_array_equal(runtime.to_host(rows.indptr), expected.indptr)
    np.testing.assert_array_equal(runtime.to_host(rows.columns), expected.indices)
    np.testing.assert_array_equal(runtime.to_host(rows.values), expected.data)


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_counts_by_slots_have_the_products_of_a_vocabulary(runtime, sizes):
    graphs = many_graphs(sizes)
    kernel = pk.PropagationKernel(t_max=3, n_hashes=2, random_state=3)
    kernel.set_params(propagation=Diffusion(isolated="vanish")).fit(graphs)
    (streams,) = kernel._coder.codes(graphs)
    rows = device_counts.count_slots(on_device(runtime, graphs), runtime.to_device(streams.codes))
    counts = [stream.counts.toarray() for stream in kernel._counts]
    gram = runtime.to_host(device_counts.square_gram(rows, runtime))
    np.testing.assert_array_equal(gram, sum(part @ part.T for part in counts))
    weights = np.linspace(0.1, 0.7, len(counts))
    diagonal = device_counts.self_products(rows, weights, runtime)
    expected = sum_in_order((part**2).sum(axis=1) * w for part, w in zip(counts, weights, strict=True))
    np.testing.assert_array_equal(runtime.to_host(diagonal), expected)
