"""Contents of the page: texts, settings as JSON, graphs and values as sections of arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from propkernels.convert.graph_molecules import MOST_BONDS
from propkernels.counts.bins import Bin
from propkernels.datasets.dataset import ELEMENTS
from propkernels.explain.rule import same_codes
from propkernels.explorer.carried import CarriedRule
from propkernels.explorer.map_columns import Column
from propkernels.explorer.models import Explained
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.sum_kernel import SumKernel
from propkernels.models.defaults import has_views

Arrays = dict[str, NDArray[Any]]
BINS, MOST_TEXT = 10, 60  # shown per class, and letters of their names
CANDIDATES = 5  # times as many bins with large weights are looked at
LEAST_GRAPHS = 5  # bins of fewer graphs are shown last
MOST_RANGES, COVERAGE = 6000, 0.9  # graphs with intervals or sets, and their coverage
SYMBOLS = set(ELEMENTS.values())
WORDS = {"graph": "graph", "node": "node", "edge": "edge"}
WORDS_OF_MOLECULES = {"graph": "molecule", "node": "atom", "edge": "bond"}
WORDS_OF_IMAGES = {"graph": "image", "node": "pixel", "edge": "edge"}


def page_words(graphs: GraphDatabase, pixels: Any) -> dict[str, str]:
    """Return what a page calls graphs, nodes and edges."""
    if pixels:
        return WORDS_OF_IMAGES
    names = _label_texts(graphs.label_column, short_names(graphs.label_column, graphs.names.labels))
    is_sparse = graphs.adjacency.nnz <= MOST_BONDS * graphs.n_nodes
    return WORDS_OF_MOLECULES if are_elements(names) and is_sparse else WORDS


def page_contents(
    graphs: GraphDatabase,
    found: Explained | None,
    carried: CarriedRule,
    names: list[str] | None,
    described: list[tuple[Column, NDArray[Any]]],
) -> tuple[dict[str, Any], dict[str, Arrays]]:
    """Return the JSON of the page, and its sections of arrays by name."""
    directed, structure = graph_arrays(graphs)
    short = short_names(graphs.label_column, graphs.names.labels)
    if any("attributes" in code for code in carried.codes):
        structure["attributes"] = np.asarray(graphs.node_attributes, dtype=np.float64).ravel()
    is_atoms = are_elements(_label_texts(graphs.label_column, short))
    meta: dict[str, Any] = {
        "n": len(graphs),
        "classes": names,
        "labels": _label_texts(graphs.label_column, short),
        "labelChoices": _label_texts(graphs.label_column, graphs.names.labels),
        "kinds": _label_texts(graphs.edge_label_column, graphs.names.edge_labels),
        "atoms": is_atoms,
        "directed": directed,
        "fixed": is_atoms and has_views(graphs.label_column),
        "codes": carried.codes,
        "sums": [bins.sum for bins in carried.bins],
        "members": carried.members,
        "columns": [column.described() for column, _ in described],
        "model": None,
        "ranges": None,
        "bins": [],
    }
    maps = {column.key: values for column, values in described}
    if found is not None:
        calibration, nearness = _calibration(found, graphs)
        maps |= nearness
        meta["model"] = {
            "columns": found.model.rule_.n_decisions,
            "intercepts": np.asarray(found.model.intercept_, dtype=np.float64).ravel().tolist(),
            "classes": found.layout.n_classes,
            "calibration": calibration,
        }
        meta["ranges"] = likely_ranges(found, graphs)
        target = next(values for column, values in described if column.key == "target")
        meta["bins"] = _patterns(found, graphs, target, names, short)
    if found is not None and "margin" not in maps:
        maps["margin"] = found.margins
    return meta, {"map": maps, "graphs": structure} | carried.sections


def likely_ranges(found: Explained, graphs: GraphDatabase) -> list[Any] | None:
    """Return the interval, or the numbers of the possible classes, of each graph at 90 % coverage.

    None for large pages, and for models without held-out predictions.
    """
    model = found.model
    if getattr(model, "conformal_", None) is None or len(graphs) > MOST_RANGES:
        return None
    if hasattr(model, "predict_set"):
        return [np.flatnonzero(row).tolist() for row in model.predict_set(graphs, COVERAGE)]
    intervals = np.asarray(model.predict_interval(graphs, COVERAGE))
    return [[_number(float(low)), _number(float(high))] for low, high in intervals]


def are_elements(names: list[str]) -> bool:
    """Whether all names of labels are symbols of elements."""
    return bool(names) and set(names) <= SYMBOLS


def _calibration(found: Explained, graphs: GraphDatabase) -> tuple[dict[str, Any] | None, Arrays]:
    """Return what the page computes probabilities from, and the similarity of each graph to training graphs.

    ``live``: all training graphs are on the page, so that probabilities of edited graphs are known, too.
    """
    model = found.model
    fitted = getattr(model, "calibration_", None)
    if fitted is None or fitted.multilabel:
        return None, {}
    settings: dict[str, Any] = {"slope": float(fitted.slopes[0]), "power": float(fitted.power)}
    if not fitted.power:
        return settings, {}
    index, bins = model.index_, found.carried.bins
    near = index._query(graphs, k=1)[0][:, 0]
    place = next(i for i, b in enumerate(bins) if same_codes(b.vocabulary.counter, index._counter.counter))
    settings |= {"vocabulary": place, "weights": index._file.weights.tolist()}
    return settings | {"live": len(index) == len(graphs) and bool((near == 1).all())}, {"nearness": near}


def short_names(column: Any, names: Mapping[Any, str] | None) -> dict[Any, str]:
    """Return short label names to draw in nodes; for tuples of labels, the first entry (atom symbol)."""
    views = {value: str(value[0]) for value in column.values} if has_views(column) else {}
    return views | dict(names or {})


def _label_texts(column: Any, names: Mapping[Any, str] | None) -> list[str]:
    if not isinstance(column, LabelColumn):
        return []
    return [str((names or {}).get(value, value)) for value in column.values]


def _patterns(found: Explained, graphs: Any, target: Any, names: Any, labels: Any) -> list[dict[str, Any]]:
    """Return the bins with the largest weights; of more than two classes, for each against the others."""

    def described(subject: str, target: Any, **classes: Any) -> dict[str, Any]:
        listed = found.model.top_bins(graphs, target, n=CANDIDATES * BINS, label_names=labels, **classes)
        named = [(pattern_name(bin_, graphs), bin_) for bin_ in listed]
        return {"subject": subject, "bins": _records(telling_bins(named, BINS, len(graphs)), found)}

    if names is None:
        return [described("a larger prediction", target)]
    classes = found.model.classes_
    if len(classes) == 2:
        return [described(names[1], classes[target])]
    return [
        described(name, classes[target], classes=value)
        for name, value in zip(names, classes.tolist(), strict=True)
    ]


def telling_bins(bins: Sequence[tuple[str, Bin]], n: int, n_graphs: int) -> list[tuple[str, Bin]]:
    """Return the n bins that separate graphs best: by weight times deviation of presence, rare ones last.

    Of bins with one name, those of several kernels or with several counts, the best is kept.
    """

    def rank(named: tuple[str, Bin]) -> tuple[bool, float]:
        _, bin_ = named
        share = bin_.n_graphs / n_graphs
        return bin_.n_graphs < LEAST_GRAPHS, -abs(bin_.weight or 0) * (share * (1 - share)) ** 0.5

    different: dict[str, tuple[str, Bin]] = {}
    for name, bin_ in sorted(bins, key=rank):
        different.setdefault(name, (name, bin_))
    return list(different.values())[:n]


def pattern_name(bin_: Bin, graphs: GraphDatabase) -> str:
    """Return a bin in words: "C", "N with C O O, then C", or "C and N, 3 apart" for ends of a path.

    The number of times that it occurs is not a part of its name.
    """
    root, *shells = bin_.neighborhood.split(" | ")
    if shells:
        text = f"{root} with {', then '.join(shells)}"
        return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "\N{HORIZONTAL ELLIPSIS}"
    if len(bin_.nodes) == 2 and bin_.graph is not None:
        first, second = bin_.nodes
        steps = shortest_path(graphs[bin_.graph].adjacency, unweighted=True, indices=first)[second]
        return f"{root.replace(' ', ' and ', 1)}, {steps:g} apart"
    return root or f"a node, t = {bin_.t}"


def _records(bins: Sequence[tuple[str, Bin]], found: Explained) -> list[dict[str, Any]]:
    """Return one JSON record per bin."""
    carried = found.carried
    return [
        {
            "vocabulary": carried.places[bin_.member],
            "stream": bin_.stream,
            "bin": carried.bins[carried.places[bin_.member]].place(bin_.stream, bin_.code),
            "name": f"at least {bin_.level} \N{MULTIPLICATION SIGN} {name}" if bin_.level > 1 else name,
            "weight": bin_.weight,
            "count": bin_.n_graphs,
            "with": _number(bin_.mean_with),
            "without": _number(bin_.mean_without),
            "level": bin_.level,
            "graph": bin_.graph,
            "node": bin_.node,
            "nodes": list(bin_.nodes),
        }
        for name, bin_ in bins
        if bin_.stream is not None and bin_.code is not None
    ]


def _number(value: float | None) -> float | None:
    """Return a finite number, or None."""
    return None if value is None or not np.isfinite(value) else value


def graph_arrays(graphs: GraphDatabase) -> tuple[bool, Arrays]:
    """Return whether graphs are directed, and the arrays of their structure that ``data.js`` reads.

    Undirected edges, which have the same label in both directions, are listed once, at their smaller node.
    The other end of an edge is stored as the difference of node numbers.
    """
    matrix, column = graphs.adjacency, graphs.edge_label_column
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(matrix.indptr))
    kinds = None if column is None else column.ids
    directed = not _is_symmetric(rows, matrix.indices, kinds)
    kept = np.ones(len(rows), dtype=bool) if directed else rows <= matrix.indices
    arrays: Arrays = {
        "sizes": graphs.graph_sizes,
        "degrees": np.bincount(rows[kept], minlength=graphs.n_nodes),
        "steps": (matrix.indices[kept] - rows[kept]).astype(np.int64),
    }
    if kinds is not None:
        arrays["kinds"] = kinds[kept]
    if isinstance(graphs.label_column, LabelColumn):
        arrays["labels"] = graphs.label_column.ids
    return directed, arrays


def _is_symmetric(rows: NDArray[Any], columns: NDArray[Any], kinds: NDArray[Any] | None) -> bool:
    """Whether each edge has a reverse edge with the same label."""
    labels = np.zeros(len(rows), dtype=np.int64) if kinds is None else kinds
    there, back = np.lexsort((labels, columns, rows)), np.lexsort((labels, rows, columns))
    return bool(
        np.array_equal(rows[there], columns[back])
        and np.array_equal(columns[there], rows[back])
        and np.array_equal(labels[there], labels[back])
    )


# Texts

GLOSSARY = {
    "pattern": "A node with its neighborhood of t steps: one feature of the kernel. Equal (or nearly "
    "equal) neighborhoods are the same pattern.",
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
OF_CLASSES, OF_NUMBERS = ("decision", "probability", "90 % set", "margin"), ("90 % interval",)
CLEAR = 0.8  # quantile of margins, from which on a graph is predicted clearly
FAR_FROM_MEDIAN = 1.5  # a graph that opens first has at most this many times the median number of nodes


def page_glossary(words: dict[str, str], are_classes: bool) -> dict[str, str]:
    """Return the words that a page uses, with their meaning."""
    unused = OF_NUMBERS if are_classes else OF_CLASSES
    known = {word: in_words(meaning, words) for word, meaning in GLOSSARY.items() if word not in unused}
    return known if are_classes else {w: text.replace("decision", "prediction") for w, text in known.items()}


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
    graph, nodes = meta["words"]["graph"], meta["words"]["node"] + "s"
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
    is_edited = not meta["pixels"] and not meta["fixed"]
    edit = f" Press Change and click on {nodes} to see the prediction change." if is_edited else ""
    return points + sides + "Click a point to open it." + edit


def page_notes(graphs: GraphDatabase, carried: Any, notes: list[str | None], is_fixed: bool) -> list[str]:
    """Return sentences for the header: notes of the user, unused inputs, and why there are no edits."""
    sentences = [note[0].upper() + note[1:].rstrip(".") + "." for note in notes if note]
    if is_fixed:
        sentences.append(
            "Molecules cannot be pasted or edited here: atoms are labeled by more than their elements. Node "
            "labels “symbol” allow it."
        )
    uses = any("attributes" in code for code in carried.codes)
    if graphs.node_attributes is not None and not uses:
        number = graphs.node_attributes.shape[1]
        what = "node attribute is" if number == 1 else "node attributes are"
        sentences.append(f"{number} {what} not used by the model of this page.")
    return sentences


def with_article(noun: str) -> str:
    """Return "a graph", "an atom"."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def in_words(text: str, words: dict[str, str]) -> str:
    """Return a text on graphs, nodes and edges in the words of the page."""
    both = words | {name.capitalize(): word.capitalize() for name, word in words.items()}
    named = re.sub(rf"\b({'|'.join(both)})(?=s?\b)", lambda found: both[found[1]], text)
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", named)


def page_facts(n_graphs: int, found: Explained | None, numbers: Any, classes: Any) -> str:
    """Return the line beside the title: the number of graphs, and the score and origin of the predictions."""
    parts = [f"{n_graphs:,} graphs"]
    if found is not None:
        known = found.predictions >= 0 if classes is not None else np.isfinite(found.predictions)
        predicted, true = found.predictions[known], numbers[known]
        if not known.any():
            pass
        elif classes is not None:
            parts.append(f"{100 * np.mean(predicted == true):.1f} % predicted correctly ({found.how})")
        else:
            error = np.sqrt(np.mean((predicted - true) ** 2))
            parts.append(f"root mean squared error {error:.3f} ({found.how})")
    return " · ".join(parts)


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
    decided = "decision" if found.layout.n_classes else "prediction"
    return [
        *paragraphs,
        f"The model is {solver} {what}, with C = {found.model.C_:g}. A {decided} is an exact sum over nodes "
        "and iterations, plus an intercept. The page computes it as Python does, so edits take effect at "
        "once.",
        found.source,
    ]
