"""One point of a growth curve, in a process of its own.

``python -m benchmarks.growth_process '{"task": "features", "nodes": 100000}'``
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk

MEAN_NODES = 25
NODES_OF_A_BLOCK = 1_000_000


def generate(
    nodes: int | None = None, graphs: int | None = None, labels: int | None = None, degree: int | None = None
) -> pk.GraphDatabase:
    """Molecule-like graphs; with ``labels`` uniform labels, with ``degree`` random edges instead."""
    n_graphs = graphs if graphs is not None else max(1, (nodes or 0) // MEAN_NODES)
    made = pk.datasets.make_molecules(n_graphs, random_state=0, mean_nodes=MEAN_NODES).graphs
    if labels is None and degree is None:
        return made
    rng = np.random.default_rng(0)
    column = made.node_labels if labels is None else rng.integers(labels, size=made.n_nodes)
    adjacency = made.adjacency if degree is None else _random_edges(made, degree, rng)
    return pk.GraphDatabase(adjacency, made.graph_ptr, node_labels=column)


def _random_edges(graphs: Any, degree: int, rng: Any) -> Any:
    """Every node gets ``degree / 2`` random partners in its own graph; edges go both ways."""
    from scipy.sparse import coo_array, csr_array

    sizes = np.diff(graphs.graph_ptr)
    ids = np.repeat(np.arange(len(sizes)), sizes)
    one = np.repeat(np.arange(graphs.n_nodes), max(degree // 2, 1))
    other = graphs.graph_ptr[ids[one]] + (rng.random(len(one)) * sizes[ids[one]]).astype(np.int64)
    keep = one != other
    rows, columns = np.r_[one[keep], other[keep]], np.r_[other[keep], one[keep]]
    matrix = csr_array(coo_array((np.ones(len(rows)), (rows, columns)), shape=(graphs.n_nodes,) * 2))
    matrix.data[:] = 1.0
    return matrix


def task(name: str, graphs: pk.GraphDatabase, t_max: int) -> None:
    """What is timed."""
    if name == "kernel":
        pk.PropagationKernel(t_max=t_max, random_state=0, n_jobs=2).fit_transform(graphs)
    elif name == "features":
        pk.PropagationFeatures(t_max=t_max, random_state=0, n_jobs=2).fit_transform(graphs)
    else:
        features = pk.PropagationFeatures(t_max=t_max, n_features=2**20, random_state=0, n_jobs=2)
        features.fit(graphs[:1])
        cuts = np.searchsorted(graphs.graph_ptr, np.arange(0, graphs.n_nodes, NODES_OF_A_BLOCK))
        for first, last in zip(cuts, [*cuts[1:], len(graphs)], strict=True):
            features.transform(graphs[int(first) : int(last)])


def megabytes(field: str) -> float:
    """Resident memory of this process: now ("VmRSS") or at its peak ("VmHWM")."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024 / 1e6


def forget_peak() -> float:
    """Let the peak begin anew, and return where it begins."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return megabytes("VmRSS")


def main() -> None:
    """Generate, warm up on a few graphs, run once, and print one line of JSON."""
    given: dict[str, Any] = json.loads(sys.argv[1])
    name, t_max = given.pop("task"), given.pop("t_max", 10)
    graphs = generate(**given)
    task(name, graphs[: min(len(graphs), 50)], t_max)
    before = forget_peak()
    best = float("inf")
    for _ in range(3 if graphs.n_nodes <= 10**6 else 1):
        start = time.perf_counter()
        task(name, graphs, t_max)
        best = min(best, time.perf_counter() - start)
    line = {"seconds": best, "nodes": graphs.n_nodes, "before": before, "peak": megabytes("VmHWM")}
    print(json.dumps(line | {"graphs": len(graphs), "edges": graphs.adjacency.nnz}))


if __name__ == "__main__":
    main()
