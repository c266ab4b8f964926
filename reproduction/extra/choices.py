"""What each kernel sees: pairs of small graphs that differ in one respect, and which kernels notice.

Write the picture of the guide, ``docs/pictures/choices.png``, and print the similarities::

    python -m reproduction.extra.choices
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

import propkernels as pk
from propkernels.kernels import GraphHopper, LabelHistogram, SubgraphMatching
from propkernels.propagation import Diffusion

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "choices.png"
Array = NDArray[Any]


def path(n: int) -> Array:
    """Adjacency of a path."""
    return np.eye(n, k=1) + np.eye(n, k=-1)


def cycle(n: int) -> Array:
    """Adjacency of a ring."""
    return path(n) + np.eye(n, k=n - 1) + np.eye(n, k=1 - n)


def both(a: Array, b: Array) -> Array:
    """Adjacency of two graphs side by side."""
    zeros = np.zeros((len(a), len(b)))
    return np.block([[a, zeros], [zeros.T, b]])


def from_edges(adjacency: Array, labels: list[str], bonds: list[str]) -> pk.GraphDatabase:
    """One graph with labeled edges, in the order of their ends."""
    import networkx as nx

    graph = nx.from_numpy_array(adjacency)
    nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    nx.set_edge_attributes(graph, dict(zip(graph.edges, bonds, strict=True)), "label")
    return pk.from_networkx([graph], node_label="label", edge_label="label")


def pairs() -> dict[str, tuple[Any, Any]]:
    """Two graphs for each difference, which agree in everything named before it."""
    hexagon = ["C"] * 6
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1
    column = np.zeros((4, 1))
    return {
        "which labels occur": ((path(4), list("CCCO")), (path(4), list("CCCN"))),
        "which labels are neighbors": ((path(4), list("COCC")), (path(4), list("OCCC"))),
        "how many neighbors a node has": ((star, list("CCCCC")), (path(5), list("CCCCC"))),
        "labels far apart": ((cycle(8), list("OCCCOCCC")), (cycle(8), list("OCCOCCCC"))),
        "kinds of edges": (
            from_edges(path(3), list("CCC"), ["single", "double"]),
            from_edges(path(3), list("CCC"), ["single", "single"]),
        ),
        "rings of other lengths": ((cycle(6), hexagon), (both(cycle(3), cycle(3)), hexagon)),
        "numbers at the nodes": (
            (path(4), list("CCCC"), column),
            (path(4), list("CCCC"), column + np.array([[0], [3.0], [0], [3.0]])),
        ),
    }


def kernels() -> dict[str, Any]:
    """The kernels that are compared, with five steps where they have steps."""
    settings: dict[str, Any] = {"normalize": True, "random_state": 0}
    return {
        "LabelHistogram": LabelHistogram(normalize=True),
        "PropagationKernel": pk.PropagationKernel(t_max=5, **settings),
        "... Diffusion(0.5, 'none')": pk.PropagationKernel(
            propagation=Diffusion(0.5, "none"), t_max=5, **settings
        ),
        "... edge_labels=True": pk.PropagationKernel(t_max=5, edge_labels=True, **settings),
        "... attributes='sum'": pk.PropagationKernel(t_max=5, attributes="sum", **settings),
        "WeisfeilerLehman": pk.WeisfeilerLehman(t_max=5, normalize=True),
        "ShortestPath": pk.ShortestPath(normalize=True, attributes=None),
        "GraphHopper": GraphHopper(normalize=True, attributes=None),
        "SubgraphMatching": SubgraphMatching(normalize=True, attributes=None),
    }


def similarity(kernel: Any, pair: tuple[Any, Any]) -> float:
    """Normalized kernel value, or NaN where the graphs lack what the kernel needs."""
    if isinstance(pair[0], pk.GraphDatabase):
        graphs = pk.check_graphs([pair[0][0], pair[1][0]])
    else:
        graphs = pk.check_graphs(list(pair))
    if getattr(kernel, "edge_labels", False) and graphs.edge_labels is None:
        return float("nan")
    if getattr(kernel, "attributes", None) == "sum" and graphs.node_attributes is None:
        return float("nan")
    return float(kernel.fit_transform(graphs)[0, 1])


def table() -> tuple[list[str], list[str], Array]:
    """Names of kernels, names of differences, and the similarities."""
    known, seen = kernels(), pairs()
    values = [[similarity(kernel, pair) for pair in seen.values()] for kernel in known.values()]
    return list(known), list(seen), np.array(values)


def draw() -> Any:
    """Draw the similarities; 1 means that the kernel does not notice."""
    from matplotlib.figure import Figure

    rows, columns, values = table()
    figure = Figure(figsize=(8.2, 4.6), layout="constrained")
    ax = figure.subplots()
    image = ax.imshow(1 - values, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(columns)), [fill(text, 12) for text in columns], fontsize=8)
    ax.set_yticks(range(len(rows)), rows, fontsize=9)
    for (i, j), value in np.ndenumerate(values):
        text = "" if np.isnan(value) else "same" if value > 1 - 1e-9 else f"{value:.2f}"
        ink = "white" if value < 0.4 else "0.45" if text == "same" else "black"
        ax.text(j, i, text, ha="center", va="center", fontsize=8, color=ink)
    figure.colorbar(image, label="1 - similarity of two graphs that differ in this")
    return figure


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the picture and print what it shows."""
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.choices",
        description="Draw which kernels notice which difference of two graphs, and print the similarities.",
    )
    parser.add_argument("-o", "--output", type=Path, default=PICTURE, metavar="FILE")
    output = parser.parse_args(arguments).output
    rows, columns, values = table()
    for row, line in zip(rows, values, strict=True):
        print(row.ljust(28), *(f"{value:6.2f}" for value in line))
    print(*columns, sep=" | ")
    draw().savefig(output, dpi=110)


if __name__ == "__main__":
    main()
