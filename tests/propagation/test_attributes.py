"""Attributes as they are: standardized, with missing values, by name."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from propkernels.propagation import Diffusion, GaussianMixtures, PropagatedAttributes
from propkernels.propagation.attributes import (
    FixedAttributes,
    Standardizer,
    fill_missing,
    observed_means,
    required_attributes,
    resolve_attributes,
)
from tests.zoo import one, path_edges


@pytest.mark.parametrize("combine", ["sum", "product", "joint"])
def test_a_name_is_the_attributes_as_they_are(combine):
    treatment = resolve_attributes(combine)
    assert isinstance(treatment, FixedAttributes)
    assert treatment.combine == combine


def test_fixed_attributes_are_the_same_at_every_t():
    graphs = one(3, path_edges(3))
    attributes = np.array([[1.0], [np.nan], [2.0]])
    learned = FixedAttributes().learn(graphs, attributes, 3, "follow", 0)
    assert all(matrix is attributes for matrix in islice(learned.matrices(graphs, attributes), 5))


@pytest.mark.parametrize("treatment", [PropagatedAttributes(), GaussianMixtures(combine="joint")])
def test_an_object_is_taken_as_it_is(treatment):
    assert resolve_attributes(treatment) is treatment


@pytest.mark.parametrize("wrong", ["mean", "", 5, 0, True, object(), GaussianMixtures, Diffusion(), ["sum"]])
def test_anything_else_is_refused(wrong):
    with pytest.raises(ValueError, match=r"^attributes must be None, 'sum', 'product', 'joint', "):
        resolve_attributes(wrong)


@pytest.mark.parametrize("wrong", ["mean", None, 1, ["sum"]])
@pytest.mark.parametrize("treatment", [PropagatedAttributes, GaussianMixtures])
def test_an_unknown_combination_is_refused(treatment, wrong):
    with pytest.raises(ValueError, match=r"^combine must be 'sum', 'product' or 'joint'; got "):
        resolve_attributes(treatment(combine=wrong))


def graphs_with(attributes):
    attributes = np.asarray(attributes, dtype=float)
    return one(len(attributes), path_edges(len(attributes)), attributes=attributes)


def test_mean_0_and_deviation_1_over_all_nodes():
    rng = np.random.default_rng(0)
    graphs = pk.GraphDatabase.concat([graphs_with(rng.normal(3, 5, (n, 2))) for n in (4, 1, 7)])
    computed = Standardizer.learn(graphs, True)(graphs)
    np.testing.assert_allclose(computed.mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(computed.std(axis=0, ddof=1), 1, atol=1e-14)


def test_missing_values_are_left_out():
    computed = Standardizer.learn(graphs_with([[1.0], [np.nan], [3.0]]), True)
    assert computed.mean == 2
    assert computed.deviation == pytest.approx(np.sqrt(2))


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


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 9)), min_size=2, max_size=30), st.randoms())
def test_the_order_of_nodes_changes_no_bit(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    a, b = (Standardizer.learn(graphs_with(np.array(v)[:, None]), True) for v in (values, shuffled))
    assert a.mean == b.mean
    assert a.deviation == b.deviation


def test_new_graphs_are_shifted_and_scaled_as_in_fit():
    fitted = Standardizer.learn(graphs_with([[0.0], [2.0]]), True)
    computed = fitted(graphs_with([[1.0], [1.0 + np.sqrt(2)], [100.0]]))
    np.testing.assert_allclose(computed[:2, 0], [0, 1], atol=1e-15)


def test_graphs_without_nodes_fit_any_dimension():
    fitted = Standardizer.learn(graphs_with([[0.0, 1.0], [2.0, 3.0]]), True)
    assert fitted(one(0)).shape == (0, 2)


@pytest.mark.parametrize("attributes", [None, np.empty((2, 0))])
def test_no_attributes(attributes):
    graphs = one(2, [(0, 1)]).with_attributes(attributes)
    with pytest.raises(ValueError, match="attributes are requested, but the graphs have no node attributes"):
        required_attributes(graphs)


def test_another_dimension():
    fitted = Standardizer.learn(graphs_with([[0.0, 1.0], [2.0, 3.0]]), True)
    with pytest.raises(
        ValueError, match="the graphs have 1 attribute dimension, but the kernel was fitted to 2"
    ):
        fitted(graphs_with([[1.0]]))


def test_means_of_what_is_observed():
    values = np.array([[1.0, np.nan, np.nan], [3.0, np.nan, 4.0]])
    assert observed_means(values).tolist() == [2, 0, 4]
    assert observed_means(np.empty((0, 2))).tolist() == [0, 0]


def test_gaps_take_the_mean_of_their_graph_and_column_else_what_is_given():
    graphs = pk.GraphDatabase.concat([graphs_with(np.zeros((3, 2))), graphs_with(np.zeros((1, 2)))])
    values = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, 5.0], [np.nan, 7.0]])
    computed = fill_missing(values, graphs, np.array([9.0, 9.0]))
    assert computed.tolist() == [[1, 5], [2, 5], [3, 5], [9, 7]]
    assert np.isnan(values[0, 1]), "the values given are left as they are"


def test_nothing_missing_nothing_copied():
    graphs = graphs_with(np.zeros((3, 2)))
    values = np.ones((3, 2))
    assert fill_missing(values, graphs, np.zeros(2)) is values


@pytest.mark.parametrize(
    ("mean", "deviation"), [([0.0], [0.0]), ([np.nan], [1.0]), ([0.0], [np.inf]), ([0.0], [])]
)
def test_stored_means_and_deviations_must_shift_and_scale(mean, deviation):
    with pytest.raises(ValueError, match="deviation"):
        Standardizer(np.array(mean), np.array(deviation))._check_parts()


@pytest.mark.parametrize("unit", [1e-6, 0.1, 1.0, 1e6])
def test_attributes_are_standardized_in_any_unit(unit):
    graphs = pk.check_graphs([np.zeros((4, 4))]).with_attributes(
        unit * np.array([[1.0], [2.0], [3.0], [6.0]])
    )
    learned = Standardizer.learn(graphs, True)
    assert learned.mean == pytest.approx([3.0 * unit])
    assert learned.deviation == pytest.approx([np.sqrt(14 / 3) * unit])
