"""models: the model of the user, or the default model with held-out predictions."""

import re

import numpy as np
import pytest

import propkernels as pk
from propkernels.explorer.page_codes import NotLive
from propkernels.propagation import LabelImputer
from tests.explorer.conftest import embedded


def test_gaussian_processes_and_several_targets_are_refused(data):
    kernel = pk.WeisfeilerLehman(t_max=1)
    several = np.column_stack([data.target, 1 - data.target])
    for target, options, reason in [
        (data.target, {"solver": "gp"}, "Gaussian process"),
        (several, {}, "several targets, and a page shows one target only"),
    ]:
        model = pk.PropagationClassifier(kernel=kernel, C=1, random_state=0, **options)
        model.fit(data.graphs, target)
        with pytest.raises(NotLive, match=reason):
            pk.explore(data.graphs, data.target, model)
    with pytest.raises(ValueError, match=r"a page shows one target only; got shape \(40, 2\)"):
        pk.explore(data.graphs, several, model)


def test_models_of_other_targets_are_refused(data, model):
    with pytest.raises(NotLive, match=r"its classes are \[0, 1\], but the target has \[0, 1, 2\]"):
        pk.explore(data.graphs, np.arange(40) % 3, model)
    with pytest.raises(NotLive, match="the target has numbers"):
        pk.explore(data.graphs, data.target + 0.5, model)
    numbers = pk.PropagationRegressor(kernel=pk.WeisfeilerLehman(t_max=1), C=1).fit(
        data.graphs, data.target + 0.5
    )
    with pytest.raises(NotLive, match="not a fitted PropagationClassifier"):
        pk.explore(data.graphs, data.target, pk.PropagationClassifier())
    assert pk.explore(data.graphs, data.target + 0.5, numbers).model is numbers


def test_a_model_that_fills_in_labels_is_refused():
    rng = np.random.default_rng(0)
    ring = np.roll(np.eye(6), 1, axis=1)
    graphs = [(ring + ring.T, rng.choice(["C", "N", None], 6).tolist()) for _ in range(20)]
    model = pk.PropagationClassifier(random_state=0).fit(graphs, np.arange(20) % 2)
    model.imputer_ = LabelImputer().fit(graphs)
    with pytest.raises(NotLive, match="fills in missing node labels"):
        pk.explore(graphs, np.arange(20) % 2, model)


@pytest.mark.slow
def test_the_default_model_is_shown_itself(data):
    model = pk.PropagationClassifier(random_state=0).fit(data.graphs, data.target)
    assert len(model.rule_.members) > 1
    page = pk.explore(data.graphs, data.target, model)
    assert page.model is model
    assert len(embedded(page.html, "ex-meta")["members"]) == len(model.rule_.members)
    assert f"least squares on {len(model.rule_.members)} kernels" in page.html


@pytest.mark.slow
def test_without_a_model_the_default_one_is_trained(data):
    page = pk.explore(data.graphs, data.target)
    assert page.model.kernel is None
    attributes = np.random.default_rng(0).normal(size=(data.graphs.n_nodes, 2))
    graphs = data.graphs.with_attributes(attributes)
    page = pk.explore(graphs, data.target)
    assert any("attributes" in code for code in embedded(page.html, "ex-meta")["codes"])


def test_whole_numbers_that_a_regressor_predicts_are_numbers():
    graphs = pk.datasets.make_molecules(24, random_state=0).graphs
    sizes = graphs.graph_sizes
    kernel = pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard")
    model = pk.PropagationRegressor(kernel=kernel, C=10, random_state=0).fit(graphs, sizes)
    page = pk.explore(graphs, sizes, model, random_state=0)
    np.testing.assert_allclose(page.predictions, model.predict(graphs))


def test_numbers_are_predicted_for_every_graph(data):
    """Real numbers occur once each: no fold has all of them in its training part."""
    target = np.random.default_rng(0).random(40)
    page = pk.explore(data.graphs, target)
    assert np.isfinite(page.predictions).all()
    assert "root mean squared error 0." in page.html
    assert not re.search(r"\bnan\b", page.html.partition("<script")[0].lower())


@pytest.mark.slow
def test_numbers_of_molecules_with_the_labels_of_models_are_shown():
    """Their default kernels are sums, too."""
    smiles = ["CCO", "CCCO", "CCN", "c1ccccc1", "CC(=O)O", "CCCl", "C1CC1", "CCS", "CCBr", "CC#N"]
    graphs = pk.from_smiles(smiles * 3)
    page = pk.explore(graphs, np.arange(30) / 7, molecules=smiles * 3)
    assert page.predictions.shape == (30,)
