"""Base kernels against their formulas."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels._utils import parallel
from propkernels._utils.parallel import workers
from propkernels.counts import base_kernels
from propkernels.counts.base_kernels import UserKernel, resolve_base_kernel
from propkernels.counts.counters import StreamCounts
from tests.zoo import labelled_zoo, one

NAMES = ["linear", "rbf", "intersection", "tanimoto", "jaccard"]


def counts(n, bins, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 4, size=(n, bins)) * (rng.random((n, bins)) < 0.5)
    matrix[0] = 0  # a graph without nodes
    return matrix


def streams(n, bins=(12, 5, 30, 8), n_hashes=2, seed=0):
    return [
        StreamCounts(
            csr_array(counts(n, b, seed + k).astype(float)), np.arange(b), k // n_hashes, 1 / n_hashes
        )
        for k, b in enumerate(bins)
    ]


def uneven(several):
    """The same counts with weights whose sums are rounded, so that no stream is added to another first."""
    return [replace(one, weight=weight) for one, weight in zip(several, (0.3, 0.7, 1.0, 0.3), strict=True)]


def ratio(shared, union):
    return np.divide(shared, union, out=np.zeros(shared.shape), where=union > 0)


def formula(name, x, y, gamma):
    """The kernel of two dense count matrices, in the plainest numpy."""
    dot, shared = (x @ y.T).astype(float), np.minimum(x[:, None], y[None]).sum(axis=2).astype(float)
    squares = (x**2).sum(axis=1)[:, None], (y**2).sum(axis=1)[None]
    larger = np.maximum(x[:, None], y[None]).sum(axis=2)
    return {
        "linear": dot,
        "intersection": shared,
        "tanimoto": ratio(dot, squares[0] + squares[1] - dot),
        "jaccard": ratio(shared, larger),
        "rbf": np.exp(-gamma * ((x[:, None] - y[None]) ** 2).sum(axis=2)),
    }[name]


def expected(name, left, right):
    total = 0
    for x, y in zip(left, right, strict=True):
        same_t = [s.counts.toarray() for s in right if s.iteration == y.iteration]
        gamma = 1 / np.mean([(c**2).sum(axis=1).mean() for c in same_t])
        a, b = x.counts.toarray(), y.counts.toarray()
        b = np.pad(b, ((0, 0), (0, a.shape[1] - b.shape[1])))
        total = total + x.weight * formula(name, a.astype(int), b.astype(int), gamma)
    return total


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("weigh", [list, uneven])
@pytest.mark.parametrize("name", NAMES)
def test_square_and_diagonal(name, weigh, n_jobs):
    train = weigh(streams(15))
    kernel = resolve_base_kernel(name).fit(train)
    with workers(n_jobs):
        computed = kernel.square(train)
    assert np.allclose(computed, expected(name, train, train), rtol=1e-12)
    assert np.allclose(kernel.diagonal(train), computed.diagonal(), rtol=1e-12)
    assert np.array_equal(computed, computed.T)


@pytest.mark.parametrize("weigh", [list, uneven])
@pytest.mark.parametrize("name", NAMES)
def test_cross_with_bins_that_are_new_to_fit(name, weigh):
    train, new = weigh(streams(15)), weigh(streams(6, bins=(20, 5, 31, 9), seed=50))
    kernel = resolve_base_kernel(name).fit(train)
    computed = kernel.cross(new, train)
    assert np.allclose(computed, expected(name, new, train), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_cumulative_adds_one_iteration_after_the_other(name):
    train = streams(15)
    kernel = resolve_base_kernel(name).fit(train)
    computed = kernel.cumulative(train)
    assert computed.shape == (2, 15, 15)
    assert np.array_equal(computed[0], kernel.square(train[:2]))
    assert np.array_equal(computed[1], kernel.square(train))


def split_zoo():
    """Training graphs, and new graphs some of whose labels are new."""
    graphs = labelled_zoo()
    strangers = one(4, [(0, 1), (1, 2), (2, 3)], [0, 1, 900, 901])
    return graphs[::2], pk.GraphDatabase.concat([graphs[1::2], strangers])


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", ["linear", "intersection", "tanimoto", "jaccard"])
def test_new_graphs_are_exact_also_in_their_unseen_bins(name, normalize):
    """Fitting on all graphs gives the same values; rbf learns its width from the training graphs."""
    train, new = split_zoo()
    kernel = pk.PropagationKernel(base_kernel=name, normalize=normalize, t_max=4, random_state=0)
    together = kernel.fit_transform(pk.GraphDatabase.concat([train, new]))
    reference = together[len(train) :, : len(train)]
    computed = kernel.fit(train).transform(new)
    assert np.allclose(computed, reference, rtol=1e-12)


# kernels of the user's own


def product(x, y):
    return (x @ y.T).toarray()


def test_a_user_kernel_that_is_the_dot_product():
    train, new = split_zoo()
    for normalize in (False, True):
        ours = pk.PropagationKernel(t_max=3, normalize=normalize, random_state=0)
        theirs = pk.PropagationKernel(t_max=3, normalize=normalize, random_state=0, base_kernel=product)
        assert np.allclose(theirs.fit_transform(train), ours.fit_transform(train))
        assert np.allclose(theirs.transform(new), ours.transform(new))
        assert np.allclose(theirs.fit_transform_cumulative(train), ours.fit_transform_cumulative(train))


def test_names_and_functions_are_told_apart():
    assert isinstance(resolve_base_kernel(product), UserKernel)
    with pytest.raises(ValueError, match=r"base_kernel must be one of .*; got 'polynomial'"):
        resolve_base_kernel("polynomial")
    with pytest.raises(ValueError, match="got 3"):
        resolve_base_kernel(3)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("name", ["tanimoto", "jaccard"])
def test_ratios_of_many_streams_are_those_of_one_after_the_other(name, n_jobs, monkeypatch):
    monkeypatch.setattr(parallel, "STEPS_OF_A_THREAD", 1)
    kernel, few = resolve_base_kernel(name), streams(70, (12, 5, 30, 8, 9, 40, 3, 21), 4)
    joined = csr_array(np.vstack([few[0].counts.toarray(), few[0].counts.toarray()]))
    few.insert(2, replace(few[0], counts=joined[:70]))  # not a part of the arrays of others
    with workers(n_jobs):
        one_by_one = [kernel.square(few), kernel.cumulative(few)]
    monkeypatch.setattr(base_kernels, "MANY_RATIOS", 2)
    with workers(n_jobs):
        together = [kernel.square(few), kernel.cumulative(few)]
    assert all(np.array_equal(a, b) for a, b in zip(one_by_one, together, strict=True))
