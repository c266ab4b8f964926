"""Ids: plain values, which are equal wherever they are read again."""

import datetime as dt
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from uuid import UUID

import numpy as np
import pytest

from propkernels._utils.cells import DEEPEST, id_array, is_id, plain_ids


class Color(IntEnum):
    RED = 1


def nested(depth):
    value = "a"
    for _ in range(depth):
        value = (value,)
    return value


GOOD = [
    None,
    True,
    0,
    -(2**63) - 1,
    2**64,
    10**3999,
    1.5,
    float("inf"),
    -0.0,
    "a",
    "",
    "\udce9",
    b"a",
    dt.date(2020, 1, 2),
    dt.datetime(2020, 1, 2, 3, 4, 5, 6),
    dt.datetime(2020, 1, 2, tzinfo=dt.UTC),
    Decimal("0.10"),
    Decimal("Infinity"),
    Fraction(1, 3),
    UUID(int=7),
    (),
    ("a", 1, (None, 2.5)),
    frozenset(["a", 1]),
    nested(DEEPEST),
]
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


@pytest.mark.parametrize("value", GOOD, ids=lambda value: type(value).__name__)
def test_values_that_are_ids(value):
    assert is_id(value)
    assert plain_ids([value]) == [value]


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
