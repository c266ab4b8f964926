"""The solvers beside scikit-learn on explicit features, and which one is taken."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel
from sklearn.svm import LinearSVC

import propkernels as pk
from propkernels.learn.machines.linear import LinearClassification, LinearRegression
from propkernels.learn.machines.rules import FoldedRule
from propkernels.learn.selection import solvers
from propkernels.learn.selection.solvers import resolve_selection, resolve_solver

FIXED = {"t_max": 2, "C": 10, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_molecules(80, random_state=0)


@pytest.fixture(scope="module")
def classes(data):
    return data.target + (np.arange(80) % 2) * data.target


def explicit(model, graphs):
    """Features of the model's kernel over all graphs' bins, in the unit of C: the first 60 are known."""
    parameters = {"t_max": model.t_max_, "normalize": model.normalize_}
    features = pk.PropagationFeatures(random_state=model.kernel_.random_state, **parameters)
    phi = features.fit_transform(graphs).toarray()
    phi /= np.sqrt((phi[:60] ** 2).sum(axis=1).mean())
    return phi[:60], phi[60:]


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("several", [True, False])
def test_linear_decisions_are_those_of_liblinear(data, classes, normalize, several):
    y = classes if several else data.target
    model = pk.PropagationClassifier(
        kernel=pk.PropagationKernel(), normalize=normalize, solver="linear", **FIXED
    ).fit(data.graphs[:60], y[:60])
    known, new = explicit(model, data.graphs)
    machine = LinearSVC(loss="squared_hinge", dual=False, C=10, max_iter=10_000).fit(known, y[:60])
    expected = machine.decision_function(new)
    assert isinstance(model.rule_, FoldedRule)
    np.testing.assert_allclose(model.decision_function(data.graphs[60:]), expected, atol=1e-6)
    pair = (1, 0)
    sums = model.explain(data.graphs[60:], pair).decisions
    columns = expected[:, None] if expected.ndim == 1 else expected[:, [1]] - expected[:, [0]]
    np.testing.assert_allclose(sums, columns[:, 0], atol=1e-6)


@pytest.mark.parametrize("several", [True, False])
def test_the_gaussian_process_is_scikit_learns(data, classes, several):
    y = classes if several else data.target
    model = pk.PropagationClassifier(
        kernel=pk.PropagationKernel(), normalize=False, solver="gp", **FIXED
    ).fit(data.graphs[:60], y[:60])
    known, new = explicit(model, data.graphs)
    process = GaussianProcessClassifier(ConstantKernel(10.0) * DotProduct(1.0), optimizer=None)
    process.fit(known, y[:60])
    np.testing.assert_allclose(model.predict_proba(data.graphs[60:]), process.predict_proba(new), atol=1e-3)
    assert np.mean(model.predict(data.graphs[60:]) == process.predict(new)) >= 0.95


@pytest.mark.parametrize("kernel", [pk.PropagationKernel(), pk.PropagationKernel(base_kernel="jaccard")])
def test_gaussian_regression_is_scikit_learns(data, kernel):
    y = np.diff(data.graphs.graph_ptr).astype(float)
    model = pk.PropagationRegressor(kernel=kernel, solver="gp", normalize=False, **FIXED)
    model.fit(data.graphs[:60], y[:60])
    gram = model.kernel_.fit_transform(data.graphs)
    unit, mean, spread = gram.diagonal()[:60].mean(), y[:60].mean(), y[:60].std()
    values, vectors = np.linalg.eigh(gram / unit)
    points = vectors * np.sqrt(np.maximum(values, 0))
    amplitude = model.posterior_.amplitude / spread**2
    process = GaussianProcessRegressor(
        ConstantKernel(amplitude) * (DotProduct(1.0) + WhiteKernel(0.1)), alpha=1e-12, optimizer=None
    ).fit(points[:60], (y[:60] - mean) / spread)
    expected, error = process.predict(points[60:], return_std=True)
    computed, std = model.fit(data.graphs[:60], y[:60]).predict(data.graphs[60:], return_std=True)
    if kernel.base_kernel == "linear":  # counts of new graphs lie in the span of all graphs
        np.testing.assert_allclose(computed, spread * expected + mean, rtol=1e-5)
        np.testing.assert_allclose(std, spread * error, rtol=1e-4)
    assert np.isfinite(std).all()


def test_pairwise_kernels_have_uncertainty_too(data):
    y = np.diff(data.graphs.graph_ptr).astype(float)
    model = pk.PropagationRegressor(kernel=pk.ShortestPath(), solver="gp", C=10, random_state=0)
    _, std = model.fit(data.graphs[:60], y[:60]).predict(data.graphs[60:], return_std=True)
    assert (std > 0).all()


def test_auto_takes_the_solver_by_size():
    kernels = [pk.PropagationKernel(t_max=10)]
    assert resolve_solver("auto", kernels, 5000, None) == "kernel"
    assert resolve_solver("auto", kernels, 12_000, None) == "linear"  # eleven matrices would take 12 GiB
    assert resolve_solver("auto", kernels, 12_000, (3,)) == "kernel"
    assert resolve_solver("auto", kernels, 20_001, (3,)) == "linear"
    assert resolve_solver("auto", [pk.GraphHopper()], 12_000, None) == "kernel"


@pytest.mark.slow
def test_beyond_the_limit_no_kernel_matrix_is_formed(data, monkeypatch):
    monkeypatch.setattr(solvers, "MOST_FOR_KERNEL", 50)

    def refuse(*arguments):
        raise AssertionError("a kernel matrix was formed")

    monkeypatch.setattr(pk.PropagationKernel, "fit_transform", refuse)
    monkeypatch.setattr(pk.PropagationKernel, "fit_transform_cumulative", refuse)
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(t_max=2), C=[1, 10], random_state=0).fit(
        data.graphs, data.target
    )
    assert model.solver_ == "linear"
    assert model.score(data.graphs, data.target) > 0.8
    for solver in ("kernel", "gp"):
        with pytest.raises(ValueError, match="forms a matrix of 80 x 80; beyond 50 graphs"):
            pk.PropagationClassifier(solver=solver).fit(data.graphs, data.target)
    with pytest.raises(ValueError, match="WeisfeilerLehman needs a matrix of 80 x 80"):
        pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(base_kernel="rbf")).fit(data.graphs, data.target)


@pytest.mark.parametrize(
    "kernel", [pk.ShortestPath(attributes="linear"), pk.PropagationKernel(base_kernel="rbf")]
)
def test_linear_needs_counts(data, kernel):
    with pytest.raises(TypeError, match='solver="linear" needs kernels that are dot products of counts'):
        pk.PropagationClassifier(kernel=kernel, solver="linear").fit(data.graphs, data.target)


def test_very_many_graphs_are_learned_by_stochastic_gradients(monkeypatch):
    from propkernels.learn.machines import linear as linear_machines

    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 5))
    target = (features[:, 0] > 0).astype(int)
    exact = LinearClassification().fit(features, target, 1.0)
    monkeypatch.setattr(linear_machines, "STOCHASTIC_FROM", 100)
    quick = LinearClassification().fit(features, target, 1.0)
    assert np.mean((quick.decisions(features) > 0) == (exact.decisions(features) > 0)) > 0.95
    line = LinearRegression(0.0).fit(features, features[:, 0], 1.0)
    assert np.corrcoef(line.decisions(features)[:, 0], features[:, 0])[0, 1] > 0.99


def test_auto_selection_is_exact_for_few_graphs_and_kernels():
    assert resolve_selection("auto", 1000) == "exhaustive"
    assert resolve_selection("auto", 1001) == "halving"
    assert resolve_selection("auto", 100, n_kernels=3) == "halving"
    assert resolve_selection("exhaustive", 10**6) == "exhaustive"
    assert resolve_selection("race", 10) == "race"
