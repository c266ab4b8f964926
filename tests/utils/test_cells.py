"""Columns: what is missing, what texts stand for; ids, which are equal wherever they are read again."""

import datetime as dt
import warnings
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest

from propkernels._utils.cells import (
    DEEPEST,
    as_classes,
    check_measurements,
    id_array,
    is_missing,
    plain_ids,
    read_cells,
    typed_column,
)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-2", "+3"], "i", [1, -2, 3]),
        ([" 1", "2 "], "i", [1, 2]),
        (["1", "2.5", "1e3"], "f", [1, 2.5, 1000]),
        (["True", "false"], "b", [True, False]),
        (["True", "1"], "U", ["True", "1"]),
        (["01", "1"], "U", ["01", "1"]),
        (["1_000", "2"], "U", ["1_000", "2"]),
        ([" yes", "yes"], "U", [" yes", "yes"]),
        (["1", ""], "f", [1, np.nan]),
        (["True", ""], "O", [True, None]),
        (["nan", "0.5"], "f", [np.nan, 0.5]),
        (["nan", "x"], "U", ["nan", "x"]),
        (["", ""], "f", [np.nan, np.nan]),
        ([str(2**63), "1"], "f", [2.0**63, 1]),
        (["9" * 500], "U", ["9" * 500]),
    ],
)
def test_what_cells_stand_for(cells, kind, values):
    found = read_cells(cells)
    assert found.dtype.kind == kind
    assert found.tolist() == pytest.approx(values, nan_ok=True) if kind == "f" else found.tolist() == values


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "i"),
        ([1, None], "f"),
        ([1, 2.5], "f"),
        ([2**70, 1], "f"),
        (["a", None], "O"),
        (["a", "b"], "U"),
        ([True, None], "O"),
        ([1, "a"], "U"),
        ([None, float("nan")], "f"),
    ],
)
def test_values_get_one_type(values, kind):
    found = typed_column(values)
    assert found.dtype.kind == kind
    assert is_missing(found).tolist() == is_missing(values).tolist()
    with pytest.raises(ValueError, match="a whole number of over 300 digits is too large"):
        typed_column([10**400, 1])


def test_what_is_missing():
    pd = pytest.importorskip("pandas")
    assert is_missing([None, np.nan, pd.NA, pd.NaT, "", "nan", 0]).tolist() == [True] * 4 + [False] * 3
    assert is_missing(np.ma.masked_array([1, 2], [True, False])).tolist() == [True, False]
    assert is_missing(np.array(["2020", "NaT"], dtype="M8[D]")).tolist() == [False, True]


def test_numbers_that_are_classes():
    assert as_classes(np.array([0.0, 1.0, 1.0])).dtype.kind == "i"
    for numbers in ([0.5, 1.0], [0.0, np.nan], [1e300, 2e300], list(np.arange(20.0))):
        assert as_classes(np.array(numbers)).dtype.kind == "f"


@pytest.mark.parametrize(
    ("cells", "said"), [(["1", "NA", "2"], "1 cell 'NA'"), (["0.5", "-", "?"], "2 cells")]
)
def test_marks_among_numbers_are_warned_of(cells, said):
    with pytest.warns(UserWarning, match=f"^column 'y' has {said}.* leave these cells empty"):
        assert read_cells(cells, "column 'y'").tolist() == cells


@pytest.mark.parametrize("cells", [["NA", "yes"], ["NA", "NA"], ["NA", ""], ["1", "x"], ["1", ""]])
def test_other_texts_are_not_warned_of(cells):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_cells(cells, "column 'y'")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["5.1", ">10000", "6"], "1 censored value, such as '>10000'"),
        (["<= 3", "< 5 nM", "4"], "2 censored values, such as '<= 3'"),
        (["5 nM", "3 nM"], "values with a unit, such as '5 nM'"),
        (["12%", "3"], "values with a unit, such as '12%'"),
        ([1.0, float("-inf")], "the target has infinite numbers"),
    ],
)
def test_bounds_and_units_are_named(values, message):
    with pytest.raises(ValueError, match=message):
        check_measurements(np.array(values), "the target")


def test_classes_and_numbers_are_not_measurements():
    for values in (["active", "inactive"], ["a>1", "b", "c"], ["1", "2"], ["x", "y", "5 nM"]):
        check_measurements(np.array(values), "the target")
    check_measurements(np.array([1.0, 2.0]), "the target")


@pytest.mark.parametrize(
    "cell", ["> 1" + " " * 10**5 + "x9 9", "> " + "1" * 10**5 + "x" * 20, "1" * 10**5 + " nM 3"]
)
def test_long_cells_take_no_time_to_match(cell):
    """Backtracking would take minutes."""
    check_measurements(np.array([cell, ">5"], dtype=object)[:1], "table")


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
