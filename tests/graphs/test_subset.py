"""Some graphs of a database: against a dense reference, and whatever the key."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from propkernels.graphs import Graph, GraphDatabase
from tests.strategies import databases, permutations
from tests.zoo import labelled_zoo, zoo_databases

OPTIONS = {"weighted": True, "directed": True, "partial": True, "n_attributes": 2, "edge_labels": True}


def reference(database, positions):
    """Copy the same graphs with dense matrices and Python lists."""
    ptr, dense = database.graph_ptr, database.adjacency.toarray()
    names = np.full(dense.shape, None, dtype=object)
    names[database.adjacency.nonzero()] = database.edge_labels
    nodes = [v for i in positions for v in range(ptr[i], ptr[i + 1])]
    owner = [k for k, i in enumerate(positions) for _ in range(ptr[i], ptr[i + 1])]
    same = np.equal.outer(owner, owner) if nodes else np.zeros((0, 0), dtype=bool)
    matrix = np.where(same, dense[np.ix_(nodes, nodes)], 0)
    return GraphDatabase(
        matrix,
        np.cumsum([0, *(ptr[i + 1] - ptr[i] for i in positions)]),
        np.array([*database.node_labels, None], dtype=object)[[*nodes, -1]][:-1],
        database.node_attributes[nodes],
        names[np.ix_(nodes, nodes)][matrix != 0],
    )


@given(databases(max_graphs=5, max_nodes=4, **OPTIONS), st.data())
def test_subset_equals_dense_reference(database, data):
    positions = data.draw(st.lists(st.integers(0, len(database) - 1), max_size=6))
    database = database.with_labels(np.array([*database.node_labels, "x"], dtype=object)[:-1])
    assert database[positions] == reference(database, positions)


@given(databases(max_graphs=6, labelled="any", **OPTIONS), st.data())
def test_a_permutation_and_its_inverse_cancel(database, data):
    order = np.array(data.draw(permutations(len(database))), dtype=np.int64)
    assert database[order][np.argsort(order)] == database


@given(databases(max_graphs=5, **OPTIONS), st.slices(5), st.data())
def test_every_key_means_the_same_graphs(database, key, data):
    positions = list(range(len(database)))[key]
    expected = GraphDatabase.concat([database[i] for i in positions]) if positions else database[[]]
    assert database[key] == database[positions] == database.take(positions) == expected
    if positions == sorted(positions):
        mask = np.isin(np.arange(len(database)), positions)
        assert database[mask] == database[mask.tolist()] == expected


@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_everything_of_the_zoo_is_itself(name, database):
    assert database[:] == database[list(range(len(database)))] == database
    assert [database[i] for i in range(len(database))] == list(database)
    assert database[-1] == database[len(database) - 1]
    assert len(database[:0]) == 0


def test_types():
    database = labelled_zoo()
    assert type(database[0]) is type(database[np.int8(0)]) is type(database[-1]) is Graph
    for key in (slice(0, 1), [0], np.array([0]), np.arange(len(database)) == 0):
        assert type(database[key]) is GraphDatabase
        assert len(database[key]) == 1


def test_iteration_ends_and_can_be_reversed():
    database = labelled_zoo()
    assert len(list(database)) == len(database)
    assert list(reversed(database)) == list(database)[::-1]
    assert database[3] in database


def test_out_of_range():
    with pytest.raises(IndexError, match="graph 99 is out of range"):
        labelled_zoo()[99]


def test_take_has_one_axis():
    database = labelled_zoo()
    assert database.take([2, 0], axis=0) == database.iloc[[2, 0]] == database.loc[[2, 0]]
    with pytest.raises(ValueError, match="a GraphDatabase has one axis, its graphs: use axis=0"):
        database.take([0], axis=1)


def test_subsets_are_copies():
    database = GraphDatabase(np.ones((2, 2)), [0, 1, 2][::2], [1, 2], [1.0, 2.0])
    part = database[0]
    part.adjacency.data[:] = 5
    part.node_attributes[:] = 5
    assert database == GraphDatabase(np.ones((2, 2)), [0, 2], [1, 2], [1.0, 2.0])


def test_subset_has_canonical_matrices():
    part = labelled_zoo()[[5, 3, 5, 10]]
    assert csr_array(part.adjacency, copy=True).has_canonical_format
    assert part.adjacency.indices.dtype == np.int32


def test_taking_one_graph_does_not_walk_the_whole_database():
    n = 200_000
    database = GraphDatabase(csr_array((n, n)), np.arange(n + 1), np.arange(n))
    start = time.perf_counter()
    graphs = [database[i] for i in range(0, n, 1000)]
    labels = [graph.node_labels.tolist() for graph in graphs]
    assert time.perf_counter() - start < 1.0  # each in microseconds; a pass over the labels takes 20 ms
    assert labels[:2] == [[0], [1000]]
