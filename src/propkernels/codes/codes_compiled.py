"""Compiled loops of hashing: affine steps with hashing, attribute codes, and refinement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numba import config

from propkernels._utils.crew import job_of, share
from propkernels._utils.jit import compiled
from propkernels._utils.locks import ForkSafeLock
from propkernels._utils.mixing import mix_other, mix_word
from propkernels._utils.randomness import GOLDEN, OTHER_FACTOR
from propkernels.codes.codes import KEPT_BITS, LARGEST_FLOOR, NO_BIN

LANES = 8  # columns propagated together
ROWS_OF_A_BLOCK = 256  # of attributes that are hashed column by column


class Step(NamedTuple):
    """The affine step x'_i = spread_i * sum_j A_ij x_j + keep_i x_i + restart_i x0_i, as flat arrays.

    Attributes
    ----------
    indptr, indices : ndarray of int32 or int64
        CSR structure of A.
    weights : ndarray of float64, (entries,), or None
        CSR values of A; None: all 1, and no code is compiled for them.
    spread, keep : ndarray of float64, (N,)
    restart : ndarray of float64, (N,), or None
        None: all 0, and no code is compiled for them.
    pushed_back : ndarray of bool, (N,)
        Nodes that are reset to x0 before each step; empty: none.
    kinds : ndarray of int32, (entries,), or None
        Number of the edge label of each entry of A; None without edge labels.
    factors : ndarray of float64, (groups, steps, labels, LANES), or None
        ``factors[g, k - 1, label, lane]`` multiplies A_ij with that label in step k, column g * LANES + lane.
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

    @classmethod
    def of(cls, operator: Any, kinds: Any = None, factors: Any = None) -> Step:
        """Return the step of an ``AffineOperator``."""
        a, pushed_back = operator.adjacency, operator.pushed_back
        return cls(
            a.indptr,
            a.indices,
            None if operator.is_unweighted else a.data,
            operator.spread,
            operator.keep,
            operator.restart,
            np.empty(0, dtype=np.bool_) if pushed_back is None else pushed_back,
            kinds,
            factors,
        )


class Start(NamedTuple):
    """The projections x0 of all nodes: node i starts with ``projected[rows[i]]``, one column per stream.

    The number of columns is a multiple of LANES. Unused columns are on the left, since the columns on the
    right make the most steps: with 11 streams and 8 lanes,

        column  0 1 2 3 4 | 5 6 7   8 9 10 11 12 13 14 15
        stream  (unused)  | 0 1 2   3 4  5  6  7  8  9 10

    the first eight columns make the steps of streams 0 to 2 only. With unused columns on the right, they
    would make the steps of stream 7.
    """

    rows: Any
    projected: Any


@compiled(cache=False)
def floor_code(value: float) -> Any:
    """Return the floor, or the leading bits of a large value, as ``codes.floor_codes`` does for arrays."""
    if abs(value) < LARGEST_FLOOR:
        return np.int64(np.floor(value))
    return np.float64(value).view(np.int64) & KEPT_BITS


# A step of one node and column is, in this order: ``arrived`` for each entry of the node's row, a product
# with spread, ``stayed``. The first two are skipped if spread is 0, the last if keep is 0. Helpers take
# numbers, not arrays: numba counts references to an array in every function that receives it.


@compiled(cache=False)
def arrived(total: float, weight: float, factor: float, value: float) -> Any:
    """Return the sum of a node plus the contribution of an edge, (weight * factor) * value."""
    return total + weight * factor * value


@compiled(cache=False)
def stayed(total: float, keep: float, value: float) -> Any:
    """Return the neighbors' sum of a node plus keep * value of the node itself."""
    return total + keep * value


@compiled(cache=False)
def walk_lanes(
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
    """Compute x'_i = spread_i * sum_j A_ij x_j + keep_i x_i of a block of nodes, for LANES columns.

    Parameters
    ----------
    indptr, indices, weights, kinds, factors, spread, keep
        See :class:`Step`; for None, numba omits the multiplication.
    place : tuple of five int
        First node of the block, first node, last node + 1, group of columns, number of earlier steps.
    now, then : ndarray of float64, (nodes, LANES)
        Values before the step, and output; node i of the database is row i - base.
    """
    base, first, last, group, made = place
    # The sums of a node's LANES columns are plain variables, which the compiler keeps in registers and, with
    # SLP vectorization, in a few vector registers; an array of sums would be written to memory at every edge.
    # Indices are unsigned, which avoids the test for negative indices.
    for i in range(first, last):
        node = np.uint64(i - base)
        a = b = c = d = e = f = g = h = 0.0
        if spread[i] != 0.0:
            for entry in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[entry] - base)
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
def _hash_lane(values: Any, lane: int, offset: float, codes: Any, base: int, first: int, last: int) -> None:
    """Hash one column: codes[i] is the code of values[i - base, lane] + offset, i in first .. last - 1."""
    # ``values`` has one row per node of the block; ``codes`` one entry per node of the database.
    for i in range(first, last):
        codes[i] = floor_code(values[i - base, lane] + offset)


@compiled(cache=False)
def _restart(values: Any, restart: Any, start: Any, column: int, base: int, first: int, last: int) -> None:
    """Add restart_i x0_i to the nodes first .. last - 1, for LANES columns; no-op for None."""
    if restart is not None:
        for i in range(first, last):
            if restart[i] != 0.0:
                for lane in range(LANES):
                    values[i - base, lane] += restart[i] * start.projected[start.rows[i], column + lane]


@compiled(cache=False)
def _push_back(values: Any, chosen: Any, start: Any, column: int, base: int, first: int, last: int) -> None:
    """Reset the nodes i with ``chosen[i]`` to x0_i, for LANES columns; empty ``chosen``: all nodes."""
    for i in range(first, last):
        if len(chosen) == 0 or chosen[i]:
            for lane in range(LANES):
                values[i - base, lane] = start.projected[start.rows[i], column + lane]


@compiled(cache=False)
def _iteration(
    step: Any, start: Any, offsets: Any, n_hashes: int, place: Any, column: int, t: int, now: Any, then: Any,
    codes: Any,
) -> None:  # fmt: skip
    """Make step t of some nodes of a block (t = 0: set x0), and hash the columns of iteration t.

    ``now`` are the values before the step, and ``then`` those after it; ``place`` is the first node of the
    block, the first node, and the last node + 1.
    """
    base, first, last = place
    unused = start.projected.shape[1] - len(offsets)  # column = stream + unused, see Start
    if t == 0:
        _push_back(then, step.pushed_back[:0], start, column, base, first, last)
    else:
        walk_lanes(
            step.indptr, step.indices, step.weights, step.kinds, step.factors, step.spread, step.keep,
            (base, first, last, column // LANES, t - 1), now, then,
        )  # fmt: skip
        _restart(then, step.restart, start, column, base, first, last)
    # The streams of iteration t that are among these columns.
    stream = max(t * n_hashes, column - unused)
    while stream < min((t + 1) * n_hashes, column + LANES - unused):
        _hash_lane(then, stream + unused - column, offsets[stream], codes[stream], base, first, last)
        stream += 1
    if len(step.pushed_back) > 0:
        _push_back(then, step.pushed_back, start, column, base, first, last)


def _passes(crew: Any, first: int, last: int, work: Any) -> int:
    """Return how often :func:`propagate_and_hash` visits a node or an edge."""
    step, start, offsets, n_hashes, *_ = work
    n_columns = start.projected.shape[1]
    unused = n_columns - len(offsets)
    steps = sum((column + LANES - 1 - unused) // n_hashes + 1 for column in range(0, n_columns, LANES))
    return steps * (len(step.indices) + len(step.spread))


@compiled(cache=False)
def _propagate_run(
    step: Any,
    start: Any,
    offsets: Any,
    n_hashes: int,
    blocks: Any,
    runs: Any,
    rooms: Any,
    codes: Any,
    thread: int,
    k: int,
) -> None:
    n_columns = start.projected.shape[1]
    unused = n_columns - len(offsets)
    for block in range(runs[k], runs[k + 1]):
        place = (blocks[block, 0], blocks[block, 0], blocks[block, 1])
        for column in range(0, n_columns, LANES):
            # The last stream of these columns, column + LANES - 1 - unused, makes the most steps.
            now, then = rooms[thread, 0], rooms[thread, 1]
            for t in range((column + LANES - 1 - unused) // n_hashes + 1):
                _iteration(step, start, offsets, n_hashes, place, column, t, now, then, codes)
                now, then = then, now


_propagate_run_job = job_of(_propagate_run)


@compiled(passes=_passes)
def propagate_and_hash(crew: Any, first: int, last: int, work: Any) -> None:
    """Propagate projected values and hash the columns of iteration t after step t, for runs of blocks.

    A block is a run of whole graphs that fits the cache. Its columns are processed LANES at a time: all
    steps of these columns are made before the next columns. The work is, in this order:

    Parameters
    ----------
    step : Step
    start : Start
    offsets : ndarray of float64, (streams,)
        Offset b / w of each stream; stream t * n_hashes + h is hash h of iteration t.
    n_hashes : int
        Streams per iteration.
    blocks : ndarray of int64, (blocks, 2)
        First node and last node + 1 of each block.
    runs : ndarray of int64, (runs + 1,)
        First block of each run.
    rooms : ndarray of float64, (threads, 2, nodes of the largest block, LANES)
        Workspace.
    codes : ndarray of int64, (streams, N)
        Output.
    """
    share(crew, first, last, _propagate_run_job(work))


@compiled(cache=False)
def _iterate_run(
    step: Any,
    start: Any,
    offsets: Any,
    n_hashes: int,
    bounds: Any,
    column: int,
    t: int,
    now: Any,
    then: Any,
    codes: Any,
    thread: int,
    k: int,
) -> None:
    place = (bounds[0], bounds[k], bounds[k + 1])
    _iteration(step, start, offsets, n_hashes, place, column, t, now, then, codes)


_iterate_run_job = job_of(_iterate_run)


@compiled
def one_iteration(crew: Any, first: int, last: int, work: Any) -> None:
    """Make step t of the nodes of a large graph, for LANES columns, and hash them.

    Threads share the nodes of the graph: step t may begin when all of step t - 1 are done. The work is (step,
    start, offsets, n_hashes, bounds, column, t, now, then, codes), as in :func:`propagate_and_hash`:
    ``bounds`` cut the nodes of the graph, ``now`` are its values before the step, and ``then`` those
    after it.
    """
    share(crew, first, last, _iterate_run_job(work))


@compiled(cache=False)
def join(code: Any, other: Any) -> Any:
    """Return the join of two codes, as ``codes.join_codes`` does for arrays."""
    word = np.uint64(code) * GOLDEN + np.uint64(other)
    word = (word ^ (word >> np.uint64(32))) * OTHER_FACTOR
    return np.int64(word ^ (word >> np.uint64(29)))


@compiled(cache=False)
def _value_code(projected: float, missing: int) -> Any:
    """Return the code of one projected value of an attribute."""
    return missing if np.isnan(projected) else floor_code(projected)


@compiled(cache=False)
def _with_label(label: Any, code: Any) -> Any:
    """Return the join of a label code and an attribute code; ``NO_BIN`` for a node that is not counted."""
    return NO_BIN if label == NO_BIN else join(label, code)


@compiled
def hash_columns(
    values: Any, scales: Any, vectors: Any, offsets: Any, missing: int, labels: Any, first: int, last: int,
    codes: Any,
) -> Any:  # fmt: skip
    """Hash the columns first .. last - 1 separately, and join each code with the label code of its node.

    Return the attribute code of each column that has only one; ``NO_BIN`` for other columns.

    Parameters
    ----------
    values : ndarray of float64, (N, columns)
    scales : ndarray of float64, (columns,), or None
        Divisors of the values; None: 1.
    vectors, offsets : ndarray of float64, (columns,)
        v / w and b / w of each column.
    missing : int
        Code of NaN.
    labels : ndarray of int64, (N,), or None
        Label codes; None: attribute codes are not joined.
    first, last : int
        Range of columns.
    codes : ndarray of int64, (columns, N)
        Output.
    """
    # Rows are processed in blocks, so that reading a row-major matrix by columns stays in the cache. Several
    # short loops without branches are vectorized, one loop is not; hence differences are counted.
    single, differences = np.zeros((2, last - first), dtype=np.int64)
    projected = np.empty(ROWS_OF_A_BLOCK)
    for start in range(0, len(values), ROWS_OF_A_BLOCK):
        block = values[start : start + ROWS_OF_A_BLOCK]
        for c in range(first, last):
            vector, offset, row = vectors[c], offsets[c], codes[c, start : start + ROWS_OF_A_BLOCK]
            scale = 1.0 if scales is None else scales[c]
            for i in range(len(block)):
                value = block[i, c] if scales is None else block[i, c] / scale
                projected[i] = value * vector + offset
            if start == 0:
                single[c - first] = _value_code(projected[0], missing)
            usual, n_different = single[c - first], 0
            for i in range(len(block)):
                row[i] = _value_code(projected[i], missing)
                n_different += row[i] != usual
            differences[c - first] += n_different
            if labels is not None:
                own = labels[start : start + ROWS_OF_A_BLOCK]
                for i in range(len(block)):
                    row[i] = _with_label(own[i], row[i])
    for c in range(last - first):
        if differences[c] > 0:
            single[c] = NO_BIN
    return single


@compiled
def join_row(labels: Any, codes: Any) -> None:
    """Join the label code of each node with its attribute code, in place."""
    for i in range(len(codes)):
        codes[i] = _with_label(labels[i], codes[i])


@compiled
def join_one(labels: Any, code: int, codes: Any) -> None:
    """Write the join of each label code with one attribute code."""
    for i in range(len(codes)):
        codes[i] = _with_label(labels[i], code)


@compiled
def hash_product(
    values: Any, vectors: Any, offsets: Any, missing: int, first: int, last: int, codes: Any
) -> bool:
    """Hash all columns of the rows first .. last - 1, joined to one code; see :func:`hash_columns`.

    Return whether every column has the code of row 0 in all of these rows.

    Parameters
    ----------
    codes : ndarray of int64, (N,)
        Output; codes of columns are joined one after the other.
    """
    differences, column = 0, np.empty(128, dtype=np.int64)
    for start in range(first, last, 128):
        joined = codes[start : min(start + 128, last)]
        joined[:] = 0
        for c in range(values.shape[1]):
            vector, offset = vectors[c], offsets[c]
            own = _value_code(values[0, c] * vector + offset, missing)
            for i in range(len(joined)):
                column[i] = _value_code(values[start + i, c] * vector + offset, missing)
                differences += column[i] != own
            for i in range(len(joined)):
                if joined[i] != NO_BIN:
                    joined[i] = join(joined[i], column[i])
    return differences == 0


@compiled(cache=False)
def refined(own: Any, total: Any) -> Any:
    """Return the next word of a node from its word and the sum of its neighbors' words, with wraparound."""
    return mix_word(mix_word(own) + total)


@compiled(cache=False)
def _sum_neighbors(indptr: Any, indices: Any, i: int, first: int, mixed: Any) -> Any:
    """Return the sum of the mixed words of the neighbors of node i; ``mixed[0]`` is that of node first."""
    # A sum of mixed words is a hash of the multiset of neighbors: it does not depend on their order, and
    # repeated neighbors count as often as they occur (with exclusive or, they would cancel).
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += mixed[indices[entry] - first]
    return total


@compiled(cache=False)
def _sum_labeled(indptr: Any, indices: Any, edge_keys: Any, i: int, first: int, mixed: Any) -> Any:
    """Return the sum of the neighbors' mixed words, each mixed with its edge key; see ``_sum_neighbors``."""
    total = np.uint64(0)
    for entry in range(indptr[i], indptr[i + 1]):
        total += mix_word(mixed[indices[entry] - first] ^ edge_keys[entry])
    return total


@compiled(cache=False)
def _refine_run(
    indptr: Any,
    indices: Any,
    edge_keys: Any,
    blocks: Any,
    runs: Any,
    rooms: Any,
    codes: Any,
    thread: int,
    k: int,
) -> None:
    mixed = rooms[thread]
    for block in range(runs[k], runs[k + 1]):
        first, last = blocks[block, 0], blocks[block, 1]
        # Row t of ``codes`` is complete for the whole block before row t + 1 is computed; ``mixed`` holds
        # mix_other of row t - 1, so that each node is mixed once, not once per neighbor.
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


_refine_run_job = job_of(_refine_run)


@compiled
def refine(crew: Any, first: int, last: int, work: Any) -> None:
    """Compute Weisfeiler-Lehman codes of all iterations, for runs of blocks.

    A node's next code is mix(its code, sum over neighbors of mix'(their code, edge key)) with wraparound.
    The sum does not depend on the order of neighbors. The work is, in this order:

    Parameters
    ----------
    indptr, indices : ndarray of int32 or int64
        CSR structure of the adjacency.
    edge_keys : ndarray of uint64, (entries,)
        Key of each edge's label; empty: edges have no labels.
    blocks, runs
        See :func:`propagate_and_hash`.
    rooms : ndarray of uint64, (threads, nodes of the largest block)
        Workspace.
    codes : ndarray of uint64, (iterations, N)
        Row 0 is the input; the other rows are the output.
    """
    share(crew, first, last, _refine_run_job(work))


@compiled(cache=False)
def _refine_nodes(
    indptr: Any,
    indices: Any,
    edge_keys: Any,
    bounds: Any,
    t: int,
    mixed: Any,
    following: Any,
    codes: Any,
    thread: int,
    k: int,
) -> None:
    base = bounds[0]
    for i in range(bounds[k], bounds[k + 1]):
        if t > 0:
            if len(edge_keys) == 0:
                total = _sum_neighbors(indptr, indices, i, base, mixed)
            else:
                total = _sum_labeled(indptr, indices, edge_keys, i, base, mixed)
            codes[t, i] = refined(codes[t - 1, i], total)
        following[i - base] = mix_other(codes[t, i])


_refine_nodes_job = job_of(_refine_nodes)


@compiled
def refine_part(crew: Any, first: int, last: int, work: Any) -> None:
    """Compute the codes of iteration t of the nodes of a large graph; see :func:`refine`.

    Threads share the nodes: iteration t may begin when all of iteration t - 1 are done. The work is (indptr,
    indices, edge_keys, bounds, t, mixed, following, codes): ``bounds`` cut the nodes of the graph, ``mixed``
    are their mixed words before, and ``following`` those after.
    """
    share(crew, first, last, _refine_nodes_job(work))


_LOCK = ForkSafeLock()
_users: list[int] = []  # numba's setting before, once per open slp_vectorization block


@contextmanager
def slp_vectorization() -> Iterator[None]:
    """Enable numba's SLP vectorizer for functions compiled inside this block.

    It combines equal operations on adjacent numbers into vector instructions, with bit-equal results. numba
    has only a global switch (``NUMBA_SLP_VECTORIZE``, off by default), so functions that other threads
    compile meanwhile are vectorized too. The previous setting is restored when the last block ends.
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
