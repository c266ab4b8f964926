"""What every kernel must satisfy, one check at a time, on generated graphs and parameters."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import propkernels as pk
from tests.fuzz.cases import Generator, Wrong, dense, run_cases, same, try_to
from tests.fuzz.estimators import build, estimators, random_estimator
from tests.fuzz.graphs import FORMS, Plain, database, random_graphs, tuples
from tests.strategies import permute_graphs, permute_nodes
from tests.test_contract_discovery import has, kind


class Setting:
    """Random graphs, and a random estimator with its parameters."""

    def __init__(self, rng: Generator) -> None:
        self.name, self.parameters = random_estimator(rng)
        self.plain = random_graphs(rng)
        self.graphs = database(self.plain)
        self.cls, self.rng = estimators()[self.name], rng

    def make(self, **others: Any) -> Any:
        return build(self.name, self.parameters, **others)

    def fitted(self) -> tuple[Any, Any]:
        """An estimator and its output on the training graphs, or a refusal."""
        estimator = self.make()
        output = try_to(lambda: estimator.fit_transform(self.graphs))
        return estimator, output

    def gram(self, output: Any) -> np.ndarray:
        matrix = dense(output)
        return matrix if kind(self.cls) == "kernel" else matrix @ matrix.T

    @property
    def makes_graphs(self) -> bool:
        return kind(self.cls) == "graph"


def node_order(s: Setting) -> None:
    _, expected = s.fitted()
    seed = int(s.rng.integers(2**32))
    rng, again = (np.random.default_rng(seed) for _ in range(2))
    computed = s.make().fit_transform(permute_nodes(s.graphs, rng))
    same(computed, permute_nodes(expected, again) if s.makes_graphs else expected, "nodes in another order")


def graph_order(s: Setting) -> None:
    _, expected = s.fitted()
    permuted, order = permute_graphs(s.graphs, s.rng)
    computed = s.make().fit_transform(permuted)
    if s.makes_graphs:
        same(computed, expected[order], "graphs in another order")
    else:
        same(s.gram(computed), s.gram(expected)[np.ix_(order, order)], "graphs in another order")


def transform_of_training_graphs(s: Setting) -> None:
    estimator, expected = s.fitted()
    same(estimator.transform(s.graphs), expected, "transform of the training graphs")


def fit_then_transform(s: Setting) -> None:
    _, expected = s.fitted()
    same(s.make().fit(s.graphs).transform(s.graphs), expected, "fit, then transform")


def batches(s: Setting) -> None:
    estimator, _ = s.fitted()
    new = database(random_graphs_like(s))
    expected = try_to(lambda: estimator.transform(new))
    parts = [estimator.transform(new[[i]]) for i in range(len(new))]
    if s.makes_graphs:
        same(pk.GraphDatabase.concat(parts), expected, "one at a time")
    else:
        same(np.concatenate([dense(part) for part in parts]), expected, "one at a time", exact=True)


def random_graphs_like(s: Setting) -> list[Plain]:
    """The case's own graphs in other company: some twice, some reversed."""
    several = [s.plain[i] for i in s.rng.integers(len(s.plain), size=3)]
    return [*several, *reversed(s.plain)]


def representations(s: Setting) -> None:
    _, expected = s.fitted()
    form = FORMS[s.rng.integers(len(FORMS))]
    same(s.make().fit_transform(tuples(s.plain, form)), expected, f"adjacency as {form}")


def list_or_database(s: Setting) -> None:
    _, expected = s.fitted()
    form = [list(s.graphs), tuple(s.graphs), iter(list(s.graphs))][s.rng.integers(3)]
    same(s.make().fit_transform(form), expected, "a list of graphs")


def threads(s: Setting) -> None:
    if not has(s.cls, "n_jobs"):
        return
    _, expected = s.fitted()
    same(s.make(n_jobs=2).fit_transform(s.graphs), expected, "two threads", exact=True)


def pickled(s: Setting) -> None:
    estimator, expected = s.fitted()
    same(pickle.loads(pickle.dumps(estimator)).transform(s.graphs), expected, "pickled")


def saved_and_loaded(s: Setting) -> None:
    estimator, _ = s.fitted()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pk"
        try_to(lambda: pk.save_model(estimator, path))
        again = pk.load_model(path)
    same(again.transform(s.graphs), estimator.transform(s.graphs), "saved and loaded", exact=True)


def prefix(s: Setting) -> None:
    if "t_max" not in s.cls().get_params() or not hasattr(s.cls, "fit_transform_cumulative"):
        return
    s.fitted()
    kernels = s.make(t_max=4).fit_transform_cumulative(s.graphs)
    t = int(s.rng.integers(5))
    same(kernels[t], s.make(t_max=t).fit_transform(s.graphs), f"prefix t={t}", exact=True)


def semidefinite(s: Setting) -> None:
    _, output = s.fitted()
    if s.makes_graphs or s.parameters.get("attributes") == "truncated":  # documented: not semidefinite
        return
    matrix = s.gram(output)
    if not np.isfinite(matrix).all() or not np.array_equal(matrix, matrix.T):
        raise Wrong("the kernel is not finite and symmetric")
    values = np.linalg.eigvalsh(matrix)
    if values.min() < -1e-9 * max(values.max(), 1):
        raise Wrong(f"the kernel has an eigenvalue {values.min()}")


def features_are_the_kernel(s: Setting) -> None:
    pairs = {"PropagationKernel": "PropagationFeatures", "WeisfeilerLehman": "WeisfeilerLehmanFeatures"}
    pairs["ShortestPath"] = "ShortestPathFeatures"
    other = pairs.get(s.name)
    shared = {k: v for k, v in s.parameters.items() if other and has(estimators()[other], k)}
    if other is None or set(s.parameters) - set(shared) - {"base_kernel"}:
        return
    expected = try_to(lambda: build(s.name, shared).fit_transform(s.graphs))
    for number in (None, 2**20):
        phi = try_to(lambda number=number: build(other, shared, n_features=number).fit_transform(s.graphs))
        if number is None:
            same(phi @ phi.T, expected, "dot products of features")
        elif not s.parameters.get("normalize"):  # bins may share a column, but no count is lost
            sums = build(other, shared).fit_transform(s.graphs).sum(axis=1)
            same(phi.sum(axis=1), sums, "sums of hashed features")


def scale_of_weights(s: Setting) -> None:
    """Powers of two are exact: kernels that divide by degrees do not notice them, to the bit."""
    cls, parameters = s.name, s.parameters
    scheme = getattr(parameters.get("propagation"), "normalization", None)
    absorbs = getattr(parameters.get("propagation"), "rate", None)
    if cls not in ("PropagationKernel", "PropagationFeatures", "P2K") or scheme == "none" or absorbs:
        return
    if parameters.get("labels") in ("degree", "log_degree") or s.graphs.label_column is None:
        return
    _, expected = s.fitted()
    exponent = int(s.rng.integers(-1000, 1000))
    scaled = [
        Plain(g.n, tuple((i, j, float(np.ldexp(w, exponent))) for i, j, w in g.edges), g.labels, g.attributes)
        for g in s.plain
    ]
    same(s.make().fit_transform(database(scaled)), expected, f"weights times 2**{exponent}")


def refitted(s: Setting) -> None:
    estimator, expected = s.fitted()
    try_to(lambda: estimator.fit(database(list(reversed(s.plain)))))
    same(estimator.fit_transform(s.graphs), expected, "fitted again", exact=True)


def inputs_untouched(s: Setting) -> None:
    before = pickle.dumps(s.graphs)
    s.fitted()
    if pickle.loads(before) != s.graphs:
        raise Wrong("fit changed its input")


CHECKS = (
    node_order,
    graph_order,
    transform_of_training_graphs,
    fit_then_transform,
    batches,
    representations,
    list_or_database,
    threads,
    pickled,
    saved_and_loaded,
    prefix,
    semidefinite,
    features_are_the_kernel,
    scale_of_weights,
    refitted,
    inputs_untouched,
)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_estimator_satisfies_the_contract_on_random_graphs(check):
    def on_random_graphs(rng: Generator) -> None:
        check(Setting(rng))

    run_cases(on_random_graphs, 10)
