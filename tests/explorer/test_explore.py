"""explore: from graphs and a target to a page."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.explorer.explore import twins
from tests.explorer.conftest import embedded


@pytest.mark.slow
def test_the_same_page_twice(data):
    pages = [pk.explore(data.graphs, data.target, title="t").html for _ in range(2)]
    assert pages[0] == pages[1]


@pytest.mark.slow
def test_held_out_predictions_are_those_of_cross_validation(data):
    page = pk.explore(data)
    assert set(np.unique(page.predictions)) <= {0, 1}
    assert page.points.shape == (40, 2)
    assert np.isfinite(page.points).all()
    assert 0 <= page.novelty.min() <= page.novelty.max() <= 1
    correct = float(np.mean(page.predictions == data.target))
    assert f"{100 * correct:.1f} % predicted correctly" in page.html


@pytest.mark.slow
def test_edge_labels_and_missing_labels():
    rng = np.random.default_rng(0)
    graphs = []
    for _ in range(20):
        ring = np.roll(np.eye(6), 1, axis=1)
        labels = rng.choice(["C", "N", None], 6).tolist()
        graphs.append((ring + ring.T, labels))
    page = pk.explore(graphs, rng.integers(0, 2, 20))
    assert page.model.imputer_ is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": [0, 1]}, "one value for each of 40 graphs"),
        ({"target": [0] * 40}, "at least 2 classes"),
        ({"target": [np.inf] + [0.5] * 39}, "finite"),
        ({"ids": ["a"]}, "1 ids for 40 graphs"),
        ({"class_names": ["a"]}, "must name 2 classes"),
        ({"columns": {"x": [1]}}, "column 'x' must hold 40 values"),
        ({"layout": np.zeros((3, 2))}, "a point for each"),
    ],
)
def test_bad_input(data, model, change, message):
    arguments = {"graphs": data.graphs, "target": data.target, "model": model} | change
    with pytest.raises(ValueError, match=message):
        pk.explore(**arguments)


def test_one_graph_is_not_enough_and_a_model_needs_a_target(data, model):
    with pytest.raises(ValueError, match="2 to 50,000 graphs"):
        pk.explore(data.graphs[:1])
    with pytest.raises(ValueError, match="a model requires a target"):
        pk.explore(data.graphs, model=model)


def test_whole_numbers_that_floats_do_not_tell_apart_are_numbers(data):
    page = pk.explore(data.graphs, np.array([2.0**60, 2.0**70])[data.target])
    assert np.abs(page.predictions).max() > 2.0**59


def test_graphs_without_a_target_are_left_out(data):
    target = data.target.astype(object)
    target[::4] = None
    known = np.flatnonzero(np.arange(40) % 4)
    layout = np.arange(2.0 * data.graphs.n_nodes).reshape(-1, 2)
    options = {"columns": {"number": np.arange(40)}, "ids": [f"graph{i}" for i in range(40)]}
    with pytest.warns(UserWarning, match="10 of 40 graphs have no target and are left out"):
        page = pk.explore(data.graphs, target, layout=layout, **options)
    assert page.predictions.shape == (30,)
    assert embedded(page.html, "ex-meta")["ids"] == [f"graph{i}" for i in known]
    assert "10 of 40 graphs have no target and are left out" in page.html


def test_graphs_that_are_the_same_with_other_classes_are_named():
    similarities = np.array([[1.0, 0.5], [1.0, 0.4], [0.9, 0.5]])
    neighbors, classes = np.array([[1, 2], [0, 2], [1, 0]]), np.array([0, 1, 1])
    assert twins(similarities, neighbors, classes).tolist() == [1, 0, -1]
