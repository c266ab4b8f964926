"""Learners and the index on generated graphs: histories of adding and removing, batches, saving."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
from sklearn.base import clone, is_classifier

import propkernels as pk
from fuzz.cases import Case, Wrong, same, try_to
from fuzz.estimators import learners
from fuzz.graphs import database, random_graphs
from tests.test_contract_discovery import has

Generator = np.random.Generator
QUICK = {"t_max": 1, "C": 1.0, "n_neighbors": 2, "random_state": 0, "cv": 2}
KERNELS = (
    pk.PropagationKernel(t_max=2, random_state=1),
    pk.PropagationKernel(t_max=1, metric="hellinger", n_hashes=2, random_state=1),
    pk.WeisfeilerLehman(t_max=2),
    pk.WeisfeilerLehman(t_max=2, exact=True),
    pk.LabelHistogram(),
    pk.ShortestPath(),
)


def history(case: Case, rng: Generator) -> None:
    """An index after any history is the index of what is left."""
    graphs = database(case.graphs)
    kernel = KERNELS[rng.integers(len(KERNELS))]
    index = try_to(lambda: pk.GraphIndex(kernel=clone(kernel)).fit(graphs))
    places = dict(enumerate(range(len(graphs))))
    for _ in range(int(rng.integers(1, 6))):
        if places and rng.random() < 0.5:
            name = int(rng.choice(sorted(places)))
            index.remove([name])
            del places[name]
        else:
            place = int(rng.integers(len(graphs)))
            places[index._n_added] = place
            index.add(graphs[[place]])
    if not places:
        return
    similarities, ids = index.query(graphs, k=len(places))
    full = clone(kernel).set_params(normalize=True).fit_transform(graphs)
    expected = np.array([[full[q, places[int(name)]] for name in row] for q, row in enumerate(ids)])
    same(similarities, expected, "similarities after a history")
    if any(sorted(row) != sorted(places) for row in ids.tolist()):
        raise Wrong("an answer lacks a graph, or has one twice")


def learner(case: Case, rng: Generator) -> None:
    """A learner gives one answer per graph, whatever the batch, pickled or not."""
    names = sorted(learners())
    name = names[rng.integers(len(names))]
    cls = learners()[name]
    graphs = database([graph for graph in case.graphs for _ in range(3)])
    model = cls(**{key: value for key, value in QUICK.items() if has(cls, key)})
    target = rng.integers(0, 2, len(graphs)) if is_classifier(model) else rng.normal(size=len(graphs))
    try_to(lambda: model.fit(graphs, target))
    predicted = try_to(lambda: model.predict(graphs))
    one = np.concatenate([model.predict(graphs[[i]]) for i in range(len(graphs))])
    again = pickle.loads(pickle.dumps(model)).predict(graphs)
    if predicted.dtype.kind == "f":
        same(one, predicted, f"{name} one at a time")
        same(again, predicted, f"{name} pickled")
    elif not (np.array_equal(one, predicted) and np.array_equal(again, predicted)):
        raise Wrong(f"{name}: another prediction in another batch, or pickled")


CHECKS: dict[str, Callable[[Case, Generator], None]] = {"history": history, "learner": learner}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 10])
    check = "learner" if rng.random() < 0.1 else "history"
    return Case("learning", seed, check, graphs=random_graphs(rng, int(rng.integers(2, 5))))


def run(case: Case) -> None:
    CHECKS[case.check](case, np.random.default_rng([case.seed, 11]))
