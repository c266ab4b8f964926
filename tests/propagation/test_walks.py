"""Absorbing walks: label propagation, chosen absorbing sets, partial absorption and label spreading."""

from functools import cache

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import (
    AbsorbingWalk,
    Diffusion,
    LabelPropagation,
    LabelSpreading,
    PartialAbsorption,
)
from propkernels.propagation.walks import absorbing_operator
from tests import naive
from tests.propagation import dense
from tests.zoo import cycle_edges, hide_labels, one, path_edges, zoo

# label propagation, both clamps

CLAMPS, DIRECTIONS = ("after", "before"), ("follow", "reverse", "both")


@cache
def half_labelled_mutag():
    return hide_labels(pk.datasets.load("MUTAG").graphs, 0.5, random_state=0)


@cache
def exact_mutag(clamp):
    return naive.propagation_kernels(half_labelled_mutag(), 10, clamp=clamp)


# Seeds for which no two different distributions of the millions of pairs meet in one bin, which is a matter
# of chance (about one seed in eight lets some meet): equality must be exact.
@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
@pytest.mark.parametrize("clamp", CLAMPS)
def test_equal_to_exact_arithmetic_on_half_labelled_mutag(data_folder, clamp, metric, seed):
    reference = exact_mutag(clamp)
    kernel = pk.PropagationKernel(
        propagation=LabelPropagation(clamp), metric=metric, t_max=10, bin_width=1e-8, random_state=seed
    )
    computed = kernel.fit_transform_cumulative(half_labelled_mutag())
    assert np.array_equal(computed, reference)


@pytest.mark.data
def test_the_two_clamps_are_different_kernels(data_folder):
    after, before = exact_mutag("after"), exact_mutag("before")
    assert np.array_equal(after[0], before[0])
    assert not np.array_equal(after[1], before[1])


def test_after_holds_observed_nodes_at_every_step():
    graphs = dense.partial_zoo()
    computed = dense.library_history(graphs, LabelPropagation(), 6)
    observed = graphs.label_column.observed
    assert np.array_equal(computed[1:, observed], computed[:-1, observed])


def test_before_shows_the_mean_of_the_neighbours_at_observed_nodes():
    graphs = one(3, path_edges(3), [0, 1, None])
    computed = dense.library_history(graphs, LabelPropagation("before"), 2)
    assert np.allclose(computed[1], [[0, 1], [0.75, 0.25], [0, 1]])
    assert np.allclose(computed[2], [[0, 1], [0.5, 0.5], [0, 1]])


@pytest.mark.parametrize("clamp", CLAMPS)
def test_a_graph_without_observed_labels_stays_at_the_prior(clamp):
    graphs = pk.GraphDatabase.concat(
        [one(3, path_edges(3), [0, 1, 1]), one(4, path_edges(4), np.full(4, -1))]
    )
    computed = dense.library_history(graphs, LabelPropagation(clamp), 3, prior={0: 1, 1: 3})
    assert np.allclose(computed[:, 3:], [0.25, 0.75])
    kernel = pk.PropagationKernel(propagation=LabelPropagation(clamp), t_max=3, random_state=0)
    assert kernel.fit_transform(graphs)[1, 1] == 4 * 4**2


@pytest.mark.parametrize("clamp", CLAMPS)
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_a_database_without_observed_labels_counts_nodes(clamp, metric):
    graphs = pk.GraphDatabase.concat([one(n, path_edges(n), np.full(n, -1)) for n in (1, 3, 4)])
    kernel = pk.PropagationKernel(propagation=LabelPropagation(clamp), metric=metric, t_max=2, random_state=0)
    sizes = np.array([1, 3, 4])
    assert np.array_equal(kernel.fit_transform(graphs), 3 * np.outer(sizes, sizes))
    new = kernel.transform([(np.zeros((2, 2)), [-1, -1]), (np.zeros((2, 2)), ["new", "labels"])])
    assert new.tolist() == [[6.0, 18.0, 24.0], [0.0, 0.0, 0.0]]


def test_a_walk_ends_at_the_first_node_of_the_set():
    """From the middle of C - C - O - C - N, half of the walks end at O; they never pass it."""
    graphs = one(5, path_edges(5), ["C", "C", "O", "C", "N"])
    computed = dense.library_history(graphs, AbsorbingWalk({"O", "N"}), 200)[-1]
    assert np.allclose(computed, [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1]])


def test_degrees_may_name_the_set():
    """With degrees as labels, the leaves of a star absorb: from t = 1 on all nodes look like leaves."""
    kernel = pk.PropagationKernel(propagation=AbsorbingWalk({1}), labels="degree", t_max=1, random_state=0)
    assert kernel.fit_transform(zoo()["star"][:]).tolist() == [[(36 + 1) + 49.0]]


def test_uncertain_labels_absorb_where_they_are_certain():
    rows = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.2, 0.8]])
    graphs = pk.GraphDatabase(np.ones((4, 4)) - np.eye(4), [0, 4], pk.LabelDistributions(rows))
    computed = dense.library_history(graphs, AbsorbingWalk({0}), 1)
    assert np.array_equal(computed[1, 0], [1, 0])
    assert np.allclose(computed[1, 2], rows[[0, 1, 3]].mean(axis=0))


def test_the_limit_is_the_absorption_probability_of_the_walk():
    """A walk from i ends at j with probability (I - (I - Lambda) T)^{-1} Lambda, in the limit."""
    graphs = one(5, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)], [0, 1, 2, 3, 4])
    adjacency = graphs.adjacency.toarray()
    absorbed = np.diag(2 / (2 + adjacency.sum(axis=1)))
    reference = np.linalg.solve(np.eye(5) - (np.eye(5) - absorbed) @ dense.walk(adjacency), absorbed)
    computed = dense.library_history(graphs, PartialAbsorption(rate=2.0), 300)[-1]
    assert np.allclose(computed, reference, atol=1e-12)


def test_the_limit_is_the_closed_form_of_the_paper():
    """F* = (1 - alpha) (I - alpha S)^{-1} Y, on a graph without isolated nodes."""
    graphs = one(6, [*cycle_edges(5), (4, 5)], [0, None, 1, None, None, 2])
    start = dense.start(graphs)
    roots = np.sqrt(start.adjacency.sum(axis=1))
    spread = start.adjacency / np.outer(roots, roots)
    reference = 0.1 * np.linalg.solve(np.eye(6) - 0.9 * spread, start.distributions)
    computed = dense.library_history(graphs, LabelSpreading(0.9), 400)[-1]
    assert np.allclose(computed, reference, atol=1e-12)


def test_a_walk_moves_on_with_the_rest_of_the_probability():
    graphs = pk.GraphDatabase.concat([one(3, [(0, 1), (1, 2)]), one(1)])
    held = np.array([True, False, False, True])
    operator = absorbing_operator(graphs, held, "follow", 0.75)
    assert operator.spread.tolist() == [0.25, 0.5, 1.0, 0.0]
    assert operator.restart.tolist() == [0.75, 0.0, 0.0, 0.0]
    assert operator.keep.tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("metric", ["tv", "hellinger"])
@pytest.mark.parametrize(
    ("scheme", "same"),
    [
        (AbsorbingWalk(), LabelPropagation()),
        (AbsorbingWalk(()), Diffusion()),
        (PartialAbsorption(0.0), Diffusion()),
    ],
)
def test_schemes_that_are_others(scheme, same, metric):
    kernels = [
        pk.PropagationKernel(propagation=one, metric=metric, random_state=0).fit_transform(
            dense.partial_zoo()
        )
        for one in (scheme, same)
    ]
    assert np.array_equal(*kernels)
