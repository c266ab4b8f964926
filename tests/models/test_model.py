"""The base of models: weights, splitters, groups and several targets."""

import re
import warnings
from copy import copy

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.models.folds import draw_seeds, held_out_parts
from tests.zoo import hide_labels, one, path_edges

DATA = pk.datasets.make_molecules(60, random_state=0)
GRAPHS, TARGET = DATA.graphs, DATA.target
SIZES = np.diff(GRAPHS.graph_ptr).astype(float)
KERNEL = pk.PropagationKernel(t_max=2)
QUICK = {"kernel": KERNEL, "C": [1, 100], "random_state": 0}


def labels():
    target = np.column_stack([TARGET, np.median(SIZES) < SIZES]).astype(float)
    target[::4, 0] = np.nan
    return target


def numbers():
    target = np.column_stack([SIZES, 2 * SIZES + 1])
    target[1::3, 1] = np.nan
    return target


def test_class_weights_are_sample_weights():
    weights = {0: 1.0, 1: 5.0}
    first = pk.PropagationClassifier(class_weight=weights, **QUICK).fit(GRAPHS, TARGET)
    second = pk.PropagationClassifier(**QUICK).fit(GRAPHS, TARGET, sample_weight=1.0 + 4.0 * TARGET)
    assert np.array_equal(first.decision_function(GRAPHS), second.decision_function(GRAPHS))


@pytest.mark.parametrize("model", [pk.PropagationClassifier, pk.PropagationRegressor])
@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_a_graph_of_no_weight_is_not_learned_from(model, solver):
    """With a target that is wrong for the second half, only the first half's weights let it be learned."""
    y = np.where(np.arange(60) < 40, TARGET, 1 - TARGET)
    weights = np.where(np.arange(60) < 40, 1.0, 1e-9)
    fixed = {"kernel": KERNEL, "C": 10, "t_max": 2, "solver": solver, "random_state": 0, "normalize": True}
    weighted = model(**fixed).fit(GRAPHS, y, sample_weight=weights)
    decide = weighted.decision_function if hasattr(weighted, "decision_function") else weighted.predict
    sides = decide(GRAPHS[:40]) - decide(GRAPHS[:40]).mean()
    assert np.mean((sides > 0) == (TARGET[:40] > 0)) > 0.85


@pytest.mark.parametrize("cv", [None, 3, StratifiedKFold(3), GroupKFold(4), "loo"])
def test_graphs_of_a_fold_or_group_are_held_out_together(cv):
    groups = np.arange(60) // 10 if cv is None or isinstance(cv, GroupKFold) else None
    fixed = {"kernel": KERNEL, "C": 10, "t_max": 1, "normalize": False, "random_state": 0}
    model = pk.PropagationClassifier(cv=cv, **fixed).fit(GRAPHS, TARGET, groups=groups)
    seed = draw_seeds(0, 1)[0]
    (part, *_) = held_out_parts(TARGET, cv, groups, seed.inner)
    rest = np.setdiff1d(np.arange(60), part)
    again = pk.PropagationClassifier(**fixed | {"C": 10 * unit(GRAPHS) / unit(GRAPHS[rest])})
    again.fit(GRAPHS[rest], TARGET[rest])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pk.models.ForeignGraphsWarning)
        np.testing.assert_allclose(model.held_out_[part, 0], again.decision_function(GRAPHS[part]), atol=1e-9)


def unit(graphs):
    """The ridge 1 / C is in units of the mean diagonal of all training graphs: 1 / C is lambda / unit."""
    return (
        1
        / clone(KERNEL)
        .set_params(t_max=1, random_state=draw_seeds(0, 1)[0].kernel)
        .fit(graphs)
        .diagonal_.mean()
    )


def test_default_folds_of_evaluate_are_as_many_as_the_smallest_class_gives():
    y = np.where(np.arange(60) < 3, 1, 0)
    with pytest.warns(UserWarning, match="3 folds instead of 10: the smallest class"):
        assert pk.evaluate(GRAPHS, y, KERNEL).scores.shape == (1, 3)
    with pytest.warns(UserWarning, match="4 folds instead of 10: there are 4 groups"):
        pk.evaluate(GRAPHS, TARGET, KERNEL, groups=np.arange(60) // 15)


def test_evaluate_says_once_that_a_class_has_a_single_graph():
    y = np.where(np.arange(60) < 1, "rare", np.where(np.arange(60) % 2, "a", "b"))
    with pytest.warns(
        UserWarning, match="2 folds instead of 10: the smallest class has a single graph"
    ) as said:
        pk.evaluate(GRAPHS, y, KERNEL)
    assert len(said) == 1


def test_a_graph_of_weight_zero_is_as_if_it_were_not_there():
    fixed = {"kernel": pk.WeisfeilerLehman(t_max=2), "t_max": 2, "C": 10, "normalize": False}
    weights = np.where(np.arange(60) < 40, 1.0, 0.0)
    model = pk.PropagationClassifier(**fixed).fit(GRAPHS, TARGET, sample_weight=weights)
    scale = pk.WeisfeilerLehman(t_max=2).fit(GRAPHS).diagonal_
    without = pk.PropagationClassifier(**fixed | {"C": 10 * scale[:40].mean() / scale.mean()})
    without.fit(GRAPHS[:40], TARGET[:40])
    decisions = model.decision_function(GRAPHS)
    np.testing.assert_allclose(decisions, without.decision_function(GRAPHS), atol=1e-9)
    np.testing.assert_allclose(model.held_out_[40:, 0], decisions[40:], atol=1e-9)
    np.testing.assert_allclose(model.held_out_[:40], without.held_out_, atol=1e-9)


@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear"])
def test_no_solver_learns_from_graphs_of_weight_zero(solver):
    """The kernel is normalized, so that C has the same unit with and without these graphs."""
    kernel = pk.WeisfeilerLehman(t_max=2)
    fixed = {"kernel": kernel, "t_max": 2, "C": 1, "normalize": True, "solver": solver, "random_state": 0}
    wrong, weights = TARGET.copy(), np.where(np.arange(60) < 15, 0.0, 1.0)
    wrong[:15] = 1 - TARGET[:15]
    model = pk.PropagationClassifier(**fixed).fit(GRAPHS, wrong, sample_weight=weights)
    without = pk.PropagationClassifier(**fixed).fit(GRAPHS[15:], TARGET[15:])
    expected = without.decision_function(GRAPHS[15:])
    np.testing.assert_allclose(model.decision_function(GRAPHS[15:]), expected, atol=1e-3)


@pytest.mark.parametrize("solver", ["ridge", "svm", "landmarks", "linear", "gp"])
def test_one_number_is_a_constant(solver):
    model = pk.PropagationRegressor(kernel=KERNEL, solver=solver, random_state=0).fit(GRAPHS[:1], [3.0])
    assert model.predict(GRAPHS[:1]).tolist() == [3.0]
    assert np.isinf(model.predict_interval(GRAPHS[:1])).all()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_several_labels_with_missing_entries(solver, tmp_path):
    target = labels()
    model = pk.PropagationClassifier(solver=solver, **QUICK).fit(GRAPHS, target)
    predicted, chances = model.predict(GRAPHS), model.predict_proba(GRAPHS)
    assert predicted.shape == chances.shape == model.decision_function(GRAPHS).shape == (60, 2)
    assert ((chances >= 0) & (chances <= 1)).all()
    assert model.score(GRAPHS, target) > 0.8
    explanation = model.explain(GRAPHS[:3], 1)
    np.testing.assert_allclose(explanation.decisions, model.decision_function(GRAPHS[:3])[:, 1], atol=1e-9)
    with pytest.raises(ValueError, match="classes must be the number of one label"):
        model.explain(GRAPHS)
    pk.save_model(model, tmp_path / "model.pk")
    assert np.array_equal(pk.load_model(tmp_path / "model.pk").predict_proba(GRAPHS), chances)


@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_several_numbers_with_missing_entries(solver):
    target = numbers()
    model = pk.PropagationRegressor(solver=solver, **QUICK).fit(GRAPHS, target)
    assert model.predict(GRAPHS).shape == (60, 2)
    assert model.score(GRAPHS, target) > 0.9
    assert model.score_ > 0.8
    np.testing.assert_allclose(
        model.explain(GRAPHS[:3], 1).decisions, model.predict(GRAPHS[:3])[:, 1], rtol=1e-9
    )


@pytest.mark.parametrize("weights", [None, np.arange(60) % 4 + 0.5])
def test_scores_of_several_columns_are_those_of_what_is_known(weights):
    given = np.ones(60) if weights is None else weights
    truth = labels()
    model = pk.PropagationClassifier(**QUICK).fit(GRAPHS, truth)
    right, known = model.predict(GRAPHS) == truth, ~np.isnan(truth)
    expected = (given[:, None] * right)[known].sum() / (given[:, None] * np.ones_like(truth))[known].sum()
    assert model.score(GRAPHS, truth, sample_weight=weights) == pytest.approx(expected)
    truth = numbers()
    model = pk.PropagationRegressor(**QUICK).fit(GRAPHS, truth)
    known, guess = ~np.isnan(truth), model.predict(GRAPHS)
    shares = [
        r2_score(truth[own, k], guess[own, k], sample_weight=given[own]) for k, own in enumerate(known.T)
    ]
    assert model.score(GRAPHS, truth, sample_weight=weights) == pytest.approx(np.mean(shares))
    errors = np.nansum((truth - model.held_out_) ** 2, axis=0)
    middle = np.nanmean(truth, axis=0)
    assert model.score_ == pytest.approx(np.mean(1 - errors / np.nansum((truth - middle) ** 2, axis=0)))


def test_parameters_of_a_kernel_that_is_not_given_or_named_are_set_on_a_new_one():
    for given, cls in ((None, pk.PropagationKernel), ("wl", pk.WeisfeilerLehman)):
        model = pk.PropagationClassifier(kernel=given).set_params(kernel__t_max=3, C=2.0)
        assert type(model.kernel) is cls
        assert (model.kernel.t_max, model.C) == (3, 2.0)
    own = pk.WeisfeilerLehman()
    model = pk.PropagationRegressor(kernel=own).set_params(kernel__t_max=1)
    assert model.kernel is own
    assert own.t_max == 1


@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_columns_do_not_depend_on_others(solver):
    target = labels()
    fixed = {"kernel": KERNEL, "t_max": 2, "C": 10, "normalize": True, "solver": solver, "random_state": 0}
    both, second = (
        pk.PropagationClassifier(**fixed).fit(GRAPHS, some).decision_function(GRAPHS)
        for some in (target, target[:, [1, 1]])
    )
    np.testing.assert_allclose(both[:, [1, 1]], second, atol=1e-8)  # solved together, rounded apart


@pytest.mark.slow
def test_parameters_of_the_default_models_kernel_can_be_searched():
    model = pk.PropagationClassifier(t_max=1, C=10, random_state=0)
    search = GridSearchCV(model, {"kernel__bin_width": [1e-5, 10.0]}, cv=2).fit(GRAPHS, TARGET)
    assert search.best_estimator_.kernel.bin_width in (1e-5, 10.0)
    with pytest.raises(ValueError, match="parameters of a list of kernels"):
        pk.PropagationClassifier(kernel=[KERNEL]).set_params(kernel__bin_width=1)


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = pk.PropagationClassifier(**QUICK).set_fit_request(sample_weight=True, groups=True)
        pipeline = make_pipeline(model)
        pipeline.fit(GRAPHS, TARGET, sample_weight=1.0 + 4.0 * TARGET, groups=np.arange(60) // 10)
    direct = pk.PropagationClassifier(**QUICK)
    direct.fit(GRAPHS, TARGET, sample_weight=1.0 + 4.0 * TARGET, groups=np.arange(60) // 10)
    assert np.array_equal(pipeline.decision_function(GRAPHS), direct.decision_function(GRAPHS))


@pytest.mark.slow
def test_missing_node_labels_may_be_filled_in():
    """Labels come in runs of 12 or of 3 along a path, and those of their neighborhood fill gaps."""
    paths = [one(24, path_edges(24), np.arange(24) // (12 if i % 2 else 3) % 2) for i in range(40)]
    hidden = hide_labels(pk.GraphDatabase.concat(paths), 0.4)
    model = pk.PropagationClassifier(t_max=1, C=1.0, random_state=0).fit(hidden, np.arange(40) % 2)
    filled = model.imputer_.transform(hidden)
    assert np.array_equal(model.decision_function(filled), model.decision_function(hidden))
    assert model._imputers(GRAPHS) == model._imputers(GRAPHS.with_labels([None] * GRAPHS.n_nodes)) == [None]
    assert pk.PropagationClassifier(kernel=KERNEL)._imputers(hidden) == [None]


def test_a_fitted_model_says_what_it_learned():
    data = pk.datasets.make_molecules(40, random_state=0)
    for model, target, score in [
        (pk.PropagationClassifier(random_state=0), data.target, "% right when held out"),
        (pk.PropagationRegressor(random_state=0), data.graphs.graph_sizes + 0.5, "R² "),
    ]:
        assert "Learned from" not in model._repr_html_()
        line = model.fit(data.graphs, target)._repr_html_().partition("</p>")[0]
        assert line.startswith("<p>Learned from 40 graphs: ")
        assert ("the mean of" in line) == isinstance(model.kernel_, pk.SumKernel)
        assert re.search(r"Propagation|Weisfeiler|Path|Histogram", line)
        assert score in line
        assert f"C {model.C_:g}" in line
        assert line in model._repr_mimebundle_()["text/html"]


REFUSED = [
    ({"kernel": []}, {}, ValueError, "empty list"),
    ({"kernel": pk.PropagationKernel}, {}, TypeError, "kernel must be an estimator"),
    ({"solver": "magic"}, {}, ValueError, "solver must be one of"),
    ({"kernel": pk.WeisfeilerLehman(base_kernel="rbf"), "solver": "linear"}, {}, TypeError, "dot products"),
    ({"normalize": "yes"}, {}, ValueError, "normalize must be one of"),
    ({"C": "magic"}, {}, TypeError, "C must be"),
    ({"C": -1}, {}, ValueError, "C must be"),
    ({"C": []}, {}, ValueError, "C must have at least one value"),
    ({"t_max": -1}, {}, ValueError, "t_max must be at least 0"),
    ({"cv": 1}, {}, ValueError, "cv must be at least 2"),
    ({"cv": 2.5}, {}, TypeError, "cv must be a whole number"),
    ({"cv": "lou"}, {}, ValueError, 'cv must be a whole number, "loo" or a splitter, got'),
    ({"solver": "gp"}, {"sample_weight": np.ones(60)}, ValueError, 'solver="gp" takes no weights'),
    *(
        ({}, {"sample_weight": weights}, ValueError, "sample_weight")
        for weights in (np.ones(3), -np.ones(60), np.zeros(60), np.full(60, np.nan))
    ),
    ({}, {"y": np.full((60, 2), np.nan)}, ValueError, "column 0 of the target has no entry"),
    ({}, {"y": np.zeros((59, 2))}, ValueError, "59 rows for 60 graphs"),
    ({}, {"y": [1.0, 2.0]}, ValueError, "target has 2 values for 60 graphs"),
    ({}, {"y": np.full(60, np.nan)}, ValueError, "the target of all 60 graphs is missing"),
]
OF_CLASSES = [({}, {"y": np.full((60, 2), 2.0)}, ValueError, "must be 0, 1 or missing")]
OF_NUMBERS = [
    ({"solver": np.array([1, 2])}, {}, ValueError, "solver must be one of"),
    ({"progress": np.array([1, 2])}, {}, ValueError, "progress must be None, True or False"),
    ({"cv": []}, {}, ValueError, "cv must hold pairs of training and test positions"),
    ({"cv": b"x"}, {}, ValueError, "cv must hold pairs of training and test positions"),
    ({}, {"y": ["a"] * 60}, ValueError, "target must hold one number per graph"),
    ({}, {"y": np.full(60, np.inf)}, ValueError, "target must be finite, but that of graph 0 is not"),
    ({}, {"y": np.full((60, 2), np.inf)}, ValueError, "target must be finite, but that of graph 0 is not"),
    ({"solver": "gp"}, {"y": numbers()}, ValueError, 'solver="gp" predicts one number per graph'),
]


@pytest.mark.parametrize(
    ("model", "cases"),
    [(pk.PropagationClassifier, REFUSED + OF_CLASSES), (pk.PropagationRegressor, REFUSED + OF_NUMBERS)],
)
def test_bad_input_is_refused_and_leaves_the_model_as_it_was(model, cases):
    fitted = model(kernel=KERNEL, C=10, t_max=0, random_state=0).fit(GRAPHS, TARGET)
    before = fitted.predict(GRAPHS)
    for parameters, given, kind, message in cases:
        again = copy(fitted).set_params(**parameters)
        with pytest.raises(kind, match=message):
            again.fit(GRAPHS, **{"y": TARGET} | given)
        assert np.array_equal(again.predict(GRAPHS), before)


def test_only_a_gaussian_process_knows_how_sure_it_is():
    model = pk.PropagationRegressor(**QUICK).fit(GRAPHS, SIZES)
    with pytest.raises(ValueError, match='predictive variances require solver="gp"'):
        model.predict(GRAPHS, return_std=True)
