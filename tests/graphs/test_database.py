"""GraphDatabase, Graph, subsets and concatenation."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import propkernels as pk
from propkernels.graphs import GraphDatabase
from tests.strategies import databases
from tests.zoo import one, zoo

PATH = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
DTYPES = [np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.float64]


# construction
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float32, np.float64])
def test_every_sparse_format_gives_the_same_database(layout, kind, dtype):
    given = getattr(sparse, f"{layout}_{kind}")(PATH.astype(dtype))
    database = GraphDatabase(given, [0, 3])
    assert database == GraphDatabase(PATH.astype(dtype), [0, 3])
    assert np.array_equal(database.adjacency.toarray(), PATH.astype(dtype).astype(float))


def test_nested_lists_frames_and_fortran_order_are_dense_too():
    expected = GraphDatabase(PATH, [0, 3])
    for dense in (PATH.tolist(), np.asfortranarray(PATH), pd.DataFrame(PATH), *map(PATH.astype, DTYPES)):
        assert GraphDatabase(dense, [0, 3]) == expected
    assert GraphDatabase(np.ma.masked_equal(PATH, 2), [0, 3]).n_edges == 1
    for graph_ptr in ((0, 3), range(0, 4, 3), np.array([0, 3], dtype=np.uint8)):
        assert GraphDatabase(PATH, graph_ptr).graph_ptr.dtype == np.int64
    zeros = sparse.coo_array((np.array([0.0, 1.0]), ([0, 2], [3, 3])), shape=(4, 4))
    assert GraphDatabase(zeros, [0, 2, 4]).adjacency.nnz == 1  # a zero between graphs is no edge


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_zeros_vanish(layout):
    coo = sparse.coo_array(([0.0, 1.0, -1.0, 1.0], ([0, 0, 1, 1], [1, 2, 0, 0])), shape=(3, 3))
    adjacency = GraphDatabase(coo.asformat(layout), [0, 3]).adjacency
    assert dict(adjacency.todok()) == {(0, 2): 1}


def test_adjacency_is_canonical_csr():
    shuffled = sparse.csr_array((np.ones(3), np.array([2, 0, 1]), np.array([0, 2, 3, 3])), shape=(3, 3))
    adjacency = GraphDatabase(shuffled, [0, 3]).adjacency
    assert isinstance(adjacency, sparse.csr_array)
    assert adjacency.has_canonical_format
    assert adjacency.indices.tolist() == [0, 2, 1]
    assert adjacency.indices.dtype == adjacency.indptr.dtype == np.int32
    shuffled.indptr = shuffled.indptr.astype(np.int64)
    assert GraphDatabase(shuffled, [0, 3]).adjacency.indptr.dtype == np.int32
    assert shuffled.indices.tolist() == [2, 0, 1], "the user's matrix is left alone"


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float64])
@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_repeated_entries_add_up_without_overflow(layout, dtype):
    weight = 1 if dtype is np.bool_ else 100
    rows, cols = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])
    data = np.full(4, weight, dtype=dtype)
    if layout == "coo":
        given = sparse.coo_array((data, (rows, cols)), shape=(2, 2))
    else:
        maker = getattr(sparse, f"{layout}_array")
        given = maker((data, cols if layout == "csr" else 1 - cols[::-1], [0, 2, 4]), shape=(2, 2))
    database = GraphDatabase(given, [0, 2])
    assert database.adjacency.sum() == 4 * weight
    assert database.adjacency.nnz == 2 or layout == "csc"


@pytest.mark.parametrize("layout", ["csr", "coo", "dense"])
def test_later_changes_of_the_input_do_not_reach_the_database(layout):
    dense = PATH.astype(float)
    matrix = dense if layout == "dense" else sparse.coo_array(dense).asformat(layout)
    labels, attributes, ptr = np.array([0, 1, 2]), np.zeros((3, 2)), np.array([0, 3])
    database = GraphDatabase(matrix, ptr, labels, attributes)
    before = copy.deepcopy(database)
    (matrix if layout == "dense" else matrix.data)[:] = 7
    labels[:], attributes[:], ptr[:] = 9, 9, 9
    assert database == before


def test_edge_labels_follow_their_edges():
    rows, cols = [2, 0, 1, 1], [1, 1, 2, 0]
    coo = sparse.coo_array((np.ones(4), (rows, cols)), shape=(3, 3))
    database = GraphDatabase(coo, [0, 3], edge_labels=["c", "a", "d", "b"])
    stored = database.adjacency.tocoo()
    found = dict(zip(zip(*map(list, stored.coords), strict=True), database.edge_labels, strict=True))
    assert found == {(2, 1): "c", (0, 1): "a", (1, 2): "d", (1, 0): "b"}
    coo = sparse.coo_array(([1.0, 0.0, 1.0], ([0, 0, 1], [1, 2, 0])), shape=(3, 3))
    assert GraphDatabase(coo, [0, 3], edge_labels=["a", "b", "c"]).edge_labels.tolist() == ["a", "c"]


# what a reader asks of it
def test_sizes_ids_and_values():
    database = pk.GraphDatabase.concat([one(2, [(0, 1)], ["b", "a"]), one(0), one(3, labels=["b", "c", "b"])])
    assert database.graph_sizes.tolist() == [2, 0, 3]
    assert database.graph_ids.tolist() == [0, 0, 2, 2, 2]
    assert database.n_nodes == 5
    assert database.shape == (3,)
    assert set(database.label_values) == {"a", "b", "c"}
    assert set(database[1:].label_values) == {"b", "c"}


def test_edges_and_directions():
    edges = {"no edges": 0, "self-loops": 4, "lone self-loop": 1, "complete graph": 15, "weighted": 4}
    arcs = {"directed with dead ends": 4, "directed cycle": 4, "directed and weighted": 3}
    for name, number in (edges | arcs).items():
        assert zoo()[name].n_edges == zoo()[name][0].n_edges == number, name
        assert zoo()[name].is_directed == (name in arcs), name


def test_degrees_are_weighted_sums_of_rows():
    database = zoo()["directed and weighted"]
    assert database.degrees.tolist() == database.adjacency.toarray().sum(axis=1).tolist()
    assert not database.is_unweighted
    assert zoo()["star"].is_unweighted
    assert zoo()["star"].degrees.tolist() == [6, 1, 1, 1, 1, 1, 1]


# values
def test_equal_means_same_graphs_labels_and_attributes():
    database = GraphDatabase(PATH, [0, 3], ["a", "b", "a"], [[1.0], [np.nan], [3.0]])
    assert database == GraphDatabase(sparse.csc_array(PATH), [0, 3], ["a", "b", "a"], [1.0, np.nan, 3.0])
    assert database != database.with_labels(["a", "b", "b"])
    assert database != database.with_labels(None)
    assert database != database.with_attributes([1, 2, 3])
    assert database != database.with_attributes(None)
    assert database != GraphDatabase(2 * PATH, [0, 3], ["a", "b", "a"], [[1.0], [np.nan], [3.0]])
    assert database != "something else"
    assert database != database.with_edge_labels(["x", "x", "y", "y"])
    assert database.with_edge_labels(["x"] * 4) != database.with_edge_labels(["x", "x", "y", "y"])
    assert database.node_labels.tolist() == ["a", "b", "a"], "changed databases leave the original"
    empty = np.zeros((3, 3))
    assert GraphDatabase(empty, [0, 3]) != GraphDatabase(empty, [0, 1, 3])
    assert GraphDatabase(empty, [0, 3]) != GraphDatabase(empty, [0, 3, 3])
    assert database[0] == database[0] != one(2)[0]
    assert database[0] != database


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


@pytest.mark.slow
@given(databases(max_graphs=5, max_nodes=4, **OPTIONS), st.data())
def test_subset_equals_dense_reference(database, data):
    positions = data.draw(st.lists(st.integers(0, len(database) - 1), max_size=6))
    database = database.with_labels(np.array([*database.node_labels, "x"], dtype=object)[:-1])
    assert database[positions] == reference(database, positions)


@pytest.mark.slow
@given(databases(max_graphs=5, **OPTIONS), st.slices(5), st.data())
def test_every_key_means_the_same_graphs(database, key, data):
    positions = list(range(len(database)))[key]
    expected = GraphDatabase.concat([database[i] for i in positions]) if positions else database[[]]
    assert database[key] == database[positions] == database.take(positions) == expected
    if positions == sorted(positions):
        mask = np.isin(np.arange(len(database)), positions)
        assert database[mask] == database[mask.tolist()] == expected


JOIN_OPTIONS = {"weighted": True, "directed": True, "partial": True, "n_attributes": 1, "edge_labels": True}


@pytest.mark.slow
@given(databases(max_graphs=5, labelled="any", **JOIN_OPTIONS))
def test_all_singles_joined_are_the_database(database):
    assert GraphDatabase.concat(list(database)) == database
    assert GraphDatabase.concat(graph.database for graph in database) == database
    assert pickle.loads(pickle.dumps(database)) == copy.deepcopy(database) == database
