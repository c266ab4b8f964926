"""Kernel matrices in tiles: mirror images, missing tiles, time limits, and values that are not finite."""

import numpy as np
import pytest

from propkernels.kernels import tiles
from propkernels.kernels.tiles import TiledMatrix, check_finite

PTR = np.arange(8)  # seven graphs with one node each
VALUES = np.add.outer(np.arange(7.0), np.arange(7.0))[None]


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiles, "NODES_IN_TILE", 2)


def part(rows, columns):
    return VALUES[:, rows, columns].copy()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("shape", ["square", "rectangle"])
def test_all_tiles_make_the_matrix(shape, n_jobs):
    matrix = TiledMatrix.square(PTR, 1) if shape == "square" else TiledMatrix.rectangle(PTR, PTR, 1)
    assert np.isnan(matrix.values).all()
    matrix.compute(part, n_jobs, None, None, "")
    assert matrix.completed == 1
    assert np.array_equal(matrix.values, VALUES)


def test_the_diagonal_comes_first():
    matrix = TiledMatrix.square(PTR, 1)
    n_diagonal = sum(rows == columns for rows, columns in matrix.tiles)
    assert n_diagonal > 1
    assert all(rows == columns for rows, columns in matrix.tiles[:n_diagonal])


def test_no_tile_begins_after_the_time_limit(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(tiles, "monotonic", lambda: next(clock))
    matrix = TiledMatrix.square(PTR, 1)
    matrix.compute(part, 1, 5, None, "")
    assert 0 < matrix.completed < 1
    known = ~np.isnan(matrix.values)
    assert np.array_equal(known, np.swapaxes(known, 1, 2))
    assert np.array_equal(matrix.values[known], VALUES[known])


def test_missing_tiles_are_copied_and_others_kept():
    source, matrix = TiledMatrix.square(PTR, 1), TiledMatrix.square(PTR, 1)
    for number, tile in enumerate(source.tiles):
        (source if number % 2 else matrix).put(number, tile, part(*tile))
    matrix.add(source.values, source.done)
    assert matrix.completed == 1
    assert np.array_equal(matrix.values, VALUES)


def test_computed_tiles_are_saved_after_an_error():
    saved = []

    def failing(rows, columns):
        if rows.start > 1:
            raise KeyboardInterrupt
        return part(rows, columns)

    with pytest.raises(KeyboardInterrupt):
        TiledMatrix.square(PTR, 1).compute(failing, 1, None, lambda m: saved.append(m.done.sum()), "")
    assert saved == [1]


def test_values_must_be_finite():
    large = np.full(3, 1e308)  # the sum overflows, the values do not
    assert check_finite(large) is large
    with pytest.raises(ValueError, match="standardize=True"):
        check_finite(np.array([1.0, np.inf]))
