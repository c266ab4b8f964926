"""draw_grid: the image below, the heat map over it, masks, lines and volumes."""

import numpy as np
import pytest
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import propkernels as pk
from propkernels.graphs.grid_display import BRIGHTEST, DARKEST, gray_labels
from propkernels.plotting.draw_grid import draw_grid


@pytest.fixture(autouse=True)
def _heat_maps(monkeypatch, request):
    if "squares" not in request.node.name:
        monkeypatch.setattr("propkernels.plotting.draw_grid.MOST_SQUARES", 0)


def axes_of(grid, values, picture=None):
    ax = Figure().subplots()
    draw_grid(ax, grid, values, picture, Normalize(-4, 4), "RdBu_r")
    return ax


def images_of(grid, values, picture=None):
    """Arrays of the image below and of the heat map."""
    return [np.asarray(image.get_array()) for image in axes_of(grid, values, picture).get_images()]


def test_small_images_have_squares_that_leave_the_image_visible():
    values = np.array([[1.0, np.nan], [0.0, -4.0]])
    grid = pk.GridDatabase([np.array([[0, 1], [1, 0]])], masks=[~np.isnan(values)])[0]
    ax = axes_of(grid, values)
    (below,) = (np.asarray(image.get_array()) for image in ax.get_images())
    assert np.array_equal(below, gray_labels(grid))
    widths = [path.get_extents().width for path in ax.collections[0].get_paths()]
    assert len(widths) == 2, "values of 0 and pixels outside the mask have no square"
    assert widths[0] < widths[1] < 1


def test_opacity_follows_the_absolute_value():
    values = np.arange(12.0).reshape(3, 4) / 3 - 2.1
    grid = pk.GridDatabase([np.zeros((3, 4), dtype=int)])[0]
    below, heat = images_of(grid, values)
    assert below.shape == (3, 4)
    assert np.array_equal(np.argsort(np.abs(values).ravel()), np.argsort(heat[..., 3].ravel()))


def test_a_photograph_below_the_heat_map():
    photograph = np.random.default_rng(0).integers(0, 256, (4, 6, 3)).astype(np.uint8)
    grid = pk.GridDatabase([np.zeros((4, 6), dtype=int)])[0]
    assert np.allclose(images_of(grid, np.ones((4, 6)), photograph)[0], photograph / 255)
    with pytest.raises(ValueError, match=r"picture has shape \(6, 4, 3\), the grid \(4, 6\)"):
        images_of(grid, np.ones((4, 6)), photograph.swapaxes(0, 1))


def test_nothing_is_drawn_outside_a_mask():
    values = np.array([[1.0, np.nan], [2.0, -3.0]])
    grid = pk.GridDatabase([np.array([[0, 1], [1, 0]])], masks=[~np.isnan(values)])[0]
    assert np.array_equal(images_of(grid, values)[1][..., 3] > 0, ~np.isnan(values))


@pytest.mark.parametrize(("shape", "drawn"), [((7,), (1, 7)), ((3, 4, 5), (4, 5))])
def test_lines_and_volumes(shape, drawn):
    values = np.zeros(shape)
    values.flat[-1] = -4.0
    heat = images_of(pk.GridDatabase([np.zeros(shape, dtype=int)])[0], values)[1]
    assert heat.shape[:2] == drawn
    assert heat[-1, -1, 3] == 1, "the slice with the largest value is shown"


def test_labels_in_gray():
    gray = gray_labels(pk.GridDatabase([np.array([[0, 1, 2], [2, -1, 0]])])[0])
    middle = (DARKEST + BRIGHTEST) / 2
    assert np.allclose(gray, [[DARKEST, middle, BRIGHTEST], [BRIGHTEST, 1.0, DARKEST]])


def test_distributions_are_drawn_by_their_most_probable_label():
    image = np.random.default_rng(0).dirichlet(np.ones(3), (4, 5))
    gray, label = gray_labels(pk.GridDatabase([image])[0]), image.argmax(axis=-1)
    assert len(np.unique(gray)) == len(np.unique(label))
    assert np.array_equal(np.argsort(gray.ravel(), kind="stable"), np.argsort(label.ravel(), kind="stable"))
