"""Slices of kernels and of features are the same numbers."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import propkernels as pk
from propkernels.counts.counters import sort_bins
from propkernels.kernels import LabelHistogram
from propkernels.models.kernel_sources import (
    AlignedSource,
    GramSource,
    check_kernel,
    compute_stack,
    feature_sources,
    redrawn,
)

GRAPHS = pk.datasets.make_molecules(30, random_state=0).graphs
TRAIN, TEST = np.arange(0, 30, 2), np.arange(1, 30, 2)
KERNEL = pk.PropagationKernel(t_max=3, n_hashes=2, random_state=0)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
def test_slices_of_a_kernel(normalize, scaled):
    gram = KERNEL.fit_transform(GRAPHS)
    full = pk.PropagationKernel(t_max=3, n_hashes=2, normalize=normalize, random_state=0).fit_transform(
        GRAPHS
    )
    part = GramSource(gram, normalize).slice(TRAIN, TEST, scaled)
    unit = full[np.ix_(TRAIN, TRAIN)].diagonal().mean() if scaled else 1.0
    assert part.unit == unit
    np.testing.assert_array_equal(part.known, full[np.ix_(TRAIN, TRAIN)] / unit)
    np.testing.assert_array_equal(part.unknown, full[np.ix_(TEST, TRAIN)] / unit)
    np.testing.assert_array_equal(gram, KERNEL.fit_transform(GRAPHS))


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("t", range(4))
def test_features_multiply_to_the_slices(t, normalize):
    streams = [sort_bins(stream) for stream in KERNEL.fit(GRAPHS)._counts]
    features = feature_sources(streams, [normalize])[t, normalize].slice(TRAIN, TEST, True)
    gram = KERNEL.fit_transform_cumulative(GRAPHS)[t]
    reference = GramSource(gram, normalize).slice(TRAIN, TEST, True)
    np.testing.assert_allclose((features.known @ features.known.T).toarray(), reference.known, rtol=1e-12)
    np.testing.assert_allclose((features.unknown @ features.known.T).toarray(), reference.unknown, rtol=1e-12)
    assert features.unit**2 == pytest.approx(reference.unit)


def test_graphs_without_nodes_have_zeros():
    empty = pk.GraphDatabase.concat([GRAPHS[:4], pk.check_graphs([(np.zeros((0, 0)), [])])])
    gram = KERNEL.fit_transform(empty)
    everyone = np.arange(5)
    part = GramSource(gram, True).slice(everyone, everyone, True)
    assert (part.known[4] == 0).all()
    assert np.isfinite(part.known).all()


def test_learned_weights_see_only_the_training_graphs_of_a_slice():
    target = np.arange(30) // 2 % 2
    parts = [LabelHistogram(), pk.WeisfeilerLehman(t_max=2)]
    matrices = pk.SumKernel(parts, weights="alignment")._part_matrices(GRAPHS)
    found = AlignedSource(matrices, target, False).slice(TRAIN, TEST, False)
    alone = pk.SumKernel(parts, weights="alignment")
    np.testing.assert_allclose(found.known, alone.fit_transform(GRAPHS[TRAIN], target[TRAIN]), atol=1e-14)
    np.testing.assert_allclose(found.unknown, alone.transform(GRAPHS[TEST]), atol=1e-14)
    changed = target.copy()
    changed[TEST] = 1 - changed[TEST]
    again = AlignedSource(matrices, changed, False).slice(TRAIN, TEST, False)
    np.testing.assert_array_equal(found.known, again.known)


FEW = pk.datasets.make_molecules(12, random_state=0).graphs


class SizeKernel(BaseEstimator):
    """A kernel of somebody else: products of sizes, whole numbers."""

    def fit_transform(self, graphs, y=None):
        sizes = np.diff(graphs.graph_ptr)
        return np.outer(sizes, sizes)


class OddKernel(BaseEstimator):
    def fit_transform(self, graphs, y=None):
        return np.ones((2, 3))


def test_all_steps_by_default():
    kernel = pk.PropagationKernel(t_max=3, random_state=0)
    stack = compute_stack(kernel, FEW, None)
    expected = kernel.fit_transform_cumulative(FEW)
    assert list(stack) == [0, 1, 2, 3]
    for t, matrix in stack.items():
        np.testing.assert_array_equal(matrix, expected[t])


@pytest.mark.parametrize("steps", [(2,), (0, 2), (4, 6)])
def test_chosen_steps_are_the_same_kernels(steps):
    expected = pk.PropagationKernel(t_max=6, random_state=0).fit_transform_cumulative(FEW)
    stack = compute_stack(pk.PropagationKernel(t_max=5, random_state=0), FEW, steps)
    assert tuple(stack) == steps
    for t, matrix in stack.items():
        np.testing.assert_array_equal(matrix, expected[t])


def test_matrices_share_one_array():
    first, second = compute_stack(pk.PropagationKernel(t_max=1, random_state=0), FEW, None).values()
    assert first.base is second.base


def test_any_kernel_has_one_matrix():
    stack = compute_stack(SizeKernel(), FEW, None)
    assert list(stack) == [None]
    assert stack[None].dtype == np.float64


def test_kernel_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"kernel of 12 graphs has shape \(2, 3\)"):
        compute_stack(OddKernel(), FEW, None)


def test_redrawn_is_a_copy_with_another_seed():
    kernel = pk.PropagationKernel(t_max=3, random_state=5)
    copy = redrawn(kernel, 7)
    assert (kernel.random_state, copy.random_state, copy.t_max) == (5, 7, 3)


def test_redrawn_reaches_inside_a_pipeline():
    pipeline = make_pipeline(FunctionTransformer(), pk.PropagationKernel(random_state=5))
    assert redrawn(pipeline, 7)[-1].random_state == 7


@pytest.mark.parametrize("kernel", [pk.PropagationKernel, "linear", None])
def test_what_is_not_an_estimator_is_refused(kernel):
    with pytest.raises(TypeError, match="kernel must be an estimator with fit_transform"):
        check_kernel(kernel, None)


def test_steps_of_a_kernel_without_steps_are_refused():
    with pytest.raises(ValueError, match="t_max cannot be chosen: SizeKernel has no parameter t_max"):
        check_kernel(SizeKernel(), (1, 2))
