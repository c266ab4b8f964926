"""Codes of pixels are the same bits on the device."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.codes import codes as host
from propkernels.codes.codes import LocalitySensitiveHash
from propkernels.gpu.device_codes import label_streams
from propkernels.propagation import Convolution
from propkernels.propagation.initial import initial_distributions, label_column, label_source, learn_prior

RNG = np.random.default_rng(0)
IMAGES = {
    "plane": [RNG.integers(0, 3, (5, 7)), RNG.integers(0, 3, (1, 4)), RNG.integers(0, 3, (9, 2))],
    "volume": [RNG.integers(0, 3, (3, 4, 5))],
    "missing": [np.where(RNG.random((6, 6)) < 0.3, -1, RNG.integers(0, 3, (6, 6)))],
}
SCHEMES = [
    Convolution(),
    Convolution(boundary="zero"),
    Convolution(boundary="wrap"),
    Convolution(boundary="reflect"),
    Convolution(clamp="after"),
    Convolution(clamp="before"),
]
FLAT = [Convolution((1, 8)), Convolution((2, 16), "reflect"), Convolution(np.ones((9, 9)))]


def both(runtime, grids, scheme, t_max=4, n_hashes=2):
    column = label_column(grids, label_source(grids, "auto"))
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    arguments = (grids, scheme, initial, LocalitySensitiveHash("tv", 1e-5, 3), t_max, n_hashes)
    return runtime.to_host(label_streams(*arguments, runtime).codes), host.label_codes(*arguments).codes


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("images", IMAGES.values(), ids=IMAGES)
def test_codes_are_the_same_bits(runtime, images, scheme):
    np.testing.assert_array_equal(*both(runtime, pk.GridDatabase(images), scheme))


@pytest.mark.parametrize("scheme", FLAT, ids=["8", "16", "separable"])
def test_larger_filters(runtime, scheme):
    np.testing.assert_array_equal(*both(runtime, pk.GridDatabase(IMAGES["plane"]), scheme))


def test_what_only_the_cpu_can_is_left_to_it(runtime):
    grids = pk.GridDatabase(IMAGES["plane"])
    column = label_column(grids, "node")
    initial = initial_distributions(column, learn_prior(column, "uniform"))
    lsh = LocalitySensitiveHash("hellinger", 1e-5, 3)
    assert label_streams(grids, Convolution(), initial, lsh, 2, 1, runtime) is None
