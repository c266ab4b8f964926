"""Updates of a live graph per second, and memory: ``python -m benchmarks.live [--nodes 1000000]``.

Edges all over a random graph of mean degree 3 are added, then removed again, and codes with t_max = 3 follow:
"each" after every change, "together" after every thousand changes.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import propkernels as pk
from propkernels.tracking.live import LiveGraph


def random_graph(n_nodes: int, n_edges: int, seed: int) -> pk.GraphDatabase:
    """Return one random graph with four node labels."""
    rng = np.random.default_rng(seed)
    ends = np.unique(np.sort(rng.integers(n_nodes, size=(n_edges, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    return pk.from_adjacency([_matrix(ends, n_nodes)]).with_labels(rng.integers(4, size=n_nodes))


def _matrix(ends: np.ndarray, n_nodes: int) -> object:
    from scipy.sparse import coo_array

    rows, columns = np.concatenate([ends.T, ends.T[::-1]], axis=1)
    return coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_nodes, n_nodes)).tocsr()


def rate(live: LiveGraph, pairs: np.ndarray, at_once: int) -> float:
    """Return changes per processor second: all pairs are added, then all are removed."""
    ends = pairs.tolist()
    start = time.process_time()
    for change in (live.add_edge, live.remove_edge):
        for first in range(0, len(ends), at_once):
            for u, v in ends[first : first + at_once]:
                change(u, v)
            live.update()
    return 2 * len(pairs) / (time.process_time() - start)


def main() -> None:
    """Print updates per second for refinement and diffusion."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10**6)
    parser.add_argument("--changes", type=int, default=20_000)
    options = parser.parse_args()
    graph = random_graph(options.nodes, options.nodes * 3 // 2, 0)
    small = random_graph(200, 300, 1)
    kernels = {
        "WeisfeilerLehman": pk.WeisfeilerLehman(t_max=3),
        "PropagationKernel": pk.PropagationKernel(t_max=3, random_state=0),
    }
    print(
        f"{graph}\n{'kernel':<20}{'each, per s':>14}{'together, per s':>18}{'prepare, s':>12}{'peak, MB':>10}"
    )
    for name, kernel in kernels.items():
        counter = kernel.fit(small)._counter
        start = time.process_time()
        live = LiveGraph(graph, [counter])
        prepared = time.process_time() - start
        rng = np.random.default_rng(2)
        pairs = rng.integers(options.nodes, size=(options.changes, 2))
        pairs = pairs[[not live.has_edge(u, v) and u != v for u, v in pairs.tolist()]]
        rate(live, pairs[:50], 1)
        each, together = rate(live, pairs, 1), rate(live, pairs, 1000)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name:<20}{each:>14,.0f}{together:>18,.0f}{prepared:>12.1f}{peak:>10,.0f}", flush=True)


if __name__ == "__main__":
    main()
