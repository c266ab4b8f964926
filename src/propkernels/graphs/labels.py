"""Labels of nodes or edges: any hashable values, stored as small integers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNOBSERVED = -1


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """One label a node (or an edge), as an id into a tuple of distinct values.

    Attributes
    ----------
    ids : ndarray of int32
        Position of each label in ``values``; -1 where the label is unobserved.
    values : tuple
        The distinct labels, canonical: ``1``, ``1.0``, ``True`` and ``numpy.int64(1)`` are one value.
        A subset of a database keeps the whole tuple, so not every value need occur.
    """

    ids: NDArray[np.int32]
    values: tuple[Hashable, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Whether each label is known."""
        return self.ids != UNOBSERVED

    @property
    def present(self) -> tuple[Hashable, ...]:
        """The values that occur, in the order of ``values``."""
        used = np.unique(self.ids[self.ids != UNOBSERVED])
        return tuple(self.values[i] for i in used)

    def take(self, index: NDArray[Any] | slice) -> LabelColumn:
        """Labels at the given positions, with the same values."""
        return LabelColumn(self.ids[index], self.values)

    def to_array(self) -> NDArray[Any]:
        """Labels as the user knows them: an integer array (-1: unobserved) or an object array (None)."""
        if all(type(value) is int and _fits_int64(value) and value != UNOBSERVED for value in self.values):
            table: NDArray[Any] = np.array([*self.values, UNOBSERVED], dtype=np.int64)
        else:
            table = np.empty(len(self.values) + 1, dtype=object)
            table[:] = [*self.values, None]
        return table[self.ids]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelColumn):
            return NotImplemented
        merged = LabelColumn.concat([self, other])
        n = len(self)
        return n == len(other) and bool(np.array_equal(merged.ids[:n], merged.ids[n:]))

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def concat(columns: Sequence[LabelColumn]) -> LabelColumn:
        """Join columns end to end; values are merged in order of first appearance."""
        position: dict[Hashable, int] = {}
        parts = []
        for column in columns:
            table = [position.setdefault(value, len(position)) for value in column.values]
            parts.append(np.array([*table, UNOBSERVED], dtype=np.int32)[column.ids])
        ids = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
        return LabelColumn(ids, tuple(position))

    @classmethod
    def from_values(cls, labels: Any) -> LabelColumn:
        """Encode labels; None, NaN, masked entries, and -1 in an integer array are unobserved.

        Parameters
        ----------
        labels : sequence, ndarray, masked array, pandas Series or LabelColumn
            One hashable value a node.

        Returns
        -------
        LabelColumn

        Raises
        ------
        TypeError
            If a label is not hashable; the message names its position and value.
        """
        if isinstance(labels, LabelColumn):
            return labels
        if isinstance(labels, np.ma.MaskedArray):
            column = cls.from_values(labels.data)
            masked = np.ma.getmaskarray(labels)
            return cls(np.where(masked, np.int32(UNOBSERVED), column.ids), column.values)
        array = _as_one_dimensional(labels)
        if array.dtype.kind in "iub":
            return _encode_integers(array)
        return _encode_objects(array.tolist())


def _as_one_dimensional(labels: Any) -> NDArray[Any]:
    """Labels as a 1-d array; tuples stay whole labels instead of becoming rows."""
    if isinstance(labels, np.ndarray):
        array = labels
    elif hasattr(labels, "__array__"):
        array = np.asarray(labels)
    else:
        values = list(labels)
        if values and all(isinstance(v, (int, np.integer)) for v in values) and all(map(_fits_int64, values)):
            return np.array(values, dtype=np.int64)
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.ndim != 1:
        raise ValueError(f"labels must be one value a node, got an array of shape {array.shape}")
    return array


def _fits_int64(value: Any) -> bool:
    return -(2**63) <= int(value) < 2**63


def _encode_integers(array: NDArray[Any]) -> LabelColumn:
    """Ids for an integer array, by a look-up table where the range is small, else by sorting."""
    if array.dtype.kind == "b" or array.size == 0:
        array = array.astype(np.int64)
    observed = array != UNOBSERVED if array.dtype.kind == "i" else np.ones(len(array), dtype=bool)
    known = array if observed.all() else array[observed]
    if known.size == 0:
        return LabelColumn(np.full(len(array), UNOBSERVED, dtype=np.int32), ())
    low, high = int(known.min()), int(known.max())
    if high - low <= max(4 * len(array), 1024):
        offsets = (known - known.dtype.type(low)).astype(np.int64)
        present = np.flatnonzero(np.bincount(offsets))
        table = np.zeros(high - low + 1, dtype=np.int32)
        table[present] = np.arange(len(present), dtype=np.int32)
        inverse, values = table[offsets], [int(p) + low for p in present]
    else:
        unique, inverse = np.unique(known, return_inverse=True)
        values = [int(v) for v in unique]
    ids = np.full(len(array), UNOBSERVED, dtype=np.int32)
    ids[observed] = inverse
    return LabelColumn(ids, tuple(values))


def _encode_objects(labels: Iterable[Any]) -> LabelColumn:
    """Ids in order of first appearance, for labels of any hashable type."""
    position: dict[Hashable, int] = {}
    raw: dict[Any, int] = {}  # each distinct raw label is made canonical once
    ids = []
    for index, label in enumerate(labels):
        try:
            known = raw.get(label)
        except TypeError:
            raise TypeError(f"label {label!r} at position {index} is not hashable") from None
        if known is None:
            value = canonical_label(label)
            known = UNOBSERVED if value is None else position.setdefault(value, len(position))
            raw[label] = known
        ids.append(known)
    return LabelColumn(np.array(ids, dtype=np.int32), tuple(position))


def canonical_label(label: Any) -> Hashable | None:
    """Return the plain Python value that stands for a label, or None where it says "unobserved"."""
    if type(label) in (str, int, bytes):
        return label
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or type(label).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return None
    if isinstance(label, float):
        return None if np.isnan(label) else (int(label) if label.is_integer() else float(label))
    if isinstance(label, bool):
        return int(label)
    if type(label) is tuple:
        return tuple(canonical_label(part) for part in label)
    return label
