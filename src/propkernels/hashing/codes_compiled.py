"""Compiled loops of the hashing station: plain arrays in and out, no objects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import config

from propkernels._utils.jit import compiled
from propkernels._utils.locks import ForkSafeLock
from propkernels._utils.mixing import mix_other, mix_word
from propkernels._utils.randomness import GOLDEN, OTHER_FACTOR
from propkernels.hashing.codes import KEPT_BITS, LARGEST_FLOOR, NO_BIN
from propkernels.hashing.refinement import ANY_OTHER

LANES = 8  # columns that make their steps together


class Step(NamedTuple):
    """The affine step x'_i = spread_i * sum_j A_ij x_j + keep_i x_i + restart_i x0_i, as flat arrays.

    ``indptr``, ``indices`` and ``weights`` are the CSR arrays of A; ``weights`` is None where all are 1, and
    ``restart`` where all are 0 (then nothing is compiled for them). Nodes with a True in ``pushed_back`` are
    reset to x0 before each step; an empty array: none is.

    With edge labels, A_ij is also multiplied by a factor of the edge's label, another one in each step and
    column: entry e of A has the label number ``kinds[e]``, and ``factors[g, k - 1, label, lane]`` is the
    factor of a label in step k and column g * LANES + lane. Both are None without.
    """

    indptr: Any
    indices: Any
    weights: Any
    spread: Any
    keep: Any
    restart: Any
    pushed_back: Any
    kinds: Any = None
    factors: Any = None


class Start(NamedTuple):
    """The projections x0 of all nodes: node i starts with ``projected[rows[i]]``, one column per stream.

    The number of columns is a multiple of LANES. Columns that fill it up stand on the left, since the columns
    on the right make the most steps: with 11 streams and 8 lanes,

        column  0 1 2 3 4 | 5 6 7   8 9 10 11 12 13 14 15
        stream  (unused)  | 0 1 2   3 4  5  6  7  8  9 10

    the first eight columns only make the steps of streams 0 to 2. On the right, they would make all.
    """

    rows: Any
    projected: Any


@compiled(cache=False)
def floor_code(value: float) -> Any:
    """Floor, or for a large value its leading bits: the same as codes.floor_codes, for one number."""
    if abs(value) < LARGEST_FLOOR:
        return np.int64(np.floor(value))
    return np.float64(value).view(np.int64) & KEPT_BITS


# A step of one node and column is, in this order: ``arrived`` for each entry of the node's row, a product
# with spread, ``stayed``. A node whose spread is 0 has no neighbors' sum, and one whose keep is 0 no share of
# its own. Helpers take numbers, not arrays: numba counts references to an array in every function that it is
# handed to.


@compiled(cache=False)
def arrived(total: float, weight: float, factor: float, value: float) -> Any:
    """Add what a neighbor sends over an edge to the sum of a node: (weight * factor) * value."""
    return total + weight * factor * value


@compiled(cache=False)
def stayed(total: float, keep: float, value: float) -> Any:
    """Add what a node keeps of its own value, after its neighbors' sum."""
    return total + keep * value


@compiled(cache=False)
def _walk(
    indptr: Any,
    indices: Any,
    weights: Any,
    kinds: Any,
    factors: Any,
    spread: Any,
    keep: Any,
    place: Any,
    now: Any,
    then: Any,
) -> None:
    """x'_i = spread_i * sum_j A_ij x_j + keep_i x_i for the nodes first .. last - 1 and all LANES columns.

    ``place`` is (first, last, group of columns, steps made before). Node i of the database is row i - first
    of ``now`` and ``then``. Without ``weights`` or ``factors`` (None), numba leaves their multiplication out.
    """
    first, last, group, made = place
    # The sums of a node's LANES columns are plain variables, which the compiler keeps in registers and, with
    # SLP vectorization, in a few vector registers; an array of sums would be written to memory at every edge.
    # Indices are unsigned, so that the compiler need not ask whether they count from the end.
    for i in range(first, last):
        node = np.uint64(i - first)
        a = b = c = d = e = f = g = h = 0.0
        if spread[i] != 0.0:
            for entry in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[entry] - first)
                weight = 1.0 if weights is None else weights[entry]
                if factors is None:
                    a = arrived(a, weight, 1.0, now[j, 0])
                    b = arrived(b, weight, 1.0, now[j, 1])
                    c = arrived(c, weight, 1.0, now[j, 2])
                    d = arrived(d, weight, 1.0, now[j, 3])
                    e = arrived(e, weight, 1.0, now[j, 4])
                    f = arrived(f, weight, 1.0, now[j, 5])
                    g = arrived(g, weight, 1.0, now[j, 6])
                    h = arrived(h, weight, 1.0, now[j, 7])
                else:
                    kind = np.uint64(kinds[entry])
                    a = arrived(a, weight, factors[group, made, kind, 0], now[j, 0])
                    b = arrived(b, weight, factors[group, made, kind, 1], now[j, 1])
                    c = arrived(c, weight, factors[group, made, kind, 2], now[j, 2])
                    d = arrived(d, weight, factors[group, made, kind, 3], now[j, 3])
                    e = arrived(e, weight, factors[group, made, kind, 4], now[j, 4])
                    f = arrived(f, weight, factors[group, made, kind, 5], now[j, 5])
                    g = arrived(g, weight, factors[group, made, kind, 6], now[j, 6])
                    h = arrived(h, weight, factors[group, made, kind, 7], now[j, 7])
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
            a = stayed(a, stay, now[node, 0])
            b = stayed(b, stay, now[node, 1])
            c = stayed(c, stay, now[node, 2])
            d = stayed(d, stay, now[node, 3])
            e = stayed(e, stay, now[node, 4])
            f = stayed(f, stay, now[node, 5])
            g = stayed(g, stay, now[node, 6])
            h = stayed(h, stay, now[node, 7])
        then[node, 0] = a
        then[node, 1] = b
        then[node, 2] = c
        then[node, 3] = d
        then[node, 4] = e
        then[node, 5] = f
        then[node, 6] = g
        then[node, 7] = h


@compiled(cache=False)
def _hash_lane(values: Any, lane: int, offset: float, codes: Any, first: int, last: int) -> None:
    """Hash one column."""
    # ``values`` holds the nodes of the block only, from 0; ``codes`` those of the whole database.
    for i in range(first, last):
        codes[i] = floor_code(values[i - first, lane] + offset)


@compiled(cache=False)
def _restart(values: Any, restart: Any, start: Any, column: int, first: int, last: int) -> None:
    """x_i += restart_i x0_i, for the LANES columns from ``column`` on; nothing without ``restart``."""
    if restart is not None:
        for i in range(first, last):
            if restart[i] != 0.0:
                for lane in range(LANES):
                    values[i - first, lane] += restart[i] * start.projected[start.rows[i], column + lane]


@compiled(cache=False)
def _push_back(values: Any, chosen: Any, start: Any, column: int, first: int, last: int) -> None:
    """x_i = x0_i where ``chosen`` says so; an empty ``chosen`` means everywhere."""
    for i in range(first, last):
        if len(chosen) == 0 or chosen[i]:
            for lane in range(LANES):
                values[i - first, lane] = start.projected[start.rows[i], column + lane]


@compiled
def propagate_and_hash(
    step: Any, start: Any, offsets: Any, n_hashes: int, blocks: Any, odd: Any, even: Any, codes: Any
) -> None:
    """Run the affine step on projected values and hash the columns of iteration t after step t.

    A block is a run of whole graphs that fits the cache, and its columns are taken LANES at a time: all
    steps that these columns need are made before anything else is touched. ``step`` is a :class:`Step`,
    ``start`` a :class:`Start`; stream s = t * n_hashes + h is hash h of iteration t, with ``offsets[s]`` and
    its codes in ``codes[s]``. ``odd`` and ``even`` have room for the LANES columns of a block.
    """
    n_columns = start.projected.shape[1]
    unused = n_columns - len(offsets)  # column = stream + unused, see Start
    everywhere = step.pushed_back[:0]
    for block in range(len(blocks) - 1):
        first, last = blocks[block], blocks[block + 1]
        for column in range(0, n_columns, LANES):
            # Invariant: turn t begins with ``now`` after t - 1 steps (t = 0: at the start).
            # The last stream of these columns, column + LANES - 1 - unused, makes the most steps.
            now, then = even, odd
            _push_back(now, everywhere, start, column, first, last)
            for t in range((column + LANES - 1 - unused) // n_hashes + 1):
                if t > 0:
                    place = (first, last, column // LANES, t - 1)
                    _walk(
                        step.indptr, step.indices, step.weights, step.kinds, step.factors, step.spread,
                        step.keep, place, now, then,
                    )  # fmt: skip
                    _restart(then, step.restart, start, column, first, last)
                    now, then = then, now
                # The streams of iteration t, as far as they are among these columns.
                stream = max(t * n_hashes, column - unused)
                while stream < min((t + 1) * n_hashes, column + LANES - unused):
                    _hash_lane(now, stream + unused - column, offsets[stream], codes[stream], first, last)
                    stream += 1
                if len(step.pushed_back) > 0:
                    _push_back(now, step.pushed_back, start, column, first, last)


@compiled(cache=False)
def join(code: Any, other: Any) -> Any:
    """Join two codes into one, as codes.join_codes does for arrays."""
    word = np.uint64(code) * GOLDEN + np.uint64(other)
    word = (word ^ (word >> np.uint64(32))) * OTHER_FACTOR
    return np.int64(word ^ (word >> np.uint64(29)))


@compiled
def hash_columns(
    values: Any, vectors: Any, offsets: Any, missing: int, first: int, last: int, codes: Any
) -> Any:
    """Hash the columns first .. last - 1, each by itself, into a row of ``codes`` each.

    NaN gets the code ``missing``. Returns for each of these columns whether all its codes are equal. Rows are
    taken a block at a time, so that reading a row-major matrix by columns stays in the cache.
    """
    # A column is constant if no block of it has a code that differs from that of node 0. Counting differences
    # instead of leaving at the first keeps the inner loop free of branches; row[0] is written in block 0.
    constant = np.ones(last - first, dtype=np.bool_)
    for start in range(0, len(values), 256):
        stop = min(start + 256, len(values))
        for c in range(first, last):
            vector, offset, row = vectors[c], offsets[c], codes[c]
            differences = 0
            for i in range(start, stop):
                value = values[i, c]
                code = missing if np.isnan(value) else floor_code(value * vector + offset)
                row[i] = code
                differences += code != row[0]
            if differences > 0:
                constant[c - first] = False
    return constant


@compiled
def join_rows(label_codes: Any, rows: Any, codes: Any) -> None:
    """Join the label code of each node into some rows of ``codes``, in place."""
    for row in rows:
        for i in range(codes.shape[1]):
            label = label_codes[i]
            codes[row, i] = NO_BIN if label == NO_BIN else join(label, codes[row, i])


@compiled(cache=False)
def over_edge(mixed: Any, edge_key: Any) -> Any:
    """Word of a neighbor, mixed before, that is told apart by the key of the edge to it."""
    return mix_word(mixed ^ edge_key)


@compiled(cache=False)
def refined(own: Any, total: Any) -> Any:
    """Next word of a node: its own one and the sum of its neighbors' words, with wraparound."""
    return mix_word(mix_word(own) + total)


@compiled(cache=False)
def counted_code(word: Any) -> Any:
    """Code of a word: none is the one that means "not counted"; ``refinement.as_streams`` of one word."""
    code = np.int64(word)
    return ANY_OTHER if code == NO_BIN else code


@compiled(cache=False)
def _sum_neighbors(indptr: Any, indices: Any, i: int, first: int, mixed: Any) -> Any:
    # A sum of mixed words is a hash of the multiset of neighbors: it does not depend on their order, and
    # repeated neighbors count as often as they occur (as they would not in a sum by exclusive or).
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += mixed[indices[entry] - first]
    return total


@compiled(cache=False)
def _sum_labeled(indptr: Any, indices: Any, edge_keys: Any, i: int, first: int, mixed: Any) -> Any:
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += over_edge(mixed[indices[entry] - first], edge_keys[entry])
    return total


@compiled
def refine(indptr: Any, indices: Any, edge_keys: Any, blocks: Any, codes: Any) -> None:
    """Weisfeiler-Lehman steps on 64-bit codes, block by block; row 0 of ``codes`` is given.

    A node's next code is mix(own code, sum over neighbors of mix'(their code, edge key)) with wraparound.
    The sum does not depend on the order of neighbors. Empty ``edge_keys``: edges are alike.
    """
    largest = 0
    for block in range(len(blocks) - 1):
        largest = max(largest, blocks[block + 1] - blocks[block])
    mixed = np.empty(largest, dtype=np.uint64)
    for block in range(len(blocks) - 1):
        first, last = blocks[block], blocks[block + 1]
        # Row t of ``codes`` is final for the whole block before row t + 1 is begun; ``mixed`` holds
        # mix_other of row t - 1, so that each node is mixed once and not once per neighbor.
        for t in range(1, codes.shape[0]):
            for i in range(first, last):
                mixed[i - first] = mix_other(codes[t - 1, i])
            if len(edge_keys) == 0:
                for i in range(first, last):
                    total = _sum_neighbors(indptr, indices, i, first, mixed)
                    codes[t, i] = refined(codes[t - 1, i], total)
            else:
                for i in range(first, last):
                    total = _sum_labeled(indptr, indices, edge_keys, i, first, mixed)
                    codes[t, i] = refined(codes[t - 1, i], total)


_LOCK = ForkSafeLock()
_users: list[int] = []  # the compiler's own setting, once for each block of slp_vectorization that is open


@contextmanager
def slp_vectorization() -> Iterator[None]:
    """Enable numba's SLP vectorizer for functions that are compiled inside this block.

    It joins equal operations on adjacent numbers into vector instructions, which are the same bits. numba has
    no switch per function, only a global one (``NUMBA_SLP_VECTORIZE``, off by default): whatever another
    thread compiles meanwhile is vectorized too. The setting of before comes back when the last block ends.
    """
    with _LOCK:
        _users.append(_users[-1] if _users else config.SLP_VECTORIZE)
        config.SLP_VECTORIZE = 1
    try:
        yield
    finally:
        with _LOCK:
            before = _users.pop()
            config.SLP_VECTORIZE = 1 if _users else before
