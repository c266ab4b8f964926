"""Solvers: landmarks, which are the default for many molecules, and Gaussian processes."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.models import defaults, solvers
from propkernels.models import model as model_module
from propkernels.models.solvers import BIAS, Posterior, fit_numbers, mean_sigmoid

pytest.importorskip("rdkit")
KERNEL = pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard", edge_labels=True)
SMILES = [a + b + c for a in ("C", "CC", "N", "c1ccccc1", "C1CC1") for b in ("C", "O", "CO") for c in "CNOF"]
TARGET = np.array([("O" in text) ^ ("F" in text) for text in SMILES]).astype(int)
GRAPHS = pk.from_smiles(SMILES, node_labels=("symbol", "invariants"))


@pytest.fixture
def few_landmarks(monkeypatch):
    monkeypatch.setattr(solvers, "LANDMARKS", 24)


def fitted(**options):
    options = {"kernel": KERNEL, "solver": "landmarks", "C": (1, 100), "random_state": 0} | options
    return pk.PropagationClassifier(**options).fit(GRAPHS, TARGET)


def test_only_landmarks_are_kept_and_all_bins_are_known(few_landmarks):
    model = fitted()
    (member,) = model.rule_.members
    assert member.kept.shape[1] == 24
    assert model.solver_ == "landmarks"
    assert not model.applicability(GRAPHS).by_graph.any()
    assert model.score(GRAPHS, TARGET) > 0.8


def test_with_all_graphs_as_landmarks_it_is_least_squares_on_the_kernel():
    model, full = fitted(C=1, normalize=False, t_max=2), fitted(C=1, normalize=False, t_max=2, solver="ridge")
    np.testing.assert_allclose(model.decision_function(GRAPHS), full.decision_function(GRAPHS), atol=2e-3)
    np.testing.assert_allclose(model.held_out_, full.held_out_, atol=5e-3)


def test_regressors_learn_from_landmarks(few_landmarks):
    sizes = GRAPHS.graph_sizes.astype(float)
    model = pk.PropagationRegressor(kernel=KERNEL, solver="landmarks", random_state=0).fit(GRAPHS, sizes)
    assert model.score(GRAPHS, sizes) > 0.9
    assert model.predict_interval(GRAPHS[:3]).shape == (3, 2)


def test_weights_count(few_landmarks):
    weights = np.where(TARGET == 1, 50.0, 1.0)
    plain, weighted = fitted(C=0.01), fitted(C=0.01, class_weight={0: 1.0, 1: 50.0})
    by_graph = pk.PropagationClassifier(kernel=KERNEL, solver="landmarks", C=0.01, random_state=0)
    by_graph.fit(GRAPHS, TARGET, sample_weight=weights)
    assert weighted.decision_function(GRAPHS).mean() > plain.decision_function(GRAPHS).mean()
    assert np.array_equal(weighted.decision_function(GRAPHS), by_graph.decision_function(GRAPHS))


@pytest.fixture
def many(monkeypatch):
    """Let 50 graphs be too many for a kernel matrix."""
    monkeypatch.setattr(solvers, "MOST_FOR_KERNEL", 50)
    monkeypatch.setattr(model_module, "MOST_FOR_KERNEL", 50)
    monkeypatch.setattr(solvers, "LANDMARKS", 24)
    monkeypatch.setattr(defaults, "LANDMARKS", 24)


def test_many_molecules_are_learned_from_landmarks_by_default(many):
    model = pk.PropagationClassifier(random_state=0).fit(GRAPHS, TARGET)
    assert (model.solver_, model.t_max_) == ("landmarks", 3)
    assert model.kernel_.base_kernel == "jaccard"


def test_several_labels_too_but_numbers_and_other_graphs_stay_linear(many, monkeypatch):
    several = np.column_stack([TARGET, 1 - TARGET])
    assert pk.PropagationClassifier(random_state=0).fit(GRAPHS, several).solver_ == "landmarks"
    numbers = pk.PropagationRegressor(random_state=0).fit(GRAPHS, GRAPHS.graph_sizes.astype(float))
    assert numbers.solver_ == "linear"
    plain = pk.from_smiles(SMILES, node_labels="symbol")
    assert pk.PropagationClassifier(random_state=0).fit(plain, TARGET).solver_ == "linear"
    monkeypatch.setattr(solvers, "MOST_VALUES", 24 * len(SMILES) - 1)
    assert pk.PropagationClassifier(random_state=0).fit(GRAPHS, TARGET).solver_ == "linear"


def test_ratios_of_many_graphs_are_learned_from_landmarks(many):
    assert pk.PropagationClassifier(kernel=KERNEL, random_state=0).fit(GRAPHS, TARGET).solver_ == "landmarks"


def test_descriptors_of_many_molecules_are_learned(many):
    graphs = pk.MoleculesToGraphs(descriptors=["exactmw", "tpsa"]).transform(SMILES)
    model = pk.PropagationClassifier(random_state=0).fit(graphs, TARGET)
    assert model.solver_ == "landmarks"
    assert model.explain(graphs[:2]).decisions.shape == (2,)


def test_several_targets_have_gaps(few_landmarks):
    target = np.column_stack([TARGET, 1 - TARGET]).astype(float)
    target[::5, 1] = np.nan
    model = pk.PropagationClassifier(kernel=KERNEL, solver="landmarks", random_state=0).fit(GRAPHS, target)
    assert model.score(GRAPHS, target) > 0.8
    assert not np.isnan(model.held_out_).any()


# Gaussian processes


@pytest.mark.parametrize("n", [3, 60])
def test_variances_do_not_depend_on_the_batch(n):
    rng = np.random.default_rng(n)
    factors = np.tril(rng.random((2, n, n))) + n * np.eye(n)
    posterior = Posterior(rng.random((2, n)), factors, 1.5, 0.1, 2.0)
    rows, own = rng.random((37, n)), n * np.ones(37)
    together = posterior.variances(rows, own)
    alone = np.vstack([posterior.variances(rows[i : i + 1], own[i : i + 1]) for i in range(37)])
    assert np.array_equal(together, alone)


def test_mean_sigmoids_do_not_depend_on_the_batch():
    rng = np.random.default_rng(0)
    means, variances = rng.normal(size=(41, 3)), rng.random((41, 3))
    alone = np.vstack([mean_sigmoid(means[i : i + 1], variances[i : i + 1]) for i in range(41)])
    assert np.array_equal(mean_sigmoid(means, variances), alone)


def test_the_amplitude_is_the_most_likely_one():
    """The mean of y (K + noise)^-1 y over the graphs; see Rasmussen and Williams, chapter 5."""
    rng = np.random.default_rng(0)
    features, target = rng.normal(size=(8, 3)), rng.normal(size=8)
    known = features @ features.T
    found = fit_numbers(known, target, 4.0, None)
    solved = np.linalg.solve(known + BIAS + 0.25 * np.eye(8), target)
    assert found.posterior.amplitude == pytest.approx(target @ solved / 8, rel=1e-6)
