"""Tensors of PyTorch Geometric as arrays, labels and attributes; neither it nor torch is imported."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.labels import LabelColumn

Table = NDArray[Any]
MEANINGS = ("auto", "labels", "attributes", "ignore")


def to_numpy(tensor: Any) -> Table:
    """Values of a tensor, wherever it lies, or of an array."""
    for method in ("detach", "cpu"):
        tensor = getattr(tensor, method)() if hasattr(tensor, method) else tensor
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)


def is_one_hot(table: Table) -> bool:
    """Whether every row has a single 1 and otherwise zeros, in at least two columns."""
    if table.ndim != 2 or table.shape[1] < 2 or not len(table):
        return False
    return bool((((table == 0) | (table == 1)).all()) and (table.sum(axis=1) == 1).all())


def as_labels(table: Table) -> LabelColumn:
    """Labels from rows: the column of a 1, a single value, or tuples of several."""
    if is_one_hot(table):
        return LabelColumn.from_values(table.argmax(axis=1))
    flat = table[:, 0] if table.ndim == 2 and table.shape[1] == 1 else table
    if flat.ndim == 1:
        return LabelColumn.from_values(flat)
    rows, ids = np.unique(flat, axis=0, return_inverse=True)
    return LabelColumn(ids.ravel().astype(np.int32), tuple(map(tuple, rows.tolist())))


def labels_or_attributes(table: Table | None, meaning: str) -> tuple[LabelColumn | None, Table | None]:
    """Tell whether rows are labels or attributes.

    Parameters
    ----------
    table : ndarray or None
    meaning : {"auto", "labels", "attributes", "ignore"}
        "auto": labels where rows are one-hot or whole numbers by their type, else attributes.
    """
    if table is None or meaning == "ignore" or (table.ndim == 2 and table.shape[1] == 0):
        return None, None
    if meaning == "auto":
        meaning = "labels" if table.dtype.kind in "biu" or is_one_hot(table) else "attributes"
    if meaning == "labels":
        return as_labels(table), None
    return None, table.astype(np.float64).reshape(len(table), -1)
