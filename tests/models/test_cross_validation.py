"""evaluate: folds, seeds, protocols, kernels, models and pipelines."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.models.cross_validation import _is_regression, evaluate, resolve_metric, score_model
from propkernels.models.evaluation_result import Choice
from propkernels.models.folds import draw_seeds, split

DATA = pk.datasets.make_molecules(90, random_state=0)
KERNEL = pk.PropagationKernel(t_max=3)
FIXED = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), t_max=1, C=1, normalize=True)
QUICK = {"cv": 3, "random_state": 0}


class SizeKernel(BaseEstimator):
    """A kernel of someone else, that fits and transforms."""

    def fit(self, graphs, y=None):
        self.sizes_ = np.diff(graphs.graph_ptr).astype(float)
        return self

    def transform(self, graphs):
        return np.outer(np.diff(graphs.graph_ptr), self.sizes_)

    def fit_transform(self, graphs, y=None):
        return self.fit(graphs).transform(graphs)


def assert_same(left, right):
    np.testing.assert_array_equal(left.scores, right.scores)
    assert left.choices == right.choices


def test_the_default_model_is_evaluated_by_default():
    result = evaluate(DATA, **QUICK)
    assert result.kernel == "PropagationClassifier"
    assert_same(result, evaluate(DATA, model=pk.PropagationClassifier(), **QUICK))
    sizes = np.diff(DATA.graphs.graph_ptr) + 0.5
    assert evaluate(DATA.graphs[:40], sizes[:40], **QUICK).kernel == "PropagationRegressor"


def test_a_fold_is_a_fit_on_its_training_part():
    """With the seed of the repeat, scored on the test part."""
    seeds = draw_seeds(0, 1)[0]
    result = evaluate(DATA, model=KERNEL, **QUICK)
    for number, (train, test) in enumerate(split(DATA.target, 3, None, True, seeds.outer)):
        kernel = pk.PropagationKernel(t_max=3, random_state=seeds.kernel)
        model = pk.PropagationClassifier(kernel=kernel, random_state=seeds.kernel)
        model.fit(DATA.graphs[train], DATA.target[train])
        assert result.scores[0, number] == model.score(DATA.graphs[test], DATA.target[test])
        assert result.choices[0][number] == Choice(model.t_max_, model.C_)


def test_pipelines_and_smiles():
    pytest.importorskip("rdkit")
    smiles = ["C" * n + end for n in range(1, 9) for end in ("O", "N", "Cl")]
    target = [int(text.endswith("O")) for text in smiles]
    pipeline = make_pipeline(pk.MoleculesToGraphs(node_labels="symbol"), clone(FIXED).set_params(C=100))
    result = evaluate(smiles, target, pipeline, cv=2, random_state=0)
    assert result.mean > 0.9
    assert result.choices == ((Choice(1, 100.0),) * 2,)


def test_same_seed_same_result_in_any_number_of_threads():
    result = evaluate(DATA, model=KERNEL, **QUICK)
    assert_same(result, evaluate(DATA, model=KERNEL, **QUICK, n_jobs=2))
    other = evaluate(DATA, model=KERNEL, cv=3, random_state=1)
    assert not np.array_equal(result.scores, other.scores)


def test_first_repeat_is_the_same_however_many_follow():
    once, twice = (evaluate(DATA, model=FIXED, **QUICK, n_repeats=r) for r in (1, 2))
    assert twice.scores.shape == (2, 3)
    assert len(twice.kernel_seconds) == 2
    np.testing.assert_array_equal(once.scores[0], twice.scores[0])


@pytest.mark.slow
@pytest.mark.parametrize("cv", [3, "loo"])
def test_targets_of_the_test_part_do_not_matter_for_the_choice(cv):
    data = pk.datasets.make_molecules(24, random_state=0)
    clean = evaluate(data, model=KERNEL, cv=cv, random_state=0)
    number, seeds = 1, draw_seeds(0, 1)[0]
    folds = split(data.target, cv, None, True, seeds.outer)
    poisoned = data.target.copy()
    poisoned[folds[number][1]] = 1 - poisoned[folds[number][1]]
    again = evaluate(data.graphs, poisoned, KERNEL, cv=folds, random_state=0)
    assert again.choices[0][number] == clean.choices[0][number]
    assert again.scores[0, number] == 1 - clean.scores[0, number]


def test_the_model_is_left_as_it_is():
    kernel = pk.PropagationKernel(t_max=3, random_state=None)
    evaluate(DATA, model=kernel, **QUICK)
    evaluate(DATA, model=FIXED, **QUICK)
    assert (kernel.t_max, kernel.random_state) == (3, None)
    assert not hasattr(kernel, "_counts")
    assert not hasattr(FIXED, "rule_")


def test_graphs_and_target_by_themselves():
    names = np.array(["apart", "bonded"])[DATA.target]
    result = evaluate(list(DATA.graphs), names, FIXED, **QUICK)
    assert_same(result, evaluate(DATA, model=FIXED, **QUICK))
    assert "on graphs:" in repr(result)


def test_any_estimator_with_fit_transform():
    result = evaluate(DATA, model=SizeKernel(), **QUICK)
    assert all(choice.t_max is None for choice in result.choices[0])


@pytest.mark.slow
@pytest.mark.data
def test_mutag(data_folder):
    data = pk.datasets.read_tu(data_folder / "MUTAG.zip")
    assert 0.82 <= evaluate(data, model=pk.PropagationKernel(), random_state=0, n_jobs=2).mean <= 0.9


def test_groups_stay_together():
    groups = np.arange(90) // 6
    assert evaluate(DATA, model=FIXED, groups=groups, **QUICK).protocol == "stratified 3-fold by groups"
    alone = evaluate(DATA, model=FIXED, groups=groups, cv="loo", random_state=0)
    assert (alone.protocol, alone.scores.shape) == ("leave-one-group-out", (1, 15))
    given = evaluate(DATA, model=FIXED, groups=groups, cv=GroupKFold(4))
    assert (given.protocol, given.scores.shape) == ("GroupKFold", (1, 4))


@pytest.mark.slow
def test_numbers_are_predicted():
    sizes = np.diff(DATA.graphs.graph_ptr) + 0.5
    result = evaluate(DATA.graphs, sizes, KERNEL, **QUICK)
    assert result.metric == "r2"
    assert result.mean > 0.9
    errors = evaluate(DATA.graphs, sizes, KERNEL, scoring="neg_root_mean_squared_error", **QUICK)
    assert errors.choices == result.choices
    assert -sizes.std() < errors.mean < 0
    alone = evaluate(DATA.graphs[:30], sizes[:30], pk.kernels.LabelHistogram(), cv="loo", random_state=0)
    assert (alone.metric, alone.scores.shape) == ("neg_mean_absolute_error", (1, 30))
    with pytest.raises(ValueError, match='scoring="r2" needs more than one graph per fold'):
        evaluate(DATA.graphs, sizes, KERNEL, cv="loo", scoring="r2")


def test_comparison_on_the_same_folds():
    walk, labels = (
        evaluate(DATA, model=model, n_repeats=2, **QUICK) for model in (KERNEL, pk.kernels.LabelHistogram())
    )
    test = walk.compare(labels)
    assert (test.n_folds, test.difference) == (6, pytest.approx(walk.mean - labels.mean))
    assert walk.test_ratio == pytest.approx(0.5)
    other = evaluate(DATA, model=FIXED, cv=3, n_repeats=2, random_state=1)
    with pytest.raises(ValueError, match="different folds"):
        walk.compare(other)


@pytest.mark.parametrize("model", [pk.kernels.LabelHistogram(), FIXED])
def test_confusion_counts_every_test_graph(model):
    result = evaluate(DATA, model=model, n_repeats=2, scoring="roc_auc", **QUICK)
    assert result.classes == DATA.target_names
    np.testing.assert_array_equal(result.confusion.sum(axis=1), 2 * np.bincount(DATA.target))
    accuracy = evaluate(DATA, model=model, n_repeats=2, **QUICK)
    assert np.trace(accuracy.confusion) / accuracy.confusion.sum() == pytest.approx(accuracy.mean)
    numbers = evaluate(DATA.graphs, np.linspace(0, 1, 90), pk.kernels.LabelHistogram(), cv=3)
    assert numbers.confusion is None
    assert numbers.classes == ()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"cv": 1}, ValueError, "cv must be at least 2"),
        ({"cv": 91}, ValueError, "cv must be at most 45"),
        ({"cv": "all"}, ValueError, 'cv must be a whole number, "loo" or a splitter'),
        ({"n_repeats": 0}, ValueError, "n_repeats must be at least 1"),
        ({"target": [0, 1]}, ValueError, "target has 2 values for 90 graphs"),
        ({"scoring": "luck"}, ValueError, "scoring 'luck' is not a scorer of scikit-learn"),
        ({"scoring": 3}, TypeError, "scoring must be the name of a scorer or a function"),
        ({"groups": [1, 2]}, ValueError, "groups must have one value for each of 90 graphs"),
        ({"model": pk.PropagationKernel}, TypeError, "model must"),
        ({"model": BaseEstimator()}, TypeError, "model must"),
        ({"graphs": DATA.graphs}, TypeError, "evaluate needs a target, or a data set with one; got"),
    ],
)
def test_bad_values(arguments, kind, message):
    with pytest.raises(kind, match=message):
        evaluate(**{"graphs": DATA, "model": KERNEL} | arguments)


COUNTS = pk.PropagationFeatures(t_max=1, n_features=64, random_state=0)


@pytest.mark.parametrize(
    ("model", "target", "expected"),
    [
        (pk.PropagationRegressor(), [0, 1], True),
        (pk.PropagationClassifier(), [0.5, 1.5], False),
        (make_pipeline(COUNTS, Ridge()), [0, 1], True),
        (make_pipeline(COUNTS, LogisticRegression()), [0.5, 1.5], False),
        (KERNEL, ["a", "b"], False),
        (KERNEL, [0, 1], False),
        (KERNEL, [0.0, 1.0] * 9, False),
        (KERNEL, [0.5, 1.5], True),
        (KERNEL, np.arange(200.0), True),
        (KERNEL, [[0, 1], [np.nan, 1]], False),
        (KERNEL, [[0, 2], [np.nan, 1]], True),
    ],
)
def test_numbers_are_predicted_by_regressors_and_where_targets_are_numbers(model, target, expected):
    assert _is_regression(model, target) is expected


def test_scores_of_several_columns_are_means_of_their_own():
    rng, n = np.random.default_rng(0), len(DATA.graphs)
    sizes = np.diff(DATA.graphs.graph_ptr).astype(float)
    labels = np.column_stack([DATA.target, sizes > np.median(sizes)]).astype(float)
    numbers = np.column_stack([sizes, rng.normal(size=n)])
    for truth in (labels, numbers):
        truth[rng.random(truth.shape) < 0.2] = np.nan
    columns = [(~np.isnan(labels[:, k]), labels[:, k]) for k in range(2)]
    model = clone(FIXED).fit(DATA.graphs, labels)
    decisions, predicted = model.decision_function(DATA.graphs), model.predict(DATA.graphs)
    for name, guess, score in (
        ("roc_auc", decisions, roc_auc_score),
        ("accuracy", predicted, accuracy_score),
    ):
        expected = [score(truth[known], guess[known, k]) for k, (known, truth) in enumerate(columns)]
        scorer = resolve_metric(name, True, False)[1]
        found = score_model(scorer, model, DATA.graphs, labels, predicted)
        assert found == pytest.approx(np.mean(expected))
        one_value = np.column_stack([labels[:, 0], np.where(labels[:, 1] == 1, 1.0, np.nan)])
        assert score_model(scorer, model, DATA.graphs, one_value, predicted) == pytest.approx(expected[0])
        assert np.isnan(score_model(scorer, model, DATA.graphs, one_value[:, 1:], predicted[:, 1:]))
    expected = [
        -log_loss(truth[known], expit(decisions[known, k])) for k, (known, truth) in enumerate(columns)
    ]
    scorer = resolve_metric("neg_log_loss", True, False)[1]
    assert score_model(scorer, model, DATA.graphs, labels, predicted) == pytest.approx(np.mean(expected))
    model = pk.PropagationRegressor(kernel=pk.WeisfeilerLehman(t_max=1), C=1).fit(DATA.graphs, numbers)
    guess, known = model.predict(DATA.graphs), ~np.isnan(numbers)
    expected = [r2_score(numbers[known[:, k], k], guess[known[:, k], k]) for k in range(2)]
    found = score_model(resolve_metric("r2", False, False)[1], model, DATA.graphs, numbers, guess)
    assert found == pytest.approx(np.mean(expected))
