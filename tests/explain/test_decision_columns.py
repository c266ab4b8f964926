"""What the columns of decisions mean; calibration."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from propkernels.explain.comparisons import compare_classes
from propkernels.explain.decision_columns import Calibration, DecisionLayout, vote

RNG = np.random.default_rng(0)


def test_two_classes():
    decisions = np.array([[2.0], [-1.0]])
    assert DecisionLayout(2, True).predictions(decisions).tolist() == [0, 1]
    assert DecisionLayout(2, False).predictions(decisions).tolist() == [1, 0]
    assert DecisionLayout(2, True).scores(decisions).tolist() == [[-2.0], [1.0]]
    assert DecisionLayout(2, False).scores(decisions).tolist() == [[2.0], [-1.0]]


def test_one_class_against_the_rest():
    decisions = RNG.normal(size=(20, 3))
    assert np.array_equal(DecisionLayout(3, False).predictions(decisions), decisions.argmax(axis=1))


@pytest.mark.parametrize("n_classes", [3, 5])
def test_scores_of_pairs_are_those_of_scikit_learn(n_classes):
    X, y = RNG.normal(size=(60, 2)), np.arange(60) % n_classes
    machine = SVC(decision_function_shape="ovr").fit(X, y)
    expected = machine.decision_function(X)
    pairs = machine.set_params(decision_function_shape="ovo").decision_function(X)
    assert np.array_equal(DecisionLayout(n_classes, True).scores(pairs), expected)


def test_a_decision_of_zero_votes_for_the_first_class_of_the_pair():
    scores = DecisionLayout(3, True).scores(np.array([[0.0, 0.0, 0.0]]))
    assert scores.tolist() == [[2.0, 1.0, 0.0]]


def test_the_class_with_the_most_votes_wins_the_first_of_equals_and_nan_has_no_vote():
    decisions = np.array([[1.0, -1.0, 0.0], [np.nan, 2.0, 3.0], [1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
    assert vote(decisions, 3).tolist() == [2, 0, 0, 1]


@pytest.mark.parametrize("classes", [(2, 0), (0, 1), 1])
def test_comparisons_of_pairs_and_of_classes_agree(classes):
    """If a pair's decision is the difference of its classes' scores, both layouts say the same."""
    scores = RNG.normal(size=(20, 3))
    pairs = np.column_stack([scores[:, a] - scores[:, b] for a, b in ((0, 1), (0, 2), (1, 2))])
    weights = np.asarray(compare_classes([0, 1, 2], classes)[0])
    reference = pairs @ DecisionLayout(3, True).of_pairs(weights)
    np.testing.assert_allclose(scores @ DecisionLayout(3, False).of_pairs(weights), reference)


def test_comparison_of_two_classes():
    weights = np.asarray(compare_classes(["a", "b"], None)[0])
    assert DecisionLayout(2, False).of_pairs(weights).tolist() == [1.0]
    assert DecisionLayout(2, True).of_pairs(weights).tolist() == [-1.0]


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 4])
def test_calibration_is_logistic_regression(n_classes):
    target = np.arange(80) % n_classes
    scores = RNG.normal(size=(80, 1 if n_classes == 2 else n_classes)) + target[:, None]
    reference = LogisticRegression(C=1e3, max_iter=1000).fit(scores, target).predict_proba(scores)
    computed = Calibration.learn(scores, target).probabilities(scores)
    np.testing.assert_allclose(computed, reference, atol=1e-9)


@pytest.mark.parametrize("multilabel", [False, True])
def test_extreme_scores_and_coefficients_give_probabilities(multilabel):
    calibration = Calibration(np.array([[1e150, -1e150]]), np.array([1e150, -1e150]), multilabel)
    calibration._check_parts()
    with np.errstate(all="raise", under="ignore"):
        found = calibration.probabilities(np.array([[1.7e308], [-1.7e308], [0.0]]))
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e300])
def test_calibrations_that_could_overflow_are_refused(number):
    with pytest.raises(ValueError, match="at most 1e150"):
        Calibration(np.array([[0.0, number]]), np.zeros(2))._check_parts()
    with pytest.raises(ValueError, match="at most 1e150"):
        Calibration(np.zeros((1, 2)), np.array([number, 0.0]))._check_parts()


@pytest.mark.parametrize(
    ("n_classes", "pairwise", "multilabel", "n_decisions", "n_scores"),
    [
        (2, False, False, 1, 1),
        (2, True, False, 1, 1),
        (3, False, False, 3, 3),
        (4, True, False, 6, 4),
        (3, False, True, 3, 1),
        (2, False, True, 2, 1),
    ],
)
def test_numbers_of_decisions_and_scores(n_classes, pairwise, multilabel, n_decisions, n_scores):
    layout = DecisionLayout(n_classes, pairwise, multilabel)
    assert (layout.n_decisions, layout.n_scores) == (n_decisions, n_scores)


def test_a_positive_decision_predicts_a_label():
    decisions = np.array([[0.5, -0.5], [0.0, 2.0]])
    assert DecisionLayout(2, False, True).predictions(decisions).tolist() == [[1, 0], [0, 1]]
    assert DecisionLayout(2, False).predictions(decisions[:, :1]).tolist() == [1, 0]


def test_labels_are_calibrated_one_by_one():
    """A label that all graphs have, or none, keeps its scores."""
    scores = np.array([[-1.0, 2.0], [1.0, 3.0], [2.0, 4.0], [-2.0, 5.0]])
    target = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, np.nan], [0.0, 1.0]])
    learned = Calibration.learn_columns(scores, target)
    alone = Calibration.learn(scores[:, :1], target[:, 0].astype(int))
    assert learned.multilabel
    assert not alone.multilabel
    assert learned.coefficients[0, 1] == 1.0
    assert learned.intercepts[1] == 0.0
    assert learned.coefficients[0, 0] == alone.coefficients[0, 1] > 0
    assert alone.coefficients[0, 0] == 0.0
