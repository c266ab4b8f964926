"""Axes: given, or made."""

import pytest
from matplotlib.figure import Figure

from propkernels.plotting.canvas import one_axes, several_axes


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
