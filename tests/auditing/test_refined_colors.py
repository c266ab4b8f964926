"""The best that anyone can do with what t steps tell apart."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from propkernels.auditing.refined_colors import best_possible, describe_steps
from propkernels.auditing.target import Target


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_bound_is_that_of_the_best_rule(pairs):
    groups, values = np.array(pairs).T
    right = Fraction(0)
    for group in set(groups.tolist()):
        members = values[groups == group].tolist()
        right += Fraction(max(members.count(c) for c in set(members)), len(pairs))
    assert best_possible(groups, Target(values, ("a", "b", "c"))) == float(right)


def test_bound_for_numbers_is_the_variance_between_groups():
    groups, values = np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 6.0, 6.0])
    found = best_possible(groups, Target(values, ()))
    assert found == 1 - 2 / np.square(values - 4).sum()
    assert best_possible(np.zeros(3, dtype=int), Target(np.ones(3), ())) == 1.0


def test_steps_are_described():
    groups = [np.array([0, 0, 0]), np.array([0, 0, 1])]
    first, second = describe_steps(groups, Target(np.array([0, 1, 1]), ("a", "b")))
    assert (first.n_groups, first.n_graphs, second.n_groups, second.n_graphs) == (1, 3, 2, 2)
    assert first.bound == second.bound == 2 / 3
    assert describe_steps(groups, None)[0].bound is None
