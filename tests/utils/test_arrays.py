"""Offsets, index types and ranges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.utils.arrays import index_dtype, offsets, ranges

lengths = st.lists(st.integers(0, 50), max_size=20)


@given(lengths, st.sampled_from([np.int8, np.int32, np.int64, np.uint64, bool]))
def test_offsets(values, dtype):
    array = np.array(values, dtype=dtype)
    computed = offsets(array)
    assert computed.dtype == np.int64
    assert computed.tolist() == [sum(array[:i].tolist()) for i in range(len(values) + 1)]
    assert offsets(values).tolist() == [sum(values[:i]) for i in range(len(values) + 1)]


@given(lengths)
def test_ranges(values):
    starts = [7 * i for i in range(len(values))]
    expected = [x for start, n in zip(starts, values, strict=True) for x in range(start, start + n)]
    assert ranges(starts, values).tolist() == expected


@pytest.mark.parametrize(
    ("numbers", "dtype"), [((0,), np.int32), ((2**31 - 1, 5), np.int32), ((5, 2**31), np.int64)]
)
def test_index_dtype(numbers, dtype):
    assert index_dtype(*numbers) is dtype
