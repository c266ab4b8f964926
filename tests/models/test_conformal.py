"""Conformal sets and intervals: equal to their definition, covered, wide abroad, the same after saving."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn import config_context
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

import propkernels as pk
from propkernels.kernels import GraphHopper, LabelHistogram
from propkernels.models.conformal import fit_scale

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
    return pk.PropagationRegressor(epsilon=0.1, cv=cv, **ONE).fit(GRAPHS[TRAIN], SIZES[TRAIN])


@pytest.fixture(scope="module")
def classifier():
    cv = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    return pk.PropagationClassifier(cv=cv, **ONE).fit(GRAPHS[TRAIN], CLASSES[TRAIN])


def naive_machine(train, target, fit):
    """Decisions about all graphs after a fit on some, and their shares of unseen bins."""
    gram = pk.WeisfeilerLehman(t_max=2).fit_transform(GRAPHS[:100])
    counts = pk.WeisfeilerLehmanFeatures(t_max=2).fit_transform(GRAPHS[:100]).toarray()
    unit = gram[train, train].mean()
    decisions = fit(gram[np.ix_(train, train)] / unit, target[train], gram[:, train] / unit)
    seen = counts[train].any(axis=0)
    return decisions, counts[:, ~seen].sum(axis=1) / counts.sum(axis=1)


def naive_folds(cv, target, fit):
    """For each fold: held-out graphs, decisions about all graphs, and their shares of unseen bins."""
    for train, held in cv.split(np.zeros(60), target):
        yield held, *naive_machine(train, target, fit)


def naive_rank(cv, target, fit, score, coverage, members):
    """Rank for a coverage, by machines that have seen neither the fold of a graph nor one other fold.

    ``score`` returns the scaled scores of all training graphs, given decisions and unseen shares.
    """
    helds = [held for _, held in cv.split(np.zeros(60), target)]
    levels = []
    for k, held in enumerate(helds):
        n_smaller, n_rivals = np.zeros(60), 0
        for j, others in enumerate(helds):
            if j != k:
                train = np.setdiff1d(np.arange(60), np.concatenate([held, others]))
                scores, rivals = score(*naive_machine(train, target, fit)), np.intersect1d(others, members)
                n_smaller += [(scores[rivals] < one).sum() for one in scores]
                n_rivals += len(rivals)
        levels += [(n_smaller[i] + 1) / (n_rivals + 1) for i in np.intersect1d(held, members)]
    n = len(members)
    plain = int(np.ceil(coverage * (n + 1)))
    expected = plain / (n + 1)
    level = expected + (FOLDS - 1) / FOLDS * (sorted(levels)[plain - 1] - expected)
    return min(int(np.ceil(level * (n + 1) - 1e-9)), n)


def scales(scores, unseen):
    slope, base = np.polyfit(unseen, scores, 1)
    return (base, slope) if slope > 0 else (scores.mean(), 0.0)


def test_intervals_are_those_of_the_definition(regressor):
    y, mean, unit = SIZES[TRAIN], SIZES[TRAIN].mean(), SIZES[TRAIN].std()

    def fit(known, target, rows):
        machine = SVR(kernel="precomputed", C=1.0, epsilon=0.1).fit(known, (target - mean) / unit)
        return unit * machine.predict(rows) + mean

    folds = list(naive_folds(KFold(FOLDS, shuffle=True, random_state=1), y, fit))
    errors = np.concatenate([np.abs(found[held] - y[held]) for held, found, _ in folds])
    base, slope = scales(errors, np.concatenate([unseen[held] for held, _, unseen in folds]))
    cv, plain = KFold(FOLDS, shuffle=True, random_state=1), []
    for coverage in (0.9, 0.5):
        expected, everyone = [], np.arange(60)

        def score(found, unseen):
            return np.abs(found[:60] - y) / (base + slope * unseen[:60])

        rank = naive_rank(cv, y, fit, score, coverage, everyone)
        plain.append(rank == np.ceil(coverage * 61))
        for x in range(60, 100):
            low, high = [], []
            for held, found, unseen in folds:
                scaled = np.abs(found[held] - y[held]) / (base + slope * unseen[held])
                low += list(found[x] - scaled * (base + slope * unseen[x]))
                high += list(found[x] + scaled * (base + slope * unseen[x]))
            expected.append((sorted(low, reverse=True)[rank - 1], sorted(high)[rank - 1]))
        computed = regressor.predict_interval(GRAPHS[TEST], coverage)
        np.testing.assert_allclose(computed, expected, atol=1e-8)
    assert not all(plain)  # the levels matter


def test_sets_are_those_of_the_definition(classifier):
    y = CLASSES[TRAIN]

    def fit(known, target, rows):
        return SVC(kernel="precomputed", C=1.0).fit(known, target).decision_function(rows)

    cv = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    folds = list(naive_folds(cv, y, fit))
    expected = np.zeros((40, 2), dtype=bool)
    for label, sign in ((0, 1), (1, -1)):
        scores = [expit(sign * found) for _, found, _ in folds]
        of_class = [held[y[held] == label] for held, _, _ in folds]
        base, slope = scales(
            np.concatenate([s[held] for s, held in zip(scores, of_class, strict=True)]),
            np.concatenate([unseen[held] for (_, _, unseen), held in zip(folds, of_class, strict=True)]),
        )
        scaled = [s / (base + slope * unseen) for s, (_, _, unseen) in zip(scores, folds, strict=True)]
        n_smaller = sum(
            (s[held] < s[60:, None]).sum(axis=1) for s, held in zip(scaled, of_class, strict=True)
        )

        def score(found, unseen, sign=sign, base=base, slope=slope):
            return expit(sign * found[:60]) / (base + slope * unseen[:60])

        expected[:, label] = n_smaller < naive_rank(cv, y, fit, score, 0.8, np.flatnonzero(y == label))
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


def test_a_larger_coverage_contains_a_smaller(regressor, classifier):
    wide, narrow = (regressor.predict_interval(GRAPHS[TEST], share) for share in (0.95, 0.6))
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (narrow[:, 1] <= wide[:, 1]).all()
    large, small = (classifier.predict_set(GRAPHS[TEST], share) for share in (0.95, 0.6))
    assert (large | ~small).all()
    assert large.sum() > small.sum()


def test_intervals_are_wider_for_graphs_unlike_the_training_graphs():
    noise = RNG.normal(size=60) * np.arange(60) / 30  # later graphs have rare labels and larger errors
    labels = GRAPHS[TRAIN].node_labels.astype(object)
    rare = np.repeat(np.arange(60) >= 30, GRAPHS[TRAIN].graph_sizes)
    labels[rare] = [f"{label}{i % 17}" for i, label in enumerate(labels[rare])]
    graphs = pk.GraphDatabase(GRAPHS[TRAIN].adjacency, GRAPHS[TRAIN].graph_ptr, labels)
    model = pk.PropagationRegressor(epsilon=0.1, **ONE).fit(graphs, noise)
    width = np.diff(model.predict_interval(graphs), axis=1)[:, 0]
    assert width[30:].mean() > 1.5 * width[:30].mean()


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (3.0, 0.5)])
def test_a_scale_is_positive_and_does_not_fall(low, high):
    unseen = np.linspace(0, 1, 20)
    base, slope = fit_scale(low + (high - low) * unseen, unseen)
    assert base > 0
    assert slope >= 0
    assert (slope > 0) == (high > low)
    assert fit_scale(np.zeros(4), unseen[:4]) == (1.0, 0.0)


def test_batches_threads_and_copies_give_the_same_bits(regressor, classifier):
    intervals, sets = regressor.predict_interval(GRAPHS[TEST]), classifier.predict_set(GRAPHS[TEST])
    alone = np.concatenate([regressor.predict_interval(GRAPHS[[i]]) for i in range(60, 70)])
    np.testing.assert_array_equal(alone, intervals[:10])
    copy = pickle.loads(pickle.dumps(classifier)).set_params(n_jobs=2)
    np.testing.assert_array_equal(copy.predict_set(GRAPHS[TEST]), sets)


def test_saved_models_keep_their_coverage(regressor, classifier, tmp_path):
    for model, method in ((regressor, "predict_interval"), (classifier, "predict_set")):
        copy = pickle.loads(pickle.dumps(model)).set_params(cv=None)  # splitters are not saved
        pk.save_model(copy, tmp_path / "model")
        loaded = pk.load_model(tmp_path / "model")
        expected = getattr(model, method)(GRAPHS[TEST])
        np.testing.assert_array_equal(getattr(loaded, method)(GRAPHS[TEST]), expected)


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


def test_cross_validation_returns_intervals_and_sets():
    regressor = pk.PropagationRegressor(epsilon=0.1, cv=2, **ONE)
    classifier = pk.PropagationClassifier(cv=2, **ONE)
    with config_context(skip_parameter_validation=True):  # scikit-learn names four methods only
        found = cross_val_predict(regressor, GRAPHS[TRAIN], SIZES[TRAIN], cv=2, method="predict_interval")
        sets = cross_val_predict(classifier, GRAPHS[TRAIN], CLASSES[TRAIN], cv=2, method="predict_set")
    fitted = regressor.fit(GRAPHS[30:60], SIZES[30:60])
    np.testing.assert_array_equal(found[:30], fitted.predict_interval(GRAPHS[:30]))
    assert sets.shape == (60, 2)
    assert sets.dtype == bool


def test_several_numbers_with_gaps_have_intervals_each():
    target = np.column_stack([SIZES[TRAIN], 10 * SIZES[TRAIN]])
    target[::7, 1] = np.nan
    model = pk.PropagationRegressor(epsilon=0.1, **ONE).fit(GRAPHS[TRAIN], target)
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
        {"kernel": pk.SumKernel([KERNEL, LabelHistogram()], weights="alignment"), "t_max": None},
        pytest.param({"kernel": GraphHopper(), "t_max": None}, marks=pytest.mark.slow),
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


def test_many_classes_keep_graphs_instead_of_bins():
    """Both forms give the same sets: five classes have 10 pairs, and three folds 30 decisions."""
    classes = np.digitize(SIZES[:100], np.quantile(SIZES[:100], [0.2, 0.4, 0.6, 0.8]))
    model = pk.PropagationClassifier(cv=3, **ONE).fit(GRAPHS[:100], classes)
    (member,) = model.conformal_.models.rule.members
    assert not member.compares_bins
    sets = model.predict_set(GRAPHS[100:200])
    truth = np.digitize(SIZES[100:200], np.quantile(SIZES[:100], [0.2, 0.4, 0.6, 0.8]))
    assert sets.shape == (100, 5)
    assert np.mean(sets[np.arange(100), truth]) > 0.8


def test_too_few_graphs_exclude_nothing():
    model = pk.PropagationRegressor(epsilon=0.1, cv=2, **ONE).fit(GRAPHS[:8], SIZES[:8])
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


def test_models_without_folds_say_so(classifier):
    copy = pickle.loads(pickle.dumps(classifier))
    del copy.conformal_  # as in files of earlier versions
    with pytest.raises(ValueError, match="no held-out predictions"):
        copy.predict_set(GRAPHS[TEST])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_mapie_takes_models_unchanged(regressor, classifier):
    pytest.importorskip("mapie")
    from mapie.classification import SplitConformalClassifier
    from mapie.regression import SplitConformalRegressor

    wrapped = SplitConformalRegressor(regressor, confidence_level=0.8, prefit=True)
    wrapped.conformalize(GRAPHS[60:200], SIZES[60:200])
    _, intervals = wrapped.predict_interval(GRAPHS[200:])
    covered = (intervals[:, 0, 0] <= SIZES[200:]) & (SIZES[200:] <= intervals[:, 1, 0])
    assert np.mean(covered) == pytest.approx(0.8, abs=0.1)
    wrapped = SplitConformalClassifier(classifier, confidence_level=0.8, prefit=True)
    wrapped.conformalize(GRAPHS[60:200], CLASSES[60:200])
    _, sets = wrapped.predict_set(GRAPHS[200:])
    assert np.mean(sets[np.arange(100), CLASSES[200:], 0]) == pytest.approx(0.8, abs=0.1)
