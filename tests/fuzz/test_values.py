"""Numbers near powers of two, and rows of them that wrap."""

import numpy as np
import pytest

from fuzz.values import NEAR_POWERS, as_kept, in_some_type, wild_array, wild_offsets, wrapped, wrapping_sizes


def test_every_power_of_two_has_its_neighbors():
    assert {2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, 2**64, 2**64 + 1, -(2**63)} <= set(NEAR_POWERS)


@pytest.mark.parametrize("seed", range(50))
def test_wrapping_sizes_pass_a_check_in_64_bits(seed):
    sizes = wrapping_sizes(np.random.default_rng(seed), 3 + seed % 4, 5)
    with np.errstate(over="ignore"):
        offsets = np.cumsum(np.array(sizes, dtype=np.int64))
    assert offsets[-1] == 5
    assert (np.diff(np.concatenate([[0], offsets])) >= 0).all()
    assert sum(sizes) != 5
    assert min(sizes) >= 0


def test_offsets_are_wild_as_a_rule_and_right_sometimes():
    rng = np.random.default_rng(0)
    rows = [wild_offsets(rng, 4, 7) for _ in range(500)]
    right = sum(row[0] == 0 and row[-1] == 7 and sorted(row) == row for row in rows)
    assert 20 < right < 250
    assert any(abs(value) > 2**62 for row in rows for value in row)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "i8"])
def test_values_are_kept_as_the_machine_keeps_them(dtype):
    for value in (0, 1, -1, 255, 2**31, 2**63, -(2**63) - 1):
        bits = 8 * np.dtype(dtype).itemsize
        kept = as_kept(value, np.dtype(dtype))
        assert (kept - value) % 2**bits == 0
        np.array([kept], dtype=dtype)  # it fits
    assert wrapped(2**63) == -(2**63)


def test_other_types_and_arrays_keep_their_shape():
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert len(in_some_type(rng, [0, 2**63 - 1, -2, 3])) == 4
        array = wild_array(rng, np.arange(6, dtype=np.int32).reshape(2, 3))
        assert array.shape == (2, 3)
        assert array.dtype == np.int32
