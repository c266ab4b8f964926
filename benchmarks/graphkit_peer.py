"""graphkit-learn 0.2.1: the same problems in its terms (``pip install propkernels[peers]``).

Its ``height`` of WL is the number of refinements, as in ours. Its shortest paths have no direction, ours have
two, so that its kernel is half of ours: it is doubled, which takes no time. Graphs are made before
the timing, as those of networkx; copies of them go in, since WL writes its labels into them.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.case import Call

HEIGHT = 10


def to_networkx(graphs: Any) -> list[Any]:
    """Convert undirected graphs; labels become words, as graphkit-learn wants them."""
    networkx = import_module("networkx")
    converted = []
    for graph in graphs:
        other = networkx.Graph()
        other.add_nodes_from((i, {"label": str(label)}) for i, label in enumerate(graph.node_labels))
        edges = graph.adjacency.tocoo()
        other.add_edges_from(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
        converted.append(other)
    return converted


def weisfeiler_lehman(graphs: Any) -> Call:
    """The subtree kernel."""
    kind = import_module("gklearn.kernels").WLSubtree
    return _call(graphs, partial(kind, height=HEIGHT), 1.0)


def shortest_path(graphs: Any) -> Call:
    """The shortest-path kernel with node labels."""
    kind, kernels = import_module("gklearn.kernels").ShortestPath, import_module("gklearn.utils.kernels")
    product = partial(kernels.kernelproduct, kernels.deltakernel, kernels.gaussiankernel)
    node_kernels = {"symb": kernels.deltakernel, "nsymb": kernels.gaussiankernel, "mix": product}
    return _call(graphs, partial(kind, node_attrs=[], edge_weight=None, node_kernels=node_kernels), 2.0)


def _call(graphs: Any, kind: Any, factor: float) -> Call:
    converted = to_networkx(graphs)
    options: dict[str, Any] = {"parallel": None, "n_jobs": 1, "verbose": 0, "normalize": False}

    def call() -> Any:
        kernel = kind(node_labels=["label"], edge_labels=[], ds_infos={"directed": False})
        return factor * kernel.compute([graph.copy() for graph in converted], **options)[0]

    return call
