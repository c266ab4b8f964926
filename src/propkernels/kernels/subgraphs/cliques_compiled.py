"""Compiled loops of subgraph matching: cliques of the product graph, by bitsets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_ONE = np.uint64(1)
_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)


@njit(nogil=True)
def _count_bits(x: Any) -> Any:
    x = x - ((x >> _ONE) & _PAIRS)
    x = (x & _FOURS) + ((x >> np.uint64(2)) & _FOURS)
    x = (x + (x >> np.uint64(4))) & _BYTES
    return np.int64((x * _SUM) >> np.uint64(56))


@njit(nogil=True)
def _lowest_bit(x: Any) -> Any:
    return _count_bits((x & (~x + _ONE)) - _ONE)


@njit(nogil=True)
def _sum_of_set(words: Any, depth: int, n_words: int, values: Any, all_one: bool) -> float:
    """Sum of the values of a set's members."""
    total = 0.0
    for w in range(n_words):
        word = words[depth, w]
        if all_one:
            total += _count_bits(word)
        else:
            while word != 0:
                total += values[64 * w + _lowest_bit(word)]
                word &= word - _ONE
    return total


@njit(nogil=True)
def _product_nodes(
    nodes: Any, a: int, n: int, b: int, m: int, first: Any, second: Any, values: Any, starts: Any
) -> int:
    """Pairs (u, x) with k(u, x) != 0, and where the pairs of each u start; return their number."""
    size = 0
    for u in range(n):
        starts[u] = size
        for x in range(m):
            if nodes[a + u, b + x] != 0.0:
                first[size], second[size], values[size] = u, x, nodes[a + u, b + x]
                size += 1
    starts[n] = size
    return size


@njit(nogil=True)
def _gaps_of(starts: Any, second: Any, n: int, edges2: Any, row2: int, m: int, gaps: Any) -> None:
    """For each v and x, the set of pairs (v, y) without an edge between x and y: words from v's first on."""
    for v in range(n):
        begin = starts[v] >> 6
        for x in range(m):
            for w in range(gaps.shape[1]):
                gaps[v * m + x, w] = 0
            for q in range(starts[v], starts[v + 1]):
                y = second[q]
                if x != y and edges2[row2 + x * m + y] == 0:
                    gaps[v * m + x, (q >> 6) - begin] |= _ONE << np.uint64(q & 63)


@njit(nogil=True)
def _product_edges(
    size: int,
    first: Any,
    second: Any,
    starts: Any,
    n: int,
    edges: Any,
    row: int,
    m: int,
    edges2: Any,
    row2: int,
    gaps: Any,
    joined: Any,
    apart: Any,
) -> None:
    """Weighted product graph (Kriege and Mutzel, Definition 5), as two sets for each of its nodes.

    Two pairs are ``joined`` if both graphs have an edge between them, of the same kind, and ``apart`` if
    neither has one.
    """
    _gaps_of(starts, second, n, edges2, row2, m, gaps)
    n_words = (size + 63) // 64
    for p in range(size):
        for w in range(n_words):
            joined[p, w] = 0
            apart[p, w] = 0
        u, x = first[p], second[p]
        for v in range(n):
            if v == u or starts[v] == starts[v + 1]:
                continue
            kind = edges[row + u * n + v]
            if kind == 0:
                begin = starts[v] >> 6
                for w in range(begin, ((starts[v + 1] - 1) >> 6) + 1):
                    apart[p, w] |= gaps[v * m + x, w - begin]
            else:
                for q in range(starts[v], starts[v + 1]):
                    if second[q] != x and edges2[row2 + x * m + second[q]] == kind:
                        joined[p, q >> 6] |= _ONE << np.uint64(q & 63)


@njit(nogil=True)
def _clique_sums(
    values: Any,
    joined: Any,
    apart: Any,
    size: int,
    k: int,
    connected: bool,
    all_one: bool,
    near: Any,
    far: Any,
    worth: Any,
    word_of: Any,
    totals: Any,
) -> None:
    """Add to totals[s - 1] the products of values over all cliques of s nodes, s = 1..k (Algorithm 1).

    At depth s a clique of s nodes is held; ``near[s]`` are nodes that may join it next and ``far[s]`` those
    that may only once another has joined that has an edge to them (so that matched subgraphs are connected).
    A node leaves ``near`` when it is tried: each clique is met once. The last node is not tried but summed.
    """
    n_words = (size + 63) // 64
    for i in range(size):
        totals[0] += values[i]
        if k == 1:
            continue
        for w in range(n_words):
            later = ~np.uint64(0) if w > i >> 6 else np.uint64(0)
            if w == i >> 6 and i & 63 < 63:
                later = ~np.uint64(0) << np.uint64((i & 63) + 1)
            near[1, w] = joined[i, w] & later
            far[1, w] = apart[i, w] & later
            if not connected:
                near[1, w] |= far[1, w]
                far[1, w] = 0
        worth[1], word_of[1] = values[i], 0
        depth = 1
        while depth > 0:
            if depth == k - 1:
                totals[depth] += worth[depth] * _sum_of_set(near, depth, n_words, values, all_one)
                depth -= 1
                continue
            w = word_of[depth]
            while w < n_words and near[depth, w] == 0:
                w += 1
            word_of[depth] = w
            if w == n_words:
                depth -= 1
                continue
            word = near[depth, w]
            j = 64 * w + _lowest_bit(word)
            near[depth, w] = word & (word - _ONE)
            worth[depth + 1] = worth[depth] * values[j]
            totals[depth] += worth[depth + 1]
            for w in range(n_words):
                edge, gap = joined[j, w], apart[j, w]
                near[depth + 1, w] = (near[depth, w] & (edge | gap)) | (far[depth, w] & edge)
                far[depth + 1, w] = far[depth, w] & gap
            depth += 1
            word_of[depth] = 0


@njit(nogil=True)
def _largest(nodes: Any, ptr: Any, ptr2: Any) -> Any:
    """Most nodes of a product graph, of a graph on the left, and of one on the right."""
    room, most, most2 = 1, 1, 1
    for i in range(len(ptr) - 1):
        most = max(most, ptr[i + 1] - ptr[i])
        for j in range(len(ptr2) - 1):
            most2 = max(most2, ptr2[j + 1] - ptr2[j])
            size = 0
            for u in range(ptr[i], ptr[i + 1]):
                for x in range(ptr2[j], ptr2[j + 1]):
                    size += nodes[u, x] != 0.0
            room = max(room, size)
    return room, most, most2


@njit(cache=True, nogil=True)
def match_subgraphs(
    nodes: Any,
    ptr: Any,
    pair_ptr: Any,
    edges: Any,
    ptr2: Any,
    pair_ptr2: Any,
    edges2: Any,
    k: int,
    connected: bool,
    all_one: bool,
    out: Any,
) -> None:
    """Sums over common subgraphs with 1..k nodes, out[size - 1, i, j], for all pairs of graphs of a tile.

    ``nodes`` is the node kernel; ``edges`` hold for each ordered pair of nodes a word that tells what
    joins them, 0 for nothing.
    """
    room, most, most2 = _largest(nodes, ptr, ptr2)
    n_words = (room + 63) // 64
    first, second = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    values, starts = np.empty(room), np.empty(most + 1, dtype=np.int64)
    gaps = np.empty((most * most2, (most2 + 63) // 64 + 1), dtype=np.uint64)
    joined, apart = np.empty((room, n_words), dtype=np.uint64), np.empty((room, n_words), dtype=np.uint64)
    near, far = np.empty((k + 1, n_words), dtype=np.uint64), np.empty((k + 1, n_words), dtype=np.uint64)
    worth, word_of, totals = np.empty(k + 1), np.empty(k + 1, dtype=np.int64), np.empty(k)
    for i in range(len(ptr) - 1):
        n = ptr[i + 1] - ptr[i]
        for j in range(len(ptr2) - 1):
            m = ptr2[j + 1] - ptr2[j]
            size = _product_nodes(nodes, ptr[i], n, ptr2[j], m, first, second, values, starts)
            if k > 1:
                _product_edges(
                    size,
                    first,
                    second,
                    starts,
                    n,
                    edges,
                    pair_ptr[i],
                    m,
                    edges2,
                    pair_ptr2[j],
                    gaps,
                    joined,
                    apart,
                )
            totals[:] = 0.0
            _clique_sums(
                values, joined, apart, size, k, connected, all_one, near, far, worth, word_of, totals
            )
            for s in range(k):
                out[s, i, j] = totals[s]
