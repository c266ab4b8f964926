"""The pictures of the documentation, drawn from real data into docs/pictures.

Draw all, or some::

    python -m reproduction.extra.pictures
    python -m reproduction.extra.pictures molecule kernel

It needs the extras ``plot`` and ``images``, and MUTAG, MSRC_9, FIRSTMM_DB and the leaf photographs in the
folder that PROPKERNELS_DATA names.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from reproduction.data.pictures import load_leaves

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
MUTAGENIC = {1: "mutagenic", -1: "not mutagenic"}
OBJECT = 0
HEALTHY, RUST = "Apple_leaf", "Apple_rust_leaf"
DOTS_PER_INCH = 144


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


PICTURES: dict[str, Callable[[], Any]] = {
    "molecule": draw_molecule,
    "iterations": draw_iterations,
    "similar": draw_similar,
    "leaf": draw_leaf,
    "object": draw_object,
    "kernel": draw_kernel,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw all pictures, or those that are named."""
    import matplotlib

    matplotlib.use("Agg")
    parser = argparse.ArgumentParser(
        prog="python -m reproduction.extra.pictures", description=__doc__.split("\n")[0]
    )
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], metavar="NAME", help=", ".join(PICTURES))
    names = parser.parse_args(arguments).names or list(PICTURES)
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        path = FOLDER / f"{name}.png"
        PICTURES[name]().savefig(path, dpi=DOTS_PER_INCH, pil_kwargs={"optimize": True})
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
