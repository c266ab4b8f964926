"""Candidates for t_max and C."""

import numpy as np
import pytest

from propkernels.models.candidates import check_costs, check_steps


def test_costs_are_sorted_and_distinct():
    assert check_costs(np.array([10, 1, 1])) == (1.0, 10.0)


def test_one_value_stands_for_itself():
    assert check_costs(3) == (3.0,)
    assert check_steps(np.int64(3)) == (3,)


def test_no_steps_means_all():
    assert check_steps(None) is None


@pytest.mark.parametrize("costs", [0, -1, [1, np.nan], [np.inf]])
def test_costs_must_be_positive_and_finite(costs):
    with pytest.raises(ValueError, match="C must be a finite number above 0"):
        check_costs(costs)


@pytest.mark.parametrize(("check", "name"), [(check_costs, "C"), (check_steps, "t_max")])
def test_at_least_one_value(check, name):
    with pytest.raises(ValueError, match=f"{name} needs at least one value"):
        check([])


def test_negative_steps_are_refused():
    with pytest.raises(ValueError, match="t_max must be at least 0, got -1"):
        check_steps([-1, 2])
