"""Solvers: landmarks, which are the default for many molecules, and Gaussian processes."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

import propkernels as pk
from propkernels.kernels import LabelHistogram
from propkernels.models import defaults, solvers
from propkernels.models import model as model_module
from propkernels.models.choose import Problem
from propkernels.models.least_squares import solve
from propkernels.models.solvers import (
    BIAS,
    Coefficients,
    Posterior,
    fit_classes,
    fit_numbers,
    without_own_class,
)


def molecule(start, middle, end):
    """A chain of atoms, or a ring of 6 or 3 and a chain, with labels of several entries."""
    ring = {"6": 6, "3": 3}.get(start, 0)
    atoms = ("C" * ring or start) + middle + end
    graph = nx.path_graph(len(atoms))
    graph.add_edges_from([(0, ring - 1)] if ring else [])
    nx.set_node_attributes(graph, {i: (atoms[i], str(graph.degree(i))) for i in graph}, "label")
    kinds = {edge: "aromatic" if ring == 6 and max(edge) < 6 else "single" for edge in graph.edges}
    nx.set_edge_attributes(graph, kinds, "label")
    return graph


KERNEL = pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard", edge_labels=True)
PARTS = [(a, b, c) for a in ("C", "CC", "N", "6", "3") for b in ("C", "O", "CO") for c in "CNOF"]
TARGET = np.array([("O" in b + c) ^ ("F" in c) for _, b, c in PARTS]).astype(int)
GRAPHS = pk.from_networkx([molecule(*parts) for parts in PARTS])


@pytest.fixture
def few_landmarks(monkeypatch):
    monkeypatch.setattr(solvers, "LANDMARKS", 24)


def fitted(**options):
    options = {"kernel": KERNEL, "solver": "landmarks", "C": (1, 100), "random_state": 0} | options
    y = options.pop("y", TARGET)
    return pk.PropagationClassifier(**options).fit(GRAPHS, y)


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


@pytest.mark.parametrize("normalize", [True, False])
def test_the_linear_solver_is_least_squares_on_all_graphs(normalize, few_landmarks):
    options = {"kernel": pk.WeisfeilerLehman(t_max=1), "C": 0.1, "t_max": 1, "normalize": normalize}
    model, full = (fitted(solver=solver, **options) for solver in ("linear", "ridge"))
    np.testing.assert_allclose(model.decision_function(GRAPHS), full.decision_function(GRAPHS), atol=2e-2)
    assert model.solver_ == "linear"


@pytest.mark.parametrize("weights", [None, np.arange(60) % 3 + 0.5])
def test_landmarks_minimize_the_loss_of_the_definition(weights, few_landmarks, monkeypatch):
    """In runs of rows and of landmarks; held-out decisions are those of refits with the same landmarks."""
    monkeypatch.setattr(solvers, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(solvers, "AT_ONCE", 5)
    kernel = pk.WeisfeilerLehman(t_max=1, base_kernel="rbf")
    options = {"kernel": kernel, "solver": "landmarks", "C": 3.0, "t_max": 1, "normalize": False}
    model = pk.PropagationClassifier(**options, random_state=0).fit(GRAPHS, TARGET, sample_weight=weights)
    (member,) = model.rule_.members
    landmarks = np.flatnonzero(member.coefficients[:, 0])
    assert len(landmarks) == 24
    assert TARGET[landmarks].mean() == pytest.approx(0.5)
    matrix, given = kernel.fit_transform(GRAPHS), np.ones(60) if weights is None else weights
    unit = matrix.diagonal().mean()
    rows = matrix[:, landmarks]
    penalty = unit / 3.0 * (rows[landmarks] + solvers.JITTER * unit * np.eye(24))

    def refit(own):
        system = np.zeros((25, 25))
        known = np.column_stack([rows, np.ones(60)])
        system[:24, :24] = penalty
        system += known.T @ (own[:, None] * known)
        return known @ np.linalg.solve(system, known.T @ (own * (2.0 * TARGET - 1)))

    given = given / given.mean()
    np.testing.assert_allclose(model.decision_function(GRAPHS), refit(given), atol=1e-5)
    for i in range(0, 60, 7):
        left_out = refit(np.where(np.arange(60) == i, 0, given))[i]
        assert model.held_out_[i, 0] == pytest.approx(left_out, abs=1e-4)


def test_regressors_learn_from_landmarks(few_landmarks):
    sizes = GRAPHS.graph_sizes.astype(float)
    model = pk.PropagationRegressor(kernel=KERNEL, solver="landmarks", random_state=0).fit(GRAPHS, sizes)
    assert model.score(GRAPHS, sizes) > 0.9
    assert model.predict_interval(GRAPHS[:3]).shape == (3, 2)


@pytest.mark.parametrize("solver", ["ridge", "landmarks", "linear"])
def test_only_ratios_of_weights_count(solver):
    weights = 0.5 + np.arange(60) % 3
    kernel = pk.WeisfeilerLehman(t_max=1)
    model = pk.PropagationClassifier(kernel=kernel, solver=solver, C=1.0, t_max=1, random_state=0)
    first, second = (
        clone(model).fit(GRAPHS, TARGET, sample_weight=w).decision_function(GRAPHS)
        for w in (weights, 1e4 * weights)
    )
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_weights_count(few_landmarks):
    weights = np.where(TARGET == 1, 50.0, 1.0)
    plain, weighted = fitted(C=0.01), fitted(C=0.01, class_weight={0: 1.0, 1: 50.0})
    by_graph = pk.PropagationClassifier(kernel=KERNEL, solver="landmarks", C=0.01, random_state=0)
    by_graph.fit(GRAPHS, TARGET, sample_weight=weights)
    assert weighted.decision_function(GRAPHS).mean() > plain.decision_function(GRAPHS).mean()
    assert np.array_equal(weighted.decision_function(GRAPHS), by_graph.decision_function(GRAPHS))


@pytest.mark.parametrize("solver", ["landmarks", "linear"])
def test_probabilities_of_several_classes_are_learned_from_graphs_that_were_held_out(solver, monkeypatch):
    data = pk.datasets.make_molecules(90, random_state=0)
    y = data.target + (data.graphs.graph_sizes > np.median(data.graphs.graph_sizes))
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=1), solver=solver, random_state=0)
    slope = model.fit(data.graphs, y).calibration_.slopes[0]
    monkeypatch.setattr(solvers, "MOST_HELD", 60)
    model.fit(data.graphs, y)
    assert np.isnan(model.held_out_).any()
    assert slope / 2 < model.calibration_.slopes[0] < slope * 2


def test_support_vectors_hold_out_what_they_have_not_seen():
    """Five groups are the five folds."""
    groups = np.arange(len(GRAPHS)) % 5
    model = pk.PropagationClassifier(
        kernel=KERNEL, solver="svm", C=1.0, t_max=2, normalize=True, random_state=0
    )
    held_out = clone(model).fit(GRAPHS, TARGET, groups=groups).held_out_[:, 0]
    for group in range(5):
        rest, part = groups != group, groups == group
        again = model.fit(GRAPHS[rest], TARGET[rest]).decision_function(GRAPHS[part])
        np.testing.assert_allclose(held_out[part], again, atol=5e-3)


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


@pytest.mark.parametrize("solver", ["ridge", "svm", "gp"])
def test_matrices_of_many_graphs_are_refused(many, solver):
    n = len(GRAPHS)
    with pytest.raises(ValueError, match=f'solver="{solver}" forms a matrix of {n} x {n}'):
        fitted(solver=solver)


def test_several_labels_too_but_numbers_and_other_graphs_stay_linear(many, monkeypatch):
    several = np.column_stack([TARGET, 1 - TARGET])
    assert pk.PropagationClassifier(random_state=0).fit(GRAPHS, several).solver_ == "landmarks"
    numbers = pk.PropagationRegressor(random_state=0).fit(GRAPHS, GRAPHS.graph_sizes.astype(float))
    assert numbers.solver_ == "linear"
    plain = GRAPHS.with_labels([symbol for symbol, _ in GRAPHS.node_labels])
    assert pk.PropagationClassifier(random_state=0).fit(plain, TARGET).solver_ == "linear"
    monkeypatch.setattr(solvers, "MOST_VALUES", 24 * len(GRAPHS) - 1)
    assert pk.PropagationClassifier(random_state=0).fit(GRAPHS, TARGET).solver_ == "linear"


def test_ratios_of_many_graphs_are_learned_from_landmarks(many):
    assert pk.PropagationClassifier(kernel=KERNEL, random_state=0).fit(GRAPHS, TARGET).solver_ == "landmarks"


def test_descriptors_of_many_molecules_are_learned(many):
    graphs = GRAPHS.with_descriptors(np.random.default_rng(0).normal(size=(60, 2)))
    model = pk.PropagationClassifier(random_state=0).fit(graphs, TARGET)
    assert model.solver_ == "landmarks"
    assert model.explain(graphs[:2]).decisions.shape == (2,)


def test_several_targets_have_gaps(few_landmarks):
    target = np.column_stack([TARGET, 1 - TARGET]).astype(float)
    target[::5, 1] = np.nan
    model = pk.PropagationClassifier(kernel=KERNEL, solver="landmarks", random_state=0).fit(GRAPHS, target)
    assert model.score(GRAPHS, target) > 0.8
    assert not np.isnan(model.held_out_).any()


def test_decisions_without_the_own_class_are_those_of_refits():
    kernel, strata, columns = (
        pk.WeisfeilerLehman(t_max=1, normalize=True),
        np.arange(60) % 3,
        TARGET[:, None] * 2.0 - 1,
    )
    found = without_own_class(
        Problem(GRAPHS, columns, strata, 0), SimpleNamespace(kernels=[kernel], costs=[2.0])
    )
    matrix = kernel.fit_transform(GRAPHS)
    for own in (strata == c for c in range(3)):
        (refit,) = solve(matrix[np.ix_(~own, ~own)], columns[~own], [0.5])
        expected = matrix[np.ix_(own, ~own)] @ refit.coefficients + refit.intercepts
        np.testing.assert_allclose(found[own], expected, atol=1e-8)


# Gaussian processes


def test_the_amplitude_is_the_most_likely_one():
    """The mean of y (K + noise)^-1 y over the graphs; see Rasmussen and Williams, chapter 5."""
    rng = np.random.default_rng(0)
    features, target = rng.normal(size=(8, 3)), rng.normal(size=8)
    known = features @ features.T
    found = fit_numbers(known, target, 4.0, None)
    solved = np.linalg.solve(known + BIAS + 0.25 * np.eye(8), target)
    assert found.posterior.amplitude == pytest.approx(target @ solved / 8, rel=1e-6)


def gaussian_process(seed=0, n=8):
    """Kernel values of training graphs and of others, the diagonal of these, and a target."""
    rng = np.random.default_rng(seed)
    features, others = rng.normal(size=(n, 3)), rng.normal(size=(5, 3))
    return features @ features.T, others @ features.T, np.square(others).sum(axis=1), rng.normal(size=n)


def test_regression_is_that_of_the_textbook():
    """Rasmussen and Williams, Algorithm 2.1, with a constant in the kernel."""
    known, rows, diagonal, target = gaussian_process()
    found = fit_numbers(known, target, 4.0, None)
    covariance = np.linalg.inv(known + BIAS + 0.25 * np.eye(8))
    np.testing.assert_allclose(found.dual, covariance @ target, rtol=1e-5)
    assert found.intercept == pytest.approx(BIAS * found.dual.sum())
    explained = np.einsum("ij,jk,ik->i", rows + BIAS, covariance, rows + BIAS)
    expected = found.posterior.amplitude * (diagonal + BIAS + 0.25 - explained)
    np.testing.assert_allclose(found.posterior.variances(rows, diagonal)[:, 0], expected, rtol=1e-5)
    nothing = Coefficients(np.zeros(9), 0.0)
    places = np.delete(np.arange(9), 3)  # graph 3 is not known, and the second decision is a constant
    scaled = Posterior.joined([(places, found), (np.arange(9), nothing)], 9, 3.0)
    scaled._check_parts()
    prior = found.posterior.amplitude * (diagonal + BIAS + 0.25)
    spread = scaled.variances(3 * np.insert(rows, 3, 7.0, axis=1), 3 * diagonal)
    np.testing.assert_allclose(spread, np.column_stack([expected, prior]), rtol=1e-5)


def test_classification_is_that_of_the_textbook():
    """The mode of the latent function by a general optimizer, and Rasmussen and Williams, Section 3.4."""
    known, rows, diagonal, target = gaussian_process(1)
    cost, is_second = 2.0, target > 0
    found = fit_classes(known, target, cost, None)
    covariance = cost * (known + BIAS) + 1e-8 * np.eye(8)

    def loss(dual):
        latent = covariance @ dual
        return 0.5 * dual @ latent - np.log(expit(np.where(is_second, latent, -latent))).sum()

    mode = covariance @ minimize(loss, np.zeros(8), tol=1e-12).x
    np.testing.assert_allclose(found.dual, cost * (is_second - expit(mode)), atol=1e-4)
    assert found.intercept == pytest.approx(BIAS * found.dual.sum())
    noise = np.diag(1 / (expit(mode) * expit(-mode)))
    between = cost * (rows + BIAS)
    explained = np.einsum("ij,jk,ik->i", between, np.linalg.inv(covariance + noise), between)
    expected = cost * (diagonal + BIAS) - explained
    np.testing.assert_allclose(found.posterior.variances(rows, diagonal)[:, 0], expected, rtol=1e-3)


@pytest.mark.parametrize("classes", [2, 3, "labels", "gaps"])
def test_probabilities_of_processes_average_over_the_latent_function(classes):
    target = np.arange(60) % 3 if classes == 3 else TARGET
    target = np.column_stack([TARGET, np.arange(60) % 2]) if classes in ("labels", "gaps") else target
    if classes == "gaps":
        target = np.where(np.arange(60)[:, None] % 7 == [3, 5], np.nan, target)
    model = fitted(kernel=pk.WeisfeilerLehman(t_max=1), solver="gp", C=1.0, normalize=True, y=target)
    decisions, variances = model._decisions(GRAPHS), model._variances(GRAPHS)
    assert decisions.shape == variances.shape == (60, {2: 1, 3: 3}.get(classes, 2))
    draws = np.random.default_rng(0).normal(size=(20_000, 1, 1))
    spread = np.sqrt(variances.mean(axis=1, keepdims=True))
    chances = expit(decisions + spread * draws).mean(axis=0)
    if classes == 2:
        chances = np.column_stack([1 - chances[:, 0], chances[:, 0]])
    if classes == 3:
        chances /= chances.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(GRAPHS), chances, atol=0.01)


def test_folds_of_support_vectors_are_fits_without_them():
    model = fitted(kernel=LabelHistogram(), solver="svm", C=[0.1, 5.0], normalize=False)
    matrix = LabelHistogram().fit_transform(GRAPHS)
    matrix = matrix / matrix.diagonal().mean()
    machine = SVC(kernel="precomputed", C=model.C_).fit(matrix, TARGET)
    np.testing.assert_allclose(model.decision_function(GRAPHS), machine.decision_function(matrix), atol=1e-6)
    left_out = []
    for rest, part in StratifiedKFold(3).split(matrix, TARGET):
        one = SVC(kernel="precomputed", C=model.C_).fit(matrix[np.ix_(rest, rest)], TARGET[rest])
        left_out.append(np.abs(one.decision_function(matrix[np.ix_(part, rest)])).mean())
    assert np.abs(model.held_out_).mean() == pytest.approx(np.mean(left_out), rel=0.2)
