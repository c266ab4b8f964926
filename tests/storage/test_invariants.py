"""Loaded objects are checked against the annotations of their classes."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.counts.counters import StreamCounts
from propkernels.counts.entries import Vocabulary
from propkernels.explain.members import FoldedMember
from propkernels.kernels import LabelHistogram
from propkernels.storage.invariants import always_learned, check_fields, check_object, float_arrays, pointers

GRAPHS = pk.datasets.make_molecules(6, random_state=0).graphs


def fitted():
    return pk.WeisfeilerLehman(t_max=1).fit(GRAPHS)


def test_a_fitted_kernel_passes():
    kernel = fitted()
    check_fields(kernel)
    check_object(kernel)


def test_attributes_of_another_type():
    kernel = fitted()
    kernel.diagonal_ = "a text"
    with pytest.raises(ValueError, match=r"WeisfeilerLehman\.diagonal_ is not"):
        check_fields(kernel)


def test_what_fit_always_leaves():
    kernel = fitted()
    assert "_counts" in always_learned(type(kernel))
    del kernel._counts
    with pytest.raises(ValueError, match="WeisfeilerLehman lacks _counts"):
        check_fields(kernel)


def test_parts_that_do_not_match():
    stream = fitted()._counts[0]
    check_object(stream)
    with pytest.raises(ValueError, match="are inconsistent: every column needs a code"):
        check_object(replace(stream, codes=stream.codes[:-1]))
    with pytest.raises(ValueError, match=r"are inconsistent$"):
        check_object(replace(stream, counts=None))


def test_offsets_and_indices_are_known_from_annotations():
    assert pointers(FoldedMember)
    assert pointers(StreamCounts) == {}  # codes are any numbers
    assert pointers(Vocabulary) == {}


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


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_stored_numbers_are_finite(value):
    kernel = pk.SumKernel([pk.WeisfeilerLehman(t_max=1), LabelHistogram()]).fit(GRAPHS)
    check_object(kernel)
    for name in ("weights_", "diagonal_"):
        forged = copy(kernel)
        setattr(forged, name, np.append(getattr(kernel, name)[1:], value))
        with pytest.raises(ValueError, match=f"SumKernel are inconsistent: {name} contains NaN or infinity"):
            check_object(forged)


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
    assert np.isinf(kernel._prepared.distances).any()
    pk.save_model(kernel, tmp_path / "kernel.pk")
    assert np.isinf(pk.load_model(tmp_path / "kernel.pk")._prepared.distances).any()
