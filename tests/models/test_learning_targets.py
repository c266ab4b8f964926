"""Targets as machines learn them."""

import numpy as np
import pytest

from propkernels.models.learning_targets import ClassTarget, NumberTarget, check_weights, units_of


def test_classes_are_numbered_in_their_order():
    target = ClassTarget.of(np.array(["b", "a", "c", "a"]), 4, False, None, None, None)
    assert target.values.tolist() == [1, 0, 2, 0]
    assert target.classes.tolist() == ["a", "b", "c"]
    assert not target.multilabel
    assert target.task.weights is None


def test_weights_of_classes_multiply_those_of_graphs():
    target = ClassTarget.of(np.array([0, 1, 1, 1]), 4, False, [1, 1, 2, 1], {0: 3, 1: 5}, None)
    assert target.task.weights.tolist() == [3, 5, 10, 5]


def test_several_labels_are_numbered():
    labels = np.array([[0, 1], [1, np.nan], [1, 0]])
    target = ClassTarget.of(labels, 3, True, None, "balanced", None)
    assert target.multilabel
    assert target.classes.tolist() == [0, 1]
    assert target.task.class_weight == "balanced"
    np.testing.assert_array_equal(target.values, labels)


def test_numbers_are_standardized():
    numbers = np.array([1.0, 2.0, 6.0])
    target = NumberTarget.of(numbers, 3, False, None, None)
    assert np.isclose(target.values.mean(), 0)
    assert np.isclose(target.values.std(), 1)
    np.testing.assert_allclose(target.values * target.unit + target.middle, numbers)


def test_units_of_columns_leave_out_gaps():
    middle, unit = units_of(np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0]]))
    assert middle.tolist() == [2, 7]
    assert unit.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"sample_weight has shape \(2,\) for 3 targets"),
        ([1, -1, 0], "finite, nonnegative and not all zero"),
        ([0, 0, 0], "finite, nonnegative and not all zero"),
        ([1, np.nan, 0], "finite, nonnegative and not all zero"),
        ([1e308, 1e308, 0], "finite, nonnegative and not all zero"),
        ([5e-324, 0, 0], "finite, nonnegative and not all zero"),
    ],
)
def test_weights_that_no_machine_can_use(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 3)


def test_one_weight_is_that_of_all():
    assert check_weights(2, 3).tolist() == [2, 2, 2]
    assert check_weights(None, 3) is None
