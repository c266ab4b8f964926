import numpy as np
import pytest
from scipy.stats import ttest_ind

from reproduction.engine.published import Measured, compare, summarize


def test_three_repeats_have_the_error_of_their_means():
    repeats = [[80.0, 90.0], [70.0, 90.0], [60.0, 100.0]]
    found = summarize(repeats)
    means = [85.0, 80.0, 80.0]
    assert found.mean == pytest.approx(np.mean(means))
    assert found.error == pytest.approx(np.std(means, ddof=1) / np.sqrt(3))
    assert found.n_values == 3


def test_fewer_repeats_have_the_error_of_their_folds():
    found = summarize([[80.0, 90.0, 70.0], [90.0, 90.0, 60.0]])
    assert found.error == pytest.approx(np.std([80, 90, 70, 90, 90, 60], ddof=1) / np.sqrt(6))
    assert found.n_values == 6


def test_one_value_has_no_error():
    assert np.isnan(summarize([[50.0]]).error)


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(84.5, "matches"), (85.5, "matches"), (83.5, "matches"), (85.6, "better"), (83.4, "worse")],
)
def test_verdicts_are_two_standard_errors_wide(mean, verdict):
    """The errors 0.3 and 0.4 make 0.5; the printed value may be off by 0.05."""
    assert compare(Measured(mean, 0.3, 10), 84.5, 0.4).verdict == verdict


def test_errors_of_zero_leave_room_for_rounding():
    assert compare(Measured(82.9268, 0.0, 10), 82.9, 0.0).verdict == "matches"
    assert compare(Measured(82.9268, 0.0, 10), 82.9, 0.0).p_value == 1.0
    assert compare(Measured(80.0, 0.0, 10), 82.9, 0.0).verdict == "worse"
    assert compare(Measured(80.0, 0.0, 10), 82.9, 0.0).p_value == 0.0


def test_an_unknown_error_counts_as_none():
    assert compare(Measured(84.0, float("nan"), 1), 84.5, 0.3).verdict == "matches"


def test_p_values_are_those_of_welch():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(85, 1, 6), rng.normal(84, 2, 10)
    error = theirs.std(ddof=1) / np.sqrt(10)
    measured = Measured(ours.mean(), ours.std(ddof=1) / np.sqrt(6), 6)
    shifted = np.sign(ours.mean() - theirs.mean()) * 0.05
    reference = ttest_ind(ours - shifted, theirs, equal_var=False).pvalue
    assert compare(measured, theirs.mean(), error).p_value == pytest.approx(reference, rel=1e-9)
