"""The page of one graph: a map of its nodes by layout, and the model of nodes that decides about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from propkernels._utils.randomness import draw_seed
from propkernels.convert.check import check_graph
from propkernels.counts.base_kernels import resolve_base_kernel
from propkernels.counts.counters import StreamCounts
from propkernels.explorer.embedding import Comparison, embed, nearest_graphs, quantized, spectral_start
from propkernels.explorer.exploration import Exploration, explorer_page
from propkernels.explorer.groups import class_groups
from propkernels.explorer.map_columns import (
    Column,
    checked_ids,
    column_of_numbers,
    further_column,
    named_classes,
)
from propkernels.graphs.database import GraphDatabase
from propkernels.nodes.estimators import NodeClassifier
from propkernels.nodes.explanation import NodeExplanation
from propkernels.nodes.inputs import simple_graph
from propkernels.nodes.known import KnownNodes
from propkernels.nodes.model import NodeModel

Values = NDArray[np.float64]
Indices = NDArray[np.int64]
MOST_NODES = 20_000
NEIGHBORS = 30  # nearest nodes used by t-SNE
MOST_EXPLAINED = 300  # nodes whose decisions the page explains
SHOWN, SHOWN_COLUMNS = 16, 10  # neighbors and columns listed per node
TABS = [("node", "Node"), ("about", "About")]
GLOSSARY = {
    "decision": "Contributions of neighbors (or of columns) plus an intercept: the class with the largest "
    "decision is predicted.",
    "contribution": "The part of the decision that a neighbor adds, over walks of several steps; these parts "
    "add up to the decision.",
    "step": "The smallest number of edges of a walk that brings a contribution.",
    "lead": "The largest probability minus the second largest: small for unsure predictions.",
}


def explore_nodes(
    graph: Any,
    target: Any,
    model: NodeModel,
    *,
    title: str | None,
    ids: Any,
    class_names: Sequence[str] | None,
    columns: Mapping[str, Any] | None,
    layout: Any,
    note: str | None,
    random_state: Any,
) -> Exploration:
    """Return the page of the training graph of a model of nodes; see :func:`propkernels.explore`.

    Parameters
    ----------
    target : array-like, or None
        Target of each node for comparison, with gaps as in ``fit``; None: nothing is compared.
    """
    graphs = check_graph(graph)
    _check(graphs, model)
    seed = draw_seed(random_state) % 2**31
    given = model._names if ids is None else ids
    names = None if given is None else checked_ids(given, graphs.n_nodes, "nodes")
    classes = named_classes(model.classes_, class_names) if isinstance(model, NodeClassifier) else None
    truth = _numbers_of(model, target, graphs.n_nodes)
    chances = model.predict_proba() if isinstance(model, NodeClassifier) and model.calibration_ else None
    points = _points(graphs, layout, seed)
    described = _columns(graphs, model, truth, chances, classes, columns)
    chosen = _explained(graphs, chances)
    explanation = model.explain(chosen)
    explained, mentioned = explained_arrays(explanation, _favored(model, explanation))
    known = np.isin(np.arange(graphs.n_nodes), model.nodes_).astype(np.int64)
    on_map = {column.key: values for column, values in described} | {"xy": quantized(points), "known": known}
    if chances is not None:
        on_map["chances"] = chances.astype(np.float32).ravel()
    meta = {
        "n": graphs.n_nodes,
        "noun": "node",
        "ids": names,
        "classes": classes,
        "columns": [column.described() for column, _ in described],
        "mentioned": mentioned,
        "details": {},
        "groups": [] if classes is None else class_groups(points, on_map["predicted"], classes),
        "first": int(chosen[np.argmin(known[chosen])]),  # one that the model did not learn from
        "directed": graphs.is_directed,
        "glossary": GLOSSARY,
    }
    data = {"map": on_map, "edges": _edges(graphs), "explained": explained}
    name = title or "Nodes"
    html = explorer_page(
        "nodes",
        name,
        meta,
        data,
        facts=_facts(graphs, model, truth),
        notes=[note[0].upper() + note[1:].rstrip(".") + "."] if note else [],
        about=_about(model, len(chosen), graphs.n_nodes, layout is not None),
        reading=_reading(classes),
        tabs=TABS,
        noun="node",
        a_graph="a node",
    )
    return Exploration(name, html, model, points, on_map["predicted"], how="fitted", noun="nodes")


def _check(graphs: GraphDatabase, model: NodeModel) -> None:
    """Raise unless a page can show the graph, and the model was fitted to it."""
    if graphs.n_nodes != model.graph_.n_nodes or graphs.adjacency.nnz != model.graph_.adjacency.nnz:
        raise ValueError(
            "the page shows the graph that the model was fitted to: explore(model.graph_, y, model)"
        )
    if graphs.n_nodes > MOST_NODES:
        raise ValueError(f"a page shows at most {MOST_NODES:,} nodes, got {graphs.n_nodes:,}")
    if model.decisions_.shape[1] > 1 and not (
        isinstance(model, NodeClassifier) and not model._layout.multilabel
    ):
        raise ValueError("a page shows one target per node, and this model has several")


def _numbers_of(model: NodeModel, target: Any, n: int) -> NDArray[Any] | None:
    """Return the class number of each node, -1 if it is unknown; or its number, NaN if it is unknown."""
    if target is None:
        return None
    known = KnownNodes.of(target, None, n, isinstance(model, NodeClassifier))
    if not isinstance(model, NodeClassifier):
        values = np.full(n, np.nan)
        values[known.nodes] = known.target
        return values
    numbers = np.full(n, -1)
    place = {value: i for i, value in enumerate(model.classes_.tolist())}
    numbers[known.nodes] = [place.get(value, -1) for value in known.target.tolist()]
    return numbers


def _points(graphs: GraphDatabase, layout: Any, seed: int) -> Values:
    """Return given positions, or a t-SNE map of nodes by the neighbors that they share."""
    if layout is not None:
        points = np.asarray(layout, dtype=np.float64)
        if points.ndim != 2 or points.shape[0] != graphs.n_nodes or points.shape[1] < 2:
            raise ValueError(
                f"layout has shape {points.shape}: give two numbers for each of {graphs.n_nodes} nodes"
            )
        return points[:, :2]
    counts = csr_array(simple_graph(graphs) + eye_array(graphs.n_nodes))  # a node is its neighbor
    counts.data = np.ones(len(counts.data))
    compared = [
        Comparison(resolve_base_kernel("linear"), [StreamCounts(counts, np.arange(counts.shape[1]), 0, 1.0)])
    ]
    similarities, nearest = nearest_graphs(compared, min(NEIGHBORS, graphs.n_nodes - 1))
    return embed(similarities, nearest, spectral_start(compared, seed), seed)


def _columns(
    graphs: GraphDatabase,
    model: NodeModel,
    truth: Any,
    chances: Values | None,
    classes: list[str] | None,
    further: Mapping[str, Any] | None,
) -> list[tuple[Column, NDArray[Any]]]:
    """Return the columns by which the map can be colored, the prediction first."""
    columns: list[tuple[Column, NDArray[Any]]] = []
    if isinstance(model, NodeClassifier):
        numbers = model._layout.predictions(model.decisions_)
        columns.append((Column("predicted", "prediction", classes), numbers))
        if truth is not None:
            wrong = np.where(truth < 0, -1, numbers != truth)
            columns.append((Column("target", "class", classes), truth))
            columns.append((Column("wrong", "errors", ["correct", "wrong"]), wrong))
    else:
        columns.append(column_of_numbers("predicted", "prediction", model.predict()))
        if truth is not None:
            columns.append(column_of_numbers("target", "target", truth))
            columns.append(column_of_numbers("error", "error", np.abs(model.predict() - truth)))
    if chances is not None:
        columns.append(column_of_numbers("lead", "lead of the prediction", lead_of(chances)))
    columns.append(column_of_numbers("degree", "degree", graphs.degrees))
    for i, (name, values) in enumerate((further or {}).items()):
        columns.append(further_column(f"c{i}", str(name), values, graphs.n_nodes))
    return columns


def lead_of(chances: Values) -> Values:
    """Return the largest probability of each row minus the second largest."""
    ordered = np.sort(chances, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


def _explained(graphs: GraphDatabase, chances: Values | None) -> Indices:
    """Return the nodes that the page explains: all, or unsure ones and those with most neighbors.

    Nodes with most neighbors come first.
    """
    n, degrees = graphs.n_nodes, graphs.degrees
    by_degree = np.argsort(-degrees, kind="stable")
    if chances is None:
        return by_degree[:MOST_EXPLAINED]
    unsure = np.argsort(lead_of(chances), kind="stable")
    if n <= MOST_EXPLAINED:
        return by_degree
    half = MOST_EXPLAINED // 2
    rest = unsure[~np.isin(unsure, by_degree[:half])]
    return np.concatenate([by_degree[:half], rest[: MOST_EXPLAINED - half]])


def _edges(graphs: GraphDatabase) -> dict[str, NDArray[Any]]:
    """Return the edges: number of listed ones per node, and their other ends; undirected ones once."""
    wiring = csr_array(graphs.adjacency).tocoo()
    rows, ends = wiring.coords
    if not graphs.is_directed:
        rows, ends = rows[rows <= ends], ends[rows <= ends]
    order = np.lexsort((ends, rows))
    return {"degrees": np.bincount(rows, minlength=graphs.n_nodes), "ends": ends[order].astype(np.int64)}


def explained_arrays(
    explanation: NodeExplanation, favored: Indices
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Return explanations as flat arrays, and the names of the columns that they mention.

    Per node: the strongest neighbors with their steps, and the strongest columns.
    """
    explanation = replace(explanation, names=None)  # neighbors are places in the graph
    number: dict[str, int] = {}
    sizes, column_sizes, rows, columns = [], [], [], []
    for i in range(len(explanation.nodes)):
        records = explanation.records(i, SHOWN)
        rows += [(record["node"], record["step"], record["contribution"]) for record in records]
        strongest = list(explanation.by_column(i).items())[:SHOWN_COLUMNS]
        columns += [(number.setdefault(name, len(number)), value) for name, value in strongest]
        sizes.append(len(records))
        column_sizes.append(len(strongest))
    totals = [explanation.neighbor_totals(i).sum() for i in range(len(explanation.nodes))]
    neighbors, steps, adds = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    names, column_adds = np.array(columns, dtype=np.float64).reshape(-1, 2).T
    whole = {"nodes": explanation.nodes, "sizes": sizes, "neighbors": neighbors, "steps": steps}
    whole |= {"columnSizes": column_sizes, "columns": names, "for": favored}
    parts = {"adds": adds, "columnAdds": column_adds, "totals": totals}
    parts |= {"intercepts": explanation.intercepts, "decisions": explanation.decisions}
    arrays = {key: np.asarray(values).astype(np.int64) for key, values in whole.items()}
    return arrays | {key: np.asarray(values, dtype=np.float32) for key, values in parts.items()}, list(number)


def _favored(model: NodeModel, explanation: NodeExplanation) -> Indices:
    """Return the number of the class that positive contributions speak for; -1 for numbers."""
    n = len(explanation.nodes)
    if not isinstance(model, NodeClassifier):
        return np.full(n, -1)
    if len(model.classes_) == 2:
        return np.ones(n, dtype=np.int64)
    return np.searchsorted(model.classes_, np.asarray(explanation.speaks_for)).astype(np.int64)


def _facts(graphs: GraphDatabase, model: NodeModel, truth: Any) -> str:
    """Return the line beside the title: sizes, and the score on nodes that the model did not learn from."""
    known = "class" if isinstance(model, NodeClassifier) else "target"
    n_known = f"{len(model.nodes_):,} with known {known}"
    parts = [f"{graphs.n_nodes:,} nodes", f"{simple_graph(graphs).nnz // 2:,} edges", n_known]
    if truth is None:
        return " · ".join(parts)
    tested = np.setdiff1d(
        np.flatnonzero(truth >= 0 if truth.dtype.kind in "iu" else ~np.isnan(truth)), model.nodes_
    )
    if len(tested) and isinstance(model, NodeClassifier):
        right = model._layout.predictions(model.decisions_)[tested] == truth[tested]
        parts.append(f"{100 * right.mean():.1f} % of {len(tested):,} others predicted correctly")
    elif len(tested):
        error = np.sqrt(np.mean((model.predict()[tested] - truth[tested]) ** 2))
        parts.append(f"root mean squared error {error:.3f} on {len(tested):,} others")
    return " · ".join(parts)


def _reading(classes: list[str] | None) -> str:
    """Return one line on how to read the page."""
    start = "Each point is a node; nodes that share neighbors are close. Click a point to open it. "
    if classes is None:
        return start + "Red neighbors raise the prediction, blue ones lower it."
    if len(classes) == 2:
        return start + f"Red neighbors are evidence for “{classes[1]}”, blue ones for “{classes[0]}”."
    return start + "Red neighbors are evidence for the predicted class, blue ones against it."


def _about(model: NodeModel, n_explained: int, n_nodes: int, has_layout: bool) -> list[str]:
    """Return the paragraphs of the tab "About"."""
    places = "at the given places" if has_layout else "by t-SNE: nodes that share many neighbors are close"
    which = (
        "all nodes"
        if n_explained == n_nodes
        else f"{n_explained} nodes: those with most neighbors, and the least sure"
    )
    return [
        f"Each point of the map is a node of one graph, drawn {places}. Lines lead to the neighbors of the "
        "open node.",
        f"The model is {type(model).__name__}; it sees {'; '.join(model.views_)}. It learned from "
        f"{len(model.nodes_):,} nodes with a target. A node's own target never enters its features.",
        f"The page explains {which}. model.explain(node) explains any other.",
        "Contributions of neighbors and of columns are two ways to split the same sum: each adds up to the "
        "decision together with the intercept.",
    ]
