"""Compiled convolutions against sums over taps, and their hashed streams against single steps."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs.neighborhoods import BOUNDARIES
from propkernels.propagation.convolution import GridOperator

GENERATOR = np.random.default_rng(0)
MODES = {"renormalize": "constant", "zero": "constant", "wrap": "wrap", "reflect": "symmetric"}
FILTERS = {
    "line": np.array([1.0, 0.0, 2.0]),
    "cross": np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]),
    "eight": np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]),
    "knights": np.array(
        [[0, 1, 0, 1, 0], [1, 0, 0, 0, 1], [0, 0, 3, 0, 0], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0]], dtype=float
    ),
    "cube": np.arange(27.0).reshape(3, 3, 3),
    "alone": np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
}


def some_grids(dimension, masked):
    shapes = [(4, 3, 2)[:dimension], (4, 3, 2)[:dimension], (2, 5, 3)[:dimension]]
    images = [GENERATOR.integers(0, 3, shape) for shape in shapes]
    if not masked:
        return pk.GridDatabase(images)
    masks = [GENERATOR.random(shape) < 0.7 for shape in shapes]
    for mask in masks:
        mask.flat[0] = True
    return pk.GridDatabase(images, masks=masks)


def expected_step(grids, weights, boundary, values, held):
    """Sum over taps of B[o] * image[x + o], pixel by pixel."""
    following = np.empty_like(values)
    for i, shape in enumerate(map(tuple, grids.shapes)):
        nodes = slice(grids.graph_ptr[i], grids.graph_ptr[i + 1])
        inside = grids.inside_of(i)
        mask = np.ones(shape, dtype=bool) if inside is None else inside.reshape(shape)
        image, mass = np.zeros(shape), mask.astype(float)
        image[mask] = values[nodes]
        border = [(length // 2,) * 2 for length in weights.shape]
        image, mass = (np.pad(part, border, mode=MODES[boundary]) for part in (image, mass))
        for pixel, place in enumerate(np.argwhere(mask)):
            window = tuple(slice(p, p + length) for p, length in zip(place, weights.shape, strict=True))
            heard = (mass[window] * weights).sum() if boundary == "renormalize" else 1.0
            node = nodes.start + pixel
            stays = heard == 0 or (len(held) and held[node])
            following[node] = values[node] if stays else (image[window] * weights).sum() / heard
    return following


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_step_is_a_sum_over_taps(boundary, name, masked):
    weights = FILTERS[name]
    grids = some_grids(weights.ndim, masked)
    held = GENERATOR.random(grids.n_nodes) < 0.2 if masked else np.empty(0, dtype=bool)
    values = GENERATOR.integers(-20, 20, grids.n_nodes).astype(float)
    expected = expected_step(grids, weights, boundary, values, held)
    for path in ("direct", "separable"):
        operator = GridOperator(grids, weights, boundary, held=held, path=path)
        stepped = operator.step(values[:, None], values[:, None])[:, 0]
        np.testing.assert_allclose(stepped, expected, rtol=1e-12, atol=1e-12)
