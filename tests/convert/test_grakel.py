"""GraKeL's formats."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.graphs import GraphDatabase


@pytest.mark.parametrize(
    "edges",
    [
        {(0, 1), (1, 0), (1, 2), (2, 1)},
        [(0, 1), (1, 0), (1, 2), (2, 1)],
        {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 1.0, (2, 1): 1.0},
        {0: [1], 1: [0, 2], 2: [1]},
        {0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0}},
        np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    ],
    ids=["set", "list", "weights by pair", "neighbors", "weights by neighbor", "matrix"],
)
def test_every_format_of_grakel(edges):
    labels = {0: "a", 1: "b", 2: "a"}
    expected = GraphDatabase([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [0, 3], ["a", "b", "a"])
    assert pk.convert.from_grakel([[edges, labels]]) == expected
    assert pk.check_graphs([[edges, labels]]) == expected
    named = {(0, 1): "x", (1, 0): "x", (1, 2): "y", (2, 1): "y"}
    assert pk.convert.from_grakel([(edges, labels, named)]).edge_labels.tolist() == ["x", "x", "y", "y"]


def test_grakel_attributes_and_faults():
    edges = {(0, 1), (1, 0)}
    assert pk.convert.from_grakel([[edges, {0: [1.0, 2.0], 1: [3.0, 4.0]}]]).node_attributes.tolist() == [
        [1, 2],
        [3, 4],
    ]
    with pytest.raises(ValueError, match=r"graph 0: edge \(.*\) names node 1, which has no label"):
        pk.convert.from_grakel([[edges, {0: "a"}]])
    with pytest.raises(TypeError, match="graph 1 is not a graph in one of GraKeL's formats"):
        pk.convert.from_grakel([[edges, {0: "a", 1: "a"}], 5])
