"""Compiled loops over the nodes that an edit touches: list them, and update their values and codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_other
from propkernels.hashing.codes import NO_BIN
from propkernels.hashing.codes_compiled import arrived, counted_code, floor_code, over_edge, refined, stayed
from propkernels.tracking.bins_compiled import change_counts, settle_counts
from propkernels.tracking.wiring_compiled import (
    ADD_LEAF,
    NOTHING,
    RELABEL,
    REMOVE_LEAF,
    apply_edits,
    take_back_edits,
)


class Walk(NamedTuple):
    """Diffusion of projected labels, one column per stream; ``spread``, ``keep`` and ``root`` are by degree.

    ``start[row]`` holds the projections x0 of a label or, with ``by_degree``, of a degree. ``spread`` is the
    weight of the neighbors' sum and ``keep`` that of the node itself. With ``scaled`` (symmetric
    normalization), the weight of an edge is the product of ``root`` of its ends.
    ``factors[step - 1, bond, column]`` are the factors of edge labels; ``is_plain``: all weights and factors
    are 1. ``vanish``: nodes without edges count at t = 0 only.

    ``values[t, node, column]`` are the values after t steps; an edit overwrites those of touched nodes, which
    are then restored from ``before``, the values of the unedited graph.
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
    values: Any
    before: Any


class Refinement(NamedTuple):
    """Weisfeiler-Lehman refinements of several labels (views) of each node.

    ``start[k, row]`` is the key of label k in a row of labels or, with ``by_degree``, of a degree;
    ``edge_keys`` are the keys of edge labels, if edges are ``labeled``. ``values[k, t, node]`` are the words
    after t steps; an edit overwrites those of touched nodes, which are then restored from ``before``.
    """

    start: Any
    by_degree: bool
    edge_keys: Any
    labeled: bool
    values: Any
    before: Any


class Touched(NamedTuple):
    """Nodes that an edit touches.

    ``order`` lists them, nearest first; the first ``ends[t]`` of them may differ after t steps, and ``depth``
    is the first such step of each node. Between edits all nodes have the depth ``len(ends)``. ``removed``,
    (2,), are removed nodes (-1: none), and ``before``, (2,), holds the labels needed to undo the edits.
    """

    order: Any
    depth: Any
    ends: Any
    removed: Any
    before: Any


# Nodes that an edit touches


@compiled(cache=False)
def _touch(wiring: Any, touched: Any, count: int, i: int, depth: int) -> Any:
    """List node i if it exists and is not listed yet; return the number of listed nodes."""
    if wiring.alive[i] and touched.depth[i] > depth and depth < len(touched.ends):
        touched.depth[i] = depth
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
def _spread_out(wiring: Any, touched: Any, start: int, count: int) -> None:
    """List the nodes reached in t steps, and fill ``ends``; the first ``start`` nodes have depth 0."""
    neighbors, rows, degree = wiring.neighbors, wiring.first, wiring.degree
    order, depth, ends = touched.order, touched.depth, touched.ends
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
        first, last = last, count
        ends[t] = count


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
def _find_touched(wiring: Any, touched: Any, by_degree: bool, scaled: bool, edits: Any, row: int) -> None:
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
    _spread_out(wiring, touched, start, count)


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
        start, offsets, values = walk.start, walk.offsets, walk.values
        order, ends = touched.order, touched.ends
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
                            for e in range(rows[i], rows[i] + degree):
                                j = np.uint64(neighbors[e])
                                if walk.is_plain:
                                    total = arrived(total, 1.0, 1.0, values[t - 1, j, c])
                                else:
                                    weight, factor = (
                                        root[degree] * root[degrees[j]],
                                        factors[t - 1, bonds[e], c],
                                    )
                                    total = arrived(total, weight, factor, values[t - 1, j, c])
                            total *= share
                        if stay != 0.0:
                            total = stayed(total, stay, values[t - 1, i, c])
                        values[t, i, c] = total
                    if column < first + n_hashes:
                        codes[c, i] = NO_BIN if vanished else floor_code(total + offsets[c])


@compiled(cache=False)
def _refine_touched(wiring: Any, refinement: Any, touched: Any, codes: Any) -> None:
    """Compute the Weisfeiler-Lehman words and codes of the touched nodes, as in hashing."""
    if refinement is not None:
        neighbors, bonds, degrees, labels = wiring.neighbors, wiring.bonds, wiring.degree, wiring.labels
        rows = wiring.first
        start, edge_keys, values = refinement.start, refinement.edge_keys, refinement.values
        order, ends, n_views = touched.order, touched.ends, len(refinement.start)
        for t in range(len(ends)):
            for k in range(ends[t]):
                i = order[k]
                for view in range(n_views):
                    if t == 0:
                        values[view, 0, i] = start[view, degrees[i] if refinement.by_degree else labels[i]]
                    else:
                        total = np.uint64(0)
                        for e in range(rows[i], rows[i] + degrees[i]):
                            word = mix_other(values[view, t - 1, neighbors[e]])
                            total += over_edge(word, edge_keys[bonds[e]]) if refinement.labeled else word
                        values[view, t, i] = refined(values[view, t - 1, i], total)
                    codes[t * n_views + view, i] = counted_code(values[view, t, i])


@compiled(cache=False)
def _copy_walked(walk: Any, touched: Any, forth: bool) -> None:
    """Restore the values of the unedited graph or (``forth``) make the new values those of the graph."""
    if walk is not None:
        values, before, order, ends = walk.values, walk.before, touched.order, touched.ends
        for t in range(len(ends)):
            for k in range(ends[t]):
                i = order[k]
                for c in range(t * walk.n_hashes, values.shape[2]):
                    if forth:
                        before[t, i, c] = values[t, i, c]
                    else:
                        values[t, i, c] = before[t, i, c]


@compiled(cache=False)
def _copy_refined(refinement: Any, touched: Any, forth: bool) -> None:
    """Restore the words of the unedited graph or (``forth``) make the new words those of the graph."""
    if refinement is not None:
        values, before, order, ends = refinement.values, refinement.before, touched.order, touched.ends
        for view in range(len(values)):
            for t in range(len(ends)):
                for k in range(ends[t]):
                    i = order[k]
                    if forth:
                        before[view, t, i] = values[view, t, i]
                    else:
                        values[view, t, i] = before[view, t, i]


@compiled(cache=False)
def _forget(touched: Any) -> None:
    """Clear the list of touched nodes."""
    order, depth, ends = touched.order, touched.depth, touched.ends
    for k in range(ends[len(ends) - 1]):
        depth[order[k]] = len(ends)


@compiled
def code_nodes(wiring: Any, walk: Any, refinement: Any, codes: Any, touched: Any) -> None:
    """Compute values and codes of the listed nodes; ``codes``, (rows, nodes), keeps them."""
    _walk_touched(wiring, walk, touched, codes)
    _refine_touched(wiring, refinement, touched, codes)
    _forget(touched)


@compiled
def code_edited(wiring: Any, walk: Any, refinement: Any, codes: Any, touched: Any, edits: Any) -> None:
    """Compute the values and codes that differ after edits, which are made already.

    The seeds are the ends of all edits. A value at step t differs only if the node's row differs, or the
    value of a neighbor at step t - 1, so that balls around the seeds in the edited graph hold all of them.

    Parameters
    ----------
    wiring : Wiring
    walk, refinement : Walk or None, Refinement or None
        Exactly one of the two is None.
    codes : ndarray of int64, (rows, nodes)
    touched : Touched
    edits : ndarray of int64, (m, 3)
        Kind and the two nodes of each edit.
    """
    by_degree, scaled = _dependence(walk, refinement)
    start = 0
    for k in range(len(edits)):
        start = _seed_start(wiring, touched, by_degree, start, edits[k, 0], edits[k, 1], edits[k, 2])
    count = start
    for k in range(len(edits)):
        count = _seed_rows(wiring, touched, scaled, count, edits[k, 0], edits[k, 1], edits[k, 2])
    _spread_out(wiring, touched, start, count)
    code_nodes(wiring, walk, refinement, codes, touched)


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
    _forget(touched)


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
    ptr, rows = changes.ptr, changes.rows
    for row in range(len(edits)):
        bins.stamp[0] += 1
        apply_edits(wiring, edits, row, touched.before)
        _find_touched(wiring, touched, by_degree, scaled, edits, row)
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
        _forget(touched)
        take_back_edits(wiring, edits, row, touched.before)
