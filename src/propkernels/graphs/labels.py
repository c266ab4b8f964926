"""Labels of nodes or edges: any hashable values, stored as small integers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import shown
from propkernels._utils.typing import Array, Column

UNOBSERVED = -1
DEEPEST_LABEL = 50
_FEW_VALUES = 100


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """One label per node (or edge), stored as an index into a tuple of distinct values.

    Attributes
    ----------
    ids : ndarray of int32
        Position of each label in ``values``; -1 where the label is unobserved.
    values : tuple
        Distinct canonical labels: ``1``, ``1.0``, ``True`` and ``numpy.int64(1)`` are one value.
        A subset of a database may keep the whole tuple, so some values may not occur.
    """

    ids: NDArray[np.int32]
    values: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        self.ids.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the unpickled ids read-only again."""
        self.__dict__.update(state)
        self.ids.setflags(write=False)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """One bool per label: False if it is unobserved."""
        return self.ids != UNOBSERVED

    @property
    def present(self) -> tuple[Hashable, ...]:
        """Values that occur, in the order of ``values``."""
        occurs = np.bincount(self.ids + 1, minlength=len(self.values) + 1) > 0
        return tuple(self.values[i] for i in np.flatnonzero(occurs[1:]))  # UNOBSERVED, -1, is the first entry

    def take(self, index: Array | slice) -> LabelColumn:
        """Return the labels at the given positions; few labels do not keep a long tuple of values."""
        ids = self.ids[index]
        if len(self.values) <= max(len(ids), _FEW_VALUES):
            return LabelColumn(ids.copy(), self.values)
        used, inverse = np.unique(ids, return_inverse=True)
        gap = int(len(used) and used[0] == UNOBSERVED)
        return LabelColumn((inverse - gap).astype(np.int32), tuple(self.values[i] for i in used[gap:]))

    def to_array(self) -> Array:
        """Return an integer array (-1: unobserved) or an object array (None: unobserved) of labels."""
        if all(
            type(value) is int and -(2**63) <= value < 2**63 and value != UNOBSERVED for value in self.values
        ):
            table: NDArray[Any] = np.array([*self.values, UNOBSERVED], dtype=np.int64)
        else:
            table = np.empty(len(self.values) + 1, dtype=object)
            table[:] = [*self.values, None]
        return table[self.ids]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelColumn):
            return NotImplemented
        if len(self) != len(other):
            return False
        ours, theirs = np.split(LabelColumn.concat([self, other]).ids, 2)
        return bool(np.array_equal(ours, theirs))

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def concat(columns: Sequence[LabelColumn]) -> LabelColumn:
        """Concatenate columns; values are merged in order of first appearance."""
        position: dict[Hashable, int] = {}
        tables: dict[int, NDArray[np.int32]] = {}  # graphs of one database share one tuple of values
        parts = []
        for column in columns:
            if id(column.values) not in tables:
                table = [position.setdefault(value, len(position)) for value in column.values]
                tables[id(column.values)] = np.array([*table, UNOBSERVED], dtype=np.int32)
            parts.append(tables[id(column.values)][column.ids])
        ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
        return LabelColumn(ids, tuple(position))

    @classmethod
    def from_values(
        cls,
        labels: Column | LabelColumn,
        *,
        name: str = "labels",
        place: Callable[[int], str] = "position {}".format,
    ) -> LabelColumn:
        """Return encoded labels; None, NaN, masked entries, and -1 among integers are unobserved.

        "Among integers" means: in an integer array, or in a list or pandas Series whose observed labels are
        all integers. In a float array, among labels of other types, and in a numpy array of dtype object, -1
        is an ordinary label.

        Parameters
        ----------
        labels : sequence, ndarray, masked array, pandas Series or LabelColumn
            One hashable value per node.
        name : str
            Name of the labels in errors.
        place : callable
            Returns the description of a position for errors.

        Returns
        -------
        LabelColumn

        Raises
        ------
        TypeError
            If a label is not hashable; the message names its place and value.
        """
        if isinstance(labels, LabelColumn):
            return labels
        if isinstance(labels, np.ma.MaskedArray):
            column = cls.from_values(labels.filled(0), name=name, place=place)
            masked = np.ma.getmaskarray(labels)
            return cls(np.where(masked, np.int32(UNOBSERVED), column.ids), column.values)
        if str(getattr(labels, "dtype", "")) == "category":
            plain: Any = labels
            labels = plain.astype(object)  # numbers with gaps stay whole
        values = _as_one_dimensional(labels, name)
        if values.dtype.kind in "iub":
            return _encode_integers(values)
        column = _encode_objects(values.tolist(), name, place)
        literal = isinstance(labels, np.ndarray) or UNOBSERVED not in column.values
        return column if literal or not _all_integers(values) else _hide_unobserved(column)


def labels_of_rows(table: NDArray[Any]) -> LabelColumn:
    """Return the labels of one column, or tuples of the numbers of several columns."""
    if table.ndim == 1 or table.shape[1] == 1:
        return LabelColumn.from_values(table.ravel())
    rows, ids = np.unique(table, axis=0, return_inverse=True)
    return LabelColumn(ids.ravel().astype(np.int32), tuple(map(tuple, rows.tolist())))


def _as_one_dimensional(labels: Any, name: str) -> NDArray[Any]:
    """Return labels as a 1-d array; a tuple is a label, not a row."""
    if isinstance(labels, (str, bytes, Mapping, Set)) or not hasattr(labels, "__iter__"):
        raise TypeError(f"{name} must be a list or array with one label each, got {shown(labels)}")
    if hasattr(labels, "__array__"):
        plain = isinstance(getattr(labels, "dtype", None), np.dtype)
        array = np.asarray(
            labels, dtype=None if plain else object
        )  # pandas' integers with gaps stay integers
    else:
        values = list(labels)
        if values and all(issubclass(kind, (int, np.integer)) for kind in set(map(type, values))):
            with contextlib.suppress(OverflowError):
                return np.array(values, dtype=np.int64)
        array = np.fromiter(values, dtype=object, count=len(values))
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list or array with one label each, got shape {array.shape}")
    return array


def _all_integers(values: NDArray[Any]) -> bool:
    """Return whether all observed labels are integers."""
    return all(isinstance(v, (int, np.integer)) or canonical_label(v) is None for v in values)


def _hide_unobserved(column: LabelColumn) -> LabelColumn:
    """Return a column in which the label -1 is unobserved."""
    hidden = column.values.index(UNOBSERVED)
    ids = np.where(column.ids == hidden, UNOBSERVED, column.ids - (column.ids > hidden))
    return LabelColumn(ids.astype(np.int32), column.values[:hidden] + column.values[hidden + 1 :])


def _encode_integers(array: NDArray[Any]) -> LabelColumn:
    """Encode an integer array."""
    if array.dtype != np.uint64 or array.size == 0:
        array = array.astype(np.int64, copy=False)  # differences of smaller integers would overflow
    observed = array != UNOBSERVED if array.dtype == np.int64 else np.ones(len(array), dtype=bool)
    known = array if observed.all() else array[observed]
    if known.size == 0:
        return LabelColumn(np.full(len(array), UNOBSERVED, dtype=np.int32), ())
    unique, inverse = np.unique(known, return_inverse=True)
    ids = np.full(len(array), UNOBSERVED, dtype=np.int32)
    ids[observed] = inverse
    return LabelColumn(ids, tuple(unique.tolist()))


def _encode_objects(labels: Iterable[Any], name: str, place: Callable[[int], str]) -> LabelColumn:
    """Encode labels of any hashable type, with ids in order of first appearance."""
    position: dict[Hashable, int] = {}
    raw: dict[Any, int] = {}  # raw label -> id, so that each distinct label is made canonical once
    ids = []
    for index, label in enumerate(labels):
        if isinstance(label, (tuple, frozenset)):
            _check_depth(label, name, place, index)
        try:
            known = raw.get(label)
        except Exception:  # labels may raise any error when hashed or compared
            if label is not np.ma.masked:
                message = f"{name}: the label {shown(label)} of {place(index)} is not hashable"
                raise TypeError(message) from None
            known = UNOBSERVED
        if known is None:
            value = canonical_label(label)
            known = UNOBSERVED if value is None else position.setdefault(value, len(position))
            raw[label] = known
        ids.append(known)
    return LabelColumn(np.array(ids, dtype=np.int32), tuple(position))


def _check_depth(label: Any, name: str, place: Callable[[int], str], index: int) -> None:
    """Raise ValueError for deep nesting, before hashing or another recursion exhausts the stack."""
    level = [label]
    for _ in range(DEEPEST_LABEL):
        inner = [part for nested in level for part in nested if isinstance(part, (tuple, frozenset))]
        if not inner:
            return
        level = list({id(part): part for part in inner}.values())
    raise ValueError(f"{name}: the label of {place(index)} is nested more than {DEEPEST_LABEL} deep")


def canonical_label(label: Any) -> Hashable | None:
    """Return the plain Python value of a label, or None if it is unobserved.

    Labels that are equal in Python become the same value of the same type, so that all results computed from
    them, including text, are equal.

    Examples
    --------
    >>> canonical_label(np.float32(2)), canonical_label(True), canonical_label((1.0, "a"))
    (2, 1, (1, 'a'))
    """
    if type(label) in (str, int, bytes):
        return label
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or type(label).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return None
    if isinstance(label, Number):
        return _canonical_number(label)
    if isinstance(label, str):
        return str.__str__(label)
    if isinstance(label, tuple):
        return tuple(canonical_label(part) for part in label)
    if isinstance(label, frozenset):
        return frozenset(canonical_label(part) for part in label)
    return label


def _canonical_number(number: Any) -> Hashable | None:
    """Return an int for a whole number, else an equal float if there is one, else the number itself."""
    if number != number:
        return None
    for kind in (int, float):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            if kind(number) == number:
                return kind(number)
    return number


def number_of_entries(column: LabelColumn, if_none: int = 1) -> int:
    """Return the number of entries of all labels; ``if_none`` if no node has a label."""
    for value in column.present:
        if not isinstance(value, tuple):
            raise ValueError(
                f"entries of labels need labels that are tuples, got the label {shown(value)}: read all "
                "graphs with the same reader"
            )
    lengths = {len(value) for value in column.present if isinstance(value, tuple)}
    if len(lengths) > 1:
        raise ValueError(f"entries of labels need tuples of one length, got lengths {sorted(lengths)}")
    return lengths.pop() if lengths else if_none


def entry_of(column: LabelColumn, entry: int) -> LabelColumn:
    """Return one entry of each label; unobserved labels stay unobserved."""
    table: dict[Hashable, int] = {}
    ids = [
        table.setdefault(value[entry], len(table)) if isinstance(value, tuple) and len(value) > entry else -1
        for value in column.values
    ]
    return LabelColumn(np.array([*ids, -1], dtype=np.int32)[column.ids], tuple(table))
