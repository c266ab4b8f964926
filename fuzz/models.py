"""Small model files of every kind that can be saved, and what each model is for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline

import propkernels as pk
from fuzz.cases import SCRATCH
from fuzz.counts import STORE
from fuzz.estimators import build, estimators
from tests.test_contract_discovery import the_zoo

DATA = pk.datasets.make_molecules(24, random_state=0, mean_nodes=6)
NUMBERS = np.linspace(-1.0, 2.0, 24) ** 3
THREE = np.arange(24) % 3


class Kind(NamedTuple):
    """How a model is made, and how it is used."""

    make: Callable[[], Any]
    use: Callable[[Any], Any]


def transform(model: Any) -> Any:
    return model.transform(the_zoo()[:3])


def predict(model: Any) -> Any:
    graphs = DATA.graphs[:4]
    found = [np.asarray(model.predict(graphs))]
    for name in ("predict_proba", "predict_set", "predict_interval"):
        if hasattr(model, name):
            found.append(getattr(model, name)(graphs))
    return np.column_stack([np.asarray(part).astype(str).reshape(4, -1) for part in found])


def of_nodes(model: Any) -> Any:
    """Predictions, also while the graph changes."""
    live = model.live()
    live.add_edge(0, live.n_nodes - 1)
    return np.append(model.predict(), live.predict([0, 1]))


def classifier(**options: Any) -> Any:
    return pk.PropagationClassifier(**{"t_max": 1, "C": 1.0, "cv": 2, "random_state": 0, **options})


def regressor(**options: Any) -> Any:
    return pk.PropagationRegressor(**{"t_max": 1, "C": 1.0, "cv": 2, "random_state": 0, **options})


def rows() -> Any:
    return pk.PropagationFeatures(n_features=64, t_max=1, random_state=0).fit_transform(DATA.graphs)


def of_rows(**options: Any) -> Kind:
    target = NUMBERS if options.get("loss") == "squared" else THREE
    return Kind(lambda: pk.LinearModel(**options).fit(rows(), target), lambda m: m.predict(rows()))


def learner_kinds() -> dict[str, Kind]:
    """Classifiers, regressors and detectors."""
    graphs, classes = DATA.graphs, DATA.target
    kinds = {f"classifier {solver}": (classifier, solver, classes) for solver in ("kernel", "linear", "gp")}
    kinds |= {f"regressor {solver}": (regressor, solver, NUMBERS) for solver in ("kernel", "linear", "gp")}
    found = {
        name: Kind(lambda m=make, s=solver, y=y: m(solver=s).fit(graphs, y), predict)
        for name, (make, solver, y) in kinds.items()
    }
    found["three classes"] = Kind(lambda: classifier().fit(graphs, THREE), predict)
    found["CategoryPrior"] = Kind(lambda: pk.CategoryPrior(random_state=0).fit(graphs, THREE), predict)
    for score in ("auto", "neighbors", "density", "one_class_svm", "rarity", "size"):
        found[f"novelty {score}"] = Kind(
            lambda s=score: pk.NoveltyDetector(score=s, random_state=0).fit(graphs),
            lambda m: np.column_stack([m.score_samples(graphs[:4]), m.predict_p(graphs[:4])]),
        )
    for loss in ("logistic", "squared_hinge", "squared"):
        found[f"linear {loss}"] = of_rows(loss=loss)
    return found


def other_kinds() -> dict[str, Kind]:
    """Kernels with settings that learn something else, an index, a pipeline, images, molecules, graphs."""
    zoo, graphs = the_zoo()[:6], DATA.graphs
    pipe = lambda: make_pipeline(  # noqa: E731
        pk.PropagationFeatures(n_features=64, t_max=1, random_state=0), pk.LinearModel()
    )
    bonds = pk.GraphDatabase(
        graphs.adjacency,
        graphs.graph_ptr,
        graphs.node_labels,
        edge_labels=np.arange(graphs.adjacency.nnz) % 1,
    )
    images = [np.arange(12, dtype=np.uint8).reshape(3, 4) * 20 + i for i in range(4)]
    index = lambda: pk.GraphIndex(random_state=0).fit(zoo).add(zoo[:1], ids=["x"]).remove([0])  # noqa: E731
    hidden = pk.datasets.hide_labels(graphs, 0.3, random_state=0)
    part = graphs[:4]
    one = pk.GraphDatabase(part.adjacency, [0, part.n_nodes], part.node_labels)
    node_classes = np.arange(one.n_nodes) % 2
    return {
        "gaussian paths": Kind(lambda: pk.ShortestPath(attributes="gaussian").fit(zoo), transform),
        "exact refinement": Kind(lambda: pk.WeisfeilerLehman(exact=True).fit(zoo), transform),
        "edge labels": Kind(
            lambda: pk.PropagationKernel(t_max=1, edge_labels=True, random_state=0).fit(bonds),
            lambda m: m.transform(bonds[:3]),
        ),
        "frequency prior": Kind(
            lambda: pk.PropagationKernel(
                t_max=1,
                propagation="label_propagation",
                prior="frequency",
                metric="hellinger",
                random_state=0,
            ).fit(hidden),
            lambda m: m.transform(hidden[:3]),
        ),
        "node classifier": Kind(
            lambda: pk.NodeClassifier(C=1.0, random_state=0).fit(one, node_classes),
            of_nodes,
        ),
        "node regressor": Kind(
            lambda: pk.NodeRegressor(C=1.0, random_state=0).fit(one, node_classes.astype(float)),
            of_nodes,
        ),
        "index": Kind(index, lambda m: np.column_stack(m.query(zoo[:3], k=2)).astype(str)),
        "pipeline": Kind(lambda: pipe().fit(graphs, DATA.target), lambda m: m.predict(graphs[:4])),
        "graphs": Kind(lambda: zoo, lambda m: m.adjacency.toarray()),
        "gray levels": Kind(
            lambda: pk.images.GrayLevels(n_levels=3).fit(images),
            lambda m: m.transform(images).label_column.ids,
        ),
    }


@cache
def kinds() -> dict[str, Kind]:
    """Every kind of model, by name."""
    plain = {
        name: Kind(lambda n=name: build(n, {}, t_max=1).fit(the_zoo()[:6]), transform)
        for name in sorted(estimators())
    }
    return {**plain, **learner_kinds(), **other_kinds()}


@cache
def file_of(name: str) -> bytes:
    """A whole model file of a kind; children of one run read what the first of them wrote."""
    store = os.environ.get(STORE)
    kept = Path(store) / f"{name.replace(' ', '_')}.pk" if store else None
    if kept is not None and kept.exists():
        return kept.read_bytes()
    path = SCRATCH / f"propkernels-fuzz-{os.getpid()}.pk"
    pk.save_model(kinds()[name].make(), path)
    data = path.read_bytes()
    path.unlink()
    if kept is not None:
        half = kept.with_suffix(f".{os.getpid()}")
        half.write_bytes(data)
        half.replace(kept)
    return data
