"""plot_collections: a dot per collection, lines between those that are not told apart, readable names."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import propkernels as pk
from propkernels.sets.several import Comparisons


def three(positions, p_values):
    statistics = ((positions[:, None] - positions[None]) ** 2).sum(axis=2)
    names = ["old", "new", "third"][: len(positions)]
    return Comparisons(names, [10, 40, 20][: len(positions)], statistics, p_values, positions)


P_VALUES = np.array([[1, 0.4, 0.01], [0.4, 1, 0.01], [0.01, 0.01, 1]])


def test_dots_are_at_the_positions_and_lines_join_what_is_alike():
    found = three(np.array([[0.0, 0.0], [0.1, 0.0], [3.0, 1.0]]), P_VALUES)
    ax = pk.plotting.plot_collections(found, ax=Figure().subplots())
    np.testing.assert_allclose(ax.collections[0].get_offsets(), found.positions)
    assert [line.get_xydata().tolist() for line in ax.lines] == [[[0.0, 0.0], [0.1, 0.0]]]
    assert np.argsort(ax.collections[0].get_sizes()).tolist() == [0, 2, 1]
    assert ax.get_aspect() == 1
    strict = pk.plotting.plot_collections(found, alpha=0.001, ax=Figure().subplots())
    assert len(strict.lines) == 3


def test_names_do_not_cover_each_other():
    ax = pk.plotting.plot_collections(three(np.zeros((3, 2)), np.ones((3, 3))))
    renderer = ax.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in ax.texts]
    assert [text.get_text() for text in ax.texts] == ["old", "new", "third"]
    assert not any(boxes[i].overlaps(boxes[j]) for i, j in [(0, 1), (0, 2), (1, 2)])


def test_other_results_are_refused():
    with pytest.raises(TypeError, match="a result of compare_several, got list"):
        pk.plotting.plot_collections([1, 2])
