"""NodeClassifier on the nodes of fourteen published graphs, vs. simple methods and published figures.

    python -m reproduction nodes --document docs/measured/nodes.md

The graphs are read from nodes.zip in the folder that PROPKERNELS_DATA names: one NAME.npz each, with edges,
labels, attributes as a CSR matrix, and masks of published splits. Each result is kept as soon as it is
measured, and a run continues where the last one stopped. Each process (``--jobs``) takes one fit at a time,
on one thread; ``--dataset`` selects graphs, ``--repeats`` the number of seeds. Nothing is chosen on test
nodes: models choose on validation nodes, or by cross-validation on labeled nodes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.semi_supervised import LabelSpreading

import propkernels as pk
from propkernels.nodes import CoincidingWalkKernel
from reproduction.engine.cells import measured_on, write_text
from reproduction.extra.records import (
    Record,
    chosen_names,
    data_file,
    markdown,
    measure_missing,
    with_spread,
)

Indices = NDArray[np.int64]
PLANETOID, RANDOM, FIXED, SHARES = "Planetoid's split", "20 labels per class", "ten fixed splits", "80 / 20"
OURS, SPREADING = "NodeClassifier", "label spreading"
WALKS, LOGISTIC = "coinciding walks", "logistic regression"
METHODS = (OURS, SPREADING, WALKS, LOGISTIC)
CURVE = (2, 5, 10, 20)  # labels per class of the learning curves
SEEDS = (1, 2, 3, 4, 5)


class Protocol(NamedTuple):
    """How a graph is split, what was published, and whether the score is the area under the ROC curve.

    ``n_splits`` is that of published splits; without any, each seed draws its own.
    """

    kind: str
    n_splits: int
    published: str
    auc: bool = False


GCN, GAT, PITFALLS = "Kipf and Welling 2017", "Veličković et al. 2018", "Shchur et al. 2018"
PLATONOV, LUO, ZHU = "Platonov et al. 2023", "Luo et al. 2024", "Zhu et al. 2020"
GRAPHS = {
    "cora": Protocol(PLANETOID, 1, "GCN 81.5, GAT 83.0, APPNP 83.3"),
    "citeseer": Protocol(PLANETOID, 1, "GCN 70.3, GAT 72.5, APPNP 71.8"),
    "amazon_photo": Protocol(RANDOM, 0, f"GCN 91.2 ({PITFALLS})"),
    "amazon_computers": Protocol(RANDOM, 0, f"GCN 82.6 ({PITFALLS})"),
    "coauthor_cs": Protocol(RANDOM, 0, f"GCN 91.1 ({PITFALLS})"),
    "coauthor_physics": Protocol(RANDOM, 0, f"GCN 92.8 ({PITFALLS})"),
    "minesweeper": Protocol(
        FIXED, 10, f"GCN 89.8, SAGE 93.5, GAT-sep 93.9 ({PLATONOV}), tuned GCN 97.9 ({LUO})", True
    ),
    "chameleon_filtered": Protocol(FIXED, 10, f"GCN 40.9 ({PLATONOV}), tuned GCN 46.3 ({LUO})"),
    "squirrel_filtered": Protocol(FIXED, 10, f"GCN 39.5 ({PLATONOV}), tuned GCN 45.0 ({LUO})"),
    "actor": Protocol(FIXED, 10, f"H2GCN 35.9 ({ZHU})"),
    "texas": Protocol(FIXED, 10, f"H2GCN 84.9 ({ZHU})"),
    "cornell": Protocol(FIXED, 10, f"H2GCN 82.2 ({ZHU})"),
    "airports_usa": Protocol(SHARES, 0, "-"),
    "airports_europe": Protocol(SHARES, 0, "-"),
}


class Nodes(NamedTuple):
    """One graph: edges, attributes or None, labels (-1: unknown), and masks of published splits or None."""

    adjacency: csr_array
    attributes: csr_array | None
    labels: NDArray[np.int64]
    masks: tuple[NDArray[np.bool_], ...] | None

    @property
    def graph(self) -> Any:
        """The graph as a database."""
        return pk.GraphDatabase(self.adjacency, [0, len(self.labels)], node_attributes=self.attributes)


Key = tuple[str, int, int, int, str]


@dataclass(frozen=True)
class NodeResult(Record):
    """One method on one split of one graph; methods without random numbers have the seed 0."""

    n_keys = 5

    dataset: str
    split: int
    seed: int
    n_labels: int
    method: str
    score: float
    processor_seconds: float
    chosen: str


@cache
def read(name: str) -> Nodes:
    """Return a graph of nodes.zip."""
    with zipfile.ZipFile(data_file("nodes.zip")) as archive:
        found = np.load(io.BytesIO(archive.read(f"{name}.npz")), allow_pickle=False)
    n, (rows, columns) = int(found["n_nodes"]), found["edges"]
    once = csr_array(coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)))
    adjacency = csr_array(((once + once.T) > 0).astype(np.float64))
    attributes = None
    if "x_data" in found.files:
        parts = (found["x_data"].astype(np.float64), found["x_indices"], found["x_indptr"])
        attributes = csr_array(parts, shape=tuple(found["x_shape"]))
    masks = tuple(found[part] for part in ("train", "validation", "test")) if "train" in found.files else None
    nodes = Nodes(adjacency, attributes, found["labels"].astype(np.int64), masks)
    return largest_component(nodes) if GRAPHS[name].kind == RANDOM else nodes


def largest_component(nodes: Nodes) -> Nodes:
    """Return the largest connected component of a graph without published splits, as Shchur et al. did."""
    component = connected_components(nodes.adjacency, directed=False)[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    attributes = None if nodes.attributes is None else nodes.attributes[kept]
    return Nodes(nodes.adjacency[kept][:, kept], attributes, nodes.labels[kept], None)


def split_of(name: str, number: int) -> tuple[Indices, Indices, Indices]:
    """Return training, validation and test nodes of a split of a graph."""
    nodes, kind = read(name), GRAPHS[name].kind
    if nodes.masks is not None:
        train, validation, test = (np.flatnonzero(mask[number]) for mask in nodes.masks)
        return train, validation, test
    order = np.random.default_rng(number).permutation(np.flatnonzero(nodes.labels >= 0))
    if kind == SHARES:
        cut = int(0.8 * len(order))
        return np.sort(order[:cut]), np.arange(0), np.sort(order[cut:])
    rank = rank_in_class(nodes.labels[order])
    return order[rank < 20], order[(rank >= 20) & (rank < 50)], order[rank >= 50]


def few_of(name: str, number: int, n_labels: int) -> tuple[Indices, Indices, Indices]:
    """Return some nodes per class for training, none for validation, and all others for testing."""
    labels = read(name).labels
    order = np.random.default_rng(1000 + number).permutation(np.flatnonzero(labels >= 0))
    rank = rank_in_class(labels[order])
    return order[rank < n_labels], np.arange(0), order[rank >= n_labels]


def rank_in_class(labels: Indices) -> Indices:
    """Return, for each label, how often it occurred before."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], labels[order])
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels)) - starts
    return rank


Scores = NDArray[np.float64]  # one row per node, one column per class
Method = Callable[[Nodes, Indices, Indices, int], tuple[NDArray[Any], Scores, str]]


def ours(nodes: Nodes, train: Indices, validation: Indices, seed: int) -> tuple[NDArray[Any], Scores, str]:
    """NodeClassifier as it comes."""
    y = np.full(len(nodes.labels), -1)
    known = np.concatenate([train, validation]).astype(np.int64)
    y[known] = nodes.labels[known]
    model = pk.NodeClassifier(random_state=seed)
    model.fit(nodes.graph, y, validation=validation if len(validation) else None)
    scores = model.decision_function()
    both = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    return model.classes_, both, "; ".join(model.views_)


def spreading(
    nodes: Nodes, train: Indices, validation: Indices, seed: int
) -> tuple[NDArray[Any], Scores, str]:
    """scikit-learn's label spreading on the edges of the graph."""
    y = np.full(len(nodes.labels), -1)
    y[train] = nodes.labels[train]
    model = LabelSpreading(kernel=lambda a, b: nodes.adjacency, max_iter=100).fit(np.zeros((len(y), 1)), y)
    return model.classes_, np.nan_to_num(model.label_distributions_), ""


def coinciding(
    nodes: Nodes, train: Indices, validation: Indices, seed: int
) -> tuple[NDArray[Any], Scores, str]:
    """The coinciding walk kernel as published, with a logistic regression on its explicit features."""
    y = np.full(len(nodes.labels), -1)
    y[train] = nodes.labels[train]
    features = CoincidingWalkKernel(t_max=10).fit(nodes.graph, y).features_
    model = LogisticRegression(C=100.0, max_iter=1000).fit(features[train], nodes.labels[train])
    return model.classes_, model.predict_proba(features), ""


def logistic(
    nodes: Nodes, train: Indices, validation: Indices, seed: int
) -> tuple[NDArray[Any], Scores, str]:
    """Logistic regression on attributes; its cost is chosen on validation nodes, if there are any."""
    assert nodes.attributes is not None
    norms = np.sqrt(nodes.attributes.multiply(nodes.attributes).sum(axis=1))
    rows = csr_array(nodes.attributes.multiply(1 / np.maximum(np.asarray(norms).reshape(-1, 1), 1e-12)))
    tried = [
        LogisticRegression(C=c, max_iter=1000) for c in ((1.0, 10.0, 100.0) if len(validation) else (10.0,))
    ]
    for model in tried:
        model.fit(rows[train], nodes.labels[train])
    judge = validation if len(validation) else train
    best = max(tried, key=lambda model: model.score(rows[judge], nodes.labels[judge]))
    return best.classes_, best.predict_proba(rows), ""


RUN: dict[str, Method] = {
    OURS: ours,
    SPREADING: spreading,
    WALKS: coinciding,
    LOGISTIC: logistic,
}


def measure(name: str, split: int, seed: int, n_labels: int, method: str) -> NodeResult:
    """Fit a method, and score it on the test nodes: accuracy, or the area under the ROC curve."""
    nodes, auc = read(name), GRAPHS[name].auc
    train, validation, test = few_of(name, split, n_labels) if n_labels else split_of(name, split)
    start = process_time()
    classes, scores, chosen = RUN[method](nodes, train, validation, seed)
    seconds = process_time() - start
    if auc:
        score = float(roc_auc_score(nodes.labels[test], scores[test, 1] - scores[test, 0]))
    else:
        score = float(np.mean(classes[scores[test].argmax(axis=1)] == nodes.labels[test]))
    return NodeResult(name, split, seed, n_labels, method, score, seconds, chosen)


def work(names: Sequence[str], seeds: Sequence[int]) -> Iterator[Key]:
    """Yield what is to be measured: all splits of all graphs with all methods, and learning curves."""
    for name in names:
        has_attributes = GRAPHS[name].kind != SHARES  # those of airports are unknown
        others = [m for m in METHODS[1:] if m != LOGISTIC or has_attributes]
        published = range(GRAPHS[name].n_splits)
        pairs = [(split, seed) for seed in seeds for split in published or [seed]]
        yield from ((name, split, seed, 0, OURS) for split, seed in pairs)
        yield from ((name, split, 0, 0, method) for split in published or seeds for method in others)
        yield from ((name, seed, seed, n, OURS) for n in CURVE for seed in seeds)
        yield from ((name, seed, 0, n, SPREADING) for n in CURVE for seed in seeds)


PAGE = """# Nodes of one graph

`NodeClassifier()` without any setting but the seed, on fourteen published graphs. Nothing is chosen on test
nodes. Accuracy in percent (minesweeper: area under the ROC curve): mean and standard deviation over {n_seeds}
seeds, each the mean of all published splits; where none is published, a seed draws its own split. "Over
splits": standard deviation over published splits of the first seed. Processor seconds of one fit, on a busy
machine. Measured {measured}, by

    python -m reproduction nodes --document docs/measured/nodes.md

{table}

Splits are those of the publications: Yang et al. 2016 (Cora, Citeseer), 20 training and 30 validation nodes
per class of the largest component (Shchur et al. 2018), Platonov et al. 2023 (minesweeper, chameleon,
squirrel), Pei et al. 2020 (actor, Texas, Cornell); airports are split 80 / 20 at random.

**In which order rules and test scores came.** Views and their steps were found with earlier models: on all
test splits of Photo and Computers, one had 90.9 and 81.2, below the published GCN; then graphs were
restricted to their largest component, as published, and decisions moved towards the shares of classes among
unlabeled nodes. That this needs ten held-out nodes per class was decided after it had given all nodes of
Texas one class, which was seen on test nodes. The present rule of choice was decided on other draws of labels
and splits of the same graphs, except Physics and actor.
The rule before it, weights by log loss and guessed classes of unlabeled nodes, had 0.7 points more on the
same splits of ten of these graphs, in up to ten times the time.

## Simple methods

{methods}

Label spreading is scikit-learn's, on the edges. Coinciding walks are the kernel of Neumann, Garnett and
Kersting (2013) with a logistic regression. The last column is a logistic regression on the attributes alone.
All columns of a row are means over the same splits; NodeClassifier's over all seeds.

## Few labels

{curves}

So many labels per class are drawn at random, without validation nodes; all other nodes are tested. Mean and
standard deviation over {n_seeds} draws, mean of label spreading in parentheses.
"""


def run(names: Sequence[str], folder: Path, document: Path, repeats: int | None = None, jobs: int = 1) -> str:
    """Measure what is missing, write the page, and return its first table."""
    keys = work(chosen_names(names, GRAPHS, "graph"), SEEDS[:repeats])
    results = measure_missing(folder / "nodes.jsonl", NodeResult, keys, measure, jobs)
    return write_page(results, document, measured_on(folder, "nodes.jsonl"))


def write_page(results: Sequence[NodeResult], document: Path, measured: str) -> str:
    """Write what is known so far, and return the first table."""
    found: dict[tuple[str, int, str], list[NodeResult]] = {}
    for one in results:
        found.setdefault((one.dataset, one.n_labels, one.method), []).append(one)
    shown = [name for name in GRAPHS if (name, 0, OURS) in found]
    head = ["graph", "protocol", "published", "measured", "over splits", "fits", "processor seconds"]
    table = markdown(head, [_row(name, found[name, 0, OURS]) for name in shown])
    rows = [_beside(name, {m: found[name, 0, m] for m in METHODS if (name, 0, m) in found}) for name in shown]
    methods = markdown(["graph", "splits", *METHODS], rows)
    curves = markdown(
        ["graph", *(f"{n} per class" for n in CURVE)],
        [
            [
                name,
                *(
                    f"{_mean(found.get((name, n, OURS)))} ({_mean(found.get((name, n, SPREADING)))})"
                    for n in CURVE
                ),
            ]
            for name in shown
        ],
    )
    tables = {"table": table, "methods": methods, "curves": curves}
    write_text(document, PAGE.format(n_seeds=len(SEEDS), measured=measured, **tables))
    return table


def _beside(name: str, found: dict[str, list[NodeResult]]) -> list[str]:
    """One line of the second table: all methods on the splits that every one of them was measured on."""
    common = set.intersection(*({result.split for result in results} for results in found.values()))
    chosen = {m: [r for r in results if r.split in common] for m, results in found.items()}
    means = [f"{100 * np.mean([r.score for r in chosen[m]]):.1f}" if m in chosen else "-" for m in METHODS]
    return [name, str(len(common)), *means]


def _row(name: str, results: Sequence[NodeResult]) -> list[str]:
    """One line of the first table."""
    protocol, first = GRAPHS[name], min(r.seed for r in results)
    by_split = [100 * r.score for r in results if r.seed == first]
    seconds = np.mean([r.processor_seconds for r in results])
    return [
        name,
        protocol.kind,
        protocol.published,
        _mean(results),
        f"{np.std(by_split, ddof=1):.1f}" if len(by_split) > 1 else "-",
        str(len(results)),
        f"{seconds:.1f}",
    ]


def _mean(results: Sequence[NodeResult] | None) -> str:
    """Mean and standard deviation over the seeds (draws without random numbers: the mean alone)."""
    if not results:
        return "-"
    by_seed: dict[int, list[float]] = {}
    for one in results:
        by_seed.setdefault(one.seed, []).append(100 * one.score)
    return with_spread([float(np.mean(scores)) for scores in by_seed.values()])
