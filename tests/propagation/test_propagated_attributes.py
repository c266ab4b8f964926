from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given

import propkernels as pk
from propkernels.propagation import PropagatedAttributes
from propkernels.propagation.attributes import SpreadingAttributes
from tests import naive_attributes
from tests.strategies import databases
from tests.zoo import one, path_edges


def matrices(treatment, graphs, attributes, t_max=4, direction="follow"):
    learned = treatment.learn(graphs, attributes, t_max, direction, 0)
    return list(islice(learned.matrices(graphs, attributes), t_max + 1))


@pytest.mark.slow
@pytest.mark.parametrize("laziness", [0.0, 0.5, 0.9])
@given(databases(n_attributes=2, weighted=True, directed=True))
def test_equal_to_the_power_of_the_walk(laziness, graphs):
    x = graphs.node_attributes
    computed = matrices(PropagatedAttributes(laziness=laziness), graphs, x)
    reference = naive_attributes.spread(x, naive_attributes.transition(graphs, laziness), 4)
    for a, b in zip(computed, reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_worked_example():
    graphs = one(3, path_edges(3))
    x = np.array([[0.0], [4.0], [8.0]])
    _, first, second = matrices(PropagatedAttributes(laziness=0.5), graphs, x, 2)
    assert first.ravel().tolist() == [2, 4, 6]
    assert second.ravel().tolist() == [3, 4, 5]


def test_direction_of_the_walk():
    graphs = one(2, [(0, 1)], directed=True)
    x = np.array([[0.0], [1.0]])
    walk = PropagatedAttributes(laziness=0)
    assert matrices(walk, graphs, x, 1, "follow")[1].ravel().tolist() == [1, 1]
    assert matrices(walk, graphs, x, 1, "reverse")[1].ravel().tolist() == [0, 0]
    assert matrices(walk, graphs, x, 1, "both")[1].ravel().tolist() == [1, 0]


def test_a_missing_value_starts_as_its_graphs_mean_and_is_filled_by_propagation():
    graphs = pk.GraphDatabase.concat([one(3, path_edges(3)), one(1)])
    x = np.array([[1.0], [np.nan], [5.0], [np.nan]])
    start, following = matrices(PropagatedAttributes(laziness=0.5), graphs, x, 1)
    assert start.ravel().tolist() == [1, 3, 5, 3], "the last graph has none: the mean over all"
    assert following.ravel().tolist() == [2, 3, 4, 3]


def test_what_fills_a_graph_without_values_comes_from_fit():
    train, new = one(2, [(0, 1)]), one(2, [(0, 1)])
    learned = PropagatedAttributes().learn(train, np.array([[1.0], [3.0]]), 1, "follow", 0)
    start = next(learned.matrices(new, np.full((2, 1), np.nan)))
    assert start.ravel().tolist() == [2, 2]


def test_a_dimension_without_any_value():
    graphs = one(2, [(0, 1)])
    x = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert matrices(PropagatedAttributes(), graphs, x, 0)[0].tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("wrong", [1, -0.1, 1.5, np.nan])
def test_laziness_out_of_range(wrong):
    with pytest.raises(ValueError, match=r"^laziness must be at least 0 and below 1, got "):
        matrices(PropagatedAttributes(laziness=wrong), one(2, [(0, 1)]), np.ones((2, 1)))


def test_laziness_is_a_number():
    with pytest.raises(TypeError, match=r"^laziness must be a number, got 'half'"):
        matrices(PropagatedAttributes(laziness="half"), one(2, [(0, 1)]), np.ones((2, 1)))


@pytest.mark.parametrize(
    ("laziness", "direction", "elsewhere"),
    [(1.5, "follow", [0.0]), (-0.5, "follow", [0.0]), (0.5, "sideways", [0.0]), (0.5, "follow", [[0.0]])],
)
def test_stored_state_is_checked(laziness, direction, elsewhere):
    stored = SpreadingAttributes(laziness, direction, np.array(elsewhere))
    with pytest.raises(ValueError, match=r"laziness or direction is unknown|one row"):
        stored._check_parts()
    SpreadingAttributes(1.0, "follow", np.zeros(1))._check_parts()
