"""Compiled loops over the edges of a graph: triangles, core numbers, and walks that return."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels._utils.jit import compiled


@compiled
def triangle_counts(indptr: Any, indices: Any, rank: Any, counts: Any) -> None:
    """Add the number of triangles at each node to ``counts``.

    Parameters
    ----------
    indptr, indices : ndarray
        CSR arrays of a symmetric graph without loops; columns ascend.
    rank : ndarray of int64, (N,)
        Distinct numbers that ascend with the degree. Each triangle is found once, at its edge between the two
        nodes of the smallest ranks: the work is at most m^(3/2) for m edges.
    counts : ndarray of int64, (N,)
        Output.
    """
    # row i of ``above``: the neighbors of node i with larger ranks, half of all entries
    ends = np.empty(len(rank) + 1, dtype=np.int64)
    above = np.empty(len(indices) // 2, dtype=indices.dtype)
    number = 0
    for i in range(len(rank)):
        ends[i] = number
        for a in range(indptr[i], indptr[i + 1]):
            if rank[indices[a]] > rank[i]:
                above[number] = indices[a]
                number += 1
    ends[len(rank)] = number
    marked = np.full(len(rank), -1, dtype=indices.dtype)  # node i marks its neighbors of larger rank
    for i in range(len(rank)):
        for a in range(ends[i], ends[i + 1]):
            marked[above[a]] = i
        for a in range(ends[i], ends[i + 1]):
            j = above[a]
            for b in range(ends[j], ends[j + 1]):
                k = above[b]
                if marked[k] == i:
                    counts[i] += 1
                    counts[j] += 1
                    counts[k] += 1


@compiled
def core_numbers(indptr: Any, indices: Any, cores: Any) -> None:
    """Write the core number of each node: the largest k such that it has k neighbors in the k-core.

    Batagelj and Zaversnik (2003): nodes are removed by ascending remaining degree, kept in buckets.

    Parameters
    ----------
    indptr, indices : ndarray
        CSR arrays of a symmetric graph without loops.
    cores : ndarray of int64, (N,)
        Output.
    """
    n = len(cores)
    most = 0
    for i in range(n):
        cores[i] = indptr[i + 1] - indptr[i]
        most = max(most, cores[i])
    starts = np.zeros(most + 2, dtype=np.int64)  # first place of each remaining degree in ``order``
    for i in range(n):
        starts[cores[i] + 1] += 1
    for d in range(most + 1):
        starts[d + 1] += starts[d]
    order = np.empty(n, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    following = starts.copy()
    for i in range(n):
        place[i] = following[cores[i]]
        order[place[i]] = i
        following[cores[i]] += 1
    for at in range(n):
        i = order[at]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if cores[j] > cores[i]:  # j moves to the front of its bucket, then into the one below
                first = starts[cores[j]]
                other = order[first]
                order[first], order[place[j]] = j, other
                place[other], place[j] = place[j], first
                starts[cores[j]] += 1
                cores[j] -= 1


@compiled
def return_chances(
    forward: Any, backward: Any, nodes: Any, chances: Any, one: Any, two: Any, touched: Any
) -> None:
    """Write the chances that a walk from each listed node is back after 1, 2, ... steps, (T^t)_vv.

    With the row f_s = e_v T^s and the column b_r = T^r e_v, the chance after s + r steps is f_s b_r: steps 3
    and 4 need nodes at distance two only.

    Parameters
    ----------
    forward, backward : tuple of ndarray
        CSR arrays (indptr, indices, data) of T and of its transpose.
    nodes : ndarray of int64
        Nodes v.
    chances : ndarray of float64, (nodes, 2 or 4)
        Output: steps 1..2 or 1..4.
    one, two : ndarray of float64, (N,)
        Zeros; working space for f_1 or f_2, and b_2.
    touched : ndarray of int64, (2, N)
        Working space: places in ``one`` and ``two`` that are not zero.
    """
    f_ptr, f_ids, f_data = forward
    b_ptr, b_ids, b_data = backward
    for row in range(len(nodes)):
        v = nodes[row]
        for e in range(f_ptr[v], f_ptr[v + 1]):
            one[f_ids[e]] += f_data[e]  # f_1
        chances[row, 0] = one[v]
        total = 0.0
        for e in range(b_ptr[v], b_ptr[v + 1]):
            total += one[b_ids[e]] * b_data[e]  # f_1 b_1
        chances[row, 1] = total
        for e in range(f_ptr[v], f_ptr[v + 1]):
            one[f_ids[e]] = 0.0
        if chances.shape[1] < 4:
            continue
        n_one = _two_steps(f_ptr, f_ids, f_data, v, one, touched[0])  # f_2
        n_two = _two_steps(b_ptr, b_ids, b_data, v, two, touched[1])  # b_2
        total = 0.0
        for e in range(b_ptr[v], b_ptr[v + 1]):
            total += one[b_ids[e]] * b_data[e]  # f_2 b_1
        chances[row, 2] = total
        total = 0.0
        for a in range(n_one):
            total += one[touched[0, a]] * two[touched[0, a]]  # f_2 b_2
        chances[row, 3] = total
        for a in range(n_one):
            one[touched[0, a]] = 0.0
        for a in range(n_two):
            two[touched[1, a]] = 0.0


@compiled(cache=False)
def _two_steps(ptr: Any, ids: Any, data: Any, v: int, values: Any, touched: Any) -> int:
    """Add row v of the squared matrix to ``values``; return the number of places written to ``touched``."""
    number = 0
    for a in range(ptr[v], ptr[v + 1]):
        u = ids[a]
        for b in range(ptr[u], ptr[u + 1]):
            w, chance = ids[b], data[a] * data[b]
            if chance == 0.0:  # too small for a float: the place would be listed again and again
                continue
            if values[w] == 0.0:
                touched[number] = w
                number += 1
            values[w] += chance
    return number
