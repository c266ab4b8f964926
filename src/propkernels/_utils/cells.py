"""Columns of tables: missing values, typed values of text cells, and ids of graphs."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import object_array
from propkernels._utils.checks import shown

EXACT = 2**53  # from here on, not all integers are floats
LONGEST_NUMBER = 400  # characters; longer numbers are strings
BOOLEANS = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
MARKS = frozenset(("na", "n/a", "#n/a", "<na>", "null", "none", "nil", "missing", "-", "?", "."))
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(
    r"[+-]?(?:(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)


def is_missing(values: Any) -> NDArray[np.bool_]:
    """Return a mask of missing values: None, NaN, NaT, pandas' NA, or masked.

    Examples
    --------
    >>> is_missing(["a", None, "nan", ""]).tolist(), is_missing([0.5, float("nan")]).tolist()
    ([False, True, False, False], [False, True])
    """
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getmaskarray(values) | is_missing(values.filled()))
    array = values if isinstance(values, np.ndarray) else object_array(list(values))
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    return np.array([_is_missing(value) for value in array.ravel().tolist()], dtype=bool).reshape(array.shape)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def typed_column(values: Any) -> NDArray[Any]:
    """Return values as an array of booleans, integers, floats or strings; missing values stay missing.

    Missing numbers are NaN, so integers with missing values become floats; missing strings and booleans are
    None in an array of objects. Values of several types become strings.

    Parameters
    ----------
    values : array-like of shape (n,)

    Returns
    -------
    ndarray

    Examples
    --------
    >>> typed_column([1, None]), typed_column(["a", None]), typed_column([True, False])
    (array([ 1., nan]), array(['a', None], dtype=object), array([ True, False]))
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufU":
        return values
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    gaps = is_missing(listed)
    present = [value for value, gap in zip(listed, gaps.tolist(), strict=True) if not gap]
    kinds = {_kind_of_value(value) for value in present}
    kind = common_kind(kinds | ({"missing"} if gaps.any() else set()))
    convert: Any = {"bool": bool, "int64": int, "double": float, "string": str}[kind]
    try:
        return _filled([convert(value) for value in present], gaps, kind)
    except OverflowError:
        raise ValueError("a whole number of over 300 digits is too large") from None


def _kind_of_value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (int, np.integer)):
        return "int64" if -(2**63) <= int(value) < 2**63 else "large"
    return "double" if isinstance(value, (float, np.floating)) else "string"


def _filled(present: list[Any], gaps: NDArray[np.bool_], kind: str) -> NDArray[Any]:
    """Return present values at their positions, and missing values at the gaps."""
    kinds: dict[str, Any] = {"bool": np.bool_, "int64": np.int64, "double": np.float64, "string": str}
    if not gaps.any():
        return np.array(present, dtype=kinds[kind])
    filled: NDArray[Any] = np.full(len(gaps), np.nan if kind == "double" else None)
    filled[~gaps] = present
    return filled


def kind_of_cell(cell: str) -> str:
    """Return the kind of a text cell: "missing", "bool", "int64", "large", "double" or "string".

    Only blank cells are missing. Numbers are decimal, without leading zeros; "large" are integers beyond 64
    bits.

    Examples
    --------
    >>> [kind_of_cell(cell) for cell in ("", "true", "-7", "1e3", "01", "NA")]
    ['missing', 'bool', 'int64', 'double', 'string', 'string']
    """
    text = cell.strip()
    if not text:
        return "missing"
    if text in BOOLEANS:
        return "bool"
    if len(text) > LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return "string"
    if not _WHOLE.fullmatch(text):
        return "double"
    return "int64" if -(2**63) <= int(text) < 2**63 else "large"


def common_kind(kinds: Iterable[str]) -> str:
    """Return the type of a column from the kinds of its cells: "bool", "int64", "double" or "string".

    Integers with missing cells, or beyond 64 bits, give "double".

    Examples
    --------
    >>> common_kind({"int64", "missing"}), common_kind({"int64", "string"}), common_kind(set())
    ('double', 'string', 'double')
    """
    unique = set(kinds)
    present = unique - {"missing"}
    if present == {"bool"}:
        return "bool"
    if unique == {"int64"}:
        return "int64"
    return "double" if present <= {"int64", "large", "double"} else "string"


def parse_cell(cell: str, kind: str) -> Any:
    """Return the value of a cell in a column of a given kind; None if missing."""
    text = cell.strip()
    if not text:
        return None
    if kind == "string":
        return cell
    if kind == "bool":
        return BOOLEANS[text]
    return int(text) if kind == "int64" else float(text)


class CellKinds:
    """Kinds of the cells of one column, and its usual marks for missing values, such as "NA"."""

    def __init__(self) -> None:
        self.kinds, self.marks, self.has_numbers = set[str](), Counter[str](), False

    def add(self, cell: str, times: int = 1) -> None:
        """Count a cell."""
        text, kind = cell.strip().casefold(), kind_of_cell(cell)
        if text in MARKS:
            self.marks[cell] += times
        else:
            self.kinds.add(kind)
            self.has_numbers |= kind in ("int64", "large", "double") and text.lstrip("+-") != "nan"

    def common(self, where: str) -> str:
        """Return the type of the column; warn of marks among numbers, which make strings of them all."""
        kind = common_kind(self.kinds)
        if not self.marks:
            return kind
        if where and self.has_numbers and kind != "string":
            mark, number = next(iter(self.marks)), self.marks.total()
            cells = f"1 cell {mark!r}" if number == 1 else f"{number:,} cells such as {mark!r}"
            warnings.warn(
                f"{where} has {cells} among numbers, so that all its values are read as text: leave these "
                "cells empty if the values are missing",
                stacklevel=3,
            )
        return "string"


def read_cells(cells: Sequence[str], where: str = "") -> NDArray[Any]:
    """Return text cells as a typed column, see :func:`typed_column`.

    ``where`` names the column in a warning of marks such as "NA" among numbers; without it, none is given.

    Examples
    --------
    >>> read_cells(["1", "2"]), read_cells(["NA", "", "x"]), read_cells(["0.5", ""])
    (array([1, 2]), array(['NA', None, 'x'], dtype=object), array([0.5, nan]))
    """
    kinds = CellKinds()
    for cell, times in Counter(cells).items():
        kinds.add(cell, times)
    kind = kinds.common(where)
    gaps = np.array([not cell.strip() for cell in cells], dtype=bool)
    present = [parse_cell(cell, kind) for cell in cells if cell.strip()]
    return _filled(present, gaps, kind)


def read_labels(cells: Sequence[str]) -> NDArray[Any]:
    """Return labels of text cells: integers of any size, other kinds, or None for unobserved labels.

    Examples
    --------
    >>> read_labels(["1", ""]).tolist(), read_labels(["01", "1"]).tolist(), read_labels([str(2**64)]).tolist()
    ([1, None], ['01', '1'], [18446744073709551616])
    """
    kinds = set(map(kind_of_cell, set(cells))) - {"missing"}
    kind = "int64" if kinds <= {"int64", "large"} else common_kind(kinds)
    return object_array([parse_cell(cell, kind) for cell in cells])


def as_classes(values: NDArray[Any]) -> NDArray[Any]:
    """Return floats as integers if they are integral with few distinct values, else unchanged.

    Examples
    --------
    >>> as_classes(np.array([0.0, 1.0, 1.0])), as_classes(np.array([0.5, 1.0]))
    (array([0, 1, 1]), array([0.5, 1. ]))
    """
    if values.dtype.kind != "f" or not np.isfinite(values).all() or has_fractions(values):
        return values
    few = len(np.unique(values)) <= max(2, len(values) // 4)
    return values.astype(np.int64) if few else values


def are_classes(values: NDArray[Any]) -> bool:
    """Whether a target without missing values is classes: texts, or few different whole numbers.

    Whole numbers are few if there are at most 20, or one per four graphs; several columns are classes if all
    their values are 0 or 1.

    Examples
    --------
    >>> are_classes(np.array(["a", "b"])), are_classes(np.arange(100) % 3), are_classes(np.arange(100))
    (True, True, False)
    >>> are_classes(np.array([[0.0, np.nan], [1.0, 1.0]])), are_classes(np.array([0.5, 1.0]))
    (True, False)
    """
    if values.ndim == 2:
        return bool(np.isin(values[~is_missing(values)], (0, 1)).all())
    if values.dtype.kind not in "iu":
        return values.dtype.kind != "f"
    return len(np.unique(values)) <= max(20, len(values) // 4)


def has_fractions(values: NDArray[Any]) -> bool:
    """Whether finite values include floats that are not integral, or beyond 2**53.

    Examples
    --------
    >>> has_fractions(np.array([0.5, np.nan])), has_fractions(np.array([1.0, np.nan]))
    (True, False)
    """
    if values.dtype.kind != "f":
        return False
    finite = values[np.isfinite(values)]
    return bool((finite != np.round(finite)).any() or (np.abs(finite) >= EXACT).any())


NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
CENSORED = re.compile(rf"\s*(?:[<>=~≤≥]+)\s*{NUMBER}\s*\D{{0,8}}\s*$")
WITH_COMMAS = re.compile(r"\s*[+-]?\d+(?:,\d+)+(?:\.\d+)?\s*")
WITH_UNIT = re.compile(rf"\s*{NUMBER}\s*[^\W\d_][^\d]{{0,7}}$|\s*{NUMBER}\s*%$")


def check_measurements(values: NDArray[Any], place: str) -> None:
    """Raise ValueError for a column of measurements with bounds, as ">10000", units, as "5 nM", or commas.

    Other columns of texts, of which less than half are measurements, pass: they may be classes. Infinite
    numbers are refused, too.

    Raises
    ------
    ValueError
    """
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError(f"{place} has infinite numbers: leave these rows out")
    texts = [str(value) for value in values.tolist()] if values.dtype.kind in "OUT" else []
    texts = [text if len(text) <= LONGEST_NUMBER else "" for text in texts]  # longer ones take long to match
    bounds = [text for text in texts if CENSORED.match(text)]
    units = [text for text in texts if WITH_UNIT.match(text)]
    commas = [text for text in texts if WITH_COMMAS.fullmatch(text)]
    plain = sum(1 for text in texts if re.fullmatch(NUMBER, text.strip()))
    if not (bounds or units or commas) or 2 * (len(bounds + units + commas) + plain) < len(texts):
        return
    if bounds:
        what = f"{len(bounds)} censored value{'s' if len(bounds) > 1 else ''}, such as {bounds[0]!r}"
        advice = "is a bound and not a number: leave these rows out, or replace them by the bound"
        raise ValueError(f"{place} has {what}, which {advice}")
    if commas:
        raise ValueError(f"{place} has numbers with commas, such as {commas[0]!r}: write 1.5 and 1000")
    raise ValueError(
        f"{place} has values with a unit, such as {units[0]!r}: give all of them in one unit, as numbers"
    )


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
