import itertools

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import AnisotropicDiffusion
from propkernels.propagation.initial import initial_distributions, learn_prior


def prepared(scheme, grids):
    initial = initial_distributions(grids.label_column, learn_prior(grids.label_column, "uniform"))
    return scheme.prepare(grids, initial), initial.to_dense()


def naive_step(current, mask, contrast, rate):
    following = current.copy()
    for pixel in itertools.product(*map(range, mask.shape)):
        for axis, side in itertools.product(range(mask.ndim), (-1, 1)):
            other = tuple(p + side * (a == axis) for a, p in enumerate(pixel))
            there = all(0 <= o < n for o, n in zip(other, mask.shape, strict=True))
            if mask[pixel] and there and mask[other]:
                difference = current[other] - current[pixel]
                s = np.linalg.norm(difference) / contrast
                following[pixel] += rate / (2 * mask.ndim) * np.exp(-(s**2)) * difference
    return following


@pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 3)])
def test_steps_against_loops_over_pixels(shape):
    generator = np.random.default_rng(0)
    image, mask = generator.integers(0, 3, shape), generator.random(shape) < 0.8
    image.flat[:3], mask.flat[:3] = [0, 1, 2], True
    grids = pk.GridDatabase([image, np.full(shape, 2), image.T], [mask, None, mask.T])
    scheme = AnisotropicDiffusion(0.9, 0.7)
    diffusion, current = prepared(scheme, grids)
    inside, references = [mask, np.ones(shape, dtype=bool), mask.T], []
    for i, where in enumerate(inside):
        references.append(np.zeros((*where.shape, 3)))
        references[i][where] = current[grids.graph_ptr[i] : grids.graph_ptr[i + 1]]
    for _ in range(3):
        current = scheme.step(diffusion, current, current)
        pairs = zip(references, inside, strict=True)
        references = [naive_step(one, where, 0.9, 0.7) for one, where in pairs]
    expected = np.concatenate([one[where] for one, where in zip(references, inside, strict=True)])
    np.testing.assert_allclose(current, expected, atol=1e-14)
    np.testing.assert_allclose(current.sum(axis=1), 1)
    assert (current >= 0).all()
