"""Adapters of scikit-learn's scorers: names and functions, means over columns, recorded predictions."""

import numpy as np
import pytest

from propkernels.models.cross_validation import (
    FoldClassifier,
    Recorder,
    column_mean,
    resolve_metric,
    resolve_scorer,
)


@pytest.mark.parametrize("scoring", ["luck", 3])
def test_other_names_and_objects_are_refused(scoring):
    with pytest.raises((ValueError, TypeError), match="scor"):
        resolve_scorer(scoring, True)


def test_columns_are_scored_on_the_graphs_with_an_entry():
    truth = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, 1.0]])
    sizes = {}

    def score(column, observed):
        sizes[column] = observed.tolist()
        return float(len(observed))

    assert column_mean(score, truth, False) == 2.5
    assert sizes == {0: [0, 1, 2], 1: [0, 2]}
    assert column_mean(score, truth, True) == 3.0  # column 1 has a single value
    assert np.isnan(column_mean(score, truth[:, 1:], True))


def test_r2_needs_several_graphs_per_fold():
    assert resolve_metric(None, False, False)[0] == "r2"
    with pytest.raises(ValueError, match="more than one graph per fold"):
        resolve_metric("r2", False, True)


def test_recorded_predictions_give_the_confusion_matrix():
    recorder = Recorder(resolve_scorer("accuracy", True))
    truth, predicted = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 0])
    fold = FoldClassifier(np.arange(3), np.zeros((4, 3)), predicted)
    assert recorder(fold, np.arange(4), truth) == 0.5
    assert recorder.confusion(3).tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
