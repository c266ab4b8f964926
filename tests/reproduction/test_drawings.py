"""Figures: what they are drawn from, and that they can be drawn."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import LabelPropagation
from reproduction.drawings import draw_heatmaps, draw_noise, draw_runtime, draw_runtime_and_accuracy
from reproduction.experiments import attribute_kernels, filters, worked_example


def test_the_worked_example_is_the_papers():
    first, second = worked_example.compute()
    assert [first.contribution, second.contribution] == [12, 10]
    assert sorted(first.counts[0].tolist()) == [1, 2, 3]
    assert first.counts[1].tolist() == [2, 2, 2]
    assert sorted(second.counts[0].tolist()) == [1, 1, 1, 3]
    assert sorted(second.counts[1].tolist()) == [0, 1, 2, 3]
    assert second.probabilities == pytest.approx(
        [1 / 4, 1 / 2, 0, 1 / 3, 1 / 3, 1, 1, 1 / 2, 1 / 2, 1 / 2, 1 / 3, 1 / 4]
    )


def test_the_worked_example_is_the_kernels():
    kernel = pk.PropagationKernel(
        propagation=LabelPropagation(clamp="before"),
        t_max=1,
        bin_width=worked_example.BIN_WIDTH,
        random_state=worked_example.SEED,
    )
    steps = kernel.fit_transform_cumulative(worked_example.example_graphs())[:, 0, 1]
    assert steps.tolist() == [12, 22]


def test_attribute_kernels_are_their_formulas():
    x, kernels = attribute_kernels.surfaces(42)  # no two of them exactly 1 apart
    distance = np.abs(x[:, None] - x)
    hashed, truncated, gaussian = kernels.values()
    assert np.allclose(gaussian, np.exp(-(distance**2)))
    assert np.allclose(truncated, np.where(distance <= 1, np.exp(-(distance**2)), 0))
    assert set(np.unique(hashed)) == {0.0, 1.0}
    assert np.array_equal(hashed @ hashed > 0, hashed > 0)  # an equivalence: nodes in one bin


POINTS = {(-5, 0): 80.0, (-5, 3): 85.0, (-1, 0): 70.0, (-1, 3): 75.0}
CURVE = [(0.0, 90.0, 1.0), (50.0, 80.0, 2.0)]
DRAWINGS = {
    "worked example": worked_example.draw,
    "attribute kernels": attribute_kernels.draw,
    "filters": filters.draw,
    "heat maps": lambda: draw_heatmaps({("MUTAG", "plain"): POINTS, ("MUTAG", "normalized"): POINTS}),
    "noise": lambda: draw_noise({("MUTAG", "hidden"): {"PK": CURVE}, ("MUTAG", "flipped"): {"WL": CURVE}}),
    "runtime": lambda: draw_runtime({"PK": CURVE, "LP+WL": CURVE}, "MSRC_21"),
    "scatter": lambda: draw_runtime_and_accuracy({"BZR": [("PK", "labels", 0.1, 87.0, 3.0)]}),
}


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_figures_can_be_drawn(draw, tmp_path):
    draw().savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 2000


def test_the_best_point_of_a_map_is_marked():
    figure = draw_heatmaps({("MUTAG", "plain"): POINTS, ("MUTAG", "normalized"): POINTS})
    (mark,) = figure.axes[0].lines
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (1, 0)


@pytest.mark.slow
def test_the_same_drawing_gives_the_same_file(tmp_path):
    first, second = tmp_path / "a.png", tmp_path / "b.png"
    for path in (first, second):
        worked_example.draw().savefig(path)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("seconds", [(0.1,), (0.75, 6.9), (2.0, 3.0), (0.01, 200.0)])
def test_two_powers_of_ten_of_the_runtime_are_in_sight(seconds):
    points = [("PK", "labels", each, 87.0, 3.0) for each in seconds]
    (ax,) = draw_runtime_and_accuracy({"BZR": points}).axes
    left, right = ax.get_xlim()
    powers = [power for power in range(-9, 9) if left <= 10.0**power <= right]
    assert len(powers) >= 2
    assert left < min(seconds) <= max(seconds) < right
