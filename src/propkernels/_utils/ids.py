"""Ids of graphs: plain values that stay equal after saving, pickling or transfer to other processes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown

PLAIN = (type(None), bool, str, bytes, date, datetime, UUID)
MOST_BITS = 13_287  # of an integer: 4,000 digits, below Python's limit of 4,300
DEEPEST = 16  # nested tuples


def is_id(value: Any, depth: int = DEEPEST) -> bool:
    """Whether a value is a valid id: a plain value that equals itself, or a tuple of such values.

    Examples
    --------
    >>> is_id(("a", 1)), is_id(2**64), is_id([1]), is_id(float("nan"))
    (True, True, False, False)
    """
    kind = type(value)
    if kind is int:
        return bool(value.bit_length() <= MOST_BITS)
    if kind is float:
        return bool(value == value)
    if kind in (tuple, frozenset):
        return depth > 0 and all(is_id(part, depth - 1) for part in value)
    if kind is Decimal:
        return not value.is_nan()
    if kind is Fraction:
        return is_id(value.numerator) and is_id(value.denominator)
    return kind in PLAIN


def plain_ids(ids: Any) -> list[Hashable]:
    """Return ids as a list of plain Python values.

    Raises
    ------
    TypeError
        If ``ids`` is not a collection, or contains an invalid id.

    Examples
    --------
    >>> plain_ids(np.array([4, 7]))
    [4, 7]
    """
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        raise TypeError(f"ids must be a list of ids, got {shown(ids)}")
    return [_plain(value) for value in ids]


def _plain(value: Any) -> Hashable:
    plain = value.item() if isinstance(value, np.generic) else value
    is_count_of_time = isinstance(value, (np.datetime64, np.timedelta64)) and type(plain) is int
    if is_count_of_time or not is_id(plain):
        raise TypeError(
            "ids must be numbers other than NaN, text, bytes, dates, UUIDs, None or tuples of these, "
            f"got {shown(value)}"
        )
    return plain


def id_array(values: Sequence[Any]) -> NDArray[Any]:
    """Return ids as an array: int64 if all ids are 64-bit integers, else objects.

    Examples
    --------
    >>> id_array([4, 7]), id_array([2**64, "a"])
    (array([4, 7]), array([18446744073709551616, 'a'], dtype=object))
    """
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return np.array(values, dtype=np.int64)
    return np.fromiter(values, dtype=object, count=len(values))
