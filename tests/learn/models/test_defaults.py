"""Which kernels are tried when the user names none."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.learn.models.defaults import check_kernels, default_kernels

GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs


def treatments(graphs):
    return [kernel.attributes for kernel in default_kernels(graphs, None)]


def test_labelled_graphs_meet_the_walk_and_summed_neighbours():
    walk, summed = default_kernels(GRAPHS, 2)
    assert walk.propagation == "auto"
    assert summed.propagation.normalization == "none"
    assert walk.n_jobs == summed.n_jobs == 2


@pytest.mark.parametrize(("dimensions", "expected"), [(1, ["sum"]), (3, ["sum"]), (4, ["sum", "product"])])
def test_attributes_are_taken_together_where_there_are_many(dimensions, expected):
    attributes = np.random.default_rng(0).normal(size=(GRAPHS.n_nodes, dimensions))
    graphs = GRAPHS.with_attributes(attributes)
    assert treatments(graphs) == expected
    assert default_kernels(graphs, None)[0].n_hashes == {1: 20, 3: 6, 4: 1}[dimensions]


def test_missing_labels_and_grids_leave_the_scheme_to_the_kernel():
    for graphs in (pk.hide_labels(GRAPHS, 0.3, random_state=0), pk.GridDatabase([np.eye(4, dtype=int)])):
        kernels = default_kernels(graphs, None)
        assert [kernel.propagation for kernel in kernels] == ["auto"]


def test_unlabelled_graphs_are_tried_with_degrees():
    kernels = default_kernels(GRAPHS.with_labels(None), None)
    assert len(kernels) == 2
    assert all(kernel.labels == "auto" for kernel in kernels)


def test_the_users_kernels_come_first_and_alone():
    kernel = pk.WeisfeilerLehman()
    assert check_kernels(kernel, GRAPHS, None) == [kernel]
    assert check_kernels((kernel, kernel), GRAPHS, None) == [kernel, kernel]
