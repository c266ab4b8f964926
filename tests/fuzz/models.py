"""Whole model files: the golden ones, and what those lack; and what a model is asked."""

import tempfile
from functools import cache
from pathlib import Path

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import propkernels as pk
from tests.golden import write
from tests.test_contract_discovery import the_zoo

GOLDEN = sorted(path for path in (write.FOLDER / "0.3").glob("*.pk") if path.stem != "MoleculesToGraphs")
DATA = pk.datasets.make_molecules(24, random_state=0, mean_nodes=6)
BONDS = DATA.graphs.with_edge_labels([0] * DATA.graphs.adjacency.nnz)
LEARNING = {"propagation": "label_propagation", "prior": "frequency", "metric": "hellinger"}
FEATURES = pk.PropagationFeatures(n_features=64, t_max=1, random_state=0)
# how another model is made, and the graphs that it is asked about
OTHERS = {
    "gaussian_paths": (lambda: pk.ShortestPath(attributes="gaussian").fit(the_zoo()[:6]), the_zoo()),
    "frequency_prior": (
        lambda: pk.PropagationKernel(t_max=1, random_state=0, **LEARNING).fit(the_zoo()[:6]),
        the_zoo(),
    ),
    "edge_labels": (
        lambda: pk.PropagationKernel(t_max=1, edge_labels=True, random_state=0).fit(BONDS),
        BONDS,
    ),
    "pipeline": (
        lambda: make_pipeline(FEATURES, LogisticRegression()).fit(DATA.graphs, DATA.target),
        DATA.graphs,
    ),
    "graphs": (lambda: the_zoo()[:6], None),
}
NAMES = [*(path.stem for path in GOLDEN), *OTHERS]


@cache
def file_of(name):
    """A whole model file."""
    if name not in OTHERS:
        return (write.FOLDER / "0.3" / f"{name}.pk").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        pk.save_model(OTHERS[name][0](), Path(folder) / "model.pk")
        return (Path(folder) / "model.pk").read_bytes()


def use(name, model):
    """Ask a model of this name all that it is for."""
    graphs = OTHERS[name][1] if name in OTHERS else write.inputs(name, *write.NEW)
    if name not in OTHERS:
        write.answer(name, model)
    elif graphs is not None:
        getattr(model, "predict" if name == "pipeline" else "transform")(graphs[:4])
    for method in ("predict", "predict_proba", "predict_set", "predict_interval", "predict_p", "explain"):
        if hasattr(model, method) and name in write.estimators() and name not in write.NODES:
            getattr(model, method)(graphs)
