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
from tests.zoo import cycle_edges, hide_labels, one, path_edges

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
