"""GraKeL's kernel matrices on the same graphs, one thread.

``python -m benchmarks.peers METHOD DATASET`` prints one JSON line: processor seconds of ours (least
of several calls before and after the peer's) and of the peer (one call; two if the first took less than a
minute), and how far the matrices differ. The same problems in the peers' terms:

- GraKeL's ``t_max`` is the number of hashed distributions, P_0 to P_{t_max - 1}; ours is the last t, so our
  t_max = 10 is its t_max = 11. Its ``n_iter`` of WL is the number of refinements, as in ours.
- GraKeL's walk loses a node without edges; ours stays where it is. A self loop on such nodes makes both the
  same.
- GraKeL multiplies dense matrices in PK, so graphs go in as dense arrays there; WL and SP get edge
  dictionaries, which is its faster way. Objects of the peers are made before the timing.
- Random vectors differ, so that propagation kernels agree up to collisions of the hash.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.machine import Call, fastest, load
from propkernels.kernels import (
    GraphHopper,
    PropagationKernel,
    ShortestPath,
    SubgraphMatching,
    WeisfeilerLehman,
)

T_MAX, BIN_WIDTH, SIZE = 10, 1e-5, 3
METHODS = {
    "PK": PropagationKernel(t_max=T_MAX, bin_width=BIN_WIDTH, random_state=0, n_jobs=1),
    "WL": WeisfeilerLehman(t_max=T_MAX, n_jobs=1),
    "SP": ShortestPath(n_jobs=1),
    "GH": GraphHopper(n_jobs=1),
    "CSM": SubgraphMatching(k=SIZE, edge_labels=True, n_jobs=1),
}
# (method, data set or data set:number of first graphs), in the order of the page
CASES = (
    *(("WL", name) for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1")),
    *(("SP", name) for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1")),
    *(("PK", name) for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1:500")),
    ("GH", "MUTAG"),
    ("CSM", "MUTAG"),
)


def to_grakel(graphs: Any, method: str) -> list[Any]:
    """Convert graphs as a method wants them."""
    kind = import_module("grakel").Graph
    values = sorted(set(graphs.node_labels.tolist()))
    unit = {value: tuple(map(float, row)) for value, row in zip(values, np.eye(len(values)), strict=True)}
    return [_to_grakel(kind, graph, unit, method) for graph in graphs]


def _to_grakel(kind: Any, graph: Any, unit: dict[Any, Any], method: str) -> Any:
    labels = {i: unit[x] if method == "GH" else list(unit).index(x) for i, x in enumerate(graph.node_labels)}
    edges = graph.adjacency.tocoo()
    pairs = list(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    if method in ("WL", "SP"):
        neighbors: dict[int, dict[int, float]] = {i: {} for i in labels}
        for u, v in pairs:
            neighbors[u][v] = 1.0
        return kind(neighbors, labels)
    adjacency = graph.adjacency.toarray().astype(np.float64)
    if method == "PK":
        isolated = np.flatnonzero(adjacency.sum(axis=1) == 0)
        adjacency[isolated, isolated] = 1.0
    values = np.zeros(len(pairs), int) if graph.edge_labels is None else np.asarray(graph.edge_labels)
    return kind(adjacency, labels, dict(zip(pairs, values.tolist(), strict=True)), "adjacency")


def grakel(graphs: Any, method: str) -> Call:
    """GraKeL's call, graphs converted."""
    kernels: Any = import_module("grakel.kernels")
    converted = to_grakel(graphs, method)
    make = {
        "PK": partial(kernels.Propagation, t_max=T_MAX + 1, w=BIN_WIDTH, M="TV", random_state=0),
        "WL": partial(kernels.WeisfeilerLehman, n_iter=T_MAX, base_graph_kernel=kernels.VertexHistogram),
        "SP": partial(kernels.ShortestPath, with_labels=True),
        "GH": partial(kernels.GraphHopper, kernel_type="linear"),
        "CSM": partial(kernels.SubgraphMatching, k=SIZE, lw="uniform"),
    }[method]
    return lambda: make().fit_transform(converted)


def main(method: str, dataset: str) -> None:
    """Time ours, the peer's and ours again, and compare the matrices."""
    warnings.simplefilter("ignore")  # the peers': deprecations in numpy
    name, _, first = dataset.partition(":")
    graphs = load(name).graphs[: int(first) if first else None]
    theirs = grakel(graphs, method)
    found: list[Any] = []
    kernel = METHODS[method].fit_transform(graphs)  # also warms up
    ours = [fastest(lambda: METHODS[method].fit_transform(graphs), 1.0)[1]]
    peer = [fastest(lambda: found.append(theirs()), 0, 1)[1]]
    if peer[0] < 60:
        peer.append(fastest(theirs, 0, 1)[1])
    ours.append(fastest(lambda: METHODS[method].fit_transform(graphs), 1.0)[1])
    difference = float(np.linalg.norm(kernel - found[0]) / np.linalg.norm(found[0]))
    print(json.dumps({"ours": min(ours), "peer": min(peer), "difference": difference, "graphs": len(graphs)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
