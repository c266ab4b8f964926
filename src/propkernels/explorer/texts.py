"""Texts of the page: the line beside the title, and the tab "About"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from propkernels.explorer.models import Explained
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.sum_kernel import SumKernel

GLOSSARY = {
    "pattern": "A node with its neighborhood of t steps: one feature of the kernel. Nodes with equal (or "
    "nearly equal) neighborhoods have the same pattern.",
    "corrects": "This pattern occurs together with others that count the other way: its weight takes back a "
    "part of theirs, so that it points against the share of its class.",
    "iteration": "The number of steps t that a node sees around it: at t = 0 only its label, at t = 1 its "
    "neighbors, and so on.",
    "decision": "Contributions of all nodes and iterations plus an intercept, one decision per class; the "
    "largest one is the prediction.",
    "contribution": "The part of the decision that a node adds; these parts add up to the decision exactly.",
    "probability": "The decision, calibrated on graphs that were held out from training. It is not shown for "
    "graphs unlike the data.",
    "90 % interval": "The range that contains the target of 9 of 10 new graphs like this one (conformal "
    "prediction). Python's predict_interval computes it for other graphs.",
    "90 % set": "The classes that contain the true one for 9 of 10 new graphs like this one (conformal "
    "prediction), shown if it is not the predicted class alone; empty for a graph unlike all classes. "
    "Python's predict_set computes it for other graphs.",
    "margin": "The score of the true class minus the best other score: below 0 the graph is misclassified.",
    "novelty": "1 minus the mean similarity to the nearest graphs: near 1 for a graph unlike all others.",
    "similarity": "The mean of the normalized kernels: 1 for equal counts, 0 without a common pattern.",
    "unlike the data": "The nearest graph is less similar than that of 95 % of the graphs of the page.",
    "final model": "Trained on all graphs, also on this one.",
    "held out": "Predicted by a model that was trained without this graph.",
}
CLEAR = 0.8  # quantile of margins, from which on a graph is predicted clearly
FAR_FROM_MEDIAN = 1.5  # a graph that opens first has at most this many times the median number of nodes


def telling_graph(graphs: GraphDatabase, found: Explained | None, numbers: Any, classes: Any) -> int:
    """Return the graph that a page opens first: of usual size, predicted clearly, with various labels.

    Of two classes, a clearly and correctly predicted graph of the second; of more, of any class; of numbers,
    the largest target with a small error; without a target, the graph of median size.
    """
    sizes = graphs.graph_sizes
    usual = (sizes <= FAR_FROM_MEDIAN * np.median(sizes)) & (sizes > 1)
    if found is None or not usual.any():
        return int(np.argmin(np.abs(sizes - np.median(sizes))))
    if classes is None:
        close = usual & (found.margins <= np.nanmedian(found.margins))
        return int(np.argmax(np.where(close, numbers, -np.inf))) if close.any() else int(np.argmax(usual))
    right = usual & (found.predictions == numbers)
    last = right & (numbers == 1) if len(classes) == 2 else right
    chosen = last if last.any() else right if right.any() else usual
    clear = chosen & (found.margins >= np.quantile(found.margins[chosen], CLEAR))
    column = graphs.label_column
    labels = column.ids if isinstance(column, LabelColumn) else np.zeros(graphs.n_nodes, dtype=np.int64)
    kinds = np.bincount(np.unique([graphs.graph_ids, labels], axis=1)[0], minlength=len(graphs))
    various = clear & (kinds == kinds[clear].max())
    return int(np.argmin(np.where(various, np.abs(sizes - np.median(sizes)), np.inf)))


def reading_line(meta: dict[str, Any]) -> str:
    """Return one line on how to read the page, for its first screen."""
    graph, nodes = meta["words"]["graph"], "contacts" if meta.get("time") else meta["words"]["node"] + "s"
    points = f"Each point is {with_article(graph)}; similar {graph}s are close. "
    if meta["model"] is None:
        return points + "Click a point to open it."
    classes = meta["classes"]
    if classes is None:
        sides = f"Red {nodes} raise the prediction, blue {nodes} lower it. "
    elif len(classes) == 2:
        sides = f"Red {nodes} are evidence for “{classes[1]}”, blue {nodes} for “{classes[0]}”. "
    else:
        sides = f"Red {nodes} are evidence for the predicted class, blue {nodes} against it. "
    edit = "" if meta["pixels"] else f" Press Change and click on {nodes} to see the prediction change."
    if meta.get("time"):
        edit = " Press Remove and click on a contact to see the prediction change."
    return points + sides + "Click a point to open it." + edit


def edit_rule(meta: dict[str, Any]) -> str:
    """Return the rule that edits must respect, for its check box."""
    if meta["atoms"] and meta["kinds"]:
        return "only valid molecules (valences, no strained rings)"
    return "only degrees that occur in the data"


def page_notes(graphs: GraphDatabase, carried: Any, notes: list[str | None]) -> list[str]:
    """Return sentences that a reader must know: notes of the user, and inputs that the model ignores."""
    sentences = [note[0].upper() + note[1:].rstrip(".") + "." for note in notes if note]
    uses = any("attributes" in code for code in carried.codes)
    if graphs.node_attributes is not None and not uses:
        number = graphs.node_attributes.shape[1]
        what = "node attribute is" if number == 1 else "node attributes are"
        sentences.append(f"{number} {what} not used by the model of this page.")
    return sentences


def with_article(noun: str) -> str:
    """Return "a graph", "an atom"."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def in_words(text: str, words: Mapping[str, str]) -> str:
    """Return a text on graphs, nodes and edges in the words of the page."""
    named = re.sub(r"\b(graph|node|edge)(?=s?\b)", lambda found: words[found[1]], text)
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", named)


def page_facts(n_graphs: int, found: Explained | None, numbers: Any, classes: Any) -> str:
    """Return the line beside the title: the number of graphs, and the score and origin of the predictions."""
    parts = [f"{n_graphs:,} graphs"]
    if found is not None:
        known = found.predictions >= 0 if classes is not None else np.isfinite(found.predictions)
        if known.any():
            parts.append(f"{_score(found.predictions[known], numbers[known], classes)} ({found.how})")
    return " · ".join(parts)


def _score(predictions: Any, numbers: Any, classes: Any) -> str:
    if classes is not None:
        return f"{100 * np.mean(predictions == numbers):.1f} % predicted correctly"
    return f"root mean squared error {np.sqrt(np.mean((predictions - numbers) ** 2)):.3f}"


def page_about(found: Explained | None, kernel: Any, n_neighbors: int) -> list[str]:
    """Return the paragraphs of the tab "About"."""
    n_kernels = len(kernel.kernels or ()) if isinstance(kernel, SumKernel) else 1
    several = "the normalized kernel" if n_kernels == 1 else f"the mean of {n_kernels} normalized kernels"
    paragraphs = [
        f"Each point of the map is a graph; nearby points are similar graphs. Similarity is {several}: "
        "graphs are similar if many of their nodes have similar neighborhoods of up to t steps. The map is "
        f"computed by t-SNE from the exact {n_neighbors} nearest neighbors of each graph. Distances between "
        "distant groups are not meaningful.",
    ]
    if found is None:
        return [*paragraphs, "There is no target, so no model was trained."]
    solver = {"svm": "a support vector machine", "gp": "a Gaussian process"}.get(
        found.model.solver_, "least squares"
    )
    what = "on this kernel" if n_kernels == 1 else f"on {n_kernels} kernels"
    return [
        *paragraphs,
        f"The model is {solver} {what}, with C = {found.model.C_:g}. A decision is an exact sum over nodes "
        "and iterations, plus an intercept. The page computes it as Python does, so edits take effect at "
        "once. Python shows all settings: explore(...).model.",
        found.source,
    ]
