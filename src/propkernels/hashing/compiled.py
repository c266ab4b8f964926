"""Compiled loops of the hashing station: plain arrays in and out, no objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from propkernels.hashing.lsh import JOIN_FIRST, JOIN_SECOND, KEPT_BITS, LARGEST_FLOOR, NO_BIN

LANES = 4  # columns that are summed together, in registers


@njit(inline="always")
def _code(value: float) -> Any:
    """Floor, or for a large value its leading bits: the same as lsh.floor_codes, for one number."""
    if abs(value) < LARGEST_FLOOR:
        return np.int64(np.floor(value))
    return np.float64(value).view(np.int64) & KEPT_BITS


# Two functions, not inlined: with the branch between them inside one loop the compiler gives up its registers
# and the whole pass takes three times as long.
@njit(nogil=True)
def _sums(indptr: Any, indices: Any, i: int, first: int, values: Any, now: int, c: int) -> Any:
    """sum_j x_j over the neighbours j of i, for the columns c .. c + LANES - 1."""
    a, b, d, e = 0.0, 0.0, 0.0, 0.0
    for entry in range(indptr[i], indptr[i + 1]):
        j = indices[entry] - first
        a += values[now, j, c]
        b += values[now, j, c + 1]
        d += values[now, j, c + 2]
        e += values[now, j, c + 3]
    return a, b, d, e


@njit(nogil=True)
def _weighted_sums(
    indptr: Any, indices: Any, weights: Any, i: int, first: int, values: Any, now: int, c: int
) -> Any:
    """sum_j A_ij x_j, for the columns c .. c + LANES - 1."""
    a, b, d, e = 0.0, 0.0, 0.0, 0.0
    for entry in range(indptr[i], indptr[i + 1]):
        j, weight = indices[entry] - first, weights[entry]
        a += weight * values[now, j, c]
        b += weight * values[now, j, c + 1]
        d += weight * values[now, j, c + 2]
        e += weight * values[now, j, c + 3]
    return a, b, d, e


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
    ``pushed_back`` means none. ``projected`` and the work arrays have LANES spare columns on the right.
    """
    n_columns = len(offsets)
    width = projected.shape[1]
    largest = 0
    for block in range(len(blocks) - 1):
        largest = max(largest, blocks[block + 1] - blocks[block])
    values = np.zeros((2, largest, width))  # P_t and P_{t+1} take turns; plain indices, since views cost
    for block in range(len(blocks) - 1):
        first, last = blocks[block], blocks[block + 1]
        now, then = 0, 1
        for i in range(first, last):
            for c in range(width):
                values[now, i - first, c] = projected[rows[i], c]
            for c in range(n_hashes):
                codes[c, i] = _code(projected[rows[i], c] + offsets[c])
        for start in range(n_hashes, n_columns, n_hashes):
            for i in range(first, last):
                share, stay, k = spread[i], keep[i], i - first
                if share == 0.0:
                    for c in range(start, n_columns):
                        values[then, k, c] = stay * values[now, k, c]
                else:
                    for c in range(start, n_columns, LANES):
                        if len(weights) == 0:
                            a, b, d, e = _sums(indptr, indices, i, first, values, now, c)
                        else:
                            a, b, d, e = _weighted_sums(indptr, indices, weights, i, first, values, now, c)
                        values[then, k, c] = share * a + stay * values[now, k, c]
                        values[then, k, c + 1] = share * b + stay * values[now, k, c + 1]
                        values[then, k, c + 2] = share * d + stay * values[now, k, c + 2]
                        values[then, k, c + 3] = share * e + stay * values[now, k, c + 3]
                if len(restart) > 0 and restart[i] != 0.0:
                    for c in range(start, n_columns):
                        values[then, k, c] += restart[i] * projected[rows[i], c]
                for c in range(start, start + n_hashes):
                    codes[c, i] = _code(values[then, k, c] + offsets[c])
            if len(pushed_back) > 0:
                for i in range(first, last):
                    if pushed_back[i]:
                        for c in range(start, n_columns):
                            values[then, i - first, c] = projected[rows[i], c]
            now, then = then, now


@njit(nogil=True)
def join(code: Any, other: Any) -> Any:
    """Join two codes into one, as lsh.join_codes does for arrays."""
    word = np.uint64(code) * JOIN_FIRST + np.uint64(other)
    word = (word ^ (word >> np.uint64(32))) * JOIN_SECOND
    return np.int64(word ^ (word >> np.uint64(29)))


@njit(cache=True, nogil=True)
def hash_columns(values: Any, vectors: Any, offsets: Any, missing: int, codes: Any) -> Any:
    """Hash each column of ``values`` by itself, into a row of ``codes`` each; NaN gets the code ``missing``.

    Returns for each column whether all its codes are equal. Rows are taken a block at a time, so that
    reading a row-major matrix by columns stays in the cache.
    """
    n, width = values.shape
    constant = np.ones(width, dtype=np.bool_)
    for start in range(0, n, 256):
        for c in range(width):
            vector, offset = vectors[c], offsets[c]
            for i in range(start, min(start + 256, n)):
                value = values[i, c]
                code = missing if np.isnan(value) else _code(value * vector + offset)
                codes[c, i] = code
                if code != codes[c, 0]:
                    constant[c] = False
    return constant


@njit(cache=True, nogil=True)
def join_rows(label_codes: Any, codes: Any) -> None:
    """Join the label code of each node into every row of ``codes``, in place."""
    for row in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            label = label_codes[i]
            codes[row, i] = NO_BIN if label == NO_BIN else join(label, codes[row, i])
