"""Compiled loop over columns that spread along edges: steps, codes and counts, without lists of codes."""

from __future__ import annotations

from typing import Any

from propkernels._utils.jit import compiled
from propkernels.codes.codes_compiled import hash_columns, walk_lanes
from propkernels.counts.counts_compiled import count_row


@compiled
def spread_and_count(
    step: Any,
    n_walks: int,
    now: Any,
    then: Any,
    scales: Any,
    vectors: Any,
    offsets: Any,
    missing: int,
    labels: Any,
    graph_ptr: Any,
    no_bin: int,
    room: Any,
    codes: Any,
    counted: Any,
    single: Any,
) -> None:
    """Hash and count some columns at each iteration, with a step after each.

    Parameters
    ----------
    step : Step
    n_walks : int
        Number of steps; one less than that of iterations if no further iteration follows.
    now, then : ndarray of float64, (nodes, LANES)
        Values before the first step, and workspace. After an odd number of steps, values are in ``then``.
    scales : ndarray of float64, (iterations, columns)
        Divisors of the values.
    vectors, offsets : ndarray of float64, (iterations, hash functions, columns)
    missing, no_bin : int
        Code of a missing value, and of nodes that are not counted.
    labels : ndarray of int64, (iterations * label hashes, nodes)
        Label codes; hash function f joins those of label hash f modulo their number.
    graph_ptr : ndarray of int64, (graphs + 1,)
    room : Room
    codes : ndarray of int64, (columns, nodes)
        Workspace.
    counted : Counted
        Output: one row per iteration, hash function and column; empty if the column has one attribute code.
    single : ndarray of int64, (iterations, hash functions, columns)
        Output: that code; ``no_bin`` for other columns.
    """
    r, n_hashes = 0, len(labels) // len(scales)
    for t in range(len(scales)):
        for f in range(vectors.shape[1]):
            own = labels[t * n_hashes + f % n_hashes]
            hashed = scales[t], vectors[t, f], offsets[t, f], missing, own, 0, len(codes), codes
            found = hash_columns(now, *hashed)
            for c in range(len(codes)):
                single[t, f, c] = found[c]
                if found[c] == no_bin:
                    count_row(codes[c], graph_ptr, no_bin, room, counted, r)
                else:
                    counted.entry_ends[r + 1] = counted.entry_ends[r]
                    counted.bin_ends[r + 1] = counted.bin_ends[r]
                r += 1
        if t < n_walks:
            walk_lanes(
                step.indptr, step.indices, step.weights, step.kinds, step.factors, step.spread, step.keep,
                (0, 0, len(now), 0, 0), now, then,
            )  # fmt: skip
            now, then = then, now
