"""Ids: plain values, which are equal wherever they are read again."""

import datetime as dt
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest

from propkernels._utils.cells import DEEPEST, id_array, plain_ids


class Color(IntEnum):
    RED = 1


def nested(depth):
    value = "a"
    for _ in range(depth):
        value = (value,)
    return value


BAD = [
    10**5000,
    Fraction(10**5000, 3),
    float("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
    (float("nan"),),
    [1],
    (1, [2]),
    object(),
    Color.RED,
    1j,
    range(3),
    dt.timedelta(1),
    np.datetime64("2020-01-01", "ns"),
    np.timedelta64(1, "D"),
    nested(DEEPEST + 1),
    nested(100_000),
]


@pytest.mark.parametrize("value", BAD, ids=lambda value: type(value).__name__)
def test_values_that_are_refused(value):
    with pytest.raises(TypeError, match="ids must be numbers other than NaN, text"):
        plain_ids([value])


def test_numpy_values_become_python_s_own():
    values = [np.int64(7), np.float32(0.5), np.str_("a"), np.bytes_(b"a"), np.bool_(True)]
    plain = [*values, np.datetime64("2020-01-02")]
    assert plain_ids(plain) == [7, 0.5, "a", b"a", True, dt.date(2020, 1, 2)]
    assert [type(value) for value in plain_ids(values)] == [int, float, str, bytes, bool]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -(2**63)], np.int64),
        ([1, 2**63], object),
        ([True, 2], object),
        ([(1, 2), (3, 4)], object),
        (["a", "b"], object),
        ([], np.int64),
    ],
)
def test_arrays_of_ids(values, kind):
    array = id_array(values)
    assert array.dtype == kind
    assert array.shape == (len(values),)
    assert array.tolist() == values
