"""Closed forms against machines that are fitted fold by fold."""

import numpy as np
import pytest

from propkernels.auditing.scores.closed_form import held_out, held_out_only, inverse, learned_from


@pytest.fixture
def problem():
    random = np.random.default_rng(0)
    points = random.normal(size=(30, 5))
    columns = random.normal(size=(30, 2))
    order = random.permutation(30)
    folds = [(np.sort(np.setdiff1d(order, part)), np.sort(part)) for part in np.split(order, 3)]
    return points @ points.T, columns, folds


def fitted(kernel, columns, penalty, train, test):
    """Ridge regression from its definition."""
    known = kernel[np.ix_(train, train)] + 1 + penalty * np.eye(len(train))
    return (kernel[np.ix_(test, train)] + 1) @ np.linalg.solve(known, columns[train])


def test_held_out_graphs_are_predicted_by_the_others(problem):
    kernel, columns, folds = problem
    inverted = inverse(kernel, 0.5)
    found = held_out(inverted, columns, folds)
    for (train, test), one in zip(folds, found, strict=True):
        expected = fitted(kernel, columns, 0.5, train, test)
        np.testing.assert_allclose(one.outer, expected, atol=1e-9)
        np.testing.assert_allclose(learned_from(kernel, columns, 0.5, train, test), expected, atol=1e-9)
    together = held_out_only(inverted, columns, [test for _, test in folds])
    for (_, test), one in zip(folds, found, strict=True):
        np.testing.assert_allclose(together[test], one.outer, atol=1e-9)


def test_training_graphs_are_predicted_by_the_other_training_graphs(problem):
    kernel, columns, folds = problem
    for (train, _), one in zip(folds, held_out(inverse(kernel, 0.5), columns, folds), strict=True):
        for place, graph in enumerate(train):
            others = np.delete(train, place)
            expected = fitted(kernel, columns, 0.5, others, [graph])[0]
            np.testing.assert_allclose(one.inner[place], expected, atol=1e-8)


def test_test_graphs_do_not_matter_inside(problem):
    """What is chosen by must not depend on the targets of the held-out graphs."""
    kernel, columns, folds = problem
    changed = columns.copy()
    changed[folds[0][1]] += 10.0
    inverted = inverse(kernel, 0.5)
    one, other = held_out(inverted, columns, folds)[0], held_out(inverted, changed, folds)[0]
    np.testing.assert_allclose(one.inner, other.inner, atol=1e-9)
    np.testing.assert_allclose(one.outer, other.outer, atol=1e-9)


def test_single_precision_is_enough(problem):
    kernel, columns, folds = problem
    kernel = kernel / np.sqrt(np.outer(kernel.diagonal(), kernel.diagonal()))
    exact = held_out(inverse(kernel, 0.1), columns, folds)
    rough = held_out(inverse(kernel.astype(np.float32), 0.1), columns, folds)
    for one, other in zip(exact, rough, strict=True):
        np.testing.assert_allclose(one.outer, other.outer, atol=1e-3)
        np.testing.assert_allclose(one.inner, other.inner, atol=1e-3)


def test_matrix_that_is_not_a_kernel():
    with pytest.raises(ValueError, match="not positive definite"):
        inverse(-10 * np.eye(3), 1.0)
