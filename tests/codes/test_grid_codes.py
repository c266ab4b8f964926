"""Codes of pixels against single steps and hashes."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.codes.codes import floor_codes, grid_codes
from propkernels.graphs.neighborhoods import BOUNDARIES
from propkernels.propagation.convolution import GridOperator
from propkernels.propagation.initial import Prior, initial_distributions, label_column

GENERATOR = np.random.default_rng(0)
CROSS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def some_grids(masked):
    shapes = [(4, 3), (4, 3), (2, 5)]
    images, masks = [GENERATOR.integers(0, 3, shape) for shape in shapes], None
    if masked:
        masks = [(GENERATOR.random(shape) < 0.7) | (np.indices(shape).sum(axis=0) == 0) for shape in shapes]
    return pk.GridDatabase(images, masks)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("clamped", ["held", "pushed_back", None])
def test_streams_are_steps_and_hashes(boundary, masked, clamped):
    grids = some_grids(masked)
    clamps = {} if clamped is None else {clamped: GENERATOR.random(grids.n_nodes) < 0.3}
    operator = GridOperator(grids, CROSS, boundary, **clamps)
    initial = initial_distributions(label_column(grids, "node"), Prior((), None))
    vectors = GENERATOR.integers(-9, 9, (len(initial.values), 6)).astype(float)
    offsets = GENERATOR.random(6)
    codes = grid_codes(operator, initial, vectors, offsets, 2)
    start = current = np.asarray((initial.table @ vectors)[initial.rows])
    for t in range(3):
        streams = slice(2 * t, 2 * t + 2)
        np.testing.assert_array_equal(codes[streams], floor_codes(current[:, streams] + offsets[streams]).T)
        current = operator.step(current, start)
