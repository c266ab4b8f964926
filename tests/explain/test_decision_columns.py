"""What the columns of decisions mean."""

import numpy as np
import pytest

from propkernels.explain.decisions import DecisionLayout, by_class

RNG = np.random.default_rng(0)


def test_two_classes_have_one_column():
    decisions = np.array([[2.0], [-1.0]])
    assert DecisionLayout(2).n_decisions == 1
    assert DecisionLayout(2).predictions(decisions).tolist() == [1, 0]
    assert by_class(decisions).tolist() == [[-2.0, 2.0], [1.0, -1.0]]
    assert DecisionLayout(2).margins(decisions).tolist() == [[-2.0, 2.0], [1.0, -1.0]]


@pytest.mark.parametrize("n_classes", [3, 5])
def test_of_several_columns_the_largest_is_predicted(n_classes):
    decisions, layout = RNG.normal(size=(20, n_classes)), DecisionLayout(n_classes)
    assert np.array_equal(layout.predictions(decisions), decisions.argmax(axis=1))
    margins = layout.margins(decisions)
    for row, found in zip(decisions, margins, strict=True):
        np.testing.assert_allclose(found, [own - max(np.delete(row, c)) for c, own in enumerate(row)])
    assert np.array_equal(margins.argmax(axis=1), decisions.argmax(axis=1))


def test_equal_decisions_have_no_margin():
    assert DecisionLayout(3).margins(np.array([[1.0, 1.0, 0.0]])).tolist() == [[0.0, 0.0, -1.0]]


def test_labels_have_a_column_each():
    decisions, layout = np.array([[2.0, -1.0]]), DecisionLayout(2, True)
    assert layout.n_decisions == 2
    assert layout.predictions(decisions).tolist() == [[1, 0]]
    assert layout.margins(decisions).tolist() == [[[-2.0, 2.0], [1.0, -1.0]]]


def test_classes_of_other_numbers_are_refused():
    with pytest.raises(ValueError, match="classes differ"):
        DecisionLayout(3).check_classes([0, 1])
