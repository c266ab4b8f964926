"""Absorbing walks: label propagation, chosen absorbing sets, partial absorption and label spreading."""

from functools import cache

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import LabelPropagation
from tests import naive
from tests.zoo import hide_labels, one, path_edges

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
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_a_database_without_observed_labels_counts_nodes(clamp, metric):
    graphs = pk.GraphDatabase.concat([one(n, path_edges(n), np.full(n, -1)) for n in (1, 3, 4)])
    kernel = pk.PropagationKernel(propagation=LabelPropagation(clamp), metric=metric, t_max=2, random_state=0)
    sizes = np.array([1, 3, 4])
    assert np.array_equal(kernel.fit_transform(graphs), 3 * np.outer(sizes, sizes))
    new = kernel.transform([(np.zeros((2, 2)), [-1, -1]), (np.zeros((2, 2)), ["new", "labels"])])
    assert new.tolist() == [[6.0, 18.0, 24.0], [0.0, 0.0, 0.0]]
