"""PropagationRegressor: folded weights, choice, uncertainty, explanations."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import propkernels as pk
from propkernels.explain.members import FoldedMember, KernelMember
from tests.strategies import permute_nodes

QUICK = {"t_max": [0, 2], "C": [1, 10, 100], "random_state": 0}


@pytest.fixture(scope="module")
def data():
    molecules = pk.datasets.make_molecules(90, random_state=0)
    return molecules.graphs, np.diff(molecules.graphs.graph_ptr) + 4.0 * molecules.target + 100


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kernel", [pk.PropagationKernel(t_max=3, n_hashes=2), pk.WeisfeilerLehman(t_max=2)])
def test_folded_predictions_are_ridge_regression_on_the_full_gram(data, kernel, normalize):
    """With an intercept, which is not penalized: that of centered targets and rows."""
    graphs, y = data
    train, test = graphs[:60], graphs[60:]
    model = pk.PropagationRegressor(kernel=kernel, C=10, t_max=2, normalize=normalize, random_state=0)
    model.fit(train, y[:60])
    reference = clone(model.kernel_)
    gram = reference.fit_transform(train)
    middle = np.eye(60) - 1 / 60
    system = middle @ gram @ middle + 0.1 * gram.diagonal().mean() * np.eye(60)
    dual = middle @ np.linalg.solve(system, y[:60] - y[:60].mean())
    intercept = np.mean(y[:60] - gram @ dual)
    assert isinstance(model.rule_.members[0], FoldedMember)
    np.testing.assert_allclose(model.predict(test), reference.transform(test) @ dual + intercept, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_sizes_are_learned(data, solver):
    graphs, y = data
    model = pk.PropagationRegressor(solver=solver, **QUICK).fit(graphs[:60], y[:60])
    assert model.solver_ == solver
    assert model.score(graphs[60:], y[60:]) > 0.9
    assert 0.9 < model.score_ <= 1


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_contributions_add_up_to_the_prediction(data, solver):
    graphs, y = data
    model = pk.PropagationRegressor(solver=solver, **QUICK).fit(graphs[:60], y[:60])
    explanation = model.explain(graphs[60:])
    assert explanation.intercept == pytest.approx(float(model.intercept_[0]))
    sums = [explanation.of_graph(i).sum() for i in range(30)]
    np.testing.assert_allclose(sums, model.predict(graphs[60:]) - model.intercept_[0], atol=1e-9)


def test_a_kernel_that_cannot_be_folded_is_kept(data):
    graphs, y = data
    model = pk.PropagationRegressor(kernel=pk.PropagationKernel(base_kernel="rbf"), **QUICK)
    model.fit(graphs, y)
    assert isinstance(model.rule_.members[0], KernelMember)
    assert model.score(graphs, y) > 0.9
    with pytest.raises(TypeError, match="PropagationKernel is not a dot product of counts"):
        model.explain(graphs)


@pytest.mark.slow
def test_uncertainty_covers_and_grows_away_from_the_data(data):
    graphs, y = data
    model = pk.PropagationRegressor(solver="gp", **QUICK).fit(graphs[:60], y[:60])
    mean, std = model.predict(graphs[60:], return_std=True)
    np.testing.assert_array_equal(mean, model.predict(graphs[60:]))
    assert 0.8 <= np.mean(np.abs(mean - y[60:]) < 2 * std) <= 1
    strange = pk.GraphDatabase.concat([graphs[[0]]]).with_labels(["unheard of"] * graphs[[0]].n_nodes)
    model = pk.PropagationRegressor(solver="gp", normalize=True, **QUICK).fit(graphs[:60], y[:60])
    with pytest.warns(pk.models.ForeignGraphsWarning, match="'unheard of'"):
        uncertain = model.predict(strange, return_std=True)[1][0]
    assert uncertain > model.predict(graphs, return_std=True)[1].max()


@pytest.mark.slow
def test_only_a_gaussian_process_knows_how_sure_it_is(data):
    graphs, y = data
    model = pk.PropagationRegressor(**QUICK).fit(graphs, y)
    with pytest.raises(ValueError, match='predictive variances require solver="gp"'):
        model.predict(graphs, return_std=True)


@pytest.mark.slow
def test_unit_and_offset_of_the_target_do_not_matter(data):
    graphs, y = data
    one = pk.PropagationRegressor(**QUICK).fit(graphs, y)
    other = pk.PropagationRegressor(**QUICK).fit(graphs, 1024 * (y - 100))
    assert (one.t_max_, one.C_) == (other.t_max_, other.C_)
    np.testing.assert_allclose(other.predict(graphs) / 1024 + 100, one.predict(graphs), rtol=1e-6)


def test_a_constant_target_is_predicted(data):
    graphs, _ = data
    for solver in ("ridge", "svm", "landmarks", "linear", "gp"):
        model = pk.PropagationRegressor(solver=solver, **QUICK)
        with pytest.warns(UserWarning, match="the target is constant, and so are its predictions: 7"):
            model.fit(graphs[:20], np.full(20, 7.0))
        np.testing.assert_allclose(model.predict(graphs), 7.0, atol=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_threads_processes_and_nodes_do_not_matter(data, solver):
    graphs, y = data
    one = pk.PropagationRegressor(solver=solver, **QUICK).fit(graphs, y)
    two = pk.PropagationRegressor(solver=solver, n_jobs=2, **QUICK).fit(graphs, y)
    expected = one.predict(graphs)
    np.testing.assert_array_equal(two.predict(graphs), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).predict(graphs), expected)
    shuffled = permute_nodes(graphs, np.random.default_rng(0))
    np.testing.assert_allclose(one.predict(shuffled), expected, rtol=1e-12)
    np.testing.assert_array_equal(one.predict(graphs[::-1]), expected[::-1])


@pytest.mark.slow
def test_fits_scikit_learn(data):
    graphs, y = data
    model = pk.PropagationRegressor(C=10, t_max=0, random_state=0)
    assert cross_val_score(model, graphs, y, cv=3).mean() > 0.9
    several = {
        "solver": ["ridge", "svm", "landmarks", "linear", "gp"],
        "kernel": [None, pk.WeisfeilerLehman()],
    }
    search = GridSearchCV(model, several, cv=2).fit(graphs, y)
    assert search.best_score_ > 0.9
    with pytest.raises(NotFittedError):
        model.predict(graphs)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    [
        ({"kernel": []}, ValueError, "empty list"),
        ({"solver": "magic"}, ValueError, "solver must be one of"),
        ({"C": "magic"}, TypeError, "C must be"),
        ({"C": []}, ValueError, "C must have at least one value"),
        ({"cv": 1}, ValueError, "cv must be at least 2"),
    ],
)
def test_bad_parameters_leave_the_model_as_it_was(data, parameters, kind, message):
    graphs, y = data
    model = pk.PropagationRegressor(C=10, t_max=0, random_state=0).fit(graphs, y)
    before = model.predict(graphs)
    with pytest.raises(kind, match=message):
        model.set_params(**parameters).fit(graphs, y)
    np.testing.assert_array_equal(model.predict(graphs), before)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([1.0, 2.0], "target has 2 values for 90 graphs"),
        (np.full(90, np.nan), "the target of all 90 graphs is missing"),
        (np.full(90, np.inf), "target must be finite, but that of graph 0 is not"),
        (["a"] * 90, "target must hold one number per graph"),
        (np.full((90, 2), np.inf), "target must be finite, but that of graph 0 is not"),
    ],
)
def test_bad_targets(data, target, message):
    with pytest.raises(ValueError, match=message):
        pk.PropagationRegressor().fit(data[0], target)
