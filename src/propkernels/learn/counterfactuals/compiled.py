"""Compiled loops of counterfactuals: the decision of an edited graph, where only what an edit touches moves.

An edit is a row of five integers, (kind, a, b, label, bond): see ``edits.py``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels.hashing.codes import NO_BIN
from propkernels.hashing.compiled import _code as floor_code
from propkernels.kernels.weisfeiler_lehman import ANY_OTHER
from propkernels.utils.jit import compiled
from propkernels.utils.mixing import GOLDEN, mix_other, mix_word

NOTHING, RELABEL, ADD_EDGE, REMOVE_EDGE, ADD_LEAF, REMOVE_LEAF = -1, 0, 1, 2, 3, 4


class Wiring(NamedTuple):
    """The graph while it is edited, with room for two more nodes.

    Node i has the neighbors ``neighbors[i, : degree[i]]``, ascending as in a row of the adjacency, over edges
    whose labels have the numbers ``bonds[i, : degree[i]]``. Nodes keep their numbers while others are removed
    (``alive`` tells), which leaves neighbors in the order that they have in the edited graph.
    """

    neighbors: Any
    bonds: Any
    degree: Any
    labels: Any
    alive: Any


class Walk(NamedTuple):
    """Diffusion of projected labels, one column per stream; what depends on a node's degree alone, by degree.

    ``start[row]`` holds the projections x0 of a label or, with ``by_degree``, of a degree. A node takes
    ``spread`` of its neighbors' sum and ``keep`` of itself. ``root`` weighs an edge by the product of the
    values of its ends (with ``scaled``, symmetric normalization), and ``factors[step - 1, bond, column]``
    tell edge labels apart; ``is_plain``: both are 1. ``vanish``: nodes without edges count at t = 0 only.
    """

    start: Any
    by_degree: bool
    spread: Any
    keep: Any
    root: Any
    scaled: bool
    factors: Any
    is_plain: bool
    offsets: Any
    n_hashes: int
    vanish: bool


class Refinement(NamedTuple):
    """Weisfeiler-Lehman: the keys of labels (or degrees), and of edge labels, if edges are ``labeled``."""

    start: Any
    by_degree: bool
    edge_keys: Any
    labeled: bool


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


class State(NamedTuple):
    """What is known of the graph as it is, and room to work in.

    ``walked[t, node, column]`` (diffusion) or ``refined[t, node]`` (Weisfeiler-Lehman) are the values after t
    steps; an edit overwrites those that it touches, and copies of ``walked_before`` or ``refined_before`` go
    back. ``codes[stream, node]`` are the codes of the graph as it is, and ``new_codes`` those of touched
    nodes in the edited graph. ``order`` lists touched nodes, the nearest first, of which ``ends[t]`` can be
    different after t steps; ``depth`` tells from which step on.
    ``total`` are sums of weights, and ``squares`` the squared lengths of the counts of each stream.
    """

    walked: Any
    walked_before: Any
    refined: Any
    refined_before: Any
    codes: Any
    new_codes: Any
    order: Any
    depth: Any
    ends: Any
    total: Any
    squares: Any


# editing


@compiled(cache=False)
def _link(wiring: Any, i: int, j: int, bond: int) -> None:
    """Put j into the row of i, behind all smaller neighbors."""
    k = wiring.degree[i]
    while k > 0 and wiring.neighbors[i, k - 1] > j:
        wiring.neighbors[i, k] = wiring.neighbors[i, k - 1]
        wiring.bonds[i, k] = wiring.bonds[i, k - 1]
        k -= 1
    wiring.neighbors[i, k] = j
    wiring.bonds[i, k] = bond
    wiring.degree[i] += 1


@compiled(cache=False)
def _place(wiring: Any, i: int, j: int) -> Any:
    """Where j stands in the row of i; -1: nowhere."""
    for k in range(wiring.degree[i]):
        if wiring.neighbors[i, k] == j:
            return k
    return -1


@compiled(cache=False)
def _unlink(wiring: Any, i: int, j: int) -> Any:
    """Take j out of the row of i; return the number of the edge's label."""
    k = _place(wiring, i, j)
    bond = wiring.bonds[i, k]
    wiring.degree[i] -= 1
    while k < wiring.degree[i]:
        wiring.neighbors[i, k] = wiring.neighbors[i, k + 1]
        wiring.bonds[i, k] = wiring.bonds[i, k + 1]
        k += 1
    return bond


@compiled(cache=False)
def _possible(wiring: Any, kind: int, a: int, b: int, label: int) -> Any:
    """Whether an edit can be made in the graph as it is now."""
    if kind == ADD_LEAF:
        return wiring.alive[a]
    if kind == RELABEL:
        return wiring.alive[a] and wiring.labels[a] != label
    if not (wiring.alive[a] and wiring.alive[b]):
        return False
    if kind == ADD_EDGE:
        return a != b and _place(wiring, a, b) < 0
    if kind == REMOVE_LEAF:
        return wiring.degree[a] == 1 and wiring.neighbors[a, 0] == b
    return _place(wiring, a, b) >= 0


@compiled(cache=False)
def _apply(wiring: Any, kind: int, a: int, b: int, label: int, bond: int) -> Any:
    """Make an edit; return what takes it back: the label before, or that of the removed edge."""
    before = 0
    if kind == RELABEL:
        before = wiring.labels[a]
        wiring.labels[a] = label
    elif kind in (ADD_EDGE, ADD_LEAF):
        if kind == ADD_LEAF:
            wiring.alive[b] = True
            wiring.labels[b] = label
        _link(wiring, a, b, bond)
        _link(wiring, b, a, bond)
    else:
        before = _unlink(wiring, a, b)
        _unlink(wiring, b, a)
        if kind == REMOVE_LEAF:
            wiring.alive[a] = False
    return before


@compiled(cache=False)
def _take_back(wiring: Any, kind: int, a: int, b: int, before: int) -> None:
    """Undo an edit, the last that was made."""
    if kind == RELABEL:
        wiring.labels[a] = before
    elif kind in (ADD_EDGE, ADD_LEAF):
        _unlink(wiring, a, b)
        _unlink(wiring, b, a)
        if kind == ADD_LEAF:
            wiring.alive[b] = False
    else:
        _link(wiring, a, b, before)
        _link(wiring, b, a, before)
        if kind == REMOVE_LEAF:
            wiring.alive[a] = True


# what an edit touches


@compiled(cache=False)
def _touch(wiring: Any, state: Any, count: int, i: int, depth: int) -> Any:
    """List a node, if it is there and not listed yet; return how many are listed."""
    if wiring.alive[i] and state.depth[i] > depth and depth < len(state.ends):
        state.depth[i] = depth
        state.order[count] = i
        return count + 1
    return count


@compiled(cache=False)
def _seed_start(wiring: Any, state: Any, by_degree: bool, count: int, kind: int, a: int, b: int) -> Any:
    """List the nodes whose start is another one."""
    if kind == RELABEL or (by_degree and kind != NOTHING):
        count = _touch(wiring, state, count, a, 0)
    if kind == ADD_LEAF or (by_degree and kind != NOTHING and kind != RELABEL):
        count = _touch(wiring, state, count, b, 0)
    return count


@compiled(cache=False)
def _seed_rows(wiring: Any, state: Any, scaled: bool, count: int, kind: int, a: int, b: int) -> Any:
    """List the nodes whose neighbors, or (``scaled``) whose neighbors' degrees, are other ones."""
    if kind in (NOTHING, RELABEL):
        return count
    for end in (a, b):
        count = _touch(wiring, state, count, end, 1)
        if scaled and wiring.alive[end]:
            for k in range(wiring.degree[end]):
                count = _touch(wiring, state, count, wiring.neighbors[end, k], 1)
    return count


@compiled(cache=False)
def _spread_out(wiring: Any, state: Any, start: int, count: int) -> None:
    """List all nodes that are reached in t steps, and ``ends[t]``; ``start`` nodes have another start."""
    neighbors, degree, order, depth, ends = (
        wiring.neighbors, wiring.degree, state.order, state.depth, state.ends
    )  # fmt: skip
    first, last = 0, start
    ends[0] = start
    for t in range(1, len(ends)):
        # nodes first .. last - 1 are those of depth t - 1; those of depth t that are seeds are listed already
        for k in range(first, last):
            i = order[k]
            for e in range(degree[i]):
                j = neighbors[i, e]
                if depth[j] > t:
                    depth[j] = t
                    order[count] = j
                    count += 1
        first, last = last, count
        ends[t] = count


# values and codes


# Arrays of a record are given names before a loop: numba counts references whenever a field is asked for, or
# a record handed to a function, and that takes longer than all that is computed here.


@compiled(cache=False)
def _walk(wiring: Any, walk: Any, state: Any) -> None:
    """x'_i = spread_i * sum_j A_ij x_j + keep_i x_i for the touched nodes, and codes.

    Operations and their order are those of ``hashing.compiled``, so the values are the same bits.
    """
    if walk is not None:
        neighbors, bonds, degrees, labels = wiring.neighbors, wiring.bonds, wiring.degree, wiring.labels
        spread, keep, root, factors = walk.spread, walk.keep, walk.root, walk.factors
        start, offsets, values = walk.start, walk.offsets, state.walked
        order, ends, codes = state.order, state.ends, state.new_codes
        n_columns, n_hashes = len(offsets), walk.n_hashes
        for k in range(ends[0]):
            i = order[k]
            row = degrees[i] if walk.by_degree else labels[i]
            for column in range(n_columns):
                values[0, i, column] = start[row, column]
        for t in range(len(ends)):
            first = t * n_hashes  # columns of earlier iterations have made all their steps
            last = first + n_hashes if t == 0 else n_columns  # at the start, there are only codes to compute
            for k in range(ends[t]):
                i = order[k]
                degree = degrees[i]
                share, stay = spread[degree], keep[degree]
                vanished = walk.vanish and t > 0 and degree == 0
                for column in range(first, last):
                    # the sum of a column stays in a register; unsigned indices do not count from the end
                    c = np.uint64(column)
                    total = 0.0
                    if t == 0:
                        total = values[0, i, c]
                    else:
                        if share != 0.0:
                            for e in range(degree):
                                j = np.uint64(neighbors[i, e])
                                if walk.is_plain:
                                    total += values[t - 1, j, c]
                                else:
                                    weight = root[degree] * root[degrees[j]]
                                    total += weight * factors[t - 1, bonds[i, e], c] * values[t - 1, j, c]
                            total *= share
                        if stay != 0.0:
                            total += stay * values[t - 1, i, c]
                        values[t, i, c] = total
                    if column < first + n_hashes:
                        codes[c, i] = NO_BIN if vanished else floor_code(total + offsets[c])


@compiled(cache=False)
def _refine(wiring: Any, refinement: Any, state: Any) -> None:
    """Weisfeiler-Lehman steps of the touched nodes, as in ``hashing.refinement_compiled``, and codes."""
    if refinement is not None:
        neighbors, bonds, degrees, labels = wiring.neighbors, wiring.bonds, wiring.degree, wiring.labels
        start, edge_keys, values = refinement.start, refinement.edge_keys, state.refined
        order, ends, codes = state.order, state.ends, state.new_codes
        for t in range(len(ends)):
            for k in range(ends[t]):
                i = order[k]
                if t == 0:
                    values[0, i] = start[degrees[i]] if refinement.by_degree else start[labels[i]]
                else:
                    total = np.uint64(0)
                    for e in range(degrees[i]):
                        word = mix_other(values[t - 1, neighbors[i, e]])
                        if refinement.labeled:
                            word = mix_word(word ^ edge_keys[bonds[i, e]])
                        total += word
                    values[t, i] = mix_word(mix_word(values[t - 1, i]) + total)
                code = np.int64(values[t, i])
                codes[t, i] = ANY_OTHER if code == NO_BIN else code


# sums of weights


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


@compiled(cache=False)
def _restore_walked(values: Any, before: Any, order: Any, ends: Any, n_hashes: int) -> None:
    if values is not None:
        for t in range(len(ends)):
            for k in range(ends[t]):
                i = order[k]
                for c in range(t * n_hashes, values.shape[2]):
                    values[t, i, c] = before[t, i, c]


@compiled(cache=False)
def _restore_refined(values: Any, before: Any, order: Any, ends: Any) -> None:
    if values is not None:
        for t in range(len(ends)):
            for k in range(ends[t]):
                values[t, order[k]] = before[t, order[k]]


@compiled(cache=False)
def _forget(state: Any) -> None:
    """Put the values of the graph as it is back, and take all nodes off the list."""
    order, depth, ends = state.order, state.depth, state.ends
    _restore_walked(state.walked, state.walked_before, order, ends, len(state.codes) // len(ends))
    _restore_refined(state.refined, state.refined_before, order, ends)
    for k in range(ends[len(ends) - 1]):
        depth[order[k]] = len(ends)


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
    _refine(wiring, refinement, state)
    _walk(wiring, walk, state)
    _move(state, weights, counts, removed, state.squares, state.total)
    for stream in range(len(state.codes)):
        for k in range(n):
            state.codes[stream, state.order[k]] = state.new_codes[stream, state.order[k]]


@compiled(cache=False)
def _joined(wiring: Any, state: Any, a: int, b: int) -> Any:
    """Whether a path leads from a to b; ``order`` and ``depth`` are used, and left as they were."""
    if not (wiring.alive[a] and wiring.alive[b]):
        return True
    far = len(state.ends)
    state.order[0] = a
    state.depth[a] = -1
    count, k, found = 1, 0, a == b
    while k < count and not found:
        i = state.order[k]
        for e in range(wiring.degree[i]):
            j = wiring.neighbors[i, e]
            if state.depth[j] != -1:
                state.depth[j] = -1
                state.order[count] = j
                count += 1
                found = found or j == b
        k += 1
    for k in range(count):
        state.depth[state.order[k]] = far
    return found


@compiled(cache=False)
def _dependence(walk: Any, refinement: Any) -> Any:
    """Whether nodes start with their degree, and whether edges are weighted by the degrees of their ends."""
    by_degree = scaled = False
    if refinement is not None:
        by_degree = refinement.by_degree
    if walk is not None:
        by_degree = walk.by_degree
        scaled = walk.scaled
    return by_degree, scaled


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
    by_degree, scaled = _dependence(walk, refinement)
    new = len(wiring.alive) - 2
    for row in range(len(edits)):
        kind, a, b, label = edits[row, 0, 0], edits[row, 0, 1], edits[row, 0, 2], edits[row, 0, 3]
        kind2, a2, b2, label2 = edits[row, 1, 0], edits[row, 1, 1], edits[row, 1, 2], edits[row, 1, 3]
        b = new if kind == ADD_LEAF else b
        b2 = b2 if kind2 != ADD_LEAF else (new + 1 if kind == ADD_LEAF else new)
        before = before2 = 0
        ok = _possible(wiring, kind, a, b, label)
        if ok:
            before = _apply(wiring, kind, a, b, label, edits[row, 0, 4])
            if kind2 != NOTHING:
                ok = _possible(wiring, kind2, a2, b2, label2)
                if ok:
                    before2 = _apply(wiring, kind2, a2, b2, label2, edits[row, 1, 4])
                else:
                    _take_back(wiring, kind, a, b, before)
        if not ok:
            for d in range(sums.shape[1]):
                sums[row, d] = np.nan
            continue
        whole = True
        if connected and kind == REMOVE_EDGE:
            whole = _joined(wiring, state, a, b)
        if connected and whole and kind2 == REMOVE_EDGE:
            whole = _joined(wiring, state, a2, b2)
        if whole:
            for d in range(sums.shape[1]):
                sums[row, d] = state.total[d]
            for stream in range(len(squares)):
                squares[stream] = state.squares[stream]
            removed[0] = a if kind == REMOVE_LEAF else -1
            removed[1] = a2 if kind2 == REMOVE_LEAF else -1
            start = _seed_start(wiring, state, by_degree, 0, kind, a, b)
            start = _seed_start(wiring, state, by_degree, start, kind2, a2, b2)
            count = _seed_rows(wiring, state, scaled, start, kind, a, b)
            count = _seed_rows(wiring, state, scaled, count, kind2, a2, b2)
            _spread_out(wiring, state, start, count)
            _refine(wiring, refinement, state)
            _walk(wiring, walk, state)
            _move(state, weights, counts, removed, squares, sums[row])
            for stream in range(lengths.shape[1]):
                lengths[row, stream] = squares[stream]
            _uncount(counts)
            _forget(state)
        else:
            for d in range(sums.shape[1]):
                sums[row, d] = np.nan
        if kind2 != NOTHING:
            _take_back(wiring, kind2, a2, b2, before2)
        _take_back(wiring, kind, a, b, before)
