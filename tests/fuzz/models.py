"""Small model files of every kind that can be saved, and what each model is for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import propkernels as pk
from tests.test_contract_discovery import discover, make, the_zoo

DATA = pk.datasets.make_molecules(24, random_state=0, mean_nodes=6)
NUMBERS = np.linspace(-1.0, 2.0, 24) ** 3
QUICK: dict[str, Any] = {"t_max": 1, "C": 1.0, "cv": 2, "random_state": 0}


@cache
def estimators() -> dict[str, type]:
    """Public estimators that turn graphs into rows or graphs, not those that read molecules or images."""
    other = "MoleculesToGraphs", "GrayLevels", "KMeansColors"
    return {name: cls for name, cls in discover().items() if name not in other}


class Kind(NamedTuple):
    """How a model is made, and how it is used."""

    make: Callable[[], Any]
    use: Callable[[Any], Any]


def transform(model: Any) -> Any:
    return model.transform(the_zoo()[:3])


def predict(model: Any) -> None:
    for name in ("predict", "predict_proba", "predict_set", "predict_interval"):
        if hasattr(model, name):
            getattr(model, name)(DATA.graphs[:4])


def learner_kinds() -> dict[str, Kind]:
    """Classifiers, regressors and detectors."""
    graphs, found = DATA.graphs, {}
    for solver in ("ridge", "svm", "linear", "gp"):
        for name, cls, target in (
            ("classifier", pk.PropagationClassifier, DATA.target),
            ("regressor", pk.PropagationRegressor, NUMBERS),
        ):
            options = {**QUICK, "solver": solver}
            found[f"{name} {solver}"] = Kind(
                lambda cls=cls, options=options, y=target: cls(**options).fit(graphs, y), predict
            )
    three = np.arange(24) % 3
    found["three classes"] = Kind(lambda: pk.PropagationClassifier(**QUICK).fit(graphs, three), predict)
    found["novelty"] = Kind(
        lambda: pk.NoveltyDetector(random_state=0).fit(graphs),
        lambda m: (m.score_samples(graphs[:4]), m.predict_p(graphs[:4]), m.explain(graphs[:4]).contributions),
    )
    return found


def other_kinds() -> dict[str, Kind]:
    """Kernels with settings that learn something else, node models, an index, a pipeline, images, graphs."""
    zoo, graphs = the_zoo()[:6], DATA.graphs
    bonds = pk.GraphDatabase(
        graphs.adjacency, graphs.graph_ptr, graphs.node_labels, edge_labels=[0] * graphs.adjacency.nnz
    )
    images = [np.arange(12, dtype=np.uint8).reshape(3, 4) * 20 + i for i in range(4)]
    part = graphs[:4]
    one = pk.GraphDatabase(part.adjacency, [0, part.n_nodes], part.node_labels)
    classes = np.arange(one.n_nodes) % 2
    features = pk.PropagationFeatures(n_features=64, t_max=1, random_state=0)
    frequency = {"propagation": "label_propagation", "prior": "frequency", "metric": "hellinger"}
    return {
        "gaussian paths": Kind(lambda: pk.ShortestPath(attributes="gaussian").fit(zoo), transform),
        "edge labels": Kind(
            lambda: pk.PropagationKernel(t_max=1, edge_labels=True, random_state=0).fit(bonds),
            lambda m: m.transform(bonds[:3]),
        ),
        "frequency prior": Kind(
            lambda: pk.PropagationKernel(t_max=1, random_state=0, **frequency).fit(zoo), transform
        ),
        "node classifier": Kind(
            lambda: pk.NodeClassifier(C=1.0, random_state=0).fit(one, classes), lambda m: m.predict()
        ),
        "node regressor": Kind(
            lambda: pk.NodeRegressor(C=1.0, random_state=0).fit(one, classes.astype(float)),
            lambda m: m.predict(),
        ),
        "index": Kind(
            lambda: pk.GraphIndex(random_state=0).fit(zoo).add(zoo[:1], ids=["x"]).remove([0]),
            lambda m: m.query(zoo[:3], k=2),
        ),
        "pipeline": Kind(
            lambda: make_pipeline(features, LogisticRegression()).fit(graphs, DATA.target),
            lambda m: m.predict(graphs[:4]),
        ),
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
        name: Kind(lambda cls=cls: make(cls, t_max=1).fit(the_zoo()[:6]), transform)
        for name, cls in sorted(estimators().items())
    }
    return {**plain, **learner_kinds(), **other_kinds()}


@cache
def file_of(name: str) -> bytes:
    """A whole model file of a kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pk"
        pk.save_model(kinds()[name].make(), path)
        return path.read_bytes()
