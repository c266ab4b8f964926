"""Points, triples, matrices, GraKeL's formats, Parquet: what they read and what they refuse."""

import numpy as np
import pytest
from scipy import sparse

import propkernels as pk
from propkernels.convert.parquet import from_parquet, iter_parquet, read_parquet, to_parquet
from propkernels.graphs import GraphDatabase

# points


def test_points_are_the_knn_graphs_of_each_cloud():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(n, 3)) for n in (20, 2, 1, 9)]
    normals = [rng.normal(size=cloud.shape) for cloud in clouds]
    for mutual in (False, True):
        graphs = pk.from_points(clouds, k=4, normals=normals, mutual=mutual)
        for cloud, normal, graph in zip(clouds, normals, graphs, strict=True):
            expected = pk.graphs.knn_graph(cloud, 4, mutual=mutual)
            assert np.array_equal(graph.adjacency.toarray(), expected.toarray())
            np.testing.assert_allclose(
                graph.node_attributes[:, 0], pk.graphs.curvature(expected, normal), rtol=1e-12
            )
            rows, cols = graph.adjacency.tocoo().coords
            lengths = np.linalg.norm(cloud[rows] - cloud[cols], axis=1)
            np.testing.assert_allclose(graph.edge_attributes[:, 0], lengths)


def test_lengths_as_weights():
    graphs = pk.from_points([[[0.0], [1.0], [3.0]]], k=1, weight="length", normals=False)
    assert graphs.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
    assert graphs.node_attributes is None


def test_estimated_normals_of_a_plane_and_a_sphere():
    rng = np.random.default_rng(0)
    plane = np.column_stack([rng.normal(size=(80, 2)), np.zeros(80)])
    sphere = rng.normal(size=(80, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    flat, round_ = pk.from_points([plane, sphere])
    assert np.nanmax(flat.node_attributes) < 1e-9
    assert np.nanmean(round_.node_attributes) > 0.01


def test_more_neighbors_than_points(monkeypatch):
    clouds = [np.random.default_rng(i).normal(size=(n, 3)) for i, n in enumerate((9, 2, 5))]
    everyone = pk.from_points(clouds, k=8)
    assert pk.from_points(clouds, k=10**9) == everyone
    monkeypatch.setattr("propkernels.convert.points.VALUES_IN_MEMORY", 40)
    again = pk.from_points(clouds, k=8)
    np.testing.assert_allclose(again.node_attributes, everyone.node_attributes, rtol=1e-12)


def test_neighbors_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("propkernels._utils.arrays.available_memory", lambda: 2**26)
    with pytest.raises(MemoryError, match="choose a smaller k"):
        pk.from_points([np.zeros((3000, 2))], k=2000)


def test_points_that_are_wrong():
    good = np.zeros((3, 2)) + np.arange(3)[:, None]
    for wrong, message in (
        ([[1, 2], [3]], "cloud 1: points must be rows of numbers, all of one length"),
        ([1.0, 2.0], r"cloud 1: points must be of shape \(n, d\), got the shape \(2,\)"),
        ([[1.0, np.nan]], r"cloud 1: point 0 is not finite: \[1.0, nan\]"),
        (np.zeros((2, 3)), "cloud 1 has points with 3 coordinates, others have 2"),
    ):
        with pytest.raises(ValueError, match=message):
            pk.from_points([good, wrong])
        with pytest.warns(UserWarning, match="skipped 1 of 2 clouds"):
            assert len(pk.from_points([good, wrong], errors="skip")) == 1
    with pytest.raises(ValueError, match=r"cloud 0: normals must be of shape \(3, 2\), got \(1, 2\)"):
        pk.from_points([good], normals=[[[0, 1]]])


# triples

FACTS = [("a", "r", "b"), ("a", "s", "b"), ("b", "r", "c"), ("c", "r", "d"), ("d", "t", "a"), ("a", "r", "b")]


def naive_neighborhood(facts, root, radius):
    inside = {root}
    for _ in range(radius):
        inside |= {x for h, _, t in facts for x in (h, t) if h in inside or t in inside}
    return inside, {(h, r, t) for h, r, t in facts if h in inside and t in inside}


@pytest.mark.parametrize("radius", [0, 1, 2, 3])
def test_neighborhoods_against_sets(radius):
    rng = np.random.default_rng(radius)
    facts = [(int(u), "rst"[r], int(v)) for u, v, r in rng.integers(0, [12, 12, 3], size=(18, 3))]
    graphs = pk.from_triples(facts, radius=radius, node_labels="entity")
    assert len(graphs) == len({x for h, _, t in facts for x in (h, t)})
    for graph in graphs:
        inside, expected = naive_neighborhood(facts, graph.id, radius)
        names = graph.node_labels.tolist()
        assert names[0] == graph.id
        assert set(names) == inside
        rows, cols = graph.adjacency.tocoo().coords
        labels = graph.edge_labels.tolist() if graph.edge_labels is not None else []
        found = {(names[u], label, names[v]) for u, v, label in zip(rows, cols, labels, strict=True)}
        assert found == expected


def test_relations_of_one_pair_are_parallel_and_repeated_facts_count_once():
    graphs = pk.from_triples(FACTS, ["a"], radius=1)
    assert graphs.has_parallel_edges
    assert (graphs.adjacency.data == 1).all()
    assert pk.from_triples(np.array(FACTS), ["a"], radius=1) == graphs
    pandas = pytest.importorskip("pandas")
    assert pk.from_triples(pandas.DataFrame(FACTS), ["a"], radius=1) == graphs


@pytest.mark.parametrize("n_facts", [1, 255, 256, 257, 512])
def test_any_number_of_facts_joins_two_entities(n_facts):
    facts = [("a", f"r{i}", "b") for i in range(n_facts)] + [("b", "r", "c")]
    graphs = pk.from_triples(facts, ["a"], radius=2)
    assert graphs.graph_sizes.tolist() == [3]
    assert graphs.adjacency.nnz == n_facts + 1


def test_steps_end_where_nothing_new_is_reached():
    assert pk.from_triples(FACTS, radius=10**12) == pk.from_triples(FACTS, radius=len(FACTS))


def test_triples_that_are_wrong(monkeypatch):
    with pytest.raises(ValueError, match="entity 'x' is in no triple"):
        pk.from_triples(FACTS, ["a", "x"])
    with pytest.warns(UserWarning, match="skipped 1 of 2"):
        assert pk.from_triples(FACTS, ["x", "a"], errors="skip").ids.tolist() == ["a"]
    with pytest.raises(ValueError, match="triple 1 has 2 parts instead of head, relation and tail"):
        pk.from_triples([("a", "r", "b"), ("a", "b")])
    with pytest.raises(ValueError, match="triple 0 has a part that is missing"):
        pk.from_triples([("a", None, "b")])
    monkeypatch.setattr("propkernels.convert.triples.MOST_NODES", 5)
    with pytest.raises(ValueError, match="choose fewer entities or a smaller radius"):
        pk.from_triples(FACTS, radius=2)


# matrices


def test_matrices_in_every_form():
    matrices = [np.array([[0, 1], [1, 0]]), np.array([[0, 2, 0], [0, 0, 1], [0, 0, 0]]), np.zeros((0, 0))]
    labels = [["a", "b"], ["a", None, "b"], []]
    attributes = [np.ones(2), np.arange(3.0), np.zeros(0)]
    expected = pk.check_graphs(
        [(m, n, a[:, None]) for m, n, a in zip(matrices, labels, attributes, strict=True)]
    )
    for kind in (np.asarray, sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        found = pk.from_adjacency([kind(m) for m in matrices], node_labels=labels, node_attributes=attributes)
        assert found == expected
    stack = np.stack([matrices[0], matrices[0]])
    assert pk.from_adjacency(stack, node_labels=np.array([[1, 2], [3, 4]])).node_labels.tolist() == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, bool])
def test_repeated_entries_of_small_integers_are_added_up(dtype):
    ends = np.array([0, 1] * 256), np.array([1, 0] * 256)
    matrix = sparse.coo_array((np.ones(512, dtype=dtype), ends), shape=(2, 2))
    assert pk.from_adjacency([matrix]).adjacency.toarray().tolist() == [[0, 256], [256, 0]]
    attributes = sparse.coo_array((np.ones(512, dtype=dtype), ends), shape=(2, 2))
    graphs = GraphDatabase(np.zeros((2, 2)), [0, 2], node_attributes=attributes)
    assert graphs.node_attributes.tolist() == [[0, 256], [256, 0]]


def test_matrices_that_are_wrong():
    good = np.array([[0, 1], [1, 0]])
    broken = sparse.csr_array(good)
    broken.indptr = np.array([0, 2, 1])
    misplaced = sparse.csc_array(good)
    misplaced.indices = np.array([10**6, 0])
    for wrong, message in (
        (np.zeros((2, 3)), r"graph 1: an adjacency matrix must be square, got shape \(2, 3\)"),
        ([[1, 2], [3]], "graph 1: rows of the adjacency matrix are of different lengths"),
        (-good, r"graph 1: edge \(0, 1\) has weight -1.0: weights must be finite and not negative"),
        (good.astype(complex), "graph 1: an adjacency matrix must hold real numbers"),
        (broken, "graph 1: the adjacency matrix"),
        (misplaced, "graph 1: the adjacency matrix"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            pk.from_adjacency([good, wrong])
        with pytest.warns(UserWarning, match="skipped 1 of 2 graphs"):
            assert pk.from_adjacency([good, wrong], errors="skip") == pk.from_adjacency([good])
    with pytest.raises(ValueError, match="graph 0 has 1 node labels for 2 nodes"):
        pk.from_adjacency([good], node_labels=[["a"]])
    with pytest.raises(TypeError, match=r"wrap the one matrix: \[matrix\]"):
        pk.from_adjacency(good)
    with pytest.raises(TypeError, match=r"ids must list one id per graph, got 0\.5"):
        pk.from_adjacency([good], ids=0.5)
    with pytest.raises(TypeError, match=r"ids must be hashable, .* got \[1\]"):
        pk.from_adjacency([good], ids=[[1]])


# GraKeL


@pytest.mark.parametrize(
    "edges",
    [
        {(0, 1), (1, 0), (1, 2), (2, 1)},
        [(0, 1), (1, 0), (1, 2), (2, 1)],
        {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 1.0, (2, 1): 1.0},
        {0: [1], 1: [0, 2], 2: [1]},
        {0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0}},
        np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    ],
    ids=["set", "list", "weights by pair", "neighbors", "weights by neighbor", "matrix"],
)
def test_every_format_of_grakel(edges):
    labels = {0: "a", 1: "b", 2: "a"}
    expected = GraphDatabase([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [0, 3], ["a", "b", "a"])
    assert pk.convert.from_grakel([[edges, labels]]) == expected
    assert pk.check_graphs([[edges, labels]]) == expected
    named = {(0, 1): "x", (1, 0): "x", (1, 2): "y", (2, 1): "y"}
    assert pk.convert.from_grakel([(edges, labels, named)]).edge_labels.tolist() == ["x", "x", "y", "y"]


def test_grakel_attributes_and_faults():
    edges = {(0, 1), (1, 0)}
    assert pk.convert.from_grakel([[edges, {0: [1.0, 2.0], 1: [3.0, 4.0]}]]).node_attributes.tolist() == [
        [1, 2],
        [3, 4],
    ]
    with pytest.raises(ValueError, match=r"graph 0: edge \(.*\) names node 1, which has no label"):
        pk.convert.from_grakel([[edges, {0: "a"}]])
    with pytest.raises(TypeError, match="graph 1 is not a graph in one of GraKeL's formats"):
        pk.convert.from_grakel([[edges, {0: "a", 1: "a"}], 5])


# Parquet


@pytest.fixture
def file(tmp_path):
    graphs = pk.datasets.make_molecules(25, random_state=0).graphs.with_ids([f"m{i}" for i in range(25)])
    to_parquet(graphs, tmp_path / "graphs.parquet", target=np.arange(25), row_group_size=10)
    return tmp_path / "graphs.parquet", graphs


def test_ranges_of_rows_and_row_groups(file):
    path, graphs = file
    assert from_parquet(path) == graphs
    part, target = read_parquet(path, rows=slice(7, 23))
    assert part == graphs[7:23]
    assert part.ids.tolist() == graphs.ids[7:23].tolist()
    assert target.tolist() == list(range(7, 23))
    groups = list(iter_parquet(path))
    assert [len(group) for group, _ in groups] == [10, 10, 5]
    assert GraphDatabase.concat([group for group, _ in groups]) == graphs
    assert len(from_parquet(path, rows=slice(3, 3))) == 0


def test_others_can_read_and_write_the_file(file):
    pandas = pytest.importorskip("pandas")
    path, graphs = file
    table = pandas.read_parquet(path)
    assert table["id"].tolist() == graphs.ids.tolist()
    assert table["n_nodes"].tolist() == graphs.graph_sizes.tolist()
    plain = pandas.DataFrame(
        {"n_nodes": [2], "source": [[0, 1]], "target": [[1, 0]], "node_label": [["C", None]]}
    )
    plain.to_parquet(path)
    found = from_parquet(path)
    assert found == GraphDatabase([[0, 1], [1, 0]], [0, 2], ["C", None])


def test_labels_of_any_kind(tmp_path):
    labels = [(1, "a"), 2.5, "text", None]
    graphs = GraphDatabase(np.zeros((4, 4)), [0, 4], labels)
    to_parquet(graphs, tmp_path / "x")
    assert from_parquet(tmp_path / "x") == graphs
    with pytest.raises(TypeError, match="cannot be written to Parquet"):
        to_parquet(graphs.with_labels([frozenset([1]), 1, 2, 3]), tmp_path / "x")
    assert from_parquet(tmp_path / "x") == graphs  # the old file is whole


def test_files_that_are_wrong(tmp_path):
    pandas = pytest.importorskip("pandas")
    good = {"n_nodes": [2], "source": [[0, 1]], "target": [[1, 0]]}
    for changed, message in (
        ({"source": None}, "has no column 'source'"),
        ({"target": [[1]]}, "graph 0: target has 1 values instead of 2"),
        ({"target": [[1, 5]]}, r"graph 0: edge \(1, 5\) names a node that is not there"),
        ({"source": [[0.5, 1.0]]}, "the column 'source' must hold whole numbers"),
        ({"source": [7]}, "the column 'source' must hold lists"),
        ({"id": ["x"], "weight": [[1.0, -1.0]]}, r"graph 'x': edge \(1, 0\) has weight -1.0"),
        ({"id": ["x"], "node_label": [["C"]]}, "graph 'x': node_label has 1 values instead of 2"),
    ):
        columns = {name: value for name, value in (good | changed).items() if value is not None}
        pandas.DataFrame(columns).to_parquet(tmp_path / "wrong.parquet")
        with pytest.raises(ValueError, match=message):
            from_parquet(tmp_path / "wrong.parquet")
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(ValueError, match="is not a Parquet file, or it is damaged"):
        from_parquet(tmp_path / "text.parquet")
    with pytest.raises(FileNotFoundError, match=r"the file .* does not exist"):
        from_parquet(tmp_path / "nothing")


# extras that are missing


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("igraph", lambda graphs: pk.convert.to_igraph(graphs), "igraph"),
        ("pandas", lambda graphs: pk.convert.to_pandas(graphs), "pandas"),
        ("rdkit.Chem", lambda graphs: pk.from_smiles(["C"]), "chem"),
        ("pyarrow", lambda graphs: graphs.to_parquet("x"), "parquet"),
        ("torch", lambda graphs: pk.convert.to_pyg(graphs), "pyg"),
    ],
)
def test_missing_packages_are_named_with_their_extra(module, call, extra, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"install it with pip install 'propkernels\[{extra}\]'"):
        call(GraphDatabase([[0, 1], [1, 0]], [0, 2]))


@pytest.mark.parametrize("name", [name for name in dir(pk) if name.startswith("from_")])
@pytest.mark.parametrize("what", [5.0, None, np.float64(3)])
def test_what_is_not_a_collection_is_refused_in_one_sentence(name, what):
    with pytest.raises((TypeError, ImportError), match=r"^(expected|edges must|.* must be|.* needs)"):
        getattr(pk, name)(what)


def test_no_points_and_parts_that_are_not_triples():
    assert len(pk.from_points([])) == 0
    with pytest.raises(TypeError, match="expected a list of three parts as triple 1, got 5"):
        pk.from_triples([("a", "likes", "b"), 5])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([2**63 - 1, 2**63 - 1, 5], r"n_nodes' must add up to less than 2\*\*62, got 1.8e\+19"),
        ([2**64 - 1], r"n_nodes' must add up to less than 2\*\*62"),
        ([2, -1], "n_nodes' must not be negative, got -1 at position 1"),
        (
            [10**8],
            "nodes without labels are declared beside 1 graphs and edges, which allow 1,048,640",
        ),
    ],
)
def test_parquet_that_declares_nodes_that_cannot_be(tmp_path, numbers, message):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    none = pa.array([[]] * len(numbers), pa.list_(pa.int64()))
    kind = pa.uint64() if max(numbers) >= 2**63 else pa.int64()
    path = tmp_path / "graphs.parquet"
    pq.write_table(pa.table({"n_nodes": pa.array(numbers, kind), "source": none, "target": none}), path)
    with pytest.raises(ValueError, match=message):
        pk.GraphDatabase.from_parquet(path)


def test_parquet_that_could_not_be_read_is_not_written(tmp_path):
    pytest.importorskip("pyarrow")
    n = 2**20 + 65
    bare = pk.GraphDatabase(sparse.csr_array((n, n)), [0, n])
    with pytest.raises(ValueError, match="give the nodes labels"):
        bare.to_parquet(tmp_path / "graphs.parquet")
    assert not list(tmp_path.iterdir())
    labelled = pk.GraphDatabase(sparse.csr_array((n, n)), [0, n], node_labels=np.ones(n, dtype=int))
    labelled.to_parquet(tmp_path / "graphs.parquet")
    assert pk.GraphDatabase.from_parquet(tmp_path / "graphs.parquet") == labelled
