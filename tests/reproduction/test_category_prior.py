"""Priors on categories: distributions from the most similar graphs."""

import numpy as np
import pytest

from reproduction.extra.category_prior import best_of, class_shares, leave_one_out


def naive_distribution(row, classes, n_classes, k):
    """The k most similar graphs, one after the other; those as similar as the last one too."""
    order = sorted(range(len(row)), key=lambda i: -row[i])
    last = row[order[min(k, len(row)) - 1]]
    totals = [0.0] * n_classes
    for i in order:
        if row[i] >= last:
            totals[classes[i]] += row[i]
    return np.array(totals) / sum(totals)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 50])
def test_votes_equal_the_naive_ones(k):
    rng = np.random.default_rng(k)
    rows = rng.integers(1, 6, (8, 12)) / 5
    classes = rng.integers(0, 3, 12)
    reference = [naive_distribution(row, classes, 3, k) for row in rows]
    assert np.allclose(class_shares(rows, classes, 3, k), reference)


def test_order_does_not_matter():
    rng = np.random.default_rng(0)
    rows, classes = rng.integers(0, 3, (6, 10)).astype(float), rng.integers(0, 3, 10)
    order = rng.permutation(10)
    before, after = class_shares(rows, classes, 3, 4), class_shares(rows[:, order], classes[order], 3, 4)
    assert np.array_equal(before, after)


def test_a_graph_like_no_other_gets_the_frequencies():
    assert class_shares(np.zeros((1, 4)), np.array([0, 1, 1, 1]), 2, 2).tolist() == [[0.25, 0.75]]


def test_a_graph_like_no_other_is_not_counted_for_itself():
    classes = np.array([0, 0, 1, 1, 1, 1])
    assert leave_one_out(np.eye(6), classes, 2, 2) == 4 / 6
    assert leave_one_out(np.eye(4), classes[:4], 2, 2) == 0.0, "the others are more of the other class"


@pytest.mark.parametrize("k", [1, 3])
def test_leave_one_out_equals_taking_each_graph_away(k):
    rng = np.random.default_rng(0)
    points, classes = rng.random((15, 4)), np.arange(15) % 3
    kernel = points @ points.T
    found = []
    for i in range(15):
        others = np.delete(np.arange(15), i)
        shares = class_shares(kernel[[i]][:, others], classes[others], 3, k)
        found.append(shares[0].argmax() == classes[i])
    assert leave_one_out(kernel, classes, 3, k) == pytest.approx(np.mean(found))


def test_what_is_chosen_is_best_among_the_others():
    rng = np.random.default_rng(0)
    points, classes = rng.random((15, 4)), np.arange(15) % 3
    kernels = [points @ points.T, np.eye(15), np.eye(15)]
    scores = {(t, k): leave_one_out(kernels[t], classes, 3, k) for t in range(3) for k in (1, 5)}
    t, size = best_of(kernels, classes, 3, [1, 5])
    assert scores[t, size] == max(scores.values())
    assert best_of(kernels[1:], classes, 3, [1, 5]) == (0, 5)
