"""What ``save_model`` takes, ``load_model`` reads, with the same answers, for odd ids and parameters too."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import SCRATCH, Case, Wrong, dense, same, try_to
from fuzz.estimators import POOLS, build, random_estimator
from fuzz.forging import pick
from fuzz.graphs import database, random_graphs
from fuzz.models import DATA
from fuzz.values import near_power

Generator = np.random.Generator
IDS: tuple[Any, ...] = (
    0,
    1,
    -1,
    "a",
    "",
    "é",
    ("a", 1),
    (1, (2, "b")),
    1.5,
    None,
    b"x",
    True,
    False,
    2**63,
    -(2**70),
)
IDS += (frozenset({1}), Decimal("1.5"), Fraction(1, 3), datetime.date(2020, 1, 1), np.int64(3), np.str_("s"))
IDS += (float("nan"), float("inf"), 1j, range(3), "\ud800", np.datetime64("2020"), 2**53 + 1, "0", 0.0, -0.0)
CLASSES: tuple[Any, ...] = (
    "a",
    "b",
    0,
    1,
    True,
    False,
    1.0,
    2.5,
    "",
    "é",
    None,
    (1, 2),
    -1,
    2**63,
    "nan",
    b"x",
)


def round_trip(model: Any, seed: int) -> Any:
    """A model that was saved and loaded; refused when it is saved, never when it is read."""
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}-{seed}.pk"
    try:
        try_to(lambda: pk.save_model(model, path))
        try:
            return pk.load_model(path)
        except Exception as error:
            raise Wrong(f"saved, and cannot be read: {error}"[:300]) from error
    finally:
        path.unlink(missing_ok=True)


def index_ids(rng: Generator, seed: int) -> None:
    """An index with ids of any kind answers the same after a round trip."""
    graphs = database(random_graphs(rng, int(rng.integers(2, 5))))
    ids = [near_power(rng) if rng.random() < 0.2 else pick(rng, IDS) for _ in range(len(graphs))]
    if rng.random() < 0.5:
        ids = [(value, i) for i, value in enumerate(ids)]
    index = try_to(lambda: pk.GraphIndex(random_state=0).fit(graphs, ids=ids))
    before = try_to(lambda: index.query(graphs, k=2))
    after = round_trip(index, seed).query(graphs, k=2)
    if repr(after.ids.tolist()) != repr(before.ids.tolist()):
        raise Wrong(f"ids {before.ids.tolist()} come back as {after.ids.tolist()}"[:300])
    same(after[0], before[0], "similarities after a round trip", True)


def database_ids(rng: Generator, seed: int) -> None:
    """A database with labels and ids of any kind comes back equal."""
    data = database(random_graphs(rng))
    if rng.random() < 0.7:
        data = try_to(lambda: data.with_ids([pick(rng, IDS) for _ in range(len(data))]))
    if rng.random() < 0.7 and data.n_nodes:
        labels = np.empty(data.n_nodes, dtype=object)
        labels[:] = [pick(rng, IDS) for _ in range(data.n_nodes)]
        data = try_to(lambda: pk.GraphDatabase(data.adjacency, data.graph_ptr, labels, data.node_attributes))
    again = round_trip(data, seed)
    if again != data or repr(again.label_values) != repr(data.label_values):
        raise Wrong("another database comes back")


def classes(rng: Generator, seed: int) -> None:
    """A classifier of classes by any name predicts the same after a round trip."""
    graphs = DATA.graphs
    names = [pick(rng, CLASSES) for _ in range(int(rng.integers(2, 4)))]
    given = [names[i % len(names)] for i in range(len(graphs))]
    target: Any = given
    if rng.random() < 0.5:
        target = np.empty(len(given), dtype=object)
        target[:] = given
    model = pk.PropagationClassifier(kernel=pk.LabelHistogram(), C=1.0, cv=2, random_state=0)
    try_to(lambda: model.fit(graphs, target))
    before, after = model.predict(graphs[:5]), round_trip(model, seed).predict(graphs[:5])
    if repr(before.tolist()) != repr(after.tolist()):
        raise Wrong(f"{before.tolist()} come back as {after.tolist()}")


def parameters(rng: Generator, seed: int) -> None:
    """An estimator with parameters of other types answers the same after a round trip."""
    name, given = random_estimator(rng)
    wraps: tuple[Callable[[Any], Any], ...] = (
        np.int64,
        np.float32,
        np.float64,
        str,
        np.str_,
        bool,
        lambda v: v,
    )
    odd = {}
    for key, value in given.items():
        try:
            odd[key] = pick(rng, wraps)(value) if key in POOLS else value
        except (TypeError, ValueError):
            odd[key] = value
    graphs = database(random_graphs(rng))
    model = build(name, odd)
    before = try_to(lambda: model.fit_transform(graphs))
    again = round_trip(model, seed).transform(graphs)
    if isinstance(before, pk.GraphDatabase):
        same(again, before, f"{name} after a round trip")
    else:
        same(dense(again), dense(before), f"{name} after a round trip")


CHECKS: dict[str, Callable[[Generator, int], None]] = {
    function.__name__: function for function in (index_ids, database_ids, classes, parameters)
}


def draw(seed: int) -> Case:
    rng = np.random.default_rng([seed, 34])
    return Case("saving", seed, pick(rng, sorted(CHECKS)))


def run(case: Case) -> None:
    CHECKS[case.check](np.random.default_rng([case.seed, 35]), case.seed)
