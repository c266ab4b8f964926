"""Compiled loops of subgraph matching: cliques of the product graph, by bitsets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled

_ONE = np.uint64(1)
_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)


# Sets of numbers are bitsets: number q is bit q & 63 of word q >> 6. Number 70 is bit 6 of word 1.


class Side(NamedTuple):
    """Graphs on one side of a tile: graph i has the nodes ptr[i] .. ptr[i + 1] - 1.

    If it has n nodes, ``edges[pair_ptr[i] + u * n + v]`` is a word that tells what joins its nodes u and v, 0
    for nothing.
    """

    ptr: Any
    pair_ptr: Any
    edges: Any


class Product(NamedTuple):
    """Weighted product graph of two graphs (Kriege and Mutzel 2012, Definition 5).

    Its node p stands for the pair (``first[p]``, ``second[p]``) with the node kernel ``values[p]``, and the
    pairs of node u of the first graph are those from ``starts[u]`` to ``starts[u + 1]``. ``joined[p]`` and
    ``apart[p]`` are sets of pairs. ``gaps`` is scratch, see :func:`_gaps_of`.
    """

    first: Any
    second: Any
    values: Any
    starts: Any
    gaps: Any
    joined: Any
    apart: Any


class Cliques(NamedTuple):
    """The clique that is held, by its number of nodes s: see :func:`_clique_sums`.

    ``near[s]`` and ``far[s]`` are sets of nodes, ``worth[s]`` is the product of values, ``word_of[s]`` the
    first word of ``near[s]`` that may hold a node that was not tried; ``totals[s - 1]`` is the result.
    """

    near: Any
    far: Any
    worth: Any
    word_of: Any
    totals: Any


@compiled(cache=False)
def _count_bits(x: Any) -> Any:
    """Count the ones of a word: sums in pairs of bits, in fours, in bytes, then all bytes by a product."""
    x = x - ((x >> _ONE) & _PAIRS)
    x = (x & _FOURS) + ((x >> np.uint64(2)) & _FOURS)
    x = (x + (x >> np.uint64(4))) & _BYTES
    return np.int64((x * _SUM) >> np.uint64(56))


@compiled(cache=False)
def _lowest_bit(x: Any) -> Any:
    """Number of the lowest one: x & -x keeps only that bit, and less 1 it has as many ones as its number."""
    return _count_bits((x & (~x + _ONE)) - _ONE)


@compiled(cache=False)
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
                word &= word - _ONE  # the lowest one is taken out
    return total


@compiled(cache=False)
def _product_nodes(nodes: Any, a: int, n: int, b: int, m: int, product: Any) -> int:
    """Pairs (u, x) with k(u, x) != 0, and where the pairs of each u start; return their number."""
    # Pairs are numbered by u, then by x: those of one u are side by side, as _gaps_of needs.
    size = 0
    for u in range(n):
        product.starts[u] = size
        for x in range(m):
            if nodes[a + u, b + x] != 0.0:
                product.first[size], product.second[size] = u, x
                product.values[size] = nodes[a + u, b + x]
                size += 1
    product.starts[n] = size
    return size


@compiled(cache=False)
def _gaps_of(n: int, edges2: Any, row2: int, m: int, product: Any) -> None:
    """For each v and x, the set of pairs (v, y) without an edge between x and y.

    The pairs of v lie side by side, so row v * m + x of ``gaps`` only holds the words from that of v's first
    pair on: pairs 60 .. 66 of v are bits 60 .. 63 of its word 0 and bits 0 .. 2 of its word 1.
    """
    starts, second, gaps = product.starts, product.second, product.gaps
    for v in range(n):
        begin = starts[v] >> 6
        for x in range(m):
            for w in range(gaps.shape[1]):
                gaps[v * m + x, w] = 0
            for q in range(starts[v], starts[v + 1]):
                y = second[q]
                if x != y and edges2[row2 + x * m + y] == 0:
                    gaps[v * m + x, (q >> 6) - begin] |= _ONE << np.uint64(q & 63)


@compiled(cache=False)
def _product_edges(
    size: int, n: int, edges: Any, row: int, m: int, edges2: Any, row2: int, product: Any
) -> None:
    """For each pair, the set of pairs that are ``joined`` to it and the set of those that are ``apart``.

    Two pairs are joined if both graphs have an edge between them, of the same kind, and apart if neither has
    one. Two pairs with a node in common are neither.
    """
    _gaps_of(n, edges2, row2, m, product)
    first, second, starts = product.first, product.second, product.starts
    gaps, joined, apart = product.gaps, product.joined, product.apart
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


@compiled(cache=False)
def _begin_clique(i: int, n_words: int, connected: bool, product: Any, cliques: Any) -> None:
    """Hold the clique of node i alone: only later nodes may join, so each clique has one first node."""
    near, far = cliques.near, cliques.far
    for w in range(n_words):
        # The set of nodes after i: all bits of later words, none of earlier ones, and of i's own word those
        # above its bit. A shift by 64 is undefined, hence the test for bit 63.
        later = ~np.uint64(0) if w > i >> 6 else np.uint64(0)
        if w == i >> 6 and i & 63 < 63:
            later = ~np.uint64(0) << np.uint64((i & 63) + 1)
        near[1, w] = product.joined[i, w] & later
        far[1, w] = product.apart[i, w] & later
        if not connected:
            near[1, w] |= far[1, w]
            far[1, w] = 0
    cliques.worth[1], cliques.word_of[1] = product.values[i], 0


@compiled(cache=False)
def _clique_sums(size: int, k: int, connected: bool, all_one: bool, product: Any, cliques: Any) -> None:
    """Add to totals[s - 1] the products of values over all cliques of s nodes, s = 1..k (Algorithm 1).

    At depth s a clique of s nodes is held; ``near[s]`` are nodes that may join it next and ``far[s]`` those
    that may only once another has joined that has an edge to them (so that matched subgraphs are connected).
    A node leaves ``near`` when it is tried: each clique is met once. The last node is not tried but summed.
    """
    values, joined, apart = product.values, product.joined, product.apart
    near, far, worth, word_of, totals = cliques
    n_words = (size + 63) // 64
    for i in range(size):
        totals[0] += values[i]
        if k == 1:
            continue
        _begin_clique(i, n_words, connected, product, cliques)
        depth = 1
        while depth > 0:
            if depth == k - 1:  # every node of ``near`` makes a clique of k: no need to hold it
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
            # Who may join next: of those near, all but j's own pairs; of those far, who has an edge to j.
            for w in range(n_words):
                edge, gap = joined[j, w], apart[j, w]
                near[depth + 1, w] = (near[depth, w] & (edge | gap)) | (far[depth, w] & edge)
                far[depth + 1, w] = far[depth, w] & gap
            depth += 1
            word_of[depth] = 0


@compiled(cache=False)
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


@compiled
def match_subgraphs(
    nodes: Any, left: Any, right: Any, k: int, connected: bool, all_one: bool, out: Any
) -> None:
    """Sums over common subgraphs with 1..k nodes, out[size - 1, i, j], for all pairs of graphs of a tile.

    ``nodes`` is the node kernel (``all_one``: of zeros and ones); ``left`` and ``right`` are a :class:`Side`.
    """
    room, most, most2 = _largest(nodes, left.ptr, right.ptr)
    n_words = (room + 63) // 64
    product = Product(
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room),
        np.empty(most + 1, dtype=np.int64),
        np.empty((most * most2, (most2 + 63) // 64 + 1), dtype=np.uint64),
        np.empty((room, n_words), dtype=np.uint64),
        np.empty((room, n_words), dtype=np.uint64),
    )
    cliques = Cliques(
        np.empty((k + 1, n_words), dtype=np.uint64),
        np.empty((k + 1, n_words), dtype=np.uint64),
        np.empty(k + 1),
        np.empty(k + 1, dtype=np.int64),
        np.empty(k),
    )
    for i in range(len(left.ptr) - 1):
        n = left.ptr[i + 1] - left.ptr[i]
        for j in range(len(right.ptr) - 1):
            m = right.ptr[j + 1] - right.ptr[j]
            size = _product_nodes(nodes, left.ptr[i], n, right.ptr[j], m, product)
            if k > 1:
                rows = left.pair_ptr[i], right.pair_ptr[j]
                _product_edges(size, n, left.edges, rows[0], m, right.edges, rows[1], product)
            cliques.totals[:] = 0.0
            _clique_sums(size, k, connected, all_one, product, cliques)
            for s in range(k):
                out[s, i, j] = cliques.totals[s]
