"""Compiled loops over shortest paths: distances, codes of pairs of nodes, and path counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_other, mix_word

_HALF = np.int64(2**15)
_KEPT = np.int64(-(2**16))
_SAME = 1e-10  # relative difference below which lengths are equal up to rounding
FEW_ROOTS, ROOTS_OF_A_BLOCK = 128, 32  # path counts of more start nodes are summed block by block


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
def _by_distance(distances: Any, row: int, n: int, order: Any) -> int:
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
def _on_a_path(near: float, weight: float, far: float) -> bool:
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
            for k in range(_by_distance(distances, row, n, order)):
                u = order[k]
                near = distances[row + u]
                for entry in range(indptr[first + u], indptr[first + u + 1]):
                    v = indices[entry] - first
                    if _on_a_path(near, weights[entry], distances[row + v]):
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


@compiled
def count_hops(
    indptr: Any,
    indices: Any,
    weights: Any,
    first: int,
    n: int,
    distances: Any,
    begin: int,
    end: int,
    slots: Any,
    counts: Any,
) -> None:
    """Add the path-count matrices of one graph to ``counts`` (Feragen et al. 2013, Section 3.1).

    ``counts[slots[v], a, b]`` grows by the number of shortest paths with b edges on which v is node number a.
    For each root, occ[v, a] counts paths with a edges from the root to v, and des[v, c] their continuations
    from v with c edges, along the directed acyclic graph of shortest paths; a path has b = a + c edges.

    Parameters
    ----------
    indptr, indices, weights : ndarray
        CSR arrays of the adjacency; weights are lengths.
    first, n : int
        First node and number of nodes of the graph.
    distances : ndarray of float64, (n * n,)
    begin, end : int
        Roots: nodes begin .. end - 1 of the graph.
    slots : ndarray of int64, (n,)
        Matrix of each node in ``counts``.
    counts : ndarray of float64, (matrices, width, width)
        Output; width is at least 1 + the largest number of edges of a path.
    """
    width = counts.shape[2]
    order = np.empty(n, dtype=np.int64)
    occ = np.zeros((n, width))
    des = np.zeros((n, width))
    for root in range(begin, min(end, n)):
        row = root * n
        reached = _by_distance(distances, row, n, order)
        for k in range(reached):
            occ[order[k], :] = 0.0
            des[order[k], :] = 0.0
            des[order[k], 0] = 1.0
        occ[root, 0] = 1.0
        # Outwards: occ[u] is complete when u is visited, since nodes before it on a path are nearer.
        for k in range(reached):
            u = order[k]
            for entry in range(indptr[first + u], indptr[first + u + 1]):
                v = indices[entry] - first
                if _on_a_path(distances[row + u], weights[entry], distances[row + v]):
                    for a in range(width - 1):
                        occ[v, a + 1] += occ[u, a]
        # Inwards: des[v] is complete when the edge u -> v is visited, since v is farther than u.
        for k in range(reached - 1, -1, -1):
            u = order[k]
            for entry in range(indptr[first + u], indptr[first + u + 1]):
                v = indices[entry] - first
                if _on_a_path(distances[row + u], weights[entry], distances[row + v]):
                    for c in range(width - 1):
                        des[u, c + 1] += des[v, c]
        for k in range(reached):
            v = order[k]
            slot = slots[v]
            for a in range(width):
                if occ[v, a] != 0.0:
                    for c in range(width - a):
                        counts[slot, a, a + c] += occ[v, a] * des[v, c]


@compiled
def most_hops(indptr: Any, indices: Any, weights: Any, first: int, n: int, distances: Any) -> int:
    """Return the largest number of edges on a shortest path of one graph; arguments as in ``count_hops``."""
    # hops[v] is the largest number of edges on a shortest path from the root to v; it is complete when v is
    # visited, since all nodes before v on such a path are nearer. Equal lengths may differ in edges.
    order = np.empty(n, dtype=np.int64)
    hops = np.zeros(n, dtype=np.int64)
    most = 0
    for root in range(n):
        row = root * n
        reached = _by_distance(distances, row, n, order)
        for k in range(reached):
            hops[order[k]] = 0
        for k in range(reached):
            u = order[k]
            most = max(most, hops[u])
            for entry in range(indptr[first + u], indptr[first + u + 1]):
                v = indices[entry] - first
                if _on_a_path(distances[row + u], weights[entry], distances[row + v]):
                    hops[v] = max(hops[v], hops[u] + 1)
    return most


@compiled
def widest_hops(
    indptr: Any,
    indices: Any,
    weights: Any,
    graph_ptr: Any,
    pair_ptr: Any,
    distances: Any,
    whole: bool,
    most: Any,
) -> None:
    """Write the largest number of edges on a shortest path of each graph to ``most``; int64 (graphs,).

    ``whole`` tells that every edge has length 1, so that this is the largest distance.
    """
    for graph in range(len(most)):
        first, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        within = distances[pair_ptr[graph] : pair_ptr[graph + 1]]
        if whole:
            for k in range(len(within)):
                if within[k] != np.inf:
                    most[graph] = max(most[graph], np.int64(within[k]))
        else:
            most[graph] = most_hops(indptr, indices, weights, first, n, within)


@compiled
def list_hops(matrices: Any, keys: Any, codes: Any, counts: Any) -> int:
    """Write the entries of path-count matrices, one per key, as codes and counts; return their number.

    The code of position a of b edges is ``randomness.mix(key, a, b)``.
    """
    filled = 0
    for slot in range(len(matrices)):
        key = mix_word(keys[slot])
        for a in range(matrices.shape[1]):
            begin = mix_word(key ^ np.uint64(a))
            for b in range(a, matrices.shape[1]):
                if matrices[slot, a, b] != 0.0:
                    codes[filled] = np.int64(mix_word(begin ^ np.uint64(b)))
                    counts[filled] = matrices[slot, a, b]
                    filled += 1
    return filled


@compiled
def hop_entries(
    indptr: Any,
    indices: Any,
    weights: Any,
    graph_ptr: Any,
    pair_ptr: Any,
    distances: Any,
    slots: Any,
    slot_ptr: Any,
    keys: Any,
    most: Any,
    codes: Any,
    counts: Any,
    lengths: Any,
) -> Any:
    """Write the path counts of graphs, summed by label, as codes and counts; return their number.

    Parameters
    ----------
    indptr, indices, weights, distances
        As in ``count_hops``, of all graphs.
    graph_ptr, pair_ptr, slot_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' nodes, of their pairs, and of their labels.
    slots : ndarray of int64, (N,)
        Label of each node, numbered within its graph.
    keys : ndarray of uint64, (labels of all graphs,)
    most : ndarray of int64, (graphs,)
        Largest number of edges on a shortest path.
    codes, counts, lengths : ndarray
        Output, as in ``list_hops``.
    """
    filled = 0
    for graph in range(len(most)):
        first, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        start, n_slots, width = filled, slot_ptr[graph + 1] - slot_ptr[graph], most[graph] + 1
        within = distances[pair_ptr[graph] : pair_ptr[graph + 1]]
        matrices = np.zeros((n_slots, width, width))
        own = slots[first : first + n]
        length = n if n <= FEW_ROOTS else ROOTS_OF_A_BLOCK
        for root in range(0, n, max(length, 1)):
            block = np.zeros_like(matrices) if root else matrices
            end = root + length
            count_hops(indptr, indices, weights, first, n, within, root, end, own, block)
            if root:
                matrices += block
        some = keys[slot_ptr[graph] : slot_ptr[graph + 1]]
        filled += list_hops(matrices, some, codes[filled:], counts[filled:])
        lengths[graph] = filled - start
    return filled
