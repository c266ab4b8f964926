"""What t steps can tell apart, and the best that anyone can do then."""

from fractions import Fraction

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from propkernels.auditing.refined_colors import (
    best_possible,
    bits,
    describe_steps,
    everything,
    groups_by_step,
    labels_alone,
)
from propkernels.auditing.target import Target


def test_equal_groups_are_equal_rows_of_the_exact_kernel():
    """At each t, graphs are alike where the exact Weisfeiler-Lehman kernel has the same counts."""
    graphs = pk.datasets.make_molecules(40, random_state=1).graphs
    groups = groups_by_step(everything(graphs), 2, None)
    for t, found in enumerate(groups):
        rows = pk.WeisfeilerLehmanFeatures(t_max=t).fit_transform(graphs).toarray()
        expected = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


def test_kernels_cannot_tell_apart_what_is_alike():
    graphs = pk.from_networkx([nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))])
    assert [row.tolist() for row in groups_by_step(everything(graphs), 3, None)] == [[0, 0]] * 4
    kernel = pk.PropagationKernel(t_max=3, normalize=True, random_state=0).fit_transform(graphs)
    np.testing.assert_allclose(kernel, 1.0)


def test_nodes_without_labels_start_with_their_degrees():
    graphs = pk.from_networkx([nx.path_graph(4), nx.star_graph(3)])
    assert groups_by_step(everything(graphs), 0, None)[0].tolist() == [0, 1]


def test_edges_count_only_where_they_are_asked_for():
    path = nx.path_graph(2)
    other = nx.path_graph(2)
    nx.set_edge_attributes(path, 1, "label")
    nx.set_edge_attributes(other, 2, "label")
    graphs = pk.from_networkx([path, other])
    assert groups_by_step(everything(graphs), 1, None)[1].tolist() == [0, 1]
    assert groups_by_step(labels_alone(graphs), 1, None)[1].tolist() == [0, 0]


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


def test_words_of_numbers():
    words = bits(np.array([[np.nan, -0.0, 1.0]]))
    assert words[0, 0] == bits(np.array([[np.float64("nan")]]))[0, 0]
    assert words[0, 1] == 0
    assert words[0, 2] != 0
