"""Compiled loops over shortest paths: distances, and codes of pairs of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_other, mix_word

_HALF = np.int64(2**15)
_KEPT = np.int64(-(2**16))
_SAME = 1e-10  # relative difference below which lengths are equal up to rounding


@compiled
def hop_distances(
    indptr: Any, indices: Any, graph_ptr: Any, pair_ptr: Any, begin: int, end: int, distances: Any
) -> None:
    """Write the number of edges from u to v to ``distances[pair_ptr[graph] + u * n + v]``; inf: no path.

    Parameters
    ----------
    indptr, indices : ndarray of int32 or int64
        CSR structure of the adjacency.
    graph_ptr, pair_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' nodes, and of their pairs.
    begin, end : int
        Start nodes u: begin .. end - 1, numbered through the database.
    distances : ndarray of float64, (pairs,)
        Output.
    """
    # Breadth-first search: queue[head:tail] are reached nodes that are not expanded yet, by distance.
    largest = 0
    for graph in range(len(graph_ptr) - 1):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    queue = np.empty(largest, dtype=np.int64)
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        for source in range(max(begin - first, 0), min(end - first, n)):
            row = pair_ptr[graph] + source * n
            for v in range(n):
                distances[row + v] = np.inf
            distances[row + source] = 0.0
            queue[0] = source
            head, tail = 0, 1
            while head < tail:
                u = queue[head]
                head += 1
                further = distances[row + u] + 1.0
                for entry in range(indptr[first + u], indptr[first + u + 1]):
                    v = indices[entry] - first
                    if distances[row + v] == np.inf:
                        distances[row + v] = further
                        queue[tail] = v
                        tail += 1


@compiled(cache=False)
def _push(keys: Any, nodes: Any, size: int, key: float, node: int) -> int:
    """Add an entry to a binary heap, smallest key first; return its new size."""
    k = size
    while k > 0 and keys[(k - 1) // 2] > key:
        keys[k], nodes[k] = keys[(k - 1) // 2], nodes[(k - 1) // 2]
        k = (k - 1) // 2
    keys[k], nodes[k] = key, node
    return size + 1


@compiled(cache=False)
def _drop_first(keys: Any, nodes: Any, size: int) -> int:
    """Remove the first entry of a binary heap; return its new size."""
    size -= 1
    key, node = keys[size], nodes[size]
    k = 0
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[k], nodes[k] = keys[child], nodes[child]
        k = child
    keys[k], nodes[k] = key, node
    return size


@compiled
def weighted_distances(
    indptr: Any,
    indices: Any,
    weights: Any,
    graph_ptr: Any,
    pair_ptr: Any,
    begin: int,
    end: int,
    distances: Any,
) -> None:
    """Write the lengths of shortest paths by Dijkstra's algorithm; arguments as of ``hop_distances``.

    ``weights`` are the lengths of the edges, which are not negative.
    """
    most = 1
    for graph in range(len(graph_ptr) - 1):
        most = max(most, indptr[graph_ptr[graph + 1]] - indptr[graph_ptr[graph]] + 1)
    keys, nodes = np.empty(most), np.empty(most, dtype=np.int64)
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        for source in range(max(begin - first, 0), min(end - first, n)):
            row = pair_ptr[graph] + source * n
            for v in range(n):
                distances[row + v] = np.inf
            distances[row + source] = 0.0
            size = _push(keys, nodes, 0, 0.0, source)
            while size > 0:
                near, u = keys[0], nodes[0]
                size = _drop_first(keys, nodes, size)
                if near > distances[row + u]:  # a shorter path was found after this entry
                    continue
                for entry in range(indptr[first + u], indptr[first + u + 1]):
                    v = indices[entry] - first
                    if near + weights[entry] < distances[row + v]:
                        distances[row + v] = near + weights[entry]
                        size = _push(keys, nodes, size, near + weights[entry], v)


@compiled
def round_lengths(values: Any) -> None:
    """Round float64 lengths to 36 binary digits in place, so that sums in another order are equal."""
    # Positive floats are ordered like their bits as integers: adding half of the last kept digit and clearing
    # the 16 bits below it rounds to nearest, and carries into the exponent if needed.
    bits = values.view(np.int64)
    for k in range(len(values)):
        if values[k] != np.inf:
            bits[k] = (bits[k] + _HALF) & _KEPT


@compiled(cache=False)
def triplet_code(begin: Any, word: Any, end_key: Any) -> Any:
    """Return the code of (label, path, label): first label's mixed key, path's word, last label's key."""
    return np.int64(mix_word(begin + mix_other(end_key ^ word)))


@compiled(cache=False)
def crossed_word(edge_key: Any, length: float) -> Any:
    """Return the word of an edge on a path from its label's key and its length."""
    return mix_other(edge_key) + mix_word(np.float64(length).view(np.uint64))


@compiled(cache=False)
def longer_path(word: Any, edge_word: Any) -> Any:
    """Return the word of a path extended by one edge; words of paths with the same ends are summed."""
    return mix_word(word ^ edge_word)


@compiled
def triplet_codes(
    keys: Any, lengths: Any, graph_ptr: Any, pair_ptr: Any, begin: int, end: int, codes: Any, no_bin: int
) -> None:
    """Hash (label of u, length, label of v) for all ordered pairs u != v that are joined by a path.

    Parameters
    ----------
    keys : ndarray of uint64, (N,)
        Key of each node's label.
    lengths : ndarray of uint64, (pairs,)
        Words of path lengths, or of paths; 0: no path.
    graph_ptr, pair_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' nodes, and of their pairs.
    begin, end : int
        First nodes u: begin .. end - 1, numbered through the database.
    codes : ndarray of int64, (pairs,)
        Output.
    no_bin : int
        Code of pairs without a path, and of u = v.
    """
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        for u in range(max(begin - first, 0), min(end - first, n)):
            row = pair_ptr[graph] + u * n
            start = mix_word(keys[first + u])  # the ends are mixed differently, so (a, b) differs from (b, a)
            for v in range(n):
                if u == v or lengths[row + v] == 0:
                    codes[row + v] = no_bin
                else:
                    codes[row + v] = triplet_code(start, lengths[row + v], keys[first + v])


@compiled(cache=False)
def by_distance(distances: Any, row: int, n: int, order: Any) -> int:
    """Write the nodes reachable from a source to ``order``, nearest first; return their number.

    Parameters
    ----------
    distances : ndarray of float64
        ``distances[row : row + n]`` are those from the source.
    row, n : int
    order : ndarray of int64, (n,)
        Output.
    """
    reached, farthest, whole = 0, 0.0, True
    for v in range(n):
        distance = distances[row + v]
        if distance != np.inf:
            order[reached] = v
            reached += 1
            farthest = max(farthest, distance)
            whole = whole and distance == np.floor(distance)
    if whole and farthest <= n:  # whole distances: place[d] is the next place of a node at distance d
        place = np.zeros(np.int64(farthest) + 2, dtype=np.int64)
        for v in range(n):
            if distances[row + v] != np.inf:
                place[np.int64(distances[row + v]) + 1] += 1
        for d in range(len(place) - 1):
            place[d + 1] += place[d]
        for v in range(n):
            if distances[row + v] != np.inf:
                distance = np.int64(distances[row + v])
                order[place[distance]] = v
                place[distance] += 1
        return reached
    # Mergesort is stable: nodes at equal distance are ordered by number on every machine.
    values = np.empty(reached)
    for k in range(reached):
        values[k] = distances[row + order[k]]
    ranks = np.argsort(values, kind="mergesort")
    nodes = order[:reached].copy()
    for k in range(reached):
        order[k] = nodes[ranks[k]]
    return reached


@compiled(cache=False)
def on_a_path(near: float, weight: float, far: float) -> bool:
    """Whether an edge extends a shortest path: near + weight equals far, up to rounding."""
    return near < far and abs(near + weight - far) <= _SAME * far


@compiled
def path_words(
    indptr: Any,
    indices: Any,
    weights: Any,
    edge_keys: Any,
    graph_ptr: Any,
    pair_ptr: Any,
    begin: int,
    end: int,
    distances: Any,
    words: Any,
) -> None:
    """Hash, for each ordered pair, the multiset of edge-label sequences of all shortest paths.

    Nodes are visited by distance: a path's word is mixed from the word of the path without its last edge and
    the key of that edge, and words of paths with the same ends are summed.

    Parameters
    ----------
    indptr, indices : ndarray of int32 or int64
        CSR structure of the adjacency.
    weights, edge_keys : ndarray of float64 and of uint64, (entries,)
        Length and label key of each edge.
    graph_ptr, pair_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' nodes, and of their pairs.
    begin, end : int
        Start nodes: begin .. end - 1, numbered through the database.
    distances : ndarray of float64, (pairs,)
    words : ndarray of uint64, (pairs,)
        Output; 0 without a path.
    """
    largest = 0
    for graph in range(len(graph_ptr) - 1):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    order, edge_words = np.empty(largest, dtype=np.int64), np.empty(len(indices), dtype=np.uint64)
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        if begin < first + n and first < end:
            for entry in range(indptr[first], indptr[first + n]):
                edge_words[entry] = crossed_word(edge_keys[entry], weights[entry])
        for source in range(max(begin - first, 0), min(end - first, n)):
            row = pair_ptr[graph] + source * n
            for v in range(n):
                words[row + v] = 0
            words[row + source] = 1
            # Invariant: words[row + u] is complete when u is visited, since all nodes before it on a shortest
            # path from the source are nearer.
            for k in range(by_distance(distances, row, n, order)):
                u = order[k]
                near = distances[row + u]
                for entry in range(indptr[first + u], indptr[first + u + 1]):
                    v = indices[entry] - first
                    if on_a_path(near, weights[entry], distances[row + v]):
                        words[row + v] += longer_path(words[row + u], edge_words[entry])


@compiled
def hop_words(
    indptr: Any, indices: Any, edge_keys: Any, graph_ptr: Any, pair_ptr: Any, begin: int, end: int, words: Any
) -> None:
    """Write the words of :func:`path_words` for edges of length 1, without a list of distances."""
    largest = 0
    for graph in range(len(graph_ptr) - 1):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    queue, steps = np.empty((2, largest), dtype=np.int64)
    edge_words = np.empty(len(indices), dtype=np.uint64)
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        if begin < first + n and first < end:
            for entry in range(indptr[first], indptr[first + n]):
                edge_words[entry] = crossed_word(edge_keys[entry], 1.0)
        for source in range(max(begin - first, 0), min(end - first, n)):
            row = pair_ptr[graph] + source * n
            for v in range(n):
                words[row + v], steps[v] = 0, -1
            words[row + source], steps[source], queue[0] = 1, 0, source
            head, tail = 0, 1
            # Invariant: words[row + u] is complete when u is taken from the queue, which is by distance.
            while head < tail:
                u = queue[head]
                head += 1
                for entry in range(indptr[first + u], indptr[first + u + 1]):
                    v = indices[entry] - first
                    if steps[v] < 0:
                        steps[v], queue[tail] = steps[u] + 1, v
                        tail += 1
                    if steps[v] == steps[u] + 1:
                        words[row + v] += longer_path(words[row + u], edge_words[entry])
