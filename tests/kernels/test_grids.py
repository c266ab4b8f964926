"""What every kernel must satisfy, on grids."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import propkernels as pk
from propkernels.propagation import AnisotropicDiffusion, Convolution
from tests import naive as exact
from tests import test_contract as contract

SCHEMES = [
    Convolution(),
    Convolution((1, 8), "wrap"),
    Convolution((2, 16), "reflect"),
    Convolution((1, 8), "zero"),
    Convolution(clamp="after"),
    AnisotropicDiffusion(),
]


def grids():
    generator = np.random.default_rng(11)
    shapes = [(5, 6), (3, 4), (5, 6), (1, 1), (8, 2), (3, 4)]
    images = [generator.integers(-1, 3, shape) for shape in shapes]
    masks = [None, generator.random((3, 4)) < 0.7, None, None, None, None]
    return pk.GridDatabase(images, masks)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("options", [{}, {"metric": "hellinger"}, {"n_hashes": 2, "bin_width": 0.1}])
@pytest.mark.parametrize("test", contract.OF_ALL_GRAPHS)
def test_contract(test, scheme, options):
    test(pk.PropagationKernel, {"propagation": scheme, **options}, grids())


@pytest.mark.slow
@given(
    st.lists(
        arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(0, 2)),
        min_size=1,
        max_size=3,
    )
)
def test_generated_images_equal_exact_arithmetic(images):
    database = pk.GridDatabase(images)
    kernel = pk.PropagationKernel(t_max=2, bin_width=1e-10, random_state=0)
    kernels = kernel.fit_transform_cumulative(database)
    np.testing.assert_array_equal(kernels, exact.propagation_kernels(database.to_graphs(), 2))
