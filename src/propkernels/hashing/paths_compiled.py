"""Compiled loops over shortest paths: plain arrays in and out, no objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_other, mix_word

_HALF = np.int64(2**15)
_KEPT = np.int64(-(2**16))
_SAME = 1e-10  # relative difference of lengths that are the same but for rounding


@compiled
def hop_distances(indptr: Any, indices: Any, graph_ptr: Any, pair_ptr: Any, distances: Any) -> None:
    """Number of edges from u to v at ``pair_ptr[graph] + u * n + v``, by breadth-first search; else inf."""
    # queue[head:tail] are the nodes that are reached but not yet left; their distances ascend.
    largest = 0
    for graph in range(len(graph_ptr) - 1):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    queue = np.empty(largest, dtype=np.int64)
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        for source in range(n):
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


@compiled
def round_lengths(values: Any) -> None:
    """Keep 36 binary digits: sums of the same weights in another order are the same length."""
    # A positive float is the larger the larger its bits are as an integer: adding half of the last digit kept
    # and cutting off the 16 bits below it rounds to nearest, and carries into the exponent where it must.
    bits = values.view(np.int64)
    for k in range(len(values)):
        if values[k] != np.inf:
            bits[k] = (bits[k] + _HALF) & _KEPT


@compiled(cache=False)
def triplet_code(begin: Any, word: Any, end_key: Any) -> Any:
    """Code of (label, path, label): the mixed key of the first label, the word of the path, the other key."""
    return np.int64(mix_word(begin + mix_other(end_key ^ word)))


@compiled(cache=False)
def crossed_word(edge_key: Any, length: float) -> Any:
    """Word of an edge that a path crosses: its label's key and its length."""
    return mix_other(edge_key) + mix_word(np.float64(length).view(np.uint64))


@compiled(cache=False)
def longer_path(word: Any, edge_word: Any) -> Any:
    """Word of a path that goes on over one more edge; words of paths with the same ends are added up."""
    return mix_word(word ^ edge_word)


@compiled
def triplet_codes(keys: Any, lengths: Any, graph_ptr: Any, pair_ptr: Any, codes: Any, no_bin: int) -> None:
    """Hash (label of u, length, label of v) for all ordered pairs u != v that a path joins.

    ``lengths`` are 64-bit words that stand for path lengths, or for whole paths; 0 stands for none.
    """
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        for u in range(n):
            row = pair_ptr[graph] + u * n
            start = mix_word(keys[first + u])  # the two ends are mixed differently: (a, b) is not (b, a)
            for v in range(n):
                if u == v or lengths[row + v] == 0:
                    codes[row + v] = no_bin
                else:
                    codes[row + v] = triplet_code(start, lengths[row + v], keys[first + v])


@compiled(cache=False)
def _by_distance(distances: Any, row: int, n: int, order: Any) -> int:
    """Write the nodes that a source reaches into ``order``, nearest first; return their number."""
    reached, farthest, whole = 0, 0.0, True
    for v in range(n):
        distance = distances[row + v]
        if distance != np.inf:
            order[reached] = v
            reached += 1
            farthest = max(farthest, distance)
            whole = whole and distance == np.floor(distance)
    if whole and farthest <= n:  # steps: as many passes as there are rings of nodes, most of them short
        filled, step = 0, 0.0
        while filled < reached:
            for v in range(n):
                if distances[row + v] == step:
                    order[filled] = v
                    filled += 1
            step += 1.0
        return reached
    # Mergesort is stable: nodes at the same distance stay in the order of their numbers, on every machine.
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
    """Whether an edge leads on along a shortest path; sums of weights may differ in their last digits."""
    return near < far and abs(near + weight - far) <= _SAME * far


@compiled
def path_words(
    indptr: Any,
    indices: Any,
    weights: Any,
    edge_keys: Any,
    graph_ptr: Any,
    pair_ptr: Any,
    distances: Any,
    words: Any,
) -> None:
    """For each ordered pair, hash the multiset of edge-label sequences of all shortest paths; 0 for none.

    Nodes are visited by distance: a path's word is mixed from that of the path one edge shorter and the last
    edge's key, and words of paths with the same ends are added up.
    """
    largest = 0
    for graph in range(len(graph_ptr) - 1):
        largest = max(largest, graph_ptr[graph + 1] - graph_ptr[graph])
    order = np.empty(largest, dtype=np.int64)
    for graph in range(len(graph_ptr) - 1):
        first = graph_ptr[graph]
        n = graph_ptr[graph + 1] - first
        for source in range(n):
            row = pair_ptr[graph] + source * n
            for v in range(n):
                words[row + v] = 0
            words[row + source] = 1
            # Invariant: words[row + u] is complete when u is taken, since all nodes before it on a shortest
            # path from the source are nearer.
            for k in range(_by_distance(distances, row, n, order)):
                u = order[k]
                near = distances[row + u]
                for entry in range(indptr[first + u], indptr[first + u + 1]):
                    v = indices[entry] - first
                    if _on_a_path(near, weights[entry], distances[row + v]):
                        edge_word = crossed_word(edge_keys[entry], weights[entry])
                        words[row + v] += longer_path(words[row + u], edge_word)


@compiled
def count_hops(
    indptr: Any, indices: Any, weights: Any, first: int, n: int, distances: Any, slots: Any, counts: Any
) -> None:
    """Add up path-count matrices of one graph (Feragen et al. 2013, Section 3.1).

    ``counts[slots[v], a, b]`` grows by the number of shortest paths with b edges on which v is node number a.
    For each root, occ[v, a] counts paths from the root that reach v with a edges and des[v, c] those that go
    on from v with c edges, both along the directed acyclic graph of shortest paths; a path has b = a + c.
    ``distances`` is the graph's flat (n, n) matrix; ``counts`` has room for the longest path.
    """
    width = counts.shape[2]
    order = np.empty(n, dtype=np.int64)
    occ = np.zeros((n, width))
    des = np.zeros((n, width))
    for root in range(n):
        row = root * n
        reached = _by_distance(distances, row, n, order)
        for k in range(reached):
            occ[order[k], :] = 0.0
            des[order[k], :] = 0.0
            des[order[k], 0] = 1.0
        occ[root, 0] = 1.0
        # Outwards: occ[u] is complete when u is taken, since nodes before it on a path are nearer.
        for k in range(reached):
            u = order[k]
            for entry in range(indptr[first + u], indptr[first + u + 1]):
                v = indices[entry] - first
                if _on_a_path(distances[row + u], weights[entry], distances[row + v]):
                    for a in range(width - 1):
                        occ[v, a + 1] += occ[u, a]
        # Inwards: des[v] is complete when an edge u -> v is followed, since v is farther than u.
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
    """Largest number of edges on a shortest path of one graph."""
    # hops[v] is the most edges of a shortest path from the root to v; it is final when v is taken, since all
    # nodes before v on such a path are nearer. Equal lengths may have different numbers of edges.
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
