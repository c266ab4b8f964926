"""Attributes: standardized, with missing values, fixed or spread along edges."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given

import propkernels as pk
from propkernels.propagation import PropagatedAttributes
from propkernels.propagation.attributes import (
    SpreadingAttributes,
    Standardizer,
    Training,
    fill_missing,
    observed_means,
)
from tests import naive_attributes
from tests.strategies import databases
from tests.zoo import one, path_edges


def graphs_with(attributes):
    attributes = np.asarray(attributes, dtype=float)
    return one(len(attributes), path_edges(len(attributes)), attributes=attributes)


def test_missing_values_are_left_out():
    computed = Standardizer.learn(graphs_with([[1.0], [np.nan], [3.0]]), True)
    assert computed.mean == 2
    assert computed.deviation == pytest.approx(np.sqrt(2))
    assert observed_means(np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan]])).tolist() == [2, 4, 0]


@pytest.mark.parametrize("value", [0.1, -7.0, 1e-300, 1e9 + 0.1])
@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_a_dimension_that_does_not_vary_becomes_exactly_0(value, n):
    # the mean of three times 0.1 is not 0.1, and the deviation from it is not 0
    graphs = graphs_with(np.full((n, 1), value))
    computed = Standardizer.learn(graphs, True)
    assert computed.deviation == 1
    assert (computed(graphs) == 0).all()


def test_a_dimension_without_values_stays_missing():
    graphs = graphs_with([[np.nan, 1.0], [np.nan, 2.0]])
    computed = Standardizer.learn(graphs, True)
    assert computed.mean[0] == 0
    assert computed.deviation[0] == 1
    assert np.isnan(computed(graphs)[:, 0]).all()


def test_nothing_is_done_without_standardize():
    graphs = graphs_with([[1.0, 2.0], [4.0, np.nan]])
    assert np.array_equal(Standardizer.learn(graphs, False)(graphs), graphs.node_attributes, equal_nan=True)


def test_graphs_without_nodes_fit_any_dimension():
    fitted = Standardizer.learn(graphs_with([[0.0, 1.0], [2.0, 3.0]]), True)
    assert fitted(one(0)).shape == (0, 2)


def test_gaps_take_the_mean_of_their_graph_and_column_else_what_is_given():
    graphs = pk.GraphDatabase.concat([graphs_with(np.zeros((3, 2))), graphs_with(np.zeros((1, 2)))])
    values = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, 5.0], [np.nan, 7.0]])
    computed = fill_missing(values, graphs, np.array([9.0, 9.0]))
    assert computed.tolist() == [[1, 5], [2, 5], [3, 5], [9, 7]]
    assert np.isnan(values[0, 1]), "the values given are left as they are"


@pytest.mark.parametrize(
    ("mean", "deviation"), [([0.0], [0.0]), ([np.nan], [1.0]), ([0.0], [np.inf]), ([0.0], [])]
)
def test_stored_means_and_deviations_must_shift_and_scale(mean, deviation):
    with pytest.raises(ValueError, match="deviation"):
        Standardizer(np.array(mean), np.array(deviation))._check_parts()


# attributes that spread


def matrices(treatment, graphs, attributes, t_max=4, direction="follow"):
    learned = treatment.learn(Training(graphs, attributes, t_max, direction, 0))
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


def test_a_missing_value_starts_as_its_graphs_mean_and_is_filled_by_propagation():
    graphs = pk.GraphDatabase.concat([one(3, path_edges(3)), one(1)])
    x = np.array([[1.0], [np.nan], [5.0], [np.nan]])
    start, following = matrices(PropagatedAttributes(laziness=0.5), graphs, x, 1)
    assert start.ravel().tolist() == [1, 3, 5, 3], "the last graph has none: the mean over all"
    assert following.ravel().tolist() == [2, 3, 4, 3]


def test_what_fills_a_graph_without_values_comes_from_fit():
    train, new = one(2, [(0, 1)]), one(2, [(0, 1)])
    learned = PropagatedAttributes().learn(Training(train, np.array([[1.0], [3.0]]), 1, "follow", 0))
    start = next(learned.matrices(new, np.full((2, 1), np.nan)))
    assert start.ravel().tolist() == [2, 2]


@pytest.mark.parametrize(
    ("laziness", "direction", "elsewhere"),
    [(1.5, "follow", [0.0]), (-0.5, "follow", [0.0]), (0.5, "sideways", [0.0]), (0.5, "follow", [[0.0]])],
)
def test_stored_state_is_checked(laziness, direction, elsewhere):
    stored = SpreadingAttributes(laziness, direction, np.array(elsewhere))
    with pytest.raises(ValueError, match=r"laziness or direction is unknown|one row"):
        stored._check_parts()
    SpreadingAttributes(1.0, "follow", np.zeros(1))._check_parts()
