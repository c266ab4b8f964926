"""GraphDatabase, Graph, subsets and concatenation."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import propkernels as pk
from propkernels.graphs import GraphDatabase
from tests.strategies import databases
from tests.zoo import one, path_edges, zoo, zoo_databases

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
    pandas = pytest.importorskip("pandas")
    expected = GraphDatabase(PATH, [0, 3])
    for dense in (PATH.tolist(), np.asfortranarray(PATH), pandas.DataFrame(PATH), *map(PATH.astype, DTYPES)):
        assert GraphDatabase(dense, [0, 3]) == expected
    assert GraphDatabase(np.ma.masked_equal(PATH, 2), [0, 3]).n_edges == 1


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


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_zeros_vanish(layout):
    data = np.array([0.0, 1.0, -1.0, 1.0])
    coo = sparse.coo_array((data, ([0, 0, 1, 1], [1, 2, 0, 0])), shape=(3, 3))
    adjacency = GraphDatabase(coo.asformat(layout), [0, 3]).adjacency
    assert adjacency.nnz == 1
    assert adjacency[0, 2] == 1


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


@pytest.mark.slow
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
    assert database != database.with_edge_labels(["x", "x", "y", "y"])
    assert database.with_edge_labels(["x"] * 4) != database.with_edge_labels(["x", "x", "y", "y"])
    assert database.node_labels.tolist() == ["a", "b", "a"], "changed databases leave the original"
    empty = np.zeros((3, 3))
    assert GraphDatabase(empty, [0, 3]) != GraphDatabase(empty, [0, 1, 3])
    assert GraphDatabase(empty, [0, 3]) != GraphDatabase(empty, [0, 3, 3])
    assert database[0] == database[0] != one(2)[0]
    assert database[0] != database


def test_order_in_which_labels_first_appear_does_not_matter():
    whole = GraphDatabase(np.zeros((4, 4)), [0, 2, 4], ["x", "y", "b", "a"])
    assert whole[1:] == GraphDatabase(np.zeros((2, 2)), [0, 2], ["b", "a"])


@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_pickle_and_copies_are_equal(name, database):
    assert repr(database)  # fills the caches, which are left behind
    for twin in (pickle.loads(pickle.dumps(database)), copy.copy(database), copy.deepcopy(database)):
        assert twin == database
        assert type(twin) is GraphDatabase
        assert "directed_graphs" not in twin.__dict__
    graph = database[0]
    assert pickle.loads(pickle.dumps(graph)) == copy.deepcopy(graph) == graph


def test_it_shows_what_the_database_holds():
    whole = GraphDatabase.concat(
        [
            one(2, [(0, 1)], ["a", "b"], attributes=[[1, 2], [3, 4]], edge_labels=["x"]),
            one(3, path_edges(3), ["c", None, "a"], attributes=np.eye(3, 2), edge_labels=["y", "z"]),
        ]
    )
    graph = whole[1]
    assert graph.n_nodes == 3
    assert graph.n_edges == 2
    assert graph.node_labels.tolist() == ["c", None, "a"]
    assert graph.node_attributes.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.edge_labels.tolist() == ["y", "y", "z", "z"]
    assert graph.database == whole[1:]


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


@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_everything_of_the_zoo_is_itself(name, database):
    assert database[:] == database[list(range(len(database)))] == database
    assert [database[i] for i in range(len(database))] == list(database)
    assert database[-1] == database[len(database) - 1]
    assert len(database[:0]) == 0


def test_subsets_are_copies():
    database = GraphDatabase(np.ones((2, 2)), [0, 1, 2][::2], [1, 2], [1.0, 2.0])
    part = database[0]
    assert not np.shares_memory(part.adjacency.data, database.adjacency.data)
    assert not np.shares_memory(part.node_attributes, database.node_attributes)


JOIN_OPTIONS = {"weighted": True, "directed": True, "partial": True, "n_attributes": 1, "edge_labels": True}


@pytest.mark.slow
@given(databases(max_graphs=5, labelled="any", **JOIN_OPTIONS))
def test_all_singles_joined_are_the_database(database):
    assert GraphDatabase.concat(list(database)) == database
    assert GraphDatabase.concat(graph.database for graph in database) == database


def test_without_labels_beside_labels_is_unobserved():
    joined = GraphDatabase.concat([one(2, labels=None), one(2, labels=[5, 6]), one(1, labels=None)])
    assert joined.node_labels.tolist() == [-1, -1, 5, 6, -1]
    joined = GraphDatabase.concat([one(1, labels=["a"]), one(1, labels=None)])
    assert joined.node_labels.tolist() == ["a", None]
    joined = GraphDatabase.concat([one(2, labels=[1, -1]), one(1, labels=["1"])])
    assert joined.node_labels.tolist() == [1, None, "1"]
    assert GraphDatabase.concat([one(2, labels=None), one(1, labels=None)]).node_labels is None
    assert len(GraphDatabase.concat([])) == 0


def test_edge_labels_beside_none_are_unobserved():
    labelled = one(2, [(0, 1)], edge_labels=["x"])
    joined = GraphDatabase.concat([one(3, path_edges(3)), labelled])
    assert joined.edge_labels.tolist() == [None] * 4 + ["x", "x"]


def test_attributes_are_stacked():
    joined = GraphDatabase.concat([one(2, attributes=[1, 2]), one(0), one(1, attributes=[3])])
    assert joined.node_attributes.tolist() == [[1], [2], [3]]


def test_graphs_without_nodes_agree_with_any_attributes():
    empty = GraphDatabase(np.zeros((0, 0)), [0, 0], node_attributes=np.zeros((0, 3)))
    assert GraphDatabase.concat([empty, one(1, attributes=[3])]).node_attributes.shape == (1, 1)
    assert GraphDatabase.concat([empty, one(1)]).node_attributes is None
    assert GraphDatabase.concat([empty, empty]).node_attributes.shape == (0, 3)


def test_sparse_attributes_stay_sparse():
    values = np.array([[0.0, 2.0, np.nan], [0.0, 0.0, 1.0], [3.0, 0.0, 0.0]])
    graphs = GraphDatabase(PATH, [0, 3], node_attributes=sparse.coo_array(np.nan_to_num(values, nan=5.0)))
    assert isinstance(graphs.attribute_matrix, sparse.csr_array)
    assert isinstance(graphs[[0]].attribute_matrix, sparse.csr_array)
    dense = GraphDatabase(PATH, [0, 3], node_attributes=np.nan_to_num(values, nan=5.0))
    assert (graphs.node_attributes == dense.node_attributes).all()
    assert graphs == dense
    joined = GraphDatabase.concat([graphs, dense])
    assert isinstance(joined.attribute_matrix, sparse.csr_array)
    assert joined.attribute_matrix.shape == (6, 3)
    assert graphs != GraphDatabase(PATH, [0, 3], node_attributes=sparse.csr_array((3, 3)))
    assert pickle.loads(pickle.dumps(graphs)) == graphs
    assert "3 attributes" in repr(graphs)


def test_files_keep_sparse_attributes_and_distributions(tmp_path):
    graphs = GraphDatabase(PATH, [0, 3], node_attributes=sparse.eye_array(3, format="csr"))
    graphs = graphs.with_labels(pk.LabelDistributions(np.eye(3) / 2 + 1 / 6, ["C", "N", "O"]))
    graphs.save(tmp_path / "graphs.pk")
    loaded = GraphDatabase.load(tmp_path / "graphs.pk")
    assert loaded == graphs
    assert isinstance(loaded.attribute_matrix, sparse.csr_array)
