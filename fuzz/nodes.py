"""Learning on the nodes of one graph: hostile targets, other orders of nodes, new graphs, pickles."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import Case, Wrong, dense, same, try_to
from fuzz.forging import pick
from fuzz.graphs import Plain, database
from fuzz.hostile import finite, thing
from fuzz.hostile import graph as hostile_graph

Generator = np.random.Generator


def target(rng: Generator, n: int, numbers: bool) -> Any:
    """A target of nodes with gaps."""
    values = rng.normal(size=n) if numbers else rng.integers(0, 3, size=n).astype(float)
    values[rng.random(n) < 0.3] = np.nan
    return values if numbers else np.where(np.isnan(values), -1, values).astype(int)


def quick(rng: Generator) -> tuple[Any, bool]:
    """A model of nodes that is trained quickly, and whether its target is numbers."""
    numbers = bool(rng.random() < 0.5)
    return (pk.NodeRegressor if numbers else pk.NodeClassifier)(C=1.0, cv=2, random_state=0), numbers


def models(case: Case, rng: Generator) -> None:
    """Predictions are finite, and equal on the graph given again and after pickling."""
    graph = database(case.graphs)
    model, numbers = quick(rng)
    y = target(rng, graph.n_nodes, numbers)
    try_to(lambda: model.fit(graph, y))
    expected = model.predict()
    if numbers:
        finite(expected, "predictions of nodes")
    again = pickle.loads(pickle.dumps(model))
    for found, what in ((again.predict(), "pickled"), (model.transduction_, "transduction")):
        if not np.array_equal(found, expected):
            raise Wrong(f"another prediction: {what}")
    if not numbers:
        sums = try_to(lambda: model.predict_proba().sum(axis=1))  # refused if no node was held out
        same(sums, np.ones(graph.n_nodes), "sums of probabilities")


def hostile_targets(case: Case, rng: Generator) -> None:
    """Hostile targets, nodes, weights and graphs are taken, or refused in one sentence."""
    graph: Any = hostile_graph(rng) if rng.random() < 0.2 else database(case.graphs)
    n = sum(graph.n for graph in case.graphs)
    model, numbers = quick(rng)
    y = pick(rng, (target(rng, n, numbers), thing(rng), [thing(rng) for _ in range(n)]))
    given: dict[str, Any] = {}
    for name, plain in (("validation", [0]), ("nodes", list(range(n))), ("sample_weight", np.ones(n))):
        if rng.random() < 0.3:
            given[name] = pick(
                rng, (plain, thing(rng), [thing(rng)], [-1], [n], [2**63], np.zeros(n), [0, 0])
            )
    try_to(lambda: model.fit(graph, y, **given), OverflowError)
    try_to(lambda: model.predict(pick(rng, (None, graph, hostile_graph(rng)))), OverflowError)


def order(case: Case, rng: Generator) -> None:
    """Features and kernels of nodes follow the order of nodes."""
    graph = database(case.graphs)
    n = graph.n_nodes
    shuffled = rng.permutation(n)
    adjacency = graph.adjacency[shuffled][:, shuffled]
    attributes = None if graph.node_attributes is None else graph.node_attributes[shuffled]
    labels = None if graph.node_labels is None else np.asarray(graph.node_labels, dtype=object)[shuffled]
    permuted = pk.GraphDatabase(adjacency, [0, n], labels, attributes)
    y = target(rng, n, False)
    makers: tuple[Callable[[], Any], ...] = (
        lambda: pk.CoincidingWalkKernel(t_max=3),
        lambda: pk.NodeFeatures(t_max=2, random_state=0),
    )
    make = pick(rng, makers)
    whole = pk.GraphDatabase(graph.adjacency, [0, n], graph.node_labels, graph.node_attributes)
    one, other = make(), make()
    expected = dense(try_to(lambda: one.fit(whole, y).transform(whole)))
    computed = dense(other.fit(permuted, y[shuffled]).transform(permuted))
    if isinstance(one, pk.CoincidingWalkKernel):  # one column per node of the training graph
        expected = expected[:, shuffled]
    same(computed, expected[shuffled], f"nodes of {type(one).__name__} in another order")


CHECKS: dict[str, Callable[[Case, Generator], None]] = {
    check.__name__: check for check in (models, hostile_targets, order)
}


def _graph(rng: Generator) -> Plain:
    """One graph of 6 to 25 nodes with labels, attributes or neither."""
    n = int(rng.integers(6, 26))
    edges = {}
    for i, j in rng.integers(n, size=(2 * n, 2)).tolist():
        if i != j:
            edges[i, j] = edges[j, i] = 1.0
    labels = tuple(int(v) for v in rng.integers(3, size=n)) if rng.random() < 0.5 else None
    rows = np.round(rng.normal(size=(n, 2)), 2).tolist()
    attributes = tuple(map(tuple, rows)) if rng.random() < 0.5 else None
    return Plain(n, tuple((i, j, w) for (i, j), w in sorted(edges.items())), labels, attributes)


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 32])
    names = sorted(CHECKS)
    return Case("nodes", seed, names[rng.integers(len(names))], graphs=[_graph(rng)])


def run(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        CHECKS[case.check](case, np.random.default_rng([case.seed, 33]))
