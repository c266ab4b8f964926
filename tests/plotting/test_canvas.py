"""canvas: axes of a new figure or of the caller, target values and class names."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from propkernels.plotting.canvas import check_target, class_names, one_axes, several_axes


def test_new_axes_when_none_are_given():
    first, second = one_axes(None), one_axes(None)
    assert first.figure is not second.figure


@pytest.mark.parametrize("n", [1, 4, 6])
def test_as_many_axes_as_asked_for(n):
    axes = several_axes(None, n)
    assert len(axes) == n == len(axes[0].figure.axes)


def test_given_axes_are_used():
    axes = Figure().subplots(2, 2)
    assert several_axes(axes, 4) == list(axes.ravel())


def test_other_axes_are_errors():
    with pytest.raises(ValueError, match="ax must hold 3 axes, one per iteration; got 4"):
        several_axes(Figure().subplots(2, 2), 3)
    with pytest.raises(TypeError, match="ax must be matplotlib axes, got str"):
        one_axes("here")


def test_names_of_classes():
    labels = np.array(["b", "a", "b"])
    assert class_names(labels, None) == ["a", "b"]
    assert class_names(labels, ["first", "second"]) == ["first", "second"]
    with pytest.raises(ValueError, match="target_names must name 2 classes, got 1 names"):
        class_names(labels, ["first"])


def test_one_target_value_per_graph():
    assert check_target([3, 4], 2).tolist() == [3, 4]
    with pytest.raises(ValueError, match=r"one value for each of 3 graphs, got shape \(2,\)"):
        check_target([3, 4], 3)
