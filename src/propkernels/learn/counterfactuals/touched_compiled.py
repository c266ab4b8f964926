"""Compiled loops over the nodes that an edit touches: which they are, and what they know after each step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels.hashing.codes import NO_BIN
from propkernels.hashing.compiled import _code as floor_code
from propkernels.kernels.weisfeiler_lehman import ANY_OTHER
from propkernels.learn.counterfactuals.edits_compiled import ADD_LEAF, NOTHING, RELABEL
from propkernels.utils.jit import compiled
from propkernels.utils.mixing import mix_other, mix_word


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
def seed_start(wiring: Any, state: Any, by_degree: bool, count: int, kind: int, a: int, b: int) -> Any:
    """List the nodes whose start is another one."""
    if kind == RELABEL or (by_degree and kind != NOTHING):
        count = _touch(wiring, state, count, a, 0)
    if kind == ADD_LEAF or (by_degree and kind != NOTHING and kind != RELABEL):
        count = _touch(wiring, state, count, b, 0)
    return count


@compiled(cache=False)
def seed_rows(wiring: Any, state: Any, scaled: bool, count: int, kind: int, a: int, b: int) -> Any:
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
def spread_out(wiring: Any, state: Any, start: int, count: int) -> None:
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


@compiled(cache=False)
def dependence(walk: Any, refinement: Any) -> Any:
    """Whether nodes start with their degree, and whether edges are weighted by the degrees of their ends."""
    by_degree = scaled = False
    if refinement is not None:
        by_degree = refinement.by_degree
    if walk is not None:
        by_degree = walk.by_degree
        scaled = walk.scaled
    return by_degree, scaled


@compiled(cache=False)
def is_joined(wiring: Any, state: Any, a: int, b: int) -> Any:
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


# values and codes


# Arrays of a record are given names before a loop: numba counts references whenever a field is asked for, or
# a record handed to a function, and that takes longer than all that is computed here.


@compiled(cache=False)
def walk_touched(wiring: Any, walk: Any, state: Any) -> None:
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
def refine_touched(wiring: Any, refinement: Any, state: Any) -> None:
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
def forget(state: Any) -> None:
    """Put the values of the graph as it is back, and take all nodes off the list."""
    order, depth, ends = state.order, state.depth, state.ends
    _restore_walked(state.walked, state.walked_before, order, ends, len(state.codes) // len(ends))
    _restore_refined(state.refined, state.refined_before, order, ends)
    for k in range(ends[len(ends) - 1]):
        depth[order[k]] = len(ends)
