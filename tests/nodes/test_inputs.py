"""Columns of attributes, node labels and positions, as they were learned."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.nodes.inputs import AttributeInputs, StructureInputs, learn_inputs

PATH = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)


def graph(attributes=None, labels=None):
    return pk.GraphDatabase(PATH, [0, 4], labels, attributes)


def test_numbers_are_standardized_and_gaps_are_means():
    values = np.array([[1.0, -5], [3.0, -5], [np.nan, -5], [5.0, -5]])
    inputs = AttributeInputs.learn(graph(values), 0)
    columns = np.asarray(inputs.columns(graph(values)))
    middle, spread = np.nanmean(values[:, 0]), np.nanstd(values[:, 0])
    np.testing.assert_allclose(columns[:, 0], (np.array([1, 3, middle, 5]) - middle) / spread)
    assert (columns[:, 1] == 0).all()


def test_counts_of_words_are_divided_by_their_norm():
    words = csr_array(np.array([[3.0, 4, 0], [0, 0, 0], [0, 0, 2], [1, 0, 0]]))
    inputs = AttributeInputs.learn(graph(words), 0)
    rows = csr_array(inputs.columns(graph(words))).toarray()
    np.testing.assert_allclose(rows, [[0.6, 0.8, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]])


def test_labels_have_a_column_each_the_most_frequent_first():
    inputs = AttributeInputs.learn(graph(labels=["b", "a", "a", None]), 0)
    assert inputs.labels == ("a", "b")
    assert inputs.names() == ["label a", "label b"]
    rows = csr_array(inputs.columns(graph(labels=["a", "c", None, "b"]))).toarray()
    assert (rows != 0).tolist() == [[True, False], [False, False], [False, False], [False, True]]


def test_a_graph_without_attributes_and_labels_has_none():
    assert AttributeInputs.learn(graph(), 0) is None


def test_positions_are_standardized():
    club = pk.convert.check_graph(nx.karate_club_graph())
    inputs, columns = StructureInputs.learn(club)
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_array_equal(columns, inputs.columns(club))


def test_names_of_sources():
    inputs, _ = learn_inputs(graph(np.eye(4)), "both", True, 0)
    assert inputs.column_names("attributes") == [f"attribute {i}" for i in range(4)]
    assert "degree" in inputs.column_names("structure")


def test_parts_of_different_widths_are_refused():
    with pytest.raises(ValueError, match="every attribute needs mean and unit"):
        AttributeInputs(2, (), False, np.zeros(1), np.ones(2))._check_parts()


def test_columns_that_overflow_in_the_units_of_fit_are_refused():
    values = np.array([[1.0], [1.0 + 1e-15], [1.0], [1.0]])
    inputs = replace(AttributeInputs.learn(graph(values), 0), unit=np.array([1e-300]))
    with pytest.raises(ValueError, match="too large for the units"):
        inputs.columns(graph(1e100 * values))
    structure, _ = StructureInputs.learn(graph())
    small = replace(structure, unit=np.full_like(structure.unit, 1e-320))
    with pytest.raises(ValueError, match="too large for the units"):
        small.columns(graph())
