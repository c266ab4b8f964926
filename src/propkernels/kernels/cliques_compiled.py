"""Compiled loops of subgraph matching: cliques of the product graph, with bitsets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.jit import compiled

_ONE = np.uint64(1)
_PAIRS = np.uint64(0x5555555555555555)
_FOURS = np.uint64(0x3333333333333333)
_BYTES = np.uint64(0x0F0F0F0F0F0F0F0F)
_SUM = np.uint64(0x0101010101010101)


# Sets of integers are bitsets: q is bit q & 63 of word q >> 6, so that 70 is bit 6 of word 1.


class Side(NamedTuple):
    """Graphs on one side of a tile: graph i has the nodes ptr[i] .. ptr[i + 1] - 1.

    In a graph with n nodes, ``edges[pair_ptr[i] + u * n + v]`` is a word for the edges between its nodes u
    and v, 0 without edges.
    """

    ptr: Any
    pair_ptr: Any
    edges: Any


class Product(NamedTuple):
    """Weighted product graph of two graphs (Kriege and Mutzel 2012, Definition 5).

    Node p of the product graph is the pair (``first[p]``, ``second[p]``) with node kernel ``values[p]``. The
    pairs of node u of the first graph are numbered ``starts[u]`` to ``starts[u + 1] - 1``. ``joined[p]`` and
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
    """Stack of the current clique, by number of nodes s; see :func:`_clique_sums`.

    ``near[s]`` and ``far[s]`` are sets of nodes, ``worth[s]`` is the product of values, ``word_of[s]`` the
    first word of ``near[s]`` that may hold an untried node; ``totals[s - 1]`` is the result.
    """

    near: Any
    far: Any
    worth: Any
    word_of: Any
    totals: Any


@compiled(cache=False)
def _count_bits(x: Any) -> Any:
    """Return the number of ones of a word: sums of 2, 4 and 8 bits, then of all bytes by a product."""
    x = x - ((x >> _ONE) & _PAIRS)
    x = (x & _FOURS) + ((x >> np.uint64(2)) & _FOURS)
    x = (x + (x >> np.uint64(4))) & _BYTES
    return np.int64((x * _SUM) >> np.uint64(56))


@compiled(cache=False)
def _lowest_bit(x: Any) -> Any:
    """Return the position of the lowest one: x & -x isolates the bit, and subtracting 1 sets all below it."""
    return _count_bits((x & (~x + _ONE)) - _ONE)


@compiled(cache=False)
def _sum_of_set(words: Any, depth: int, n_words: int, values: Any, all_one: bool) -> float:
    """Return the sum of the values of the members of the set ``words[depth]``; ``all_one``: its size."""
    total = 0.0
    for w in range(n_words):
        word = words[depth, w]
        if all_one:
            total += _count_bits(word)
        else:
            while word != 0:
                total += values[64 * w + _lowest_bit(word)]
                word &= word - _ONE  # clear the lowest one
    return total


@compiled(cache=False)
def _product_nodes(nodes: Any, a: int, n: int, b: int, m: int, product: Any) -> int:
    """Write the pairs (u, x) with k(u, x) != 0 and the first pair of each u; return the number of pairs.

    The graphs have n nodes from row a of ``nodes`` and m nodes from column b.
    """
    # Pairs are ordered by u, then x, so that the pairs of one u are contiguous, as _gaps_of needs.
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
    """Write, for each v and x, the set of pairs (v, y) without an edge between x and y.

    The pairs of v are contiguous, so row v * m + x of ``gaps`` starts with the word of the first pair of v:
    pairs 60 .. 66 of v are bits 60 .. 63 of word 0 and bits 0 .. 2 of word 1.
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
    """Write, for each pair, the sets of pairs that are ``joined`` to it and ``apart`` from it.

    Two pairs are joined if both graphs have an edge of the same kind between them, and apart if neither graph
    has an edge. Two pairs with a common node are neither.
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
    """Start the clique {i}; only nodes after i may join, so that each clique is met once."""
    near, far = cliques.near, cliques.far
    for w in range(n_words):
        # Nodes after i: all bits of later words, no bits of earlier words, and the bits above i in its word.
        # A shift by 64 is undefined, hence the test for bit 63.
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

    At depth s the current clique has s nodes; ``near[s]`` are the nodes that may join next, and ``far[s]``
    those that may join only after a node with an edge to them (so that matched subgraphs are connected). A
    node leaves ``near`` when it is tried, so that each clique is met once. The last level is summed without
    recursion.
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
            if depth == k - 1:  # every node of ``near`` completes a clique of k nodes
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
            # Next candidates: near nodes compatible with j, and far nodes with an edge to j.
            for w in range(n_words):
                edge, gap = joined[j, w], apart[j, w]
                near[depth + 1, w] = (near[depth, w] & (edge | gap)) | (far[depth, w] & edge)
                far[depth + 1, w] = far[depth, w] & gap
            depth += 1
            word_of[depth] = 0


@compiled(cache=False)
def _largest(nodes: Any, ptr: Any, ptr2: Any) -> Any:
    """Return the largest numbers of nodes of product graphs, left graphs and right graphs."""
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
    """Write sums over common subgraphs with 1..k nodes for all pairs of graphs of a tile.

    Parameters
    ----------
    nodes : ndarray of float64, (left nodes, right nodes)
        Node kernel.
    left, right : Side
        Graphs by row and by column.
    k : int
        Largest number of nodes of a subgraph.
    connected : bool
        Whether only connected subgraphs are matched.
    all_one : bool
        Whether the node kernel has values 0 and 1 only.
    out : ndarray of float64, (k, left graphs, right graphs)
        Result; layer s holds subgraphs with s + 1 nodes.
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
