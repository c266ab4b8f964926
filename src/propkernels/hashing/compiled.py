"""Compiled loops of the hashing station: plain arrays in and out, no objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from propkernels.hashing.lsh import JOIN_FIRST, JOIN_SECOND, KEPT_BITS, LARGEST_FLOOR, NO_BIN

LANES = 8  # columns that make their steps together


@njit(nogil=True)
def _code(value: float) -> Any:
    """Floor, or for a large value its leading bits: the same as lsh.floor_codes, for one number."""
    if abs(value) < LARGEST_FLOOR:
        return np.int64(np.floor(value))
    return np.float64(value).view(np.int64) & KEPT_BITS


# The sums of a node's LANES columns are plain variables, which the compiler keeps in registers; indices are
# unsigned, so that it need not ask whether they count from the end. What _walk and _weighted_walk have in
# common is no function of its own: with one, the whole pass took 1.3 times as long (DD, t_max = 10).
@njit(nogil=True)
def _walk(
    indptr: Any, indices: Any, first: int, last: int, spread: Any, keep: Any, now: Any, then: Any
) -> None:
    """x'_i = spread_i * sum_j x_j + keep_i x_i for the nodes first .. last - 1 and all LANES columns."""
    for i in range(first, last):
        node = np.uint64(i - first)
        a = b = c = d = e = f = g = h = 0.0
        if spread[i] != 0.0:
            for entry in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[entry] - first)
                a += now[j, 0]
                b += now[j, 1]
                c += now[j, 2]
                d += now[j, 3]
                e += now[j, 4]
                f += now[j, 5]
                g += now[j, 6]
                h += now[j, 7]
            share = spread[i]
            a *= share
            b *= share
            c *= share
            d *= share
            e *= share
            f *= share
            g *= share
            h *= share
        stay = keep[i]
        if stay != 0.0:
            a += stay * now[node, 0]
            b += stay * now[node, 1]
            c += stay * now[node, 2]
            d += stay * now[node, 3]
            e += stay * now[node, 4]
            f += stay * now[node, 5]
            g += stay * now[node, 6]
            h += stay * now[node, 7]
        then[node, 0] = a
        then[node, 1] = b
        then[node, 2] = c
        then[node, 3] = d
        then[node, 4] = e
        then[node, 5] = f
        then[node, 6] = g
        then[node, 7] = h


@njit(nogil=True)
def _weighted_walk(
    indptr: Any,
    indices: Any,
    weights: Any,
    first: int,
    last: int,
    spread: Any,
    keep: Any,
    now: Any,
    then: Any,
) -> None:
    """x'_i = spread_i * sum_j A_ij x_j + keep_i x_i for the nodes first .. last - 1 and all LANES columns."""
    for i in range(first, last):
        node = np.uint64(i - first)
        a = b = c = d = e = f = g = h = 0.0
        if spread[i] != 0.0:
            for entry in range(indptr[i], indptr[i + 1]):
                j, weight = np.uint64(indices[entry] - first), weights[entry]
                a += weight * now[j, 0]
                b += weight * now[j, 1]
                c += weight * now[j, 2]
                d += weight * now[j, 3]
                e += weight * now[j, 4]
                f += weight * now[j, 5]
                g += weight * now[j, 6]
                h += weight * now[j, 7]
            share = spread[i]
            a *= share
            b *= share
            c *= share
            d *= share
            e *= share
            f *= share
            g *= share
            h *= share
        stay = keep[i]
        if stay != 0.0:
            a += stay * now[node, 0]
            b += stay * now[node, 1]
            c += stay * now[node, 2]
            d += stay * now[node, 3]
            e += stay * now[node, 4]
            f += stay * now[node, 5]
            g += stay * now[node, 6]
            h += stay * now[node, 7]
        then[node, 0] = a
        then[node, 1] = b
        then[node, 2] = c
        then[node, 3] = d
        then[node, 4] = e
        then[node, 5] = f
        then[node, 6] = g
        then[node, 7] = h


@njit(nogil=True)
def _hash_lane(values: Any, lane: int, offset: float, codes: Any, first: int, last: int) -> None:
    """Hash one column."""
    for i in range(first, last):
        codes[i] = _code(values[i - first, lane] + offset)


@njit(nogil=True)
def _restart(
    values: Any, restart: Any, rows: Any, projected: Any, column: int, first: int, last: int
) -> None:
    """x_i += restart_i x0_i."""
    for i in range(first, last):
        if restart[i] != 0.0:
            for lane in range(LANES):
                values[i - first, lane] += restart[i] * projected[rows[i], column + lane]


@njit(nogil=True)
def _push_back(
    values: Any, chosen: Any, rows: Any, projected: Any, column: int, first: int, last: int
) -> None:
    """x_i = x0_i where ``chosen`` says so; an empty ``chosen`` means everywhere."""
    for i in range(first, last):
        if len(chosen) == 0 or chosen[i]:
            for lane in range(LANES):
                values[i - first, lane] = projected[rows[i], column + lane]


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
    odd: Any,
    even: Any,
    codes: Any,
) -> None:
    """Run the affine step on projected values and hash the columns of iteration t after step t.

    A block is a run of whole graphs that fits the cache, and its columns are taken LANES at a time: all
    steps that these columns need are made before anything else is touched.
    x'_i = spread_i * sum_j A_ij x_j + keep_i x_i + restart_i x0_i. Without ``weights`` they are all ones (and
    nothing else is compiled), without ``restart`` or with an empty ``pushed_back`` there is none. ``odd`` and
    ``even`` have room for the LANES columns of a block. ``projected`` has columns that are not used on the
    left, so that their number is a multiple of LANES: the last columns make the most steps.
    """
    n_columns = projected.shape[1]
    unused = n_columns - len(offsets)
    everywhere = pushed_back[:0]
    for block in range(len(blocks) - 1):
        first, last = blocks[block], blocks[block + 1]
        for column in range(0, n_columns, LANES):
            now, then = even, odd
            _push_back(now, everywhere, rows, projected, column, first, last)
            for t in range((column + LANES - 1 - unused) // n_hashes + 1):
                if t > 0:
                    if weights is None:
                        _walk(indptr, indices, first, last, spread, keep, now, then)
                    else:
                        _weighted_walk(indptr, indices, weights, first, last, spread, keep, now, then)
                    if restart is not None:
                        _restart(then, restart, rows, projected, column, first, last)
                    now, then = then, now
                stream = max(t * n_hashes, column - unused)
                while stream < min((t + 1) * n_hashes, column + LANES - unused):
                    _hash_lane(now, stream + unused - column, offsets[stream], codes[stream], first, last)
                    stream += 1
                if len(pushed_back) > 0:
                    _push_back(now, pushed_back, rows, projected, column, first, last)


@njit(nogil=True)
def join(code: Any, other: Any) -> Any:
    """Join two codes into one, as lsh.join_codes does for arrays."""
    word = np.uint64(code) * JOIN_FIRST + np.uint64(other)
    word = (word ^ (word >> np.uint64(32))) * JOIN_SECOND
    return np.int64(word ^ (word >> np.uint64(29)))


@njit(cache=True, nogil=True)
def hash_columns(
    values: Any, vectors: Any, offsets: Any, missing: int, first: int, last: int, codes: Any
) -> Any:
    """Hash the columns first .. last - 1, each by itself, into a row of ``codes`` each.

    NaN gets the code ``missing``. Returns for each of these columns whether all its codes are equal. Rows are
    taken a block at a time, so that reading a row-major matrix by columns stays in the cache.
    """
    constant = np.ones(last - first, dtype=np.bool_)
    for start in range(0, len(values), 256):
        stop = min(start + 256, len(values))
        for c in range(first, last):
            vector, offset, row = vectors[c], offsets[c], codes[c]
            differences = 0
            for i in range(start, stop):
                value = values[i, c]
                code = missing if np.isnan(value) else _code(value * vector + offset)
                row[i] = code
                differences += code != row[0]
            if differences > 0:
                constant[c - first] = False
    return constant


@njit(cache=True, nogil=True)
def join_rows(label_codes: Any, rows: Any, codes: Any) -> None:
    """Join the label code of each node into some rows of ``codes``, in place."""
    for row in rows:
        for i in range(codes.shape[1]):
            label = label_codes[i]
            codes[row, i] = NO_BIN if label == NO_BIN else join(label, codes[row, i])
