"""Tasks: losses and scores of machines on held-out graphs, and several targets with missing entries."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.svm import SVC

from propkernels.models.scoring import resolve_scorer
from propkernels.models.tasks import Classification, Columns, Regression

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(80, 3))
GRAM = POINTS @ POINTS.T
TARGET = (POINTS[:, 0] + 0.5 * RNG.normal(size=80) > 0).astype(np.int64)
TRAIN, TEST = np.arange(50), np.arange(50, 80)


def fitted(task, target, maker=None):
    maker = task.makers("kernel", (0.1,))[0][1] if maker is None else maker
    weights = None if task.weights is None else task.weights[TRAIN]
    return maker, maker.fit(GRAM[np.ix_(TRAIN, TRAIN)], target[TRAIN], 1.0, weights)


def judged(task, target):
    maker, machine = fitted(task, target)
    return task.judge(maker, machine, GRAM[np.ix_(TEST, TRAIN)], target[TRAIN], target[TEST])


def test_ranking_and_threshold_scores_are_scikit_learns():
    machine = SVC(kernel="linear", C=1.0).fit(POINTS[TRAIN], TARGET[TRAIN])
    scores, predicted = machine.decision_function(POINTS[TEST]), machine.predict(POINTS[TEST])
    auc = judged(Classification(scorer=resolve_scorer("roc_auc", True)), TARGET)
    assert -auc[0] == pytest.approx(roc_auc_score(TARGET[TEST], scores))
    balanced = judged(Classification(scorer=resolve_scorer("balanced_accuracy", True)), TARGET)
    assert -balanced[0] == pytest.approx(balanced_accuracy_score(TARGET[TEST], predicted))


def test_scores_of_numbers_are_those_of_the_target_itself():
    numbers = 3.0 * POINTS[:, 1] + 7.0
    task = Regression(scorer=resolve_scorer("r2", False), middle=7.0, unit=3.0)
    standardized = (numbers - 7.0) / 3.0
    _, machine = fitted(task, standardized)
    predicted = 3.0 * machine.decisions(GRAM[np.ix_(TEST, TRAIN)])[:, 0] + 7.0
    assert -judged(task, standardized)[0] == pytest.approx(r2_score(numbers[TEST], predicted))


def test_a_function_is_a_scorer():
    assert judged(Classification(scorer=resolve_scorer(lambda model, X, y: 0.25, True)), TARGET) == [-0.25]


def two_columns():
    target = np.column_stack([TARGET, POINTS[:, 1] > 0]).astype(float)
    target[::3, 0] = np.nan
    return target


def test_each_column_is_learned_from_the_graphs_that_have_it():
    target = two_columns()
    _, machine = fitted(Columns(Classification()), target)
    known = TRAIN[~np.isnan(target[TRAIN, 0])]
    alone = Ridge(alpha=1.0).fit(POINTS[known], 2 * target[known, 0] - 1)
    computed = machine.decisions(GRAM[np.ix_(TEST, TRAIN)])[:, 0]
    np.testing.assert_allclose(computed, alone.predict(POINTS[TEST]), atol=1e-3)


def test_missing_entries_are_not_losses():
    target = two_columns()
    task = Columns(Classification())
    predicted = np.where(np.isnan(target), 5.0, target)
    assert not task.losses(predicted, target).any()
    assert task.losses(1 - predicted, target).max() == 1.0


def test_a_score_is_the_mean_over_columns():
    target = two_columns()
    _, machine = fitted(Columns(Classification()), target)
    decisions = machine.decisions(GRAM[np.ix_(TEST, TRAIN)])
    known = ~np.isnan(target[TEST])
    reference = np.mean(
        [roc_auc_score(target[TEST][known[:, j], j], decisions[known[:, j], j]) for j in range(2)]
    )
    task = Columns(Classification(scorer=resolve_scorer("roc_auc", True)))
    assert -judged(task, target)[0] == pytest.approx(reference)


def test_losses_without_a_scorer():
    machine = SVC(kernel="linear", C=1.0).fit(POINTS[TRAIN], TARGET[TRAIN])
    expected = machine.predict(POINTS[TEST]) != TARGET[TEST]
    assert np.array_equal(judged(Classification(), TARGET), expected.astype(float))
    assert np.array_equal(Regression().losses(np.array([1.0, 2.0]), np.array([0.0, 4.0])), [1.0, 4.0])


def test_the_score_of_a_single_class():
    task = Classification(scorer=resolve_scorer("accuracy", True))
    assert task.score_constant(np.array([1, 1]), np.array([1, 0, 1, 1])) == 0.75


def test_gaussian_processes_have_one_target():
    with pytest.raises(ValueError, match="one target at a time"):
        Columns(Regression()).makers("gp", (0.1,))


def test_the_score_of_a_constant_is_that_of_the_target_itself():
    task = Regression(scorer=resolve_scorer("neg_mean_absolute_error", False), unit=3.0, middle=10.0)
    score = task.score_constant(np.array([2.0, 2.0]), np.array([1.0, 4.0]))
    assert score == pytest.approx(-np.mean([abs(16 - 13), abs(16 - 22)]))


def test_losses_of_graphs_add_up_without_a_scorer():
    assert Columns(Regression()).is_additive
    assert not Columns(Regression(scorer=resolve_scorer("r2", False))).is_additive
