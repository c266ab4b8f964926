"""Compiled loops of counterfactuals: the decision of an edited graph, where only what an edit touches moves.

An edit is a row of five integers, (kind, a, b, label, bond): see ``edits.py``. The graph is edited in place
(``edits_compiled.py``), what touched nodes know is computed anew (``touched_compiled.py``), and here they
move from bin to bin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels.hashing.codes import NO_BIN
from propkernels.learn.counterfactuals.edits_compiled import (
    ADD_LEAF,
    NOTHING,
    REMOVE_EDGE,
    REMOVE_LEAF,
    apply_edit,
    is_possible,
    take_back,
)
from propkernels.learn.counterfactuals.touched_compiled import (
    dependence,
    forget,
    is_joined,
    refine_touched,
    seed_rows,
    seed_start,
    spread_out,
    walk_touched,
)
from propkernels.utils.jit import compiled
from propkernels.utils.mixing import GOLDEN, mix_word


class Weights(NamedTuple):
    """Weights of bins, found by open addressing.

    Stream s owns the slots ``first[s]`` to ``first[s] + mask[s]`` of ``codes`` and ``bins``; an empty slot
    has the bin -1. ``values[bin]`` holds the weights. ``levels``: the k-th node in a bin adds the weight of
    level k of the bin, whose code is a mixture of the two (``counting.levels``). ``counted``: the nodes of
    each bin have to be counted, for levels or for the length of the counts.
    """

    codes: Any
    bins: Any
    first: Any
    mask: Any
    values: Any
    levels: bool
    counted: bool


class Counts(NamedTuple):
    """How many nodes of the graph each bin holds, found by open addressing, with a log to undo changes.

    Stream s has the slots ``codes[s]`` and ``numbers[s]`` (-1: empty). Change k of an edit, ``log[k]``, tells
    stream and slot, and what number stood there before; there are ``filled[0]`` changes. Undone from the last
    to the first, new codes leave the table as if they had never come.
    """

    codes: Any
    numbers: Any
    log: Any
    filled: Any


@compiled(cache=False)
def _mixed(code: Any) -> Any:
    word = np.uint64(code) * GOLDEN
    return word ^ (word >> np.uint64(32))


@compiled
def fill_weights(weights: Any, stream: int, codes: Any, first_bin: int) -> None:
    """Put the codes of a stream into the table; code i has the bin first_bin + i."""
    start, mask = weights.first[stream], np.uint64(weights.mask[stream])
    for i in range(len(codes)):
        slot = _mixed(codes[i]) & mask
        while weights.bins[start + np.int64(slot)] >= 0:
            slot = (slot + np.uint64(1)) & mask
        weights.codes[start + np.int64(slot)] = codes[i]
        weights.bins[start + np.int64(slot)] = first_bin + i


@compiled(cache=False)
def _level(code: Any, level: int) -> Any:
    """Code of a level of a bin: ``counting.levels.level_codes`` of one."""
    return code if level == 1 else np.int64(mix_word(mix_word(np.uint64(code)) ^ np.uint64(level)))


@compiled(cache=False)
def _move(state: Any, weights: Any, counts: Any, removed: Any, squares: Any, sums: Any) -> None:
    """Move nodes from their old bins to the new ones: sums of weights, squared lengths, counts, log."""
    old_codes, new_codes, order, ends = state.codes, state.new_codes, state.order, state.ends
    slots, bins, values = weights.codes, weights.bins, weights.values
    counted, numbers, log = counts.codes, counts.numbers, counts.log
    n_hashes, filled = len(old_codes) // len(ends), 0
    wrap = np.uint64(counted.shape[1] - 1)
    for stream in range(len(old_codes)):
        start, mask = weights.first[stream], np.uint64(weights.mask[stream])
        end = ends[stream // n_hashes]
        for k in range(end + len(removed)):
            i = order[k] if k < end else removed[k - end]
            if i < 0:
                continue
            old = old_codes[stream, i]
            new = new_codes[stream, i] if k < end else np.int64(NO_BIN)
            if old == new:
                continue
            for step in (-1, 1):  # out of the old bin, into the new one
                code = old if step < 0 else new
                if code == NO_BIN:
                    continue
                if weights.counted:
                    slot = _mixed(code) & wrap
                    while numbers[stream, slot] >= 0 and counted[stream, slot] != code:
                        slot = (slot + np.uint64(1)) & wrap
                    before = numbers[stream, slot]
                    log[filled, 0], log[filled, 1], log[filled, 2] = stream, np.int64(slot), before
                    filled += 1
                    number = max(before, 0)
                    counted[stream, slot] = code
                    numbers[stream, slot] = number + step
                    if weights.levels:  # the level that comes, or that goes
                        code = _level(code, number + 1 if step > 0 else number)
                        squares[stream] += step
                    else:
                        squares[stream] += 2.0 * step * number + 1.0
                slot = _mixed(code) & mask
                while bins[start + np.int64(slot)] >= 0:
                    if slots[start + np.int64(slot)] == code:
                        for d in range(len(sums)):
                            sums[d] += step * values[bins[start + np.int64(slot)], d]
                        break
                    slot = (slot + np.uint64(1)) & mask
    counts.filled[0] = filled


@compiled(cache=False)
def _uncount(counts: Any) -> None:
    """Undo all changes of counts."""
    numbers, log = counts.numbers, counts.log
    for k in range(counts.filled[0] - 1, -1, -1):
        numbers[log[k, 0], log[k, 1]] = log[k, 2]


@compiled
def begin(
    wiring: Any, walk: Any, refinement: Any, state: Any, weights: Any, counts: Any, removed: Any
) -> None:
    """Compute values, codes, counts and sums of the graph as it is: an edit that adds all nodes."""
    n = 0
    for i in range(len(wiring.alive)):
        if wiring.alive[i]:
            state.order[n] = i
            n += 1
    for t in range(len(state.ends)):
        state.ends[t] = n
    refine_touched(wiring, refinement, state)
    walk_touched(wiring, walk, state)
    _move(state, weights, counts, removed, state.squares, state.total)
    for stream in range(len(state.codes)):
        for k in range(n):
            state.codes[stream, state.order[k]] = state.new_codes[stream, state.order[k]]


@compiled
def decide(
    wiring: Any,
    walk: Any,
    refinement: Any,
    state: Any,
    weights: Any,
    counts: Any,
    edits: Any,
    connected: bool,
    removed: Any,
    squares: Any,
    sums: Any,
    lengths: Any,
) -> None:
    """Sums of weights of the graph after each row of ``edits``, (m, 2, 5), whose second edit may be nothing.

    ``sums`` (m, decisions) are NaN where an edit cannot be made or, with ``connected``, where the ends of a
    removed edge fall apart. ``lengths`` (m, streams) are squared lengths of the counts, or without columns.
    ``removed`` (2,) and ``squares`` (streams,) are room to work in.
    """
    by_degree, scaled = dependence(walk, refinement)
    new = len(wiring.alive) - 2
    for row in range(len(edits)):
        kind, a, b, label = edits[row, 0, 0], edits[row, 0, 1], edits[row, 0, 2], edits[row, 0, 3]
        kind2, a2, b2, label2 = edits[row, 1, 0], edits[row, 1, 1], edits[row, 1, 2], edits[row, 1, 3]
        b = new if kind == ADD_LEAF else b
        b2 = b2 if kind2 != ADD_LEAF else (new + 1 if kind == ADD_LEAF else new)
        before = before2 = 0
        ok = is_possible(wiring, kind, a, b, label)
        if ok:
            before = apply_edit(wiring, kind, a, b, label, edits[row, 0, 4])
            if kind2 != NOTHING:
                ok = is_possible(wiring, kind2, a2, b2, label2)
                if ok:
                    before2 = apply_edit(wiring, kind2, a2, b2, label2, edits[row, 1, 4])
                else:
                    take_back(wiring, kind, a, b, before)
        if not ok:
            for d in range(sums.shape[1]):
                sums[row, d] = np.nan
            continue
        whole = True
        if connected and kind == REMOVE_EDGE:
            whole = is_joined(wiring, state, a, b)
        if connected and whole and kind2 == REMOVE_EDGE:
            whole = is_joined(wiring, state, a2, b2)
        if whole:
            for d in range(sums.shape[1]):
                sums[row, d] = state.total[d]
            for stream in range(len(squares)):
                squares[stream] = state.squares[stream]
            removed[0] = a if kind == REMOVE_LEAF else -1
            removed[1] = a2 if kind2 == REMOVE_LEAF else -1
            start = seed_start(wiring, state, by_degree, 0, kind, a, b)
            start = seed_start(wiring, state, by_degree, start, kind2, a2, b2)
            count = seed_rows(wiring, state, scaled, start, kind, a, b)
            count = seed_rows(wiring, state, scaled, count, kind2, a2, b2)
            spread_out(wiring, state, start, count)
            refine_touched(wiring, refinement, state)
            walk_touched(wiring, walk, state)
            _move(state, weights, counts, removed, squares, sums[row])
            for stream in range(lengths.shape[1]):
                lengths[row, stream] = squares[stream]
            _uncount(counts)
            forget(state)
        else:
            for d in range(sums.shape[1]):
                sums[row, d] = np.nan
        if kind2 != NOTHING:
            take_back(wiring, kind2, a2, b2, before2)
        take_back(wiring, kind, a, b, before)
