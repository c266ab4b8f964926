"""Compiled path counts: on how many shortest paths a node has which position (GraphHopper)."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled
from propkernels._utils.mixing import mix_word
from propkernels.codes.paths_compiled import by_distance, on_a_path
from propkernels.codes.triplets_compiled import number_labels

FEW_ROOTS, ROOTS_OF_A_BLOCK = 128, 32  # path counts of more start nodes are summed block by block


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
        reached = by_distance(distances, row, n, order)
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
                if on_a_path(distances[row + u], weights[entry], distances[row + v]):
                    for a in range(width - 1):
                        occ[v, a + 1] += occ[u, a]
        # Inwards: des[v] is complete when the edge u -> v is visited, since v is farther than u.
        for k in range(reached - 1, -1, -1):
            u = order[k]
            for entry in range(indptr[first + u], indptr[first + u + 1]):
                v = indices[entry] - first
                if on_a_path(distances[row + u], weights[entry], distances[row + v]):
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
        reached = by_distance(distances, row, n, order)
        for k in range(reached):
            hops[order[k]] = 0
        for k in range(reached):
            u = order[k]
            most = max(most, hops[u])
            for entry in range(indptr[first + u], indptr[first + u + 1]):
                v = indices[entry] - first
                if on_a_path(distances[row + u], weights[entry], distances[row + v]):
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
    begin: int,
    end: int,
    most: Any,
) -> None:
    """Write the largest number of edges on a shortest path of the graphs begin .. end - 1 to ``most``.

    ``whole`` tells that every edge has length 1, so that this is the largest distance.
    """
    for graph in range(begin, end):
        first, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        within = distances[pair_ptr[graph] : pair_ptr[graph + 1]]
        if whole:
            longest = 0.0
            for k in range(len(within)):
                if within[k] != np.inf:
                    longest = max(longest, within[k])
            most[graph] = np.int64(longest)
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
    begin: int,
    end: int,
    ids: Any,
    keys: Any,
    most: Any,
    search: Any,
    codes: Any,
    counts: Any,
    lengths: Any,
) -> Any:
    """Write the path counts of the graphs begin .. end - 1, summed by label; return the number of entries.

    Parameters
    ----------
    indptr, indices, weights, distances
        As in ``count_hops``, of all graphs.
    graph_ptr, pair_ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' nodes, and of their pairs.
    begin, end : int
    ids : ndarray of int64, (N,)
        Label number of each node.
    keys : ndarray of uint64, (labels,)
    most : ndarray of int64, (graphs,)
        Largest number of edges on a shortest path.
    search : Search
    codes, counts : ndarray
        Output, as in ``list_hops``.
    lengths : ndarray of int64, (end - begin,)
        Output: number of entries of each graph.
    """
    filled = 0
    for graph in range(begin, end):
        first, n = graph_ptr[graph], graph_ptr[graph + 1] - graph_ptr[graph]
        start, n_labels, width = filled, number_labels(ids, first, n, search), most[graph] + 1
        within = distances[pair_ptr[graph] : pair_ptr[graph + 1]]
        matrices = np.zeros((n_labels, width, width))
        own = search.labels[:n]
        length = n if n <= FEW_ROOTS else ROOTS_OF_A_BLOCK
        for root in range(0, n, max(length, 1)):
            block = np.zeros_like(matrices) if root else matrices
            end_root = root + length
            count_hops(indptr, indices, weights, first, n, within, root, end_root, own, block)
            if root:
                matrices += block
        some = keys[search.present[:n_labels]]
        filled += list_hops(matrices, some, codes[filled:], counts[filled:])
        lengths[graph - begin] = filled - start
    return filled
