"""GraphDatabase, Graph, subsets and concatenation."""

from __future__ import annotations

import copy
import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import block_diag, csr_array

import propkernels as pk
from propkernels.graphs import Graph, GraphDatabase
from tests.strategies import databases, graphs, permutations
from tests.zoo import labelled_zoo, one, path_edges, zoo, zoo_databases

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
    assert {"GraphDatabase", "check_graphs", "from_networkx"} <= set(dir(pk))


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


def test_nothing_where_there_is_nothing():
    graph = one(2, labels=None)[0]
    assert graph.node_labels is None
    assert graph.node_attributes is None
    assert graph.edge_labels is None


def test_equality():
    graphs = zoo()["two identical graphs"]
    assert graphs[0] == graphs[1]
    assert graphs[0] != zoo()["star"][0]
    assert graphs[0] != graphs
    assert graphs[0] != "graph"
    with pytest.raises(TypeError, match="unhashable"):
        hash(graphs[0])


def test_one_graph_only():
    with pytest.raises(ValueError, match=r"^a Graph is made of a database with one graph, got 2$"):
        Graph(zoo()["two identical graphs"])


def test_repr():
    assert repr(zoo()["single node"][0]) == "Graph(1 node, 0 edges, 1 node label)"


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
@given(databases(max_graphs=6, labelled="any", **OPTIONS), st.data())
def test_a_permutation_and_its_inverse_cancel(database, data):
    order = np.array(data.draw(permutations(len(database))), dtype=np.int64)
    assert database[order][np.argsort(order)] == database


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
    assert not np.shares_memory(part.adjacency.data, database.adjacency.data)
    assert not np.shares_memory(part.node_attributes, database.node_attributes)


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


JOIN_OPTIONS = {"weighted": True, "directed": True, "partial": True, "n_attributes": 1, "edge_labels": True}


@pytest.mark.slow
@given(databases(max_graphs=5, labelled="any", **JOIN_OPTIONS))
def test_all_singles_joined_are_the_database(database):
    assert GraphDatabase.concat(list(database)) == database
    assert GraphDatabase.concat(graph.database for graph in database) == database


@pytest.mark.slow
@given(graphs(**JOIN_OPTIONS), graphs(**JOIN_OPTIONS))
def test_adjacency_is_block_diagonal(a, b):
    joined = GraphDatabase.concat([a, b])
    assert (joined.adjacency != block_diag([a.adjacency, b.adjacency])).nnz == 0
    assert joined[:1] == a
    assert joined[1:] == b


def test_zoo_in_pieces():
    database = labelled_zoo()
    assert GraphDatabase.concat([database[:3], database[3:4], database[4:4], database[4:]]) == database


def test_nothing_and_one():
    assert len(GraphDatabase.concat([])) == 0
    assert GraphDatabase.concat([zoo()["star"]]) == zoo()["star"]


def test_without_labels_beside_labels_is_unobserved():
    joined = GraphDatabase.concat([one(2, labels=None), one(2, labels=[5, 6]), one(1, labels=None)])
    assert joined.node_labels.tolist() == [-1, -1, 5, 6, -1]
    joined = GraphDatabase.concat([one(1, labels=["a"]), one(1, labels=None)])
    assert joined.node_labels.tolist() == ["a", None]


def test_integer_and_string_labels_become_objects():
    joined = GraphDatabase.concat([one(2, labels=[1, -1]), one(1, labels=["1"])])
    assert joined.node_labels.tolist() == [1, None, "1"]


def test_no_labels_anywhere_stay_none():
    joined = GraphDatabase.concat([one(2, labels=None), one(1, labels=None)])
    assert joined.node_labels is None
    assert joined.edge_labels is None


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


def test_attributes_missing_in_one_item():
    with pytest.raises(ValueError, match=r"^item 0 has no node attributes but item 2 has some$"):
        GraphDatabase.concat([one(1), one(0), one(1, attributes=[1])])


def test_attributes_of_different_dimensions():
    one_d, two_d = one(1, attributes=[1]), one(1, attributes=[[1, 2]])
    with pytest.raises(ValueError, match=r"^item 2 has 2 attribute dimensions but item 0 has 1$"):
        GraphDatabase.concat([one_d, one_d, two_d])


def test_items_of_another_kind():
    with pytest.raises(TypeError, match=r"^item 1 is a str, not a GraphDatabase$"):
        GraphDatabase.concat([one(1), "graph"])


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


def test_sparse_attributes_are_checked():
    with pytest.raises(ValueError, match="has 2 rows for 3 nodes"):
        GraphDatabase(PATH, [0, 3], node_attributes=sparse.csr_array((2, 2)))
    infinite = sparse.coo_array(([np.inf], ([1], [0])), shape=(3, 2))
    with pytest.raises(ValueError, match="node 1 of graph 0 has an infinite attribute in dimension 0"):
        GraphDatabase(PATH, [0, 3], node_attributes=infinite)


def test_files_keep_sparse_attributes(tmp_path):
    graphs = GraphDatabase(PATH, [0, 3], node_attributes=sparse.eye_array(3, format="csr"))
    graphs.save(tmp_path / "graphs.pk")
    loaded = GraphDatabase.load(tmp_path / "graphs.pk")
    assert loaded == graphs
    assert isinstance(loaded.attribute_matrix, sparse.csr_array)
