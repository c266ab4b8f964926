"""Kernels by t_max."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import propkernels as pk
from propkernels.learn.selection.kernels_by_t import check_kernel, compute_stack, redrawn

GRAPHS = pk.datasets.make_molecules(12, random_state=0).graphs


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
    stack = compute_stack(kernel, GRAPHS, None)
    expected = kernel.fit_transform_cumulative(GRAPHS)
    assert list(stack) == [0, 1, 2, 3]
    for t, matrix in stack.items():
        np.testing.assert_array_equal(matrix, expected[t])


@pytest.mark.parametrize("steps", [(2,), (0, 2), (4, 6)])
def test_chosen_steps_are_the_same_kernels(steps):
    expected = pk.PropagationKernel(t_max=6, random_state=0).fit_transform_cumulative(GRAPHS)
    stack = compute_stack(pk.PropagationKernel(t_max=5, random_state=0), GRAPHS, steps)
    assert tuple(stack) == steps
    for t, matrix in stack.items():
        np.testing.assert_array_equal(matrix, expected[t])


def test_matrices_share_one_array():
    first, second = compute_stack(pk.PropagationKernel(t_max=1, random_state=0), GRAPHS, None).values()
    assert first.base is second.base


def test_any_kernel_has_one_matrix():
    stack = compute_stack(SizeKernel(), GRAPHS, None)
    assert list(stack) == [None]
    assert stack[None].dtype == np.float64


def test_kernel_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"kernel of 12 graphs has shape \(2, 3\)"):
        compute_stack(OddKernel(), GRAPHS, None)


def test_redrawn_is_a_copy_with_another_seed():
    kernel = pk.PropagationKernel(t_max=3, random_state=5)
    copy = redrawn(kernel, 7)
    assert (kernel.random_state, copy.random_state, copy.t_max) == (5, 7, 3)


def test_redrawn_reaches_inside_a_pipeline():
    pipeline = make_pipeline(FunctionTransformer(), pk.PropagationKernel(random_state=5))
    assert redrawn(pipeline, 7)[-1].random_state == 7


@pytest.mark.parametrize("kernel", [pk.PropagationKernel, "linear", None])
def test_what_is_no_estimator_is_refused(kernel):
    with pytest.raises(TypeError, match="kernel must be an estimator with fit_transform"):
        check_kernel(kernel, None)


def test_steps_of_a_kernel_without_steps_are_refused():
    with pytest.raises(ValueError, match="t_max cannot be chosen: SizeKernel has no parameter t_max"):
        check_kernel(SizeKernel(), (1, 2))
