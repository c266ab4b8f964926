"""Support vector machines on kernel matrices against scikit-learn, their flags, and several columns."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from propkernels.models.linear_machines import LinearClassification
from propkernels.models.support_vectors import (
    ColumnMaker,
    ForeignGraphsWarning,
    Machine,
    SupportVectorClassification,
    SupportVectorRegression,
    foreign_graphs_allowed,
    stopping_allowed,
    with_effort,
)

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(80, 3))
GRAM = POINTS @ POINTS.T
TARGET = (POINTS[:, 0] + 0.5 * RNG.normal(size=80) > 0).astype(np.int64)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_decisions_are_those_of_libsvm(n_classes):
    target = np.digitize(POINTS[:, 0], np.linspace(-0.5, 0.5, n_classes - 1))
    machine = SupportVectorClassification().fit(GRAM, target, 2.0)
    reference = SVC(kernel="precomputed", C=2.0, decision_function_shape="ovo").fit(GRAM, target)
    expected = reference.decision_function(GRAM).reshape(80, -1) * (-1 if n_classes == 2 else 1)
    np.testing.assert_allclose(machine.decisions(GRAM), expected, atol=1e-10)


def test_values_are_those_of_libsvm():
    numbers = POINTS[:, 1] + 0.1 * RNG.normal(size=80)
    machine = SupportVectorRegression(0.1).fit(GRAM, numbers, 2.0)
    expected = SVR(kernel="precomputed", C=2.0, epsilon=0.1).fit(GRAM, numbers).predict(GRAM)
    np.testing.assert_allclose(machine.decisions(GRAM)[:, 0], expected, atol=1e-10)


def test_flags_tell_whether_a_larger_C_matters():
    separable = (POINTS[:, 0] > 0).astype(np.int64)
    small = SupportVectorClassification().fit(GRAM, separable, 1e-6)
    large = SupportVectorClassification().fit(GRAM, separable, 1e9)
    assert not small.is_settled
    assert not small.is_final
    assert large.is_final
    assert large.is_settled
    assert large.is_nearly_final
    larger = SupportVectorClassification().fit(GRAM, separable, 1e10)
    np.testing.assert_allclose(larger.decisions(GRAM), large.decisions(GRAM))


def test_effort_is_set_in_every_column():
    maker = ColumnMaker(SupportVectorRegression(0.1), "balanced")
    assert with_effort(maker, "quick") == ColumnMaker(SupportVectorRegression(0.1, "quick"), "balanced")


@pytest.mark.parametrize(
    ("silenced", "category"),
    [(stopping_allowed, ConvergenceWarning), (foreign_graphs_allowed, ForeignGraphsWarning)],
)
def test_only_the_expected_warning_is_silenced(silenced, category):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with silenced():
            warnings.warn("expected", category, stacklevel=1)
            with pytest.raises(UserWarning, match="another"):
                warnings.warn("another", UserWarning, stacklevel=1)
        with pytest.raises(category):
            warnings.warn("expected", category, stacklevel=1)


def test_constant_and_empty_columns_are_predicted():
    target = np.column_stack([np.ones(80), np.full(80, np.nan), TARGET])
    machine = ColumnMaker(LinearClassification()).fit(POINTS, target, 1.0)
    decisions = machine.decisions(POINTS)
    assert (decisions[:, 0] > 0).all()
    assert (decisions[:, 1] < 0).all()


def test_balanced_columns_predict_more_of_the_rare_label():
    rare = (POINTS[:, :1] > 1.2).astype(float)
    target = np.column_stack([rare, rare])
    plain = ColumnMaker(LinearClassification()).fit(POINTS, target, 1.0)
    balanced = ColumnMaker(LinearClassification(), "balanced").fit(POINTS, target, 1.0)
    assert (balanced.decisions(POINTS) > 0).sum() > (plain.decisions(POINTS) > 0).sum()


def test_kernel_machines_take_kernels():
    assert not SupportVectorClassification().uses_features
    assert SupportVectorClassification().pairwise
    assert not SupportVectorRegression(0.1).uses_features
    assert not SupportVectorRegression(0.1).pairwise


def test_decisions_of_single_precision_have_intercepts_of_double_precision():
    machine = Machine(np.ones((2, 1), dtype=np.float32), np.array([1e-9]))
    decisions = machine.decisions(np.ones((1, 2), dtype=np.float32))
    assert decisions.dtype == np.float64
    assert decisions[0, 0] == 2 + 1e-9
