"""GraphDatabase: construction, what it tells, and how it behaves as a value."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import propkernels as pk
from propkernels.graphs import GraphDatabase
from tests.strategies import databases
from tests.zoo import one, path_edges, zoo, zoo_databases

PATH = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]
DTYPES = [np.bool_, np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float32, np.float64]


# construction


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", FORMATS)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float32, np.float64])
def test_every_sparse_format_gives_the_same_database(layout, kind, dtype):
    given = getattr(sparse, f"{layout}_{kind}")(PATH.astype(dtype))
    database = GraphDatabase(given, [0, 3])
    assert database == GraphDatabase(PATH.astype(dtype), [0, 3])
    assert np.array_equal(database.adjacency.toarray(), PATH.astype(dtype).astype(float))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dense_of_every_dtype(dtype):
    database = GraphDatabase(PATH.astype(dtype), [0, 3])
    assert database.adjacency.dtype == np.float64
    assert np.array_equal(database.adjacency.toarray(), PATH.astype(dtype).astype(float))


def test_nested_lists_frames_and_fortran_order_are_dense_too():
    pandas = pytest.importorskip("pandas")
    expected = GraphDatabase(PATH, [0, 3])
    for dense in (PATH.tolist(), np.asfortranarray(PATH), pandas.DataFrame(PATH)):
        assert GraphDatabase(dense, [0, 3]) == expected


def test_adjacency_is_canonical_csr():
    shuffled = sparse.csr_array((np.ones(3), np.array([2, 0, 1]), np.array([0, 2, 3, 3])), shape=(3, 3))
    adjacency = GraphDatabase(shuffled, [0, 3]).adjacency
    assert isinstance(adjacency, sparse.csr_array)
    assert adjacency.has_canonical_format
    assert adjacency.indices.tolist() == [0, 2, 1]
    assert adjacency.indices.dtype == adjacency.indptr.dtype == np.int32
    assert shuffled.indices.tolist() == [2, 0, 1], "the user's matrix is left alone"


def test_long_indices_become_short_ones():
    given = sparse.csr_array(PATH)
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    adjacency = GraphDatabase(given, [0, 3]).adjacency
    assert adjacency.indices.dtype == np.int32
    assert adjacency.indptr.dtype == np.int32


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


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_zeros_vanish(layout):
    data = np.array([0.0, 1.0, -1.0, 1.0])
    coo = sparse.coo_array((data, ([0, 0, 1, 1], [1, 2, 0, 0])), shape=(3, 3))
    adjacency = GraphDatabase(coo.asformat(layout), [0, 3]).adjacency
    assert adjacency.nnz == 1
    assert adjacency[0, 2] == 1


def test_masked_weights_are_not_edges():
    database = GraphDatabase(np.ma.masked_equal(PATH, 2), [0, 3])
    assert database.n_edges == 1


@pytest.mark.parametrize("layout", ["csr", "coo", "dense"])
def test_later_changes_of_the_input_do_not_reach_the_database(layout):
    matrix = (
        PATH.astype(float) if layout == "dense" else sparse.coo_array(PATH.astype(float)).asformat(layout)
    )
    labels, attributes, ptr = np.array([0, 1, 2]), np.zeros((3, 2)), np.array([0, 3])
    database = GraphDatabase(matrix, ptr, labels, attributes)
    before = copy.deepcopy(database)
    (matrix if layout == "dense" else matrix.data)[:] = 7
    labels[:], attributes[:], ptr[:] = 9, 9, 9
    assert database == before


def test_a_database_without_graphs_is_possible():
    database = GraphDatabase(np.zeros((0, 0)), [0])
    assert len(database) == 0
    assert list(database) == []
    assert database.n_nodes == database.n_edges == 0


def test_one_dimensional_attributes_become_a_column_of_floats():
    database = GraphDatabase(PATH, [0, 3], node_attributes=[1, 2, 3])
    assert database.node_attributes.shape == (3, 1)
    assert database.node_attributes.dtype == np.float64


def test_edge_labels_follow_their_edges():
    rows, cols = [2, 0, 1, 1], [1, 1, 2, 0]
    coo = sparse.coo_array((np.ones(4), (rows, cols)), shape=(3, 3))
    database = GraphDatabase(coo, [0, 3], edge_labels=["c", "a", "d", "b"])
    stored = database.adjacency.tocoo()
    found = dict(zip(zip(*map(list, stored.coords), strict=True), database.edge_labels, strict=True))
    assert found == {(2, 1): "c", (0, 1): "a", (1, 2): "d", (1, 0): "b"}


def test_edge_labels_of_zeros_vanish_with_them():
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


def test_without_labels_or_attributes_there_are_none():
    database = zoo()["no labels"]
    assert database.node_labels is None
    assert database.edge_labels is None
    assert database.node_attributes is None
    assert database.label_column is None
    assert database.edge_label_column is None
    assert database.label_values == ()


@pytest.mark.parametrize(
    ("name", "edges", "directed"),
    [
        ("no edges", 0, False),
        ("self-loops", 4, False),
        ("lone self-loop", 1, False),
        ("complete graph", 15, False),
        ("weighted", 4, False),
        ("directed with dead ends", 4, True),
        ("directed cycle", 4, True),
        ("directed and weighted", 3, True),
    ],
)
def test_edges_and_directions(name, edges, directed):
    assert zoo()[name].n_edges == edges
    assert zoo()[name].is_directed == directed


def test_unequal_weights_of_the_two_directions_mean_directed():
    assert GraphDatabase([[0, 1], [2, 0]], [0, 2]).is_directed


def test_edges_of_a_mixed_database_are_those_of_its_graphs():
    database = GraphDatabase.concat([database.with_attributes(None) for database in zoo().values()])
    assert database.n_edges == sum(graph.n_edges for graph in database)
    assert database.directed_graphs.tolist() == [graph.database.is_directed for graph in database]


@given(databases(max_graphs=4, weighted=True, directed=True))
def test_edges_of_any_database_are_those_of_its_graphs(database):
    assert database.n_edges == sum(graph.n_edges for graph in database)
    assert database.is_directed == any(graph.database.is_directed for graph in database)


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


def test_the_split_into_graphs_matters():
    empty = np.zeros((3, 3))
    assert GraphDatabase(empty, [0, 3]) != GraphDatabase(empty, [0, 1, 3])
    assert GraphDatabase(empty, [0, 3]) != GraphDatabase(empty, [0, 3, 3])


def test_edge_labels_matter():
    matrix = [[0, 1], [1, 0]]
    first = GraphDatabase(matrix, [0, 2], edge_labels=["a", "b"])
    assert first == GraphDatabase(matrix, [0, 2], edge_labels=["a", "b"])
    assert first != GraphDatabase(matrix, [0, 2], edge_labels=["a", "a"])
    assert first != GraphDatabase(matrix, [0, 2])


def test_order_in_which_labels_first_appear_does_not_matter():
    whole = GraphDatabase(np.zeros((4, 4)), [0, 2, 4], ["x", "y", "b", "a"])
    assert whole[1:] == GraphDatabase(np.zeros((2, 2)), [0, 2], ["b", "a"])


def test_unhashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(zoo()["star"])


@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_pickle_and_copies_are_equal(name, database):
    assert repr(database)  # fills the caches, which are left behind
    for twin in (pickle.loads(pickle.dumps(database)), copy.copy(database), copy.deepcopy(database)):
        assert twin == database
        assert type(twin) is GraphDatabase
        assert "directed_graphs" not in twin.__dict__
    graph = database[0]
    assert pickle.loads(pickle.dumps(graph)) == copy.deepcopy(graph) == graph


def test_with_labels_and_attributes_leave_the_original():
    database = one(3, path_edges(3), ["a", "b", "c"])
    assert database.with_labels([1, 2, -1]).node_labels.tolist() == [1, 2, -1]
    assert database.with_attributes([1, 2, 3]).node_attributes.shape == (3, 1)
    assert database.node_labels.tolist() == ["a", "b", "c"]
    assert database.node_attributes is None


def test_public_names():
    assert pk.GraphDatabase is GraphDatabase
    assert {"Graph", "GraphDatabase", "check_graphs", "from_networkx"} <= set(dir(pk))
