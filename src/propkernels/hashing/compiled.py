"""Compiled loops of the hashing station: plain arrays in and out, no objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(inline="always")
def _code(value: float) -> Any:
    """Floor to int64; the bits of the number where int64 is too small. Same as lsh.floor_codes."""
    floored = np.floor(value) + 0.0
    if abs(floored) < 4611686018427387904.0:
        return np.int64(floored)
    return np.float64(floored).view(np.int64)


@njit(cache=True, nogil=True)
def propagate_and_hash(
    indptr: Any,
    indices: Any,
    weights: Any,
    spread: Any,
    keep: Any,
    restart: Any,
    pushed_back: Any,
    rows: Any,
    projected: Any,
    offsets: Any,
    n_hashes: int,
    blocks: Any,
    codes: Any,
) -> None:
    """Run the affine step on projected values and hash column t after step t, block by block.

    A block is a run of whole graphs that fits the cache: all its steps are made before the next block
    is touched. x'_i = spread_i * sum_j A_ij x_j + keep_i x_i + restart_i x0_i; columns of past
    iterations are dropped. An empty ``weights`` means all ones; an empty ``restart`` or
    ``pushed_back`` means none.
    """
    n_columns = projected.shape[1]
    largest = 0
    for block in range(len(blocks) - 1):
        largest = max(largest, blocks[block + 1] - blocks[block])
    current = np.empty((largest, n_columns))
    following = np.empty((largest, n_columns))
    for block in range(len(blocks) - 1):
        first, last = blocks[block], blocks[block + 1]
        for i in range(first, last):
            row = projected[rows[i]]
            for c in range(n_columns):
                current[i - first, c] = row[c]
            for c in range(n_hashes):
                codes[c, i] = _code(row[c] + offsets[c])
        for start in range(n_hashes, n_columns, n_hashes):
            for i in range(first, last):
                target = following[i - first]
                own = current[i - first]
                if spread[i] != 0.0:
                    for c in range(start, n_columns):
                        target[c] = 0.0
                    for entry in range(indptr[i], indptr[i + 1]):
                        source = current[indices[entry] - first]
                        if len(weights) == 0:
                            for c in range(start, n_columns):
                                target[c] += source[c]
                        else:
                            weight = weights[entry]
                            for c in range(start, n_columns):
                                target[c] += weight * source[c]
                    for c in range(start, n_columns):
                        target[c] = spread[i] * target[c] + keep[i] * own[c]
                else:
                    for c in range(start, n_columns):
                        target[c] = keep[i] * own[c]
                if len(restart) > 0 and restart[i] != 0.0:
                    row = projected[rows[i]]
                    for c in range(start, n_columns):
                        target[c] += restart[i] * row[c]
                for c in range(start, start + n_hashes):
                    codes[c, i] = _code(target[c] + offsets[c])
            if len(pushed_back) > 0:
                for i in range(first, last):
                    if pushed_back[i]:
                        row = projected[rows[i]]
                        for c in range(start, n_columns):
                            following[i - first, c] = row[c]
            current, following = following, current
