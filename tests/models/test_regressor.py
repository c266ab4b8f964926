"""PropagationRegressor: folded weights, choice, uncertainty, explanations."""

import numpy as np
import pytest

import propkernels as pk

QUICK = {"t_max": [0, 2], "C": [1, 10, 100], "random_state": 0}


@pytest.fixture(scope="module")
def data():
    molecules = pk.datasets.make_molecules(90, random_state=0)
    return molecules.graphs, np.diff(molecules.graphs.graph_ptr) + 4.0 * molecules.target + 100


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_sizes_are_learned(data, solver):
    graphs, y = data
    model = pk.PropagationRegressor(solver=solver, **QUICK).fit(graphs[:60], y[:60])
    assert model.solver_ == solver
    assert model.score(graphs[60:], y[60:]) > 0.9
    assert 0.9 < model.score_ <= 1


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


def test_a_constant_target_is_predicted(data):
    graphs, _ = data
    for solver in ("ridge", "svm", "landmarks", "linear", "gp"):
        model = pk.PropagationRegressor(solver=solver, **QUICK)
        with pytest.warns(UserWarning, match="the target is constant, and so are its predictions: 7"):
            model.fit(graphs[:20], np.full(20, 7.0))
        np.testing.assert_allclose(model.predict(graphs), 7.0, atol=0.4)
