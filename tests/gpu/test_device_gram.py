"""Kernel matrices of the device equal those of the CPU."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.gpu.device_counts import DeviceRows, square_gram
from tests.gpu.some_graphs import SIZES, many_graphs


def on_device(features, runtime):
    indptr = features.indptr.astype(np.int64)
    arrays = (indptr, features.indices.astype(np.int32), features.data)
    return DeviceRows(*(runtime.to_device(array) for array in arrays), features.shape[1])


@pytest.mark.slow
@pytest.mark.parametrize("popular", [0.0, 0.05, 0.3, 2.0])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_square_gram_is_exact(runtime, monkeypatch, sizes, popular):
    monkeypatch.setattr("propkernels.gpu.device_counts.POPULAR", popular)
    monkeypatch.setattr("propkernels.gpu.device_counts.DENSE_BYTES", 5000)
    features = pk.PropagationFeatures(t_max=3, random_state=0).fit_transform(many_graphs(sizes[:100]))
    computed = square_gram(on_device(features, runtime), runtime)
    np.testing.assert_array_equal(runtime.to_host(computed), (features @ features.T).toarray())
