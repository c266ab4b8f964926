"""LabelColumn: any hashable values, and all the ways of saying "not observed"."""

import enum
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.graphs import LabelColumn
from propkernels.graphs.labels import canonical_label

LABELS = st.one_of(st.none(), st.integers(0, 5), st.sampled_from(["a", "b", ("a", 1), 0.5, b"a"]))


class Element(enum.IntEnum):
    C = 6
    O = 8  # noqa: E741


class Colour(str, enum.Enum):  # noqa: UP042
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int


def encode(labels):
    return LabelColumn.from_values(labels)


def decode(labels):
    return encode(labels).to_array().tolist()


# values


@pytest.mark.parametrize(
    "labels",
    [
        ["C", "O", "C"],
        [("C", 1), ("C", 2), ()],
        [1, "1", (1,), b"1", 1.5],
        [0.5, 0.25, 0.5],
        [frozenset("ab"), frozenset("ba"), frozenset()],
        [2**70, 3, 2**70],
        [10**6, -(10**9), 0],
    ],
)
def test_values_come_back(labels):
    assert decode(labels) == decode(iter(labels)) == labels
    assert encode(labels).to_array().dtype == (np.int64 if labels[0] == 10**6 else object)
    assert encode(labels) != encode(labels[:1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_integer_arrays_of_every_dtype(dtype):
    labels = np.array([0, 100, 3, 100], dtype=dtype)
    assert decode(labels) == [0, 100, 3, 100]
    assert decode(np.array([np.iinfo(dtype).max, np.iinfo(dtype).min, 1], dtype=dtype)) == [
        np.iinfo(dtype).max,
        np.iinfo(dtype).min,
        1,
    ]


@pytest.mark.parametrize(
    "twins",
    [
        [1, 1.0],
        [1, True],
        [1, np.int8(1)],
        [1, np.uint64(1)],
        [1, np.float32(1)],
        [1, np.True_],
        [1, Fraction(1)],
        [1, Decimal(1)],
        [0.5, Fraction(1, 2)],
        [6, Element.C],
        ["red", Colour.RED],
        [(1, 2), Point(1, 2)],
        [frozenset([1]), frozenset([np.int64(1)])],
        [2**100, 2.0**100],
        [0, -0.0],
        ["a", np.str_("a")],
        [(1, "a"), (np.int64(1), "a")],
        [(1, (2.0,)), (1.0, (np.int8(2),))],
        [0.5, np.float64(0.5)],
    ],
)
def test_equal_values_are_one_label(twins):
    column = encode([*twins, "other"])
    assert column.ids[0] == column.ids[1] != column.ids[2]
    assert encode(twins[:1]) == encode(twins[1:])
    assert repr(canonical_label(twins[0])) == repr(canonical_label(twins[1]))


@pytest.mark.parametrize("pair", [[1, "1"], ["a", b"a"], [1, (1,)], [0, ""], [(), ((),)]])
def test_different_values_stay_apart(pair):
    assert len(encode(pair).values) == 2


def test_numbers_that_floats_cannot_hold_stay_themselves():
    assert decode([Fraction(1, 3), Fraction(1, 3), 2**70]) == [Fraction(1, 3), Fraction(1, 3), 2**70]
    assert decode([float("inf"), 1j]) == [float("inf"), 1j]


# unobserved


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None],
        ["a", float("nan")],
        ["a", np.nan],
        ["a", np.float32("nan")],
        ["a", np.ma.masked],
        [1, -1],
        (1, -1),
        [1, None],
        [True, -1],
        [2.5, np.nan],
        np.array([1, -1]),
        np.array([1, -1], dtype=np.int8),
        np.array([1.0, np.nan]),
        np.array(["a", None], dtype=object),
        np.ma.array([1, 5], mask=[False, True]),
        np.ma.array([1, -1]),
        np.ma.array([0.5, 1.5], mask=[False, True]),
        np.ma.array(["a", "b"], mask=[False, True]),
        np.ma.array(["a", [1]], mask=[False, True], dtype=object),
    ],
    ids=repr,
)
def test_ways_of_not_observing(labels):
    column = encode(labels)
    assert column.observed.tolist() == [True, False]
    assert len(column.present) == 1


def test_pandas_ways_of_not_observing():
    pd = pytest.importorskip("pandas")
    series = [
        ["a", pd.NA],
        ["a", pd.NaT],
        pd.Series(["a", None]),
        pd.Series(["a", pd.NA], dtype="string"),
        pd.Series([1, pd.NA], dtype="Int64"),
        pd.Series([1, -1], dtype="Int64"),
        pd.Series([1, -1]),
        pd.Series([1.0, np.nan]),
        pd.Series(["a", None], dtype="category"),
        pd.array([1, None], dtype="Int8"),
    ]
    for labels in series:
        assert encode(labels).observed.tolist() == [True, False], labels


def test_minus_one_is_unobserved_among_integers_only():
    pd = pytest.importorskip("pandas")
    for labels in ([-1, 3, None], [-1, 3, float("nan")], pd.Series([-1, 3, pd.NA], dtype="Int64")):
        assert encode(labels).observed.tolist() == [False, True, False], labels
    assert decode(np.array([-1.0, 2.0])) == [-1, 2]
    assert decode([-1.0, 0.5]) == [-1, 0.5]
    assert decode([-1, "a"]) == [-1, "a"]
    assert decode(np.array([-1, 2, None], dtype=object)) == [-1, 2, None]
    assert encode(np.array([255, 0], dtype=np.uint8)).observed.all()


def test_arrays_of_labels_are_read_back_as_the_same_labels():
    for labels in ([-1, 3], [-1, "a"], np.array([-1.0, 2.0]), [None, "a"], [0.5, None, 2]):
        column = encode(labels)
        assert encode(column.to_array()) == column
    assert decode([None, None]) == [-1, -1]
    assert decode(["a", None, float("nan")]) == ["a", None, None]


def test_unobserved_inside_a_tuple_is_part_of_the_label():
    column = encode([("a", None), ("a", float("nan")), ("a", 1)])
    assert column.observed.all()
    assert column.ids[0] == column.ids[1] != column.ids[2]


# columns


def test_take_keeps_labels_and_forgets_a_long_tuple_of_values():
    column = encode(np.arange(1000) * 3)
    few = column.take(np.array([7, 3, 7]))
    assert few.to_array().tolist() == [21, 9, 21]
    assert len(few.values) == 2
    gaps = encode([None, *(f"label {i}" for i in range(1000))]).take(np.array([0, 4, 0]))
    assert gaps.to_array().tolist() == [None, "label 3", None]
    assert column.take(np.array([], dtype=np.int64)).values == ()
    assert column.take(slice(2, 4)).to_array().tolist() == [6, 9]


@given(st.lists(LABELS, max_size=6), st.lists(LABELS, max_size=6))
def test_joined_columns_are_columns_of_joined_labels(a, b):
    a, b = np.array([*a, "x"], dtype=object)[:-1], np.array([*b, "x"], dtype=object)[:-1]
    joined = LabelColumn.concat([encode(a), encode(b)])
    assert joined == encode(np.concatenate([a, b]))
    assert joined.take(slice(len(a))) == encode(a)


@given(st.lists(LABELS, max_size=8))
def test_present_is_what_occurs(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    assert set(encode(array).present) == set(labels) - {None}


@given(st.lists(st.integers(-(2**63), 2**63 - 1).filter(lambda i: i != -1), max_size=8))
def test_integer_lists_and_arrays_agree(labels):
    assert decode(labels) == decode(np.array(labels, dtype=np.int64)) == labels


def test_categories_are_the_same_labels_as_their_values():
    pandas = pytest.importorskip("pandas")
    for values in (["b", "a", None, "b"], [3, -1, 3, None], [("x", 1), "y", ("x", 1), None]):
        plain = pandas.Series(values, dtype=object)
        categories = pandas.Index(
            list(dict.fromkeys(v for v in values[::-1] if v is not None)), tupleize_cols=False
        )
        series = pandas.Series(pandas.Categorical(plain, categories=categories))
        assert LabelColumn.from_values(series) == LabelColumn.from_values(plain)
        assert LabelColumn.from_values(series).values == LabelColumn.from_values(plain).values
