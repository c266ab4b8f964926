"""The pictures of the documentation, drawn from real data into docs/pictures.

Draw all, or some::

    python -m reproduction.extra.pictures
    python -m reproduction.extra.pictures molecule kernel

It needs the extras ``plot`` and ``images``, and MUTAG, MSRC_9, FIRSTMM_DB and the photographs of leaves,
textures and plants in the folder that PROPKERNELS_DATA names. ``figure4`` and ``figure5`` are the paper's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.graphs.layout import node_positions
from reproduction.data.pictures import load_brodatz, load_leaves, load_plants
from reproduction.molecules import sets

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
MUTAGENIC = {1: "mutagenic", -1: "not mutagenic"}
UNPUBLISHED, OF_OTHERS = Path("results"), ("figure5",)  # pictures without a license that allows more
OBJECT = 0
OBJECTS = (0, 7, 31)  # of three categories
TEXTURES = ("bark_D12", "grass_D9")
ESTERS = "CCOC(=O)c1ccccc1", "CCOC(=O)C1CCCC1N"
HEALTHY, RUST = "Apple_leaf", "Apple_rust_leaf"
DOTS_PER_INCH, MOST_BYTES = 144, 400_000


def explained_molecule() -> tuple[Any, int]:
    """An explanation of MUTAG held-out molecules, and one of them."""
    data = pk.datasets.load("MUTAG")
    order = np.random.default_rng(0).permutation(len(data.graphs))
    train, test = order[:150], order[150:]
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=3), random_state=0)
    model.fit(data.graphs[train], data.target[train])
    graphs = data.graphs[test]
    return model.explain(graphs), int(graphs.graph_sizes.argmax())


def draw_molecule() -> Any:
    """Nodes of a molecule colored by the class they count for."""
    explanation, graph = explained_molecule()
    ax = pk.plotting.plot_explanation(explanation, graph=graph, class_names=MUTAGENIC)
    ax.set_title("")
    return ax.figure


def draw_iterations() -> Any:
    """The same molecule, iteration by iteration."""
    explanation, graph = explained_molecule()
    axes: Any = pk.plotting.plot_explanation(explanation, graph=graph, t="each", class_names=MUTAGENIC)
    return axes[0].figure


def draw_similar() -> Any:
    """Two molecules, and the atoms that make them similar."""
    from matplotlib import pyplot

    graphs = pk.datasets.load("MUTAG").graphs
    figure, axes = pyplot.subplots(1, 2, figsize=(7.6, 3.0), layout="constrained")
    pk.similar_because(graphs[0], graphs[10], kernel=pk.WeisfeilerLehman(t_max=3)).plot(t=3, ax=axes)
    return figure


def draw_leaf() -> Any:
    """A leaf with rust: the photograph, and the class its pixels count for."""
    from matplotlib import pyplot

    data = load_leaves(n_colors=8)
    names = np.array(data.target_names)[data.target]
    some = np.flatnonzero(np.isin(names, [HEALTHY, RUST]))
    split = data.extras["split"][some]
    train, test = some[split == "train"], some[split == "test"]
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=4), random_state=0)
    model.fit(data.graphs[train], names[train])
    sick = test[names[test] == RUST]
    graph = int(sick[model.decision_function(data.graphs[sick]).argmax()])
    photograph = data.extras["images"][graph]
    figure, axes = pyplot.subplots(1, 2, figsize=(6.6, 3.0), layout="constrained")
    axes[0].imshow(photograph)
    axes[0].set_axis_off()
    gray = photograph.mean(axis=2) / 255 * 0.6 + 0.4
    pk.plotting.plot_explanation(
        model, data.graphs, graph, picture=gray, class_names={RUST: "rust", HEALTHY: "healthy"}, ax=axes[1]
    )
    axes[1].set_title("")
    return figure


def draw_object() -> Any:
    """A point cloud, drawn at its coordinates."""
    from matplotlib import pyplot

    data = pk.datasets.load("FIRSTMM_DB")
    others = np.delete(np.arange(len(data.graphs)), OBJECT)
    kernel = pk.PropagationKernel(t_max=5)
    model = pk.PropagationClassifier(kernel=kernel, C=10, normalize=True, cv=2, random_state=0)
    model.fit(data.graphs[others], data.target[others])
    nodes = slice(*data.graphs.graph_ptr[OBJECT : OBJECT + 2])
    coordinates = data.extras["coordinates"][nodes]
    figure, ax = pyplot.subplots(figsize=(6.6, 2.8), layout="constrained")
    pk.plotting.plot_explanation(model, data.graphs, OBJECT, layout=coordinates, ax=ax)
    ax.set_title("")
    return figure


def draw_kernel() -> Any:
    """A kernel matrix and its principal components."""
    from matplotlib import pyplot

    data = pk.datasets.load("MSRC_9")
    gram = pk.PropagationKernel(t_max=3, normalize=True, random_state=0).fit_transform(data.graphs)
    figure, axes = pyplot.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    pk.plotting.plot_kernel(gram, data.target, ax=axes[0])
    pk.plotting.plot_embedding(gram, data.target, ax=axes[1])
    return figure


def draw_scene() -> Any:
    """Figure 4: a photograph, its superpixels as a graph with some labels unknown, and point clouds."""
    from matplotlib import pyplot
    from skimage.segmentation import mark_boundaries, quickshift
    from sklearn.datasets import load_sample_image

    image = load_sample_image("china.jpg")[::2, ::2]
    parts = quickshift(image, ratio=0.5, kernel_size=4, max_dist=20, rng=0)
    _, parts = np.unique(parts, return_inverse=True)
    parts = parts.reshape(image.shape[:2])
    graphs = pk.images.from_superpixels([image], [scene_labels(image)], segments=[parts])
    first = np.argsort(np.unique(parts, return_index=True)[1])  # nodes are numbered by their first pixels
    centers = np.array([np.argwhere(parts == part).mean(axis=0)[::-1] for part in first])
    unknown = np.random.default_rng(0).random(graphs.n_nodes) < 0.3
    letters = np.where(unknown, "?", np.array(list("sbtv"))[graphs.node_labels])
    figure, axes = pyplot.subplot_mosaic(
        [["image", "image", "image", "graph", "graph", "graph"], ["o0", "o0", "o1", "o1", "o2", "o2"]],
        figsize=(9.0, 5.6),
        layout="constrained",
        height_ratios=(1.1, 1),
    )
    axes["image"].imshow(image, interpolation="nearest")
    axes["graph"].imshow(
        mark_boundaries(image * 0.5 / 255 + 0.5, parts, color=(0.6, 0.6, 0.6)), interpolation="nearest"
    )
    draw_edges(axes["graph"], graphs, centers, "black")
    colors = np.where(
        unknown, "white", np.array(["skyblue", "orange", "yellowgreen", "lightgray"])[graphs.node_labels]
    )
    axes["graph"].scatter(*centers.T, c=colors, s=110, edgecolors="black", linewidths=0.6, zorder=2)
    for (x, y), letter in zip(centers, letters, strict=True):
        axes["graph"].text(x, y, letter, ha="center", va="center", fontsize=7, zorder=3)
    data: Any = pk.datasets.load("FIRSTMM_DB")
    for panel, graph in zip(("o0", "o1", "o2"), OBJECTS, strict=True):
        part = data.graphs[[graph]]
        nodes = slice(*data.graphs.graph_ptr[graph : graph + 2])
        points = node_positions(data.graphs[graph], data.extras["coordinates"][nodes])
        draw_edges(axes[panel], part, points, "lightgray")
        axes[panel].scatter(*points.T, c=part.node_labels, s=4, cmap="Set1", vmin=1, vmax=9, zorder=2)
        axes[panel].set_aspect("equal")
    for ax in axes.values():
        ax.set_axis_off()
    return figure


def scene_labels(image: Any) -> Any:
    """Labels of the photograph's pixels by simple rules: 0 sky, 1 building, 2 tree, 3 void (the lake)."""
    y, x = np.indices(image.shape[:2]) / np.array(image.shape[:2])[:, None, None]
    bright = image.mean(axis=2) > 150
    building = (x > 0.13) & (x < 0.58) & (y < 0.82)
    return np.select([bright & (y < 0.45), building, bright], [0, 1, 3], 2)


def draw_edges(ax: Any, graphs: Any, points: Any, color: str) -> None:
    """Draw the edges of one graph between points."""
    from matplotlib.collections import LineCollection

    rows, columns = graphs.adjacency.nonzero()
    ends = np.stack([points[rows[rows < columns]], points[columns[rows < columns]]], axis=1)
    ax.add_collection(LineCollection(list(ends), colors=color, linewidths=0.5, zorder=1))


def draw_textures() -> Any:
    """Figure 5: textures and diseased leaves (stand-ins), and the same in 3 gray levels and in 5 colors."""
    from matplotlib import pyplot

    brodatz, plants = load_brodatz(("original",)), load_plants()
    colored: Any = pk.images.KMeansColors(5, random_state=0).fit_transform(plants.extras["images"])
    names = list(brodatz.target_names)
    shown = [(brodatz, brodatz.graphs, names.index(name), name.partition("_")[0]) for name in TEXTURES]
    shown += [(plants, colored, number, f"leaf {number + 1}") for number in range(2)]
    figure, axes = pyplot.subplots(2, 4, figsize=(8.0, 4.2), layout="constrained")
    data: Any
    grids: Any
    for column, (data, grids, number, name) in enumerate(shown):
        one = int(np.flatnonzero(data.target == np.unique(data.target)[number])[0])
        axes[0, column].imshow(data.extras["images"][one], cmap="gray")
        axes[1, column].imshow(grids[one].image, cmap="viridis", vmin=0, interpolation="nearest")
        axes[0, column].set_title(name)
        axes[1, column].set_title(f"{name}-{len(grids.label_values)}")
    for ax in axes.flat:
        ax.set_axis_off()
    return figure


def draw_by_iteration() -> Any:
    """An inhibitor of BACE that the model did not learn from, iteration by iteration."""
    data = sets.load("BACE")
    target = data.target[:, 0].astype(int)
    held, others = data.mols[24], [i for i in range(0, len(target), 8) if i != 24]
    kernel = pk.WeisfeilerLehman(t_max=2, edge_labels=True, base_kernel="intersection")
    classifier = pk.PropagationClassifier(kernel=kernel, C=1, random_state=0)
    model = make_pipeline(pk.MoleculesToGraphs(), classifier)
    model.fit([data.mols[i] for i in others], target[others])
    return pk.molecules.draw_molecule(model, [held], t="each", size=(380, 300))


def draw_shared() -> Any:
    """Two esters of ethanol."""
    kernel = pk.WeisfeilerLehman(t_max=2, edge_labels=True)
    return pk.similar_because(*ESTERS, kernel=kernel).plot()[0].figure


PICTURES: dict[str, Callable[[], Any]] = {
    "molecule": draw_molecule,
    "iterations": draw_iterations,
    "similar": draw_similar,
    "leaf": draw_leaf,
    "object": draw_object,
    "kernel": draw_kernel,
    "figure4": draw_scene,
    "figure5": draw_textures,
    "molecule_by_iteration": draw_by_iteration,
    "molecules_shared": draw_shared,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw all pictures, or those that are named."""
    import matplotlib
    from PIL import Image

    matplotlib.use("Agg")
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.pictures", description=__doc__.split("\n")[0]
    )
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="NAME", help=", ".join(PICTURES))
    names = parser.parse_args(arguments).names or list(PICTURES)
    for name in names:
        path = (UNPUBLISHED if name in OF_OTHERS else FOLDER) / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        drawn = PICTURES[name]()
        if hasattr(drawn, "savefig"):
            drawn.savefig(path, dpi=DOTS_PER_INCH, pil_kwargs={"optimize": True})
        else:  # a molecule
            drawn.save(path)
        if path.stat().st_size > MOST_BYTES:  # photographs: a palette is enough
            with Image.open(path) as picture:
                picture.convert("RGB").quantize(192).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
