"""Conformal sets and intervals: equal to their definition, covered, the same after saving."""

import networkx as nx
import numpy as np
import pytest
from scipy.special import expit
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.models.calibrate import Conformal

KERNEL = pk.WeisfeilerLehman(t_max=2)
ONE = {"kernel": KERNEL, "t_max": 2, "C": 1.0, "normalize": False, "random_state": 0}
RNG = np.random.default_rng(0)
MOLECULES = pk.datasets.make_molecules(300, random_state=0)
GRAPHS = MOLECULES.graphs
SIZES = np.diff(GRAPHS.graph_ptr) + RNG.normal(size=len(GRAPHS))
CLASSES = np.where(RNG.random(len(GRAPHS)) < 0.2, 1 - MOLECULES.target, MOLECULES.target)
TRAIN, TEST = slice(60), slice(60, 100)
FOLDS = 3


@pytest.fixture(scope="module")
def regressor():
    cv = KFold(FOLDS, shuffle=True, random_state=1)
    return pk.PropagationRegressor(cv=cv, **ONE).fit(GRAPHS[TRAIN], SIZES[TRAIN])


@pytest.fixture(scope="module")
def classifier():
    cv = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    return pk.PropagationClassifier(cv=cv, **ONE).fit(GRAPHS[TRAIN], CLASSES[TRAIN])


def naive_quantile(scores, coverage):
    rank = int(np.ceil(coverage * (len(scores) + 1)))
    return np.sort(scores)[rank - 1] if rank <= len(scores) else np.inf


@pytest.mark.parametrize("coverage", [0.9, 0.5])
def test_intervals_are_those_of_the_definition(regressor, coverage):
    """Errors of refits without each fold, and as far around the prediction."""
    errors = np.empty(60)
    unit = pk.WeisfeilerLehman(t_max=2).fit(GRAPHS[TRAIN]).diagonal_.mean()
    for train, held in KFold(FOLDS, shuffle=True, random_state=1).split(np.zeros(60)):
        own = pk.WeisfeilerLehman(t_max=2).fit(GRAPHS[train]).diagonal_.mean()
        again = pk.PropagationRegressor(**ONE | {"C": own / unit}).fit(GRAPHS[train], SIZES[train])
        errors[held] = np.abs(again.predict(GRAPHS[held]) - SIZES[held])
    predicted, width = regressor.predict(GRAPHS[TEST]), naive_quantile(errors, coverage)
    expected = np.column_stack([predicted - width, predicted + width])
    np.testing.assert_allclose(regressor.predict_interval(GRAPHS[TEST], coverage), expected, atol=1e-8)


def test_sets_are_those_of_the_definition(classifier):
    held, decisions = classifier.held_out_[:, 0], classifier.decision_function(GRAPHS[TEST])
    expected = np.empty((40, 2), dtype=bool)
    for label, sign in ((0, 1), (1, -1)):
        members = CLASSES[TRAIN] == label
        limit = naive_quantile(expit(sign * held[members]), 0.8)
        expected[:, label] = expit(sign * decisions) <= limit
    np.testing.assert_array_equal(classifier.predict_set(GRAPHS[TEST], 0.8), expected)
    assert expected.any(axis=0).all()
    assert not expected.all()


@pytest.mark.slow
@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_new_graphs_are_covered(coverage):
    """Noise of one seed: 150 test graphs have a standard deviation of 0.03."""
    regressor = pk.PropagationRegressor(**ONE).fit(GRAPHS[:150], SIZES[:150])
    low, high = regressor.predict_interval(GRAPHS[150:], coverage).T
    assert np.mean((low <= SIZES[150:]) & (SIZES[150:] <= high)) == pytest.approx(coverage, abs=0.06)
    classifier = pk.PropagationClassifier(**ONE).fit(GRAPHS[:150], CLASSES[:150])
    sets = classifier.predict_set(GRAPHS[150:], coverage)
    for label in (0, 1):
        members = CLASSES[150:] == label
        assert np.mean(sets[members, label]) == pytest.approx(coverage, abs=0.1)


def test_predict_returns_both(regressor, classifier):
    predicted, intervals = regressor.predict(GRAPHS[TEST], coverage=0.8)
    np.testing.assert_array_equal(predicted, regressor.predict(GRAPHS[TEST]))
    np.testing.assert_array_equal(intervals, regressor.predict_interval(GRAPHS[TEST], 0.8))
    predicted, sets = classifier.predict(GRAPHS[TEST], coverage=0.8)
    np.testing.assert_array_equal(predicted, classifier.predict(GRAPHS[TEST]))
    np.testing.assert_array_equal(sets, classifier.predict_set(GRAPHS[TEST], 0.8))


def test_pipelines_pass_the_coverage_on():
    pytest.importorskip("rdkit")
    smiles = ["C" * n + end for n in range(1, 8) for end in ("O", "N", "Cl")]
    sizes = np.array([len(text) for text in smiles], dtype=float)
    model = make_pipeline(pk.MoleculesToGraphs(), pk.PropagationRegressor(**ONE | {"kernel": None}))
    predicted, intervals = model.fit(smiles, sizes).predict(smiles, coverage=0.8)
    assert predicted.shape == (21,)
    assert intervals.shape == (21, 2)
    assert (intervals[:, 0] <= intervals[:, 1]).all()


def test_several_numbers_with_gaps_have_intervals_each():
    target = np.column_stack([SIZES[TRAIN], 10 * SIZES[TRAIN]])
    target[::7, 1] = np.nan
    model = pk.PropagationRegressor(**ONE).fit(GRAPHS[TRAIN], target)
    intervals = model.predict_interval(GRAPHS[TEST])
    assert intervals.shape == (40, 2, 2)
    ratio = np.diff(intervals[:, 1]).mean() / np.diff(intervals[:, 0]).mean()
    assert ratio == pytest.approx(10, rel=0.3)


def test_several_labels_have_sets_each():
    labels = np.column_stack([CLASSES[TRAIN], 1 - CLASSES[TRAIN]]).astype(float)
    labels[::9, 0] = np.nan
    sets = pk.PropagationClassifier(**ONE).fit(GRAPHS[TRAIN], labels).predict_set(GRAPHS[TEST])
    assert sets.shape == (40, 2, 2)
    assert 0.7 < np.mean(sets[np.arange(40), 1, 1 - CLASSES[TEST]]) <= 1


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "linear"},
        {"solver": "gp"},
        {"kernel": pk.SumKernel([KERNEL, pk.kernels.LabelHistogram()], weights=[0.5, 2]), "t_max": None},
        pytest.param({"kernel": pk.kernels.GraphHopper(), "t_max": None}, marks=pytest.mark.slow),
        {"kernel": pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard")},
    ],
)
def test_every_solver_and_kernel_has_sets_and_intervals(settings):
    options = ONE | {"C": 10.0, "cv": 2} | settings
    model = pk.PropagationRegressor(**options).fit(GRAPHS[TRAIN], SIZES[TRAIN])
    low, high = model.predict_interval(GRAPHS[TEST]).T
    predicted = model.predict(GRAPHS[TEST])
    assert np.isfinite(low).all()
    assert (low < high).all()
    assert np.mean((low <= predicted) & (predicted <= high)) > 0.9
    sets = pk.PropagationClassifier(**options).fit(GRAPHS[TRAIN], CLASSES[TRAIN]).predict_set(GRAPHS[TEST])
    assert sets.shape == (40, 2)
    assert sets.any()


def test_a_class_of_one_graph_is_never_excluded_and_equal_scores_are_no_problem():
    classes = np.array([0, 1] * 10 + [2])
    equal = pk.from_networkx([nx.path_graph(3)] * 21)
    with pytest.warns(UserWarning, match="class 2 has a single graph: models that hold it out"):
        model = pk.PropagationClassifier(**ONE).fit(equal, classes)
    assert model.predict_set(equal, 0.9).all()


def test_ties_are_counted_in():
    scores = np.array([[0.5], [0.5], [0.5], [0.9]])
    assert Conformal.of(scores).quantiles(0.6).tolist() == [0.5]
    assert Conformal.of(scores).quantiles(0.8).tolist() == [0.9]
    assert Conformal.of(scores).quantiles(0.9).tolist() == [np.inf]
    assert Conformal.of(np.full((3, 1), np.nan)).quantiles(0.5).tolist() == [np.inf]


def test_too_few_graphs_exclude_nothing():
    model = pk.PropagationRegressor(cv=2, **ONE).fit(GRAPHS[:8], SIZES[:8])
    assert np.isinf(model.predict_interval(GRAPHS[TEST], 0.9)).all()
    assert np.isfinite(model.predict_interval(GRAPHS[TEST], 0.5)).all()
    classes = np.array([0, 1] * 4)
    model = pk.PropagationClassifier(cv=2, **ONE).fit(GRAPHS[:8], classes)
    assert model.predict_set(GRAPHS[TEST], 0.9).all()


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -0.1, np.nan])
def test_impossible_coverages_are_refused(regressor, classifier, coverage):
    with pytest.raises(ValueError, match="coverage must be"):
        regressor.predict_interval(GRAPHS[TEST], coverage)
    with pytest.raises(ValueError, match="coverage must be"):
        classifier.predict_set(GRAPHS[TEST], coverage)
