"""Loaded objects are checked against the annotations of their classes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.kernels import LabelHistogram
from propkernels.storage.classes import check_object, float_arrays

GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs


def fitted():
    return pk.WeisfeilerLehman(t_max=1).fit(GRAPHS)


def test_an_index_out_of_range_is_refused():
    kernel = pk.SumKernel([pk.WeisfeilerLehman(t_max=1), LabelHistogram()]).fit(GRAPHS)
    counter = kernel._counter
    check_object(counter)
    parts = counter.parts.copy()
    parts[0] = 2
    with pytest.raises(ValueError, match=r"JoinedCounter.*inconsistent"):
        check_object(replace(counter, parts=parts))
    with pytest.raises(ValueError, match=r"JoinedCounter.*inconsistent"):
        check_object(replace(counter, parts=np.full_like(parts, -1)))


def test_numbers_in_lists_and_sparse_matrices_are_looked_at():
    assert [found.tolist() for found in float_arrays(np.inf)] == [np.inf]
    several = [np.array([0.5, 1]), csr_array(np.array([[np.inf]])), np.arange(3), "text", None, 2.5]
    assert [found.tolist() for found in float_arrays(several)] == [[0.5, 1.0], [np.inf]]


def test_gaps_that_mean_something_are_kept(tmp_path):
    kernel = pk.ShortestPath(attributes="gaussian").fit(
        pk.GraphDatabase(
            np.eye(4)[:, [1, 0, 2, 3]] * [1, 1, 0, 0], [0, 2, 4], node_attributes=np.arange(4.0)[:, None]
        )
    )
    assert np.isinf(kernel._counts.distances).any()
    pk.save_model(kernel, tmp_path / "kernel.pk")
    assert np.isinf(pk.load_model(tmp_path / "kernel.pk")._counts.distances).any()
