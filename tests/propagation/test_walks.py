"""Absorbing walks: label propagation, chosen absorbing sets, partial absorption and label spreading."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import LabelPropagation
from tests.zoo import one, path_edges


@pytest.mark.parametrize("clamp", ["after", "before"])
@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_a_database_without_observed_labels_counts_nodes(clamp, metric):
    graphs = pk.GraphDatabase.concat([one(n, path_edges(n), np.full(n, -1)) for n in (1, 3, 4)])
    kernel = pk.PropagationKernel(propagation=LabelPropagation(clamp), metric=metric, t_max=2, random_state=0)
    sizes = np.array([1, 3, 4])
    assert np.array_equal(kernel.fit_transform(graphs), 3 * np.outer(sizes, sizes))
    new = kernel.transform([(np.zeros((2, 2)), [-1, -1]), (np.zeros((2, 2)), ["new", "labels"])])
    assert new.tolist() == [[6.0, 18.0, 24.0], [0.0, 0.0, 0.0]]
