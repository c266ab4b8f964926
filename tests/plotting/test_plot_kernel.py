"""plot_kernel: an ordered heat map."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import propkernels as pk
from propkernels.plotting.plot_kernel import kernel_distances

TARGET = np.array(["b", "a", "b", "a", "a"])


@pytest.fixture
def kernel():
    points = np.array([[5.0, 0], [0, 1], [5, 1], [0, 9], [1, 1]])
    return points @ points.T


def shown(ax):
    return np.asarray(ax.get_images()[0].get_array())


def test_classes_side_by_side_with_lines_and_names(kernel):
    ax = pk.plotting.plot_kernel(kernel, TARGET)
    diagonal = shown(ax).diagonal()
    assert sorted(diagonal[:3]) == sorted(kernel.diagonal()[TARGET == "a"])
    assert sorted(diagonal[3:]) == sorted(kernel.diagonal()[TARGET == "b"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert ax.get_yticks().tolist() == [1.0, 3.5]
    assert sorted(float(line.get_ydata()[0]) for line in ax.lines if line.get_xdata() == [0, 1]) == [2.5]
    assert np.array_equal(shown(ax), shown(ax).T)


def test_names_of_classes(kernel):
    ax = pk.plotting.plot_kernel(kernel, TARGET, target_names=["apples", "beans"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["apples", "beans"]
    with pytest.raises(ValueError, match="target_names must name 2 classes, got 1"):
        pk.plotting.plot_kernel(kernel, TARGET, target_names=["apples"])


def test_by_cluster(kernel):
    clustered = shown(pk.plotting.plot_kernel(kernel)).diagonal().tolist()
    assert sorted(clustered) == sorted(kernel.diagonal().tolist())
    near = [clustered.index(25.0), clustered.index(26.0)]
    assert abs(near[0] - near[1]) == 1, "graphs at distance 1 are side by side"


def test_distances_are_those_between_the_features():
    points = np.random.default_rng(0).normal(size=(6, 3))
    reference = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert kernel_distances(points @ points.T) == pytest.approx(reference, abs=1e-7)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_graphs(n):
    assert shown(pk.plotting.plot_kernel(np.eye(n))).shape == (n, n)


def test_it_draws_where_it_is_told(kernel):
    ax = Figure().subplots()
    assert pk.plotting.plot_kernel(kernel, ax=ax) is ax
    assert len(ax.figure.axes) == 2, "the picture and its colour bar"


@pytest.mark.parametrize(
    ("matrix", "arguments", "message"),
    [
        (np.ones((2, 3)), {}, r"square, got shape \(2, 3\)"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), {}, "NaN"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), {}, "not symmetric"),
        (np.eye(2), {"target": [1, 2, 3]}, "one value for each of 2 graphs"),
    ],
)
def test_bad_arguments(matrix, arguments, message):
    with pytest.raises(ValueError, match=message):
        pk.plotting.plot_kernel(matrix, **arguments)


def test_without_matplotlib_the_error_names_the_extra(kernel, without):
    without("matplotlib")
    with pytest.raises(ImportError, match=r"pip install .*matplotlib"):
        pk.plotting.plot_kernel(kernel)
