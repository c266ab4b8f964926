"""Counts of columns that spread along edges, against codes that are listed and then counted."""

import numpy as np
import pytest

import propkernels as pk
from propkernels._utils import parallel
from propkernels._utils.parallel import workers
from propkernels.counts.counters import count_streams
from propkernels.propagation import GaussianMixtures, PropagatedAttributes
from tests.kernels.test_attributes import some_graphs

TREATMENTS = {
    "attributes": PropagatedAttributes(laziness=0.3),
    "mixtures": GaussianMixtures(n_sample_points=21, laziness=0.2),
    "not scaled": GaussianMixtures(n_sample_points=3, scale=None, ridge=0),
}


def holes(graphs):
    x = graphs.node_attributes.copy()
    x[np.random.default_rng(1).random(x.shape) < 0.2] = np.nan
    return graphs.with_attributes(x)


def coder_of(treatment, graphs, **options):
    kernel = pk.PropagationKernel(attributes=treatment, t_max=4, random_state=0, **options)
    return kernel._learn_coder(graphs)


def assert_equal(computed, expected):
    assert len(computed) == len(expected)
    for ours, theirs in zip(computed, expected, strict=True):
        assert (ours.iteration, ours.weight) == (theirs.iteration, theirs.weight)
        assert np.array_equal(ours.codes, theirs.codes)
        assert np.array_equal(ours.counts.toarray(), theirs.counts.toarray())


@pytest.fixture(params=[1, 3])
def n_jobs(request, monkeypatch):
    monkeypatch.setattr(parallel, "STEPS_OF_A_THREAD", 1)
    return request.param


@pytest.mark.parametrize("treatment", TREATMENTS.values(), ids=TREATMENTS)
def test_counts_are_those_of_listed_codes(treatment, n_jobs):
    graphs = holes(some_graphs())
    coder = coder_of(treatment, graphs, n_hashes=2, attribute_bin_width=[1.0, 0.3])
    assert coder.attributes.spreads
    expected = count_streams(coder.codes(graphs), graphs.graph_ptr)
    with workers(n_jobs):
        assert_equal(coder.count(graphs, None), expected)
    known = [stream.codes[:2] for stream in expected]
    expected = count_streams(coder.codes(graphs), graphs.graph_ptr, known)
    with workers(n_jobs):
        assert_equal(coder.count(graphs, known), expected)


def test_columns_with_one_code_share_the_counts_of_labels(n_jobs):
    graphs = some_graphs()
    coder = coder_of(TREATMENTS["mixtures"], graphs, attribute_bin_width=1e6)
    with workers(n_jobs):
        counts = coder.count(graphs, None)
    assert len(counts) == 5 * 21
    assert len({id(stream.counts) for stream in counts}) == 5
    assert_equal(counts, count_streams(coder.codes(graphs), graphs.graph_ptr))


@pytest.mark.parametrize(
    ("treatment", "options"),
    [
        (GaussianMixtures(n_sample_points=3, refit_every=2), {}),
        (GaussianMixtures(n_sample_points=3), {"attribute_metric": "hellinger"}),
        (GaussianMixtures(n_sample_points=3, combine="product"), {}),
    ],
)
def test_columns_that_depend_on_each_other_are_listed(treatment, options):
    graphs = some_graphs()
    coder = coder_of(treatment, graphs, **options)
    assert not coder.attributes.spreads
    expected = count_streams(coder.codes(graphs), graphs.graph_ptr)
    assert_equal(coder.count(graphs, None), expected)
