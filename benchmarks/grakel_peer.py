"""GraKeL's kernels beside ours: ``python -m benchmarks.grakel_peer METHOD DATASET``.

Every result is a JSON line, printed at once, so that what was measured before a time limit is kept. The same
problems in GraKeL's terms (version 0.1.11):

- Its ``t_max`` is the number of hashed distributions, P_0 to P_{t_max - 1}; ours is the last t, so our
  t_max = 10 is its t_max = 11. Its ``n_iter`` of WL is the number of refinements, as in ours.
- Its walk loses a node without edges (a row of zeros); ours stays where it is. A self loop on such nodes
  makes the two walks the same, and does not change the speed.
- It multiplies dense matrices, so graphs go in as dense float arrays, which is its fastest way for these
  sizes. Its ``Graph`` objects are made before the timing; a fit does not change them, so repeats measure
  the same work.
- w = 1e-5 and total variation on both sides. Random vectors differ, so that kernels agree only up to
  collisions of the hash: the report shows the relative difference of the matrices.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from propkernels.kernels import (
    GraphHopper,
    PropagationKernel,
    ShortestPath,
    SubgraphMatching,
    WeisfeilerLehman,
)

T_MAX, BIN_WIDTH, SIZE = 10, 1e-5, 3
BEST_OF = 3


def main(method: str, dataset: str) -> None:
    """Time ours, then the peer's, and compare the matrices where they are the same kernel."""
    from propkernels.datasets import load

    warnings.simplefilter("ignore")
    graphs = load(dataset).graphs
    ours, theirs = OURS[method](graphs), PEERS[method](graphs)
    kernel = ours()
    say(ours=min(timed(ours) for _ in range(BEST_OF)))
    start = perf_counter()
    other = theirs()
    say(theirs=perf_counter() - start)
    difference = float(np.linalg.norm(kernel - other) / np.linalg.norm(other))
    say(agreement=f"matrices differ by {difference:.1e}, relative")


def say(**values: Any) -> None:
    """Print a line."""
    print(json.dumps(values), flush=True)


def timed(call: Callable[[], Any]) -> float:
    """Wall time of a call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def our_kernel(graphs: Any, kernel: Any) -> Callable[[], Any]:
    """Return the call that computes our kernel matrix."""
    return lambda: kernel.fit_transform(graphs)


def to_grakel(graphs: Any, self_loops: bool = False, unit_vectors: bool = False) -> list[Any]:
    """Convert graphs; isolated nodes get a self loop, and labels become unit vectors, if asked."""
    grakel: Any = import_module("grakel")
    values = sorted(set(graphs.node_labels.tolist()))
    vectors = {value: tuple(map(float, row)) for value, row in zip(values, np.eye(len(values)), strict=True)}
    converted = []
    for graph in graphs:
        adjacency = graph.adjacency.toarray().astype(np.float64)
        if self_loops:
            isolated = np.flatnonzero(adjacency.sum(axis=1) == 0)
            adjacency[isolated, isolated] = 1.0
        labels = {i: vectors[x] if unit_vectors else int(x) for i, x in enumerate(graph.node_labels)}
        converted.append(grakel.Graph(adjacency, labels, edge_labels_of(graph), "adjacency"))
    return converted


def edge_labels_of(graph: Any) -> dict[tuple[int, int], int]:
    """Edge labels by pairs of nodes; 0 where there are none."""
    edges = graph.adjacency.tocoo()
    labels = graph.edge_labels
    values = np.zeros(edges.nnz, dtype=int) if labels is None else np.asarray(labels)
    return {(int(u), int(v)): int(x) for u, v, x in zip(edges.row, edges.col, values, strict=True)}


def peer_kernel(graphs: Any, name: str, options: dict[str, Any], **changes: bool) -> Callable[[], Any]:
    """Return the call that computes GraKeL's kernel matrix, graphs converted."""
    kind = getattr(import_module("grakel.kernels"), name)
    converted = to_grakel(graphs, **changes)
    return lambda: kind(**options).fit_transform(converted)


def _wl_options() -> dict[str, Any]:
    return {"n_iter": T_MAX, "base_graph_kernel": import_module("grakel.kernels").VertexHistogram}


OURS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "PK": lambda graphs: our_kernel(graphs, PropagationKernel(t_max=T_MAX, random_state=0)),
    "WL": lambda graphs: our_kernel(graphs, WeisfeilerLehman(t_max=T_MAX)),
    "SP": lambda graphs: our_kernel(graphs, ShortestPath()),
    "GH": lambda graphs: our_kernel(graphs, GraphHopper()),
    "CSM": lambda graphs: our_kernel(
        graphs, SubgraphMatching(k=SIZE, edge_labels=graphs.edge_label_column is not None)
    ),
}
PEERS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "PK": lambda graphs: peer_kernel(
        graphs,
        "Propagation",
        {"t_max": T_MAX + 1, "w": BIN_WIDTH, "M": "TV", "random_state": 0},
        self_loops=True,
    ),
    "WL": lambda graphs: peer_kernel(graphs, "WeisfeilerLehman", _wl_options()),
    "SP": lambda graphs: peer_kernel(graphs, "ShortestPath", {"with_labels": True}),
    "GH": lambda graphs: peer_kernel(graphs, "GraphHopper", {"kernel_type": "linear"}, unit_vectors=True),
    "CSM": lambda graphs: peer_kernel(graphs, "SubgraphMatching", {"k": SIZE, "lw": "uniform"}),
}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
