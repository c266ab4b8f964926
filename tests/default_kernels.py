"""Default kernels of models, for each kind of graphs; ``python -m tests.default_kernels`` writes them."""

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import propkernels as pk
from propkernels.models.defaults import default_kernels, default_steps, prefers_landmarks
from tests.zoo import hide_labels, one

GOLDEN = Path(__file__).parent / "golden" / "default_kernels.txt"
GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs
VIEWS = {"labels": [("C", (1, 4), "none"), ("O", (1, 2), "donor")]}


def with_attributes(graphs: Any, dimensions: int) -> Any:
    return graphs.with_attributes(np.zeros((graphs.n_nodes, dimensions)))


def kinds() -> dict[str, Any]:
    """Small graphs of every kind that has its own list."""
    contacts = pd.DataFrame([("a", "b", 1.0)], columns=["source", "target", "time"])
    bonds = one(2, [(0, 1)], ["C", "O"], edge_labels=["double"])
    path = nx.path_graph(200)
    nx.set_edge_attributes(path, "single", "label")
    nx.set_node_attributes(path, "C", "label")
    grid = pk.GridDatabase([np.zeros((2, 2), int)])
    return {
        "labels": GRAPHS,
        "2001 graphs with labels": GRAPHS[np.zeros(2001, dtype=int)],
        "edge labels": bonds,
        "edge labels, long": pk.from_networkx([path]),
        "labels of several entries": one(2, [(0, 1)], **VIEWS),
        "labels of several entries, edge labels": one(2, [(0, 1)], **VIEWS, edge_labels=["double"]),
        "5000 graphs with several entries": one(2, [(0, 1)], **VIEWS)[np.zeros(5000, dtype=int)],
        "pairs of numbers as labels": one(2, [(0, 1)], [(1, 2), (3, 4)]),
        "no labels": one(2, [(0, 1)], None),
        "some labels": hide_labels(GRAPHS, 0.3),
        "one attribute": with_attributes(GRAPHS, 1),
        "four attributes": with_attributes(GRAPHS, 4),
        "descriptors": GRAPHS.with_descriptors(np.zeros((6, 1))),
        "descriptors, no labels": one(2, [(0, 1)], None).with_descriptors(np.zeros((1, 1))),
        "in time": pk.from_contacts(contacts, graph=None),
        "images": grid,
        "images with attributes": with_attributes(grid, 1),
    }


def written(kernel: Any) -> str:
    """A kernel with the parameters that are not the default ones."""
    usual = type(kernel)().get_params(deep=False)
    own = {
        key: value
        for key, value in kernel.get_params(deep=False).items()
        if not isinstance(value, type(usual[key])) or value != usual[key]
    }
    if "kernels" in own:
        own["kernels"] = "[" + ", ".join(map(written, own["kernels"])) + "]"
    return f"{type(kernel).__name__}({', '.join(f'{key}={value}' for key, value in sorted(own.items()))})"


def listing() -> str:
    """A paragraph for each kind of graphs and task."""
    tasks = {"classes": {}, "numbers": {"is_regression": True}, "dot products": {"is_linear": True}}
    text = ""
    for name, graphs in kinds().items():
        for task, options in tasks.items():
            kernels = default_kernels(graphs, **options)
            text += f"{name}: {task}, t_max {default_steps(kernels)}, landmarks {prefers_landmarks(graphs)}\n"
            text += "".join(f"    {written(kernel)}\n" for kernel in kernels)
    return text


if __name__ == "__main__":
    GOLDEN.write_text(listing(), encoding="utf-8")
