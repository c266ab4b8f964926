"""Sentences of the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels.explorer.models import Explained
from propkernels.graphs.database import GraphDatabase


def page_facts(graphs: GraphDatabase, found: Explained | None, numbers: Any, classes: Any) -> str:
    """Return the line beside the title."""
    parts = [f"{len(graphs):,} graphs", f"{graphs.n_nodes:,} nodes", f"{graphs.n_edges:,} edges"]
    if found is not None and classes is not None:
        known = found.predictions >= 0
        if known.any():
            parts.append(
                f"{100 * np.mean(found.predictions[known] == numbers[known]):.1f} % predicted correctly"
            )
    elif found is not None:
        known = np.isfinite(found.predictions)
        if not known.any():
            return " · ".join(parts)
        error = np.sqrt(np.mean((found.predictions[known] - numbers[known]) ** 2))
        parts.append(f"root mean squared error {error:.4g}")
    return " · ".join(parts)


def page_about(found: Explained | None, kernel: Any, n_neighbors: int) -> list[str]:
    """Paragraphs that say what is shown."""
    text = " ".join(repr(kernel).split())
    paragraphs = [
        "Each point of the map is a graph; near points are similar graphs. Similarity is the normalized "
        f"kernel {text}: graphs are alike if many of their nodes look alike from t steps around them. The "
        f"map is made by t-SNE from the exact {n_neighbors} nearest neighbors of each graph. Distances "
        "between far groups mean little.",
        "Novelty is 1 less the mean similarity to the nearest graphs.",
    ]
    if found is None:
        return [*paragraphs, "No target was given, so nothing was learned."]
    solver = getattr(found.model, "solver_", "")
    settings = f"C = {found.model.C_:g}, t_max = {found.model.t_max_}, solver {solver!r}"
    paragraphs += [
        f"The model is a support vector machine on this kernel ({settings}). Its decision about a graph is "
        "exactly a sum over nodes and iterations plus an intercept; the page computes it from the graph, so "
        "that edits take effect at once, with the numbers of Python.",
        f"Predictions on the map and in the list of errors: {found.source}.",
    ]
    return [*paragraphs, found.remark] if found.remark else paragraphs


def as_sentence(text: str) -> str:
    """Return words as a sentence."""
    return text[:1].upper() + text[1:] + "."
