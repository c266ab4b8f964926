"""Common subgraphs of two graphs, from lists of all bijections."""

from itertools import combinations, permutations

import numpy as np


def is_connected(nodes, edges):
    reached, before = {nodes[0]}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {v for v in nodes for u in reached if edges[u, v]}
    return len(reached) == len(nodes)


def all_matches(nodes, edges, edges2, k, connected):
    """Sum over all bijections between subsets that keep edges and gaps, of the products of node kernels."""
    totals = np.zeros(k)
    for size in range(1, k + 1):
        for left in combinations(range(len(edges)), size):
            if connected and not is_connected(left, edges):
                continue
            for right in permutations(range(len(edges2)), size):
                pairs = list(zip(left, right, strict=True))
                if all(edges[u, v] == edges2[x, y] for (u, x), (v, y) in combinations(pairs, 2)):
                    totals[size - 1] += np.prod([nodes[u, x] for u, x in pairs])
    return totals
