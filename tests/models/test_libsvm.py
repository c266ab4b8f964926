"""Solutions of libsvm are those of scikit-learn's estimators, to the bit."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from propkernels.models import libsvm
from propkernels.models.libsvm import CLASSIFICATION, REGRESSION, class_numbers, solve

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 3))
GRAM = POINTS @ POINTS.T
WEIGHTS = RNG.uniform(0.5, 2.0, 60)
TARGETS = {
    "two": (CLASSIFICATION, np.where(POINTS[:, 0] > 0.1, 7, 3)),
    "four": (CLASSIFICATION, np.digitize(POINTS[:, 0], [-0.5, 0.0, 0.5])),
    "numbers": (REGRESSION, POINTS[:, 1] + 0.1 * RNG.normal(size=60)),
}
FIELDS = ("support", "n_support", "coefficients", "intercepts", "is_converged")


def by_estimator(monkeypatch, *arguments):
    """Return the solution where the binding is not found."""
    with monkeypatch.context() as context:
        context.setattr(libsvm, "find_binding", lambda: None)
        return solve(*arguments)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("name", TARGETS)
def test_solutions_equal_those_of_the_estimators(name, weights, monkeypatch):
    kind, target = TARGETS[name]
    arguments = kind, GRAM, target, 2.0, weights, -1, 0.05
    found, expected = solve(*arguments), by_estimator(monkeypatch, *arguments)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


def test_the_binding_of_the_installed_version_is_used():
    assert libsvm.find_binding() is not None


def test_matrices_in_other_layouts_have_the_same_solution():
    kind, target = TARGETS["two"]
    expected = solve(kind, GRAM, target, 2.0, None, -1)
    found = solve(kind, np.asfortranarray(GRAM), target, 2.0, None, -1)
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)


def test_infinite_similarities_are_an_error():
    kind, target = TARGETS["two"]
    with pytest.raises(ValueError, match=r"infinity|NaN"):
        solve(kind, np.full((60, 60), np.inf), target, 1.0, None, -1)


def test_a_solver_that_stops_early_warns(monkeypatch):
    kind, target = TARGETS["two"]
    with pytest.warns(ConvergenceWarning, match="after 3 steps"):
        assert not solve(kind, GRAM, target, 1e6, None, 3).is_converged
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert not by_estimator(monkeypatch, kind, GRAM, target, 1e6, None, 3).is_converged


def test_a_changed_binding_is_not_used(monkeypatch):
    from sklearn.svm import _libsvm

    libsvm.find_binding.cache_clear()
    with monkeypatch.context() as context:
        context.setattr(_libsvm, "fit", lambda known, target: None)
        assert libsvm.find_binding() is None
    libsvm.find_binding.cache_clear()


@pytest.mark.parametrize("shift", [0, -5, 1000], ids=["small", "negative", "large"])
def test_classes_are_numbered_in_order(shift):
    classes, numbers = class_numbers(np.array([9, 2, 9, 4]) + shift)
    assert (classes == np.array([2, 4, 9]) + shift).all()
    assert numbers.tolist() == [2.0, 0.0, 2.0, 1.0]
