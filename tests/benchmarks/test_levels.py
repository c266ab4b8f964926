"""Level of everything that returns a p-value, on discrete and continuous data."""

import numpy as np
import pytest

from benchmarks.levels import CASES, LEVELS, shares

QUICK = [case for case in CASES if "equal" in case.name or "kinds" in case.name]


def check_level(case, repetitions):
    """P(p <= a) is at most a, up to four standard errors; of graphs that are all equal, every p is 1."""
    found = shares(case, repetitions)
    a = np.array(LEVELS)
    assert (found <= a + 4 * np.sqrt(a * (1 - a) / repetitions)).all(), dict(zip(LEVELS, found, strict=True))
    if "equal" in case.name:
        assert not found.any()
    return found


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_ties_raise_no_alarms(case):
    check_level(case, 25)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_levels(case):
    found = check_level(case, 40 if case.name.startswith("Evaluation") else 300)
    if case.name in ("two_sample_test, continuous, 20 and 30", "predict_p, trees"):
        assert found[-1] > 0.35  # and p-values are of use
