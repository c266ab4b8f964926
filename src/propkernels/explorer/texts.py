"""Texts of the page: the line beside the title, and the tab "About"."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from propkernels.explorer.models import Explained
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.sum_kernel import SumKernel


def page_facts(graphs: GraphDatabase, found: Explained | None, numbers: Any, classes: Any) -> str:
    """Return the line beside the title: sizes of the data, and the score and origin of the predictions."""
    parts = [f"{len(graphs):,} graphs", f"{graphs.n_nodes:,} nodes", f"{graphs.n_edges:,} edges"]
    if found is not None:
        known = found.predictions >= 0 if classes is not None else np.isfinite(found.predictions)
        if known.any():
            parts.append(f"{_score(found.predictions[known], numbers[known], classes)} ({found.how})")
    return " · ".join(parts)


def _score(predictions: Any, numbers: Any, classes: Any) -> str:
    if classes is not None:
        return f"{100 * np.mean(predictions == numbers):.1f} % predicted correctly"
    return f"root mean squared error {np.sqrt(np.mean((predictions - numbers) ** 2)):.4g}"


def page_about(found: Explained | None, kernel: Any, n_neighbors: int) -> list[str]:
    """Return the paragraphs of the tab "About"."""
    kernels = kernel_texts(kernel)
    several = f"the mean of {len(kernels)} normalized kernels, those of the model"
    similarity = f"the normalized kernel {kernels[0]}" if len(kernels) == 1 else several
    paragraphs = [
        f"Each point of the map is a graph; nearby points are similar graphs. Similarity is {similarity}: "
        "graphs are similar if many of their nodes have similar surroundings of up to t steps. The map is "
        f"computed by t-SNE from the exact {n_neighbors} nearest neighbors of each graph. Distances between "
        "distant groups are not meaningful.",
        "Novelty is 1 minus the mean similarity to the nearest graphs.",
    ]
    if found is None:
        return [*paragraphs, "There is no target, so no model was trained."]
    return [*paragraphs, *_about_model(found, kernels), found.source]


def _about_model(found: Explained, kernels: list[str]) -> list[str]:
    """Return sentences on the model and on its decisions in the page."""
    model, listed = found.model, "; ".join(kernels)
    settings = f"C = {model.C_:g}, solver {getattr(model, 'solver_', '')!r}"
    if len(kernels) == 1:
        what = f"a support vector machine on this kernel ({settings})"
    elif model.kernel is None:
        what = f"the mean of {len(kernels)} support vector machines, one per kernel: {listed}"
    else:
        what = f"a support vector machine on the sum of {len(kernels)} kernels ({settings}): {listed}"
    return [
        f"The model is {what}.",
        "The decision for a graph is an exact sum over nodes and iterations, plus an intercept. The page "
        "computes it from the graph as Python does, so edits take effect at once.",
    ]


def kernel_texts(kernel: Any) -> list[str]:
    """Return the repr of each kernel of a sum in one line, without random_state and n_jobs."""
    if isinstance(kernel, SumKernel):
        return [text for part in kernel.kernels or [] for text in kernel_texts(part)]
    plain = clone(kernel)
    drawn = {name: None for name in ("random_state", "n_jobs") if name in plain.get_params(deep=False)}
    return [" ".join(repr(plain.set_params(**drawn)).split())]
