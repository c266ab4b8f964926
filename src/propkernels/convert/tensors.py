"""Duck-typed access to tensors of PyTorch Geometric, without importing torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.labels import LabelColumn

Table = NDArray[Any]
MEANINGS = ("auto", "labels", "attributes", "ignore")


def to_numpy(tensor: Any) -> Table:
    """Return the values of a tensor on any device, or of an array."""
    for method in ("detach", "cpu"):
        tensor = getattr(tensor, method)() if hasattr(tensor, method) else tensor
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)


def is_one_hot(table: Table) -> bool:
    """Return whether all rows are one-hot, with at least two columns."""
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        return False
    return bool((((table == 0) | (table == 1)).all()) and (table.sum(axis=1) == 1).all())


def as_labels(table: Table) -> LabelColumn:
    """Return labels of rows: the column of a one-hot row, a single value, or a tuple of values."""
    if is_one_hot(table):
        return LabelColumn.from_values(table.argmax(axis=1))
    flat = table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table
    if flat.ndim == 1:
        return LabelColumn.from_values(flat)
    rows, ids = np.unique(flat, axis=0, return_inverse=True)
    return LabelColumn(ids.ravel().astype(np.int32), tuple(map(tuple, rows.tolist())))


def labels_or_attributes(table: Table | None, meaning: str) -> tuple[LabelColumn | None, Table | None]:
    """Return rows as labels or as attributes.

    Parameters
    ----------
    table : ndarray or None
    meaning : {"auto", "labels", "attributes", "ignore"}
        "auto": labels if rows are one-hot or of an integer type, else attributes.
    """
    if table is None or meaning == "ignore" or (table.ndim == 2 and table.shape[1] == 0):
        return None, None
    if meaning == "auto":
        meaning = "labels" if table.dtype.kind in "biu" or is_one_hot(table) else "attributes"
    if meaning == "labels":
        return as_labels(table), None
    return None, table.astype(np.float64).reshape(len(table), -1)
