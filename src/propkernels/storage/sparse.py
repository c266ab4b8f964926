"""Sparse matrices from arrays that may be anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

FORMATS = {"csr": csr_array, "csc": csc_array}


def sparse_matrix(kind: str, shape: Sequence[int], data: Any, indices: Any, indptr: Any) -> Any:
    """Put a matrix together; scipy's own check passes over an index pointer that ends below 0.

    Raises
    ------
    ValueError
        If an entry lies outside the matrix, or the parts do not fit.
    """
    rows, columns = (int(size) for size in shape)
    outer, inner = (rows, columns) if kind == "csr" else (columns, rows)
    fits = (
        min(rows, columns) >= 0
        and all(array.ndim == 1 for array in (data, indices, indptr))
        and data.dtype.kind in "biuf"
        and len(data) == len(indices)
        and len(indptr) == outer + 1
        and is_partition(indptr, len(data))
        and indices.dtype.kind == "i"
        and bool(((indices >= 0) & (indices < inner)).all())
    )
    if not fits:
        raise ValueError("the parts of a sparse matrix do not fit together")
    matrix = FORMATS[kind]((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return matrix


def is_partition(ptr: NDArray[Any], length: int) -> bool:
    """Whether offsets cut a row of ``length`` things into pieces.

    Examples
    --------
    >>> import numpy as np
    >>> is_partition(np.array([0, 2, 2, 5]), 5), is_partition(np.array([0, 2, -1]), 2)
    (True, False)
    """
    if ptr.dtype.kind != "i" or ptr.ndim != 1 or len(ptr) == 0:
        return False
    return int(ptr[0]) == 0 and int(ptr[-1]) == length and bool((ptr[1:] >= ptr[:-1]).all())
