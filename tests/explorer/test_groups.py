"""Groups of the map and their names."""

import numpy as np

import propkernels as pk
from propkernels.explorer.groups import map_groups


def test_classes_that_lie_together_are_named():
    rng = np.random.default_rng(0)
    numbers = np.repeat([0, 1, 2], 20)
    points = rng.normal(scale=0.3, size=(60, 2)) + 5.0 * np.column_stack([numbers, numbers % 2])
    graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    groups = map_groups(points, graphs, (numbers, ["a", "beta", "gamma"]), None)
    assert [group["name"] for group in groups] == ["class a", "beta", "gamma"]
    assert all(0 <= group["x"] <= 65535 for group in groups)


def test_groups_are_named_by_their_nodes():
    star = [(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]), ["N", "O", "O"])] * 30
    path = [(np.array([[0, 1], [1, 0]]), ["C", "C"])] * 30
    graphs = pk.check_graphs(star + path)
    points = np.random.default_rng(0).normal(scale=0.2, size=(60, 2))
    points[30:] += 9
    names = {group["name"] for group in map_groups(points, graphs, None, None)}
    assert names <= {"N\N{EN DASH}O O", "O\N{EN DASH}N", "C\N{EN DASH}C"}
    assert len(names) >= 2


def test_few_graphs_have_no_groups():
    graphs = pk.datasets.make_molecules(10, random_state=0).graphs
    assert map_groups(np.zeros((10, 2)), graphs, None, None) == []
