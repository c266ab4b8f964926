"""Compiled loops over the nodes that an edit touches: list them, and update their values and codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled, prefetch
from propkernels._utils.mixing import mix_other
from propkernels.codes.codes import NO_BIN
from propkernels.codes.codes_compiled import arrived, counted_code, floor_code, over_edge, refined, stayed
from propkernels.tracking.bins_compiled import change_counts, settle_counts
from propkernels.tracking.wiring_compiled import (
    ADD_LEAF,
    NOTHING,
    RELABEL,
    REMOVE_LEAF,
    UNTOUCHED,
    Wiring,
    apply_edits,
    take_back_edits,
)

GROUP = 8  # edits whose balls are computed together, and
NEAR = 4096  # number of nodes above which groups grow


class Walk(NamedTuple):
    """Diffusion of projected labels, one column per stream; ``spread``, ``keep`` and ``root`` are by degree.

    ``start[row]`` holds the projections x0 of a label or, with ``by_degree``, of a degree. ``spread`` is the
    weight of the neighbors' sum and ``keep`` that of the node itself. With ``scaled`` (symmetric
    normalization), the weight of an edge is the product of ``root`` of its ends.
    ``factors[step - 1, bond, column]`` are the factors of edge labels; ``is_plain``: all weights and factors
    are 1. ``vanish``: nodes without edges count at t = 0 only.

    ``values[node, begins[t] + k]`` is the value of column (t + 1) * n_hashes + k after t steps: columns of
    earlier iterations make no further step, and values before the first step are those of ``start``. An edit
    overwrites the values of touched nodes, which are then restored from ``before``, those of the unedited
    graph.
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
    begins: Any
    values: Any
    before: Any


class Refinement(NamedTuple):
    """Weisfeiler-Lehman refinements of several labels (views) of each node.

    ``start[k, row]`` is the key of label k in a row of labels or, with ``by_degree``, of a degree;
    ``edge_keys`` are the keys of edge labels, if edges are ``labeled``. ``values[node, t * views + k]`` are
    the words after t steps; an edit overwrites those of touched nodes, which are then restored from
    ``before``.
    """

    start: Any
    by_degree: bool
    edge_keys: Any
    labeled: bool
    values: Any
    before: Any


class Touched(NamedTuple):
    """Nodes that an edit touches.

    ``order`` lists them, nearest first; the first ``ends[t]`` of them may differ after t steps (the first
    such step of each node is its ``depth`` in the wiring). ``removed``, (2,), are removed nodes (-1: none),
    and ``before``, (2,), holds the labels needed to undo the edits.
    """

    order: Any
    ends: Any
    removed: Any
    before: Any


# Nodes that an edit touches


@compiled(cache=False)
def _touch(wiring: Any, touched: Any, count: int, i: int, depth: int) -> Any:
    """List node i if it exists and is not listed yet; return the number of listed nodes."""
    if wiring.alive[i] and wiring.depth[i] > depth and depth < len(touched.ends):
        wiring.depth[i] = depth
        touched.order[count] = i
        return count + 1
    return count


@compiled(cache=False)
def _seed_start(wiring: Any, touched: Any, by_degree: bool, count: int, kind: int, a: int, b: int) -> Any:
    """List the nodes whose start value changes; return the number of listed nodes."""
    if kind == RELABEL or (by_degree and kind != NOTHING):
        count = _touch(wiring, touched, count, a, 0)
    if kind == ADD_LEAF or (by_degree and kind != NOTHING and kind != RELABEL):
        count = _touch(wiring, touched, count, b, 0)
    return count


@compiled(cache=False)
def _seed_rows(wiring: Any, touched: Any, scaled: bool, count: int, kind: int, a: int, b: int) -> Any:
    """List the nodes whose neighbors, or (``scaled``) whose neighbors' degrees, change; return the number."""
    if kind in (NOTHING, RELABEL):
        return count
    for end in (a, b):
        count = _touch(wiring, touched, count, end, 1)
        if scaled and wiring.alive[end]:
            for k in range(wiring.degree[end]):
                j = wiring.neighbors[wiring.first[end] + k]
                count = _touch(wiring, touched, count, j, 1)
    return count


@compiled(cache=False)
def _spread_out(wiring: Any, touched: Any, start: int, count: int, values: Any) -> None:
    """List the nodes reached in t steps, and fill ``ends``; the first ``start`` nodes have depth 0.

    Rows of neighbors and of ``values``, (nodes, ...), are prefetched: on large graphs, nearly all time is
    spent waiting for memory.
    """
    neighbors, rows, degree = wiring.neighbors, wiring.first, wiring.degree
    order, depth, ends = touched.order, wiring.depth, touched.ends
    first, last = 0, start
    ends[0] = start
    for t in range(1, len(ends)):
        # nodes first .. last - 1 are those of depth t - 1; those of depth t that are seeds are listed already
        for k in range(first, last):
            i = order[k]
            for e in range(rows[i], rows[i] + degree[i]):
                j = neighbors[e]
                if depth[j] > t:
                    depth[j] = t
                    order[count] = j
                    count += 1
                    prefetch(neighbors, rows[j])
                    prefetch(values, j)
        first, last = last, count
        ends[t] = count
    for k in range(first, last):
        i = order[k]
        for e in range(rows[i], rows[i] + degree[i]):
            prefetch(values, neighbors[e])


@compiled(cache=False)
def _dependence(walk: Any, refinement: Any) -> Any:
    """Return whether nodes start with their degree, and whether edge weights depend on degrees."""
    by_degree = scaled = False
    if refinement is not None:
        by_degree = refinement.by_degree
    if walk is not None:
        by_degree = walk.by_degree
        scaled = walk.scaled
    return by_degree, scaled


@compiled(cache=False)
def _values(walk: Any, refinement: Any) -> Any:
    """Return the values of the nodes."""
    if walk is not None:
        values = walk.values
    if refinement is not None:
        values = refinement.values
    return values


@compiled(cache=False)
def _find_touched(
    wiring: Any, touched: Any, by_degree: bool, scaled: bool, values: Any, edits: Any, row: int
) -> None:
    """List the touched and removed nodes of a row of edits that are already applied."""
    start = 0
    for k in range(2):
        kind, a, b = edits[row, k, 0], edits[row, k, 1], edits[row, k, 2]
        touched.removed[k] = a if kind == REMOVE_LEAF else -1
        start = _seed_start(wiring, touched, by_degree, start, kind, a, b)
    count = start
    for k in range(2):
        kind, a, b = edits[row, k, 0], edits[row, k, 1], edits[row, k, 2]
        count = _seed_rows(wiring, touched, scaled, count, kind, a, b)
    _spread_out(wiring, touched, start, count, values)


# Values and codes


# Fields of a record are assigned to names before a loop: numba counts references at every access to a field
# and every call with a record, which takes longer than the computation.


@compiled(cache=False)
def _walk_touched(wiring: Any, walk: Any, touched: Any, codes: Any) -> None:
    """Compute x'_i = spread_i * sum_j A_ij x_j + keep_i x_i and codes of the touched nodes, as in hashing."""
    if walk is not None:
        neighbors, bonds, degrees, labels = wiring.neighbors, wiring.bonds, wiring.degree, wiring.labels
        rows = wiring.first
        spread, keep, root, factors = walk.spread, walk.keep, walk.root, walk.factors
        start, offsets, begins, values = walk.start, walk.offsets, walk.begins, walk.values
        order, ends, by_degree = touched.order, touched.ends, walk.by_degree
        n_columns, n_hashes, is_plain, vanish = len(offsets), walk.n_hashes, walk.is_plain, walk.vanish
        for t in range(len(ends)):
            first = t * n_hashes  # columns of earlier iterations have made all their steps
            last = first + n_hashes if t == 0 else n_columns  # at the start, there are only codes to compute
            past, now = begins[max(t - 1, 0)] - first, begins[t] - first - n_hashes
            for k in range(ends[t]):
                i = order[k]
                degree = degrees[i]
                share, stay = spread[degree], keep[degree]
                vanished = vanish and t > 0 and degree == 0
                for column in range(first, last):
                    # the sum of a column stays in a register; unsigned indices do not count from the end
                    c = np.uint64(column)
                    at = np.uint64(0 if t < 2 else past + column)
                    total = 0.0
                    if t == 0:
                        total = start[degree if by_degree else labels[i], c]
                    else:
                        if share != 0.0:
                            for e in range(rows[i], rows[i] + degree):
                                j = np.uint64(neighbors[e])
                                if t == 1:
                                    value = start[degrees[j] if by_degree else labels[j], c]
                                else:
                                    value = values[j, at]
                                if is_plain:
                                    total = arrived(total, 1.0, 1.0, value)
                                else:
                                    weight, factor = (
                                        root[degree] * root[degrees[j]],
                                        factors[t - 1, bonds[e], c],
                                    )
                                    total = arrived(total, weight, factor, value)
                            total *= share
                        if stay != 0.0:
                            if t == 1:
                                value = start[degree if by_degree else labels[i], c]
                            else:
                                value = values[i, at]
                            total = stayed(total, stay, value)
                    if column < first + n_hashes:
                        codes[c, i] = NO_BIN if vanished else floor_code(total + offsets[c])
                    else:
                        values[i, np.uint64(now + column)] = total


@compiled(cache=False)
def _refine_touched(wiring: Any, refinement: Any, touched: Any, codes: Any) -> None:
    """Compute the Weisfeiler-Lehman words and codes of the touched nodes, as in hashing."""
    if refinement is not None:
        neighbors, bonds, degrees, labels = wiring.neighbors, wiring.bonds, wiring.degree, wiring.labels
        rows = wiring.first
        start, edge_keys, values = refinement.start, refinement.edge_keys, refinement.values
        order, ends, n_views = touched.order, touched.ends, len(refinement.start)
        by_degree, labeled = refinement.by_degree, refinement.labeled
        for t in range(len(ends)):
            for k in range(ends[t]):
                i = order[k]
                degree = degrees[i]
                for view in range(n_views):
                    now = np.uint64(t * n_views + view)
                    if t == 0:
                        word = start[view, degree if by_degree else labels[i]]
                    else:
                        total, past = np.uint64(0), now - np.uint64(n_views)
                        for e in range(rows[i], rows[i] + degree):
                            word = mix_other(values[np.uint64(neighbors[e]), past])
                            total += over_edge(word, edge_keys[bonds[e]]) if labeled else word
                        word = refined(values[i, past], total)
                    values[i, now] = word
                    codes[now, i] = counted_code(word)


@compiled(cache=False)
def _copy_walked(walk: Any, touched: Any, forth: bool) -> None:
    """Restore the values of the unedited graph or (``forth``) make the new values those of the graph."""
    if walk is not None:
        values, before, begins, order, ends = (
            walk.values,
            walk.before,
            walk.begins,
            touched.order,
            touched.ends,
        )
        for t in range(1, len(ends) - 1):
            for k in range(ends[t]):
                i = order[k]
                for c in range(begins[t], begins[t + 1]):
                    if forth:
                        before[i, c] = values[i, c]
                    else:
                        values[i, c] = before[i, c]


@compiled(cache=False)
def _copy_refined(refinement: Any, touched: Any, forth: bool) -> None:
    """Restore the words of the unedited graph or (``forth``) make the new words those of the graph."""
    if refinement is not None:
        values, before, order, ends = refinement.values, refinement.before, touched.order, touched.ends
        n_views = len(refinement.start)
        for t in range(len(ends)):
            for k in range(ends[t]):
                i = order[k]
                for c in range(t * n_views, (t + 1) * n_views):
                    if forth:
                        before[i, c] = values[i, c]
                    else:
                        values[i, c] = before[i, c]


@compiled(cache=False)
def _forget(wiring: Any, touched: Any) -> None:
    """Clear the depths of touched nodes."""
    order, depth, ends = touched.order, wiring.depth, touched.ends
    for k in range(ends[len(ends) - 1]):
        depth[order[k]] = UNTOUCHED


@compiled
def code_nodes(wiring: Any, walk: Any, refinement: Any, codes: Any, touched: Any) -> None:
    """Compute values and codes of the listed nodes; ``codes``, (rows, nodes), keeps them."""
    _walk_touched(wiring, walk, touched, codes)
    _refine_touched(wiring, refinement, touched, codes)
    _forget(wiring, touched)


@compiled
def code_edited(
    wiring: Any, walk: Any, refinement: Any, codes: Any, touched: Any, edits: Any, n_edits: int
) -> None:
    """Compute the values and codes that differ after edits, which are made already.

    The seeds are the ends of all edits. A value at step t differs only if the node's row differs, or the
    value of a neighbor at step t - 1, so that balls around the seeds in the edited graph hold all of them.
    Edits are taken in groups whose balls fit into the cache; where balls are large, and so may overlap, in
    larger groups. Later groups overwrite what earlier ones computed from old values.

    Parameters
    ----------
    wiring, touched : tuple
        Fields of a ``Wiring`` and a ``Touched``.
    walk, refinement : tuple or None
        Fields of a ``Walk`` or of a ``Refinement``; exactly one of the two is None.
    codes : ndarray of int64, (rows, nodes)
    edits : ndarray of int64, (m, 3)
        Kind and the two nodes of each edit; the first ``n_edits`` of them count.
    """
    _code_edited(
        Wiring(*wiring),
        None if walk is None else Walk(*walk),
        None if refinement is None else Refinement(*refinement),
        codes,
        Touched(*touched),
        edits,
        n_edits,
    )


@compiled(cache=False)
def _code_edited(
    wiring: Any, walk: Any, refinement: Any, codes: Any, touched: Any, edits: Any, n_edits: int
) -> None:
    by_degree, scaled = _dependence(walk, refinement)
    values, first_of_row, done, group = _values(walk, refinement), wiring.first, 0, GROUP
    while done < n_edits:
        end = min(done + group, n_edits)
        for k in range(end, min(end + GROUP, n_edits)):
            prefetch(first_of_row, edits[k, 1])
            prefetch(first_of_row, edits[k, 2])
        _code_group(wiring, walk, refinement, codes, touched, edits, done, end, by_degree, scaled, values)
        if touched.ends[len(touched.ends) - 1] > NEAR:
            group *= GROUP
        done = end


@compiled(cache=False)
def _code_group(
    wiring: Any, walk: Any, refinement: Any, codes: Any, touched: Any, edits: Any, first: int, last: int,
    by_degree: bool, scaled: bool, values: Any,
) -> None:  # fmt: skip
    start = 0
    for k in range(first, last):
        start = _seed_start(wiring, touched, by_degree, start, edits[k, 0], edits[k, 1], edits[k, 2])
    count = start
    for k in range(first, last):
        count = _seed_rows(wiring, touched, scaled, count, edits[k, 0], edits[k, 1], edits[k, 2])
    _spread_out(wiring, touched, start, count, values)
    _walk_touched(wiring, walk, touched, codes)
    _refine_touched(wiring, refinement, touched, codes)
    _forget(wiring, touched)


@compiled
def settle_nodes(
    wiring: Any, walk: Any, refinement: Any, coding: Any, touched: Any, bins: Any, table: Any
) -> None:
    """Compute values, codes and counts of the listed nodes, and make them those of the unedited graph."""
    _walk_touched(wiring, walk, touched, coding.new_codes)
    _refine_touched(wiring, refinement, touched, coding.new_codes)
    settle_counts(coding, touched.order, touched.ends, bins, table)
    _copy_walked(walk, touched, True)
    _copy_refined(refinement, touched, True)
    _forget(wiring, touched)


@compiled
def follow_nodes(
    wiring: Any, walk: Any, refinement: Any, coding: Any, touched: Any, bins: Any, table: Any, edits: Any,
    counted: bool,
    changes: Any,
) -> None:  # fmt: skip
    """List the changes of counts by each row of edits; graph, values and bins are restored.

    Parameters
    ----------
    wiring : Wiring
    walk, refinement : Walk or None, Refinement or None
        Exactly one of the two is None.
    coding : Coding
    touched : Touched
    bins : Bins
    table : BinTable
    edits : ndarray of int64, (m, 2, 5)
        All of them must be possible.
    counted : bool
        See ``change_counts``.
    changes : Changes
        Output.
    """
    by_degree, scaled = _dependence(walk, refinement)
    ptr, rows, values = changes.ptr, changes.rows, _values(walk, refinement)
    for row in range(len(edits)):
        bins.stamp[0] += 1
        apply_edits(wiring, edits, row, touched.before)
        _find_touched(wiring, touched, by_degree, scaled, values, edits, row)
        _walk_touched(wiring, walk, touched, coding.new_codes)
        _refine_touched(wiring, refinement, touched, coding.new_codes)
        ptr[row + 1] = change_counts(
            coding,
            coding.salts,
            touched.order,
            touched.ends,
            touched.removed,
            bins,
            table,
            counted,
            rows,
            ptr[row],
        )
        _copy_walked(walk, touched, False)
        _copy_refined(refinement, touched, False)
        _forget(wiring, touched)
        take_back_edits(wiring, edits, row, touched.before)
