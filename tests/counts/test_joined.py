"""Joined counts of several kernels: their dot product is the weighted sum."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.kernels import LabelHistogram
from propkernels.kernels.sum_kernel import inverse_lengths

GRAPHS = pk.datasets.make_molecules(12, random_state=0).graphs
PARTS = [pk.WeisfeilerLehman(t_max=2), pk.PropagationKernel(t_max=1, random_state=0), LabelHistogram()]


def summed(normalize):
    parts = [part.__class__(**part.get_params() | {"normalize": normalize}) for part in PARTS]
    return pk.SumKernel(parts, weights=[1.0, 0.5, 2.0], normalize_parts=False).fit(GRAPHS)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_dot_product_of_joined_counts_is_the_sum(normalize):
    kernel = summed(normalize)
    streams = kernel._counter.count(GRAPHS, None)
    assert [stream.iteration for stream in streams] == sorted(stream.iteration for stream in streams)
    gram = sum(s.weight * (s.counts @ s.counts.T).toarray() for s in streams)
    np.testing.assert_allclose(gram, kernel.transform(GRAPHS), rtol=1e-12)


@pytest.mark.parametrize("normalize", [False, True])
def test_items_add_up_to_counts(normalize):
    counter = summed(normalize)._counter
    streams = counter.count(GRAPHS, None)
    for stream, items in zip(streams, counter.occurrences(GRAPHS), strict=True):
        assert (items.iteration, items.weight) == (stream.iteration, stream.weight)
        scales = np.ones(len(GRAPHS)) if items.scales is None else items.scales
        totals = np.bincount(items.graphs_of_items(GRAPHS), minlength=len(GRAPHS)) * scales
        np.testing.assert_allclose(np.asarray(stream.counts.sum(axis=1)).ravel(), totals, rtol=1e-12)


def test_lengths_are_those_of_the_counts():
    streams = LabelHistogram().fit(GRAPHS)._counts
    own = (streams[0].counts.power(2)).sum(axis=1)
    np.testing.assert_allclose(inverse_lengths(streams) ** -2.0, own)
