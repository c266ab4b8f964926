"""Scorers of scikit-learn on machines, and several targets with missing entries."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.svm import SVC

from propkernels.decisions.scoring import resolve_scorer
from propkernels.decisions.support_vectors import ColumnMaker, SupportVectorClassification
from propkernels.decisions.tasks import Classification, Columns, Regression

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


@pytest.mark.parametrize("scoring", ["luck", 3])
def test_what_is_not_a_scorer(scoring):
    with pytest.raises((ValueError, TypeError), match="scor"):
        resolve_scorer(scoring, True)


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
    alone = SVC(kernel="linear", C=1.0).fit(POINTS[known], target[known, 0])
    computed = machine.decisions(GRAM[np.ix_(TEST, TRAIN)])[:, 0]
    np.testing.assert_allclose(computed, alone.decision_function(POINTS[TEST]), atol=1e-6)


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


def test_constant_and_empty_columns_are_predicted():
    target = np.column_stack([np.ones(80), np.full(80, np.nan), TARGET])
    machine = ColumnMaker(SupportVectorClassification()).fit(GRAM, target, 1.0)
    decisions = machine.decisions(GRAM)
    assert (decisions[:, 0] > 0).all()
    assert (decisions[:, 1] < 0).all()


def test_balanced_columns_predict_more_of_the_rare_label():
    rare = (POINTS[:, :1] > 1.2).astype(float)
    target = np.column_stack([rare, rare])
    plain = ColumnMaker(SupportVectorClassification()).fit(GRAM, target, 1.0)
    balanced = ColumnMaker(SupportVectorClassification(), "balanced").fit(GRAM, target, 1.0)
    assert (balanced.decisions(GRAM) > 0).sum() > (plain.decisions(GRAM) > 0).sum()
