"""LabelColumn: any hashable values, and all the ways of saying "not observed"."""

import enum
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
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


BACK = (
    *(["C", "O", "C"], [("C", 1), ("C", 2), ()], [1, "1", (1,), b"1", 1.5], [0.5, 0.25, 0.5]),
    *([frozenset("ab"), frozenset("ba"), frozenset()], [2**70, 3, 2**70], [10**6, -(10**9), 0]),
    *([Fraction(1, 3), Fraction(1, 3), 2**70], [float("inf"), 1j]),
)


def test_values_come_back():
    for labels in BACK:
        assert decode(labels) == decode(iter(labels)) == labels
        assert encode(labels).to_array().dtype == (np.int64 if labels[0] == 10**6 else object)
        assert encode(labels) != encode(labels[:1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_integer_arrays_of_every_dtype(dtype):
    most = np.iinfo(dtype)
    assert decode(np.array([0, 100, 3, most.max, most.min], dtype=dtype)) == [0, 100, 3, most.max, most.min]


EQUAL = [
    (1, [1.0, True, np.int8(1), np.uint64(1), np.float32(1), np.True_, Fraction(1), Decimal(1)]),
    (0.5, [Fraction(1, 2), np.float64(0.5)]),
    (2**100, [2.0**100]),
    (0, [-0.0]),
    ("red", [np.str_("red"), Colour.RED]),
    (6, [Element.C]),
    ((1, (2.0,)), [(1.0, (np.int8(2),))]),
    ((1, "a"), [(np.int64(1), "a")]),
    ((1, 2), [Point(1, 2)]),
    (frozenset([1]), [frozenset([np.int64(1)])]),
]


@pytest.mark.parametrize(("label", "twins"), EQUAL, ids=str)
def test_equal_values_are_one_label(label, twins):
    for twin in twins:
        column = encode([label, twin, "other"])
        assert column.ids[0] == column.ids[1] != column.ids[2]
        assert encode([label]) == encode([twin])
        assert repr(canonical_label(label)) == repr(canonical_label(twin))


def test_different_values_stay_apart():
    for pair in ([1, "1"], ["a", b"a"], [1, (1,)], [0, ""], [(), ((),)]):
        assert len(encode(pair).values) == 2


# unobserved


GAP, GAPS = [False, True], [np.array([1, -1]), np.array([1.0, np.nan]), np.array(["a", None], dtype=object)]
UNOBSERVED = [
    *([label, gap] for label in ("a", 1.5) for gap in (None, float("nan"), np.float32("nan"), np.ma.masked)),
    *([1, -1], (1, -1), [1, None], [True, -1], ["a", pd.NA], ["a", pd.NaT], *GAPS),
    *(np.array([1, -1], dtype=np.int8), np.ma.array([1, -1]), np.ma.array([1, 5], mask=GAP)),
    *(np.ma.array([0.5, 1.5], mask=GAP), np.ma.array(["a", "b"], mask=GAP)),
    np.ma.array(["a", [1]], mask=GAP, dtype=object),
    *(pd.Series(["a", None], dtype=kind) for kind in (object, "string", "category")),
    *(pd.Series([1, pd.NA], dtype="Int64"), pd.Series([1, -1], dtype="Int64"), pd.Series([1, -1])),
    *(pd.Series([1.0, np.nan]), pd.array([1, None], dtype="Int8")),
]


@pytest.mark.parametrize("labels", UNOBSERVED, ids=repr)
def test_ways_of_not_observing(labels):
    column = encode(labels)
    assert column.observed.tolist() == [True, False]
    assert len(column.present) == 1


def test_minus_one_is_unobserved_among_integers_only():
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
    for values in (["b", "a", None, "b"], [3, -1, 3, None], [("x", 1), "y", ("x", 1), None]):
        plain = pd.Series(values, dtype=object)
        categories = pd.Index(
            list(dict.fromkeys(v for v in values[::-1] if v is not None)), tupleize_cols=False
        )
        series = pd.Series(pd.Categorical(plain, categories=categories))
        assert LabelColumn.from_values(series) == LabelColumn.from_values(plain)
        assert LabelColumn.from_values(series).values == LabelColumn.from_values(plain).values
