"""The zoo and the strategies are themselves what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.graphs import GraphDatabase
from tests.strategies import databases, permute_graphs, permute_nodes
from tests.zoo import OTHER_LABELS, WITH_ATTRIBUTES, labelled_zoo, undirected_zoo, zoo, zoo_databases


@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_animals_are_databases_with_a_word_to_say(name, database):
    assert isinstance(database, GraphDatabase)
    assert len(database) >= 1
    assert (database.node_attributes is not None) == (name in WITH_ATTRIBUTES)
    integers = database.node_labels is not None and database.node_labels.dtype == np.int64
    assert (integers and database.label_column.observed.all()) == (name not in OTHER_LABELS)


def test_labelled_zoo_is_integer_labelled_throughout():
    database = labelled_zoo()
    assert database.node_labels.dtype == np.int64
    assert database.label_column.observed.all()
    assert database.node_attributes is None
    assert database.is_directed
    assert not undirected_zoo().is_directed


def test_names_that_are_set_apart_exist():
    assert set(zoo()) >= OTHER_LABELS | WITH_ATTRIBUTES


@pytest.mark.slow
@given(databases(weighted=True, directed=True, n_attributes=2, edge_labels=True), st.integers(0, 100))
def test_permuted_nodes_keep_what_does_not_depend_on_order(database, seed):
    permuted = permute_nodes(database, np.random.default_rng(seed))
    assert np.array_equal(permuted.graph_ptr, database.graph_ptr)
    assert permuted.n_edges == database.n_edges
    for ours, theirs in zip(permuted, database, strict=True):
        assert sorted(ours.node_labels) == sorted(theirs.node_labels)
        assert sorted(ours.edge_labels) == sorted(theirs.edge_labels)
        assert sorted(ours.adjacency.data) == sorted(theirs.adjacency.data)


@pytest.mark.slow
@given(databases(), st.integers(0, 100))
def test_permuted_graphs_come_with_their_order(database, seed):
    permuted, order = permute_graphs(database, np.random.default_rng(seed))
    assert [database[i] for i in order] == list(permuted)
