"""Point clouds to graphs of nearest neighbors."""

import numpy as np
import pytest

import propkernels as pk


def test_points_are_the_knn_graphs_of_each_cloud(monkeypatch):
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(n, 3)) for n in (20, 2, 1, 9)]
    graphs = pk.from_points(clouds, k=4)
    monkeypatch.setattr("propkernels.convert.points.VALUES_IN_MEMORY", 40)
    assert pk.from_points(clouds, k=4) == graphs
    assert pk.from_points(clouds, k=10**9) == pk.from_points(clouds, k=19)
    for cloud, graph in zip(clouds, graphs, strict=True):
        expected = pk.convert.knn_graph(cloud, 4)
        assert np.array_equal(graph.adjacency.toarray(), expected.toarray())
        rows, cols = graph.adjacency.tocoo().coords
        lengths = np.linalg.norm(cloud[rows] - cloud[cols], axis=1)
        np.testing.assert_allclose(graph.edge_attributes[:, 0], lengths)


def test_estimated_normals_of_a_plane_and_a_sphere():
    rng = np.random.default_rng(0)
    plane = np.column_stack([rng.normal(size=(80, 2)), np.zeros(80)])
    sphere = rng.normal(size=(80, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    flat, round_ = pk.from_points([plane, sphere])
    assert np.nanmax(flat.node_attributes) < 1e-9
    assert np.nanmean(round_.node_attributes) > 0.01


def test_neighbors_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr("propkernels._utils.arrays.available_memory", lambda: 2**26)
    with pytest.raises(MemoryError, match="choose a smaller k"):
        pk.from_points([np.zeros((3000, 2))], k=2000)


def naive_neighbors(points, k):
    n = len(points)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    directed = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: distances[i, j])
        directed[i, others[:k]] = True
    return directed | directed.T


@pytest.mark.parametrize("k", [1, 4, 100])
def test_equals_the_definition(k):
    points = np.random.default_rng(k).normal(size=(40, 3))
    computed = pk.convert.knn_graph(points, k)
    assert np.array_equal(computed.toarray(), naive_neighbors(points, k).astype(float))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_points_have_no_edges(n):
    graph = pk.convert.knn_graph(np.zeros((n, 3)))
    assert graph.shape == (n, n)
    assert graph.nnz == 0


def naive_curvature(adjacency, normals):
    """The paper's sum, for complete normals of length 1."""
    return [
        sum(1 - abs(normals[u] @ normals[v]) for v in np.flatnonzero(adjacency[u]) if u != v)
        for u in range(len(normals))
    ]


def random_cloud(seed):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(30, 3))
    return pk.convert.knn_graph(rng.normal(size=(30, 3))), normals / np.linalg.norm(normals, axis=1)[:, None]


def test_curvature_equals_the_definition():
    """Whatever the lengths and signs of normals, the weights and the loops."""
    graph, normals = random_cloud(0)
    expected = naive_curvature(graph.toarray(), normals)
    other = normals * np.random.default_rng(2).choice([-3.0, 0.5], size=(30, 1))
    for edges, given in ((graph, normals), (graph, other), (graph.toarray() * 7 + np.eye(30), normals)):
        np.testing.assert_allclose(pk.convert.curvature(edges, given), expected, atol=1e-14)
    mean = pk.convert.curvature(graph, normals, mean=True)
    np.testing.assert_allclose(mean, expected / np.diff(graph.indptr))


def test_unknown_normals_do_not_count():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    computed = pk.convert.curvature(path, [[0, 0, 1], [0, 1, 1], [np.nan, np.nan, np.nan]])
    assert np.allclose(computed, [1 - 0.5**0.5, 1 - 0.5**0.5, np.nan], equal_nan=True)


@pytest.mark.slow
@pytest.mark.data
def test_the_attribute_in_the_files_is_one_less_the_mean(data_folder):
    data = pk.datasets.read_tu(data_folder / "FIRSTMM_DB.zip")
    mean = pk.convert.curvature(data.graphs.adjacency, data.extras["normals"], mean=True)
    same = np.abs(1 - mean - data.graphs.node_attributes[:, 0]) < 1e-5
    assert same.mean() > 0.99
