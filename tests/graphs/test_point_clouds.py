"""k-NN graphs and curvature."""

from __future__ import annotations

import numpy as np
import pytest

import propkernels as pk


def naive(points, k, mutual):
    n = len(points)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    directed = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: distances[i, j])
        directed[i, others[:k]] = True
    return directed & directed.T if mutual else directed | directed.T


@pytest.mark.parametrize("mutual", [False, True])
@pytest.mark.parametrize("k", [1, 4, 100])
def test_equals_the_definition(k, mutual):
    points = np.random.default_rng(k).normal(size=(40, 3))
    computed = pk.graphs.knn_graph(points, k, mutual=mutual)
    assert np.array_equal(computed.toarray(), naive(points, k, mutual).astype(float))


def test_points_that_coincide_are_not_neighbors_of_themselves():
    graph = pk.graphs.knn_graph(np.zeros((12, 2)), 3)
    assert not graph.diagonal().any()
    assert (graph.toarray().sum(axis=1) >= 3).all()


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_points_have_no_edges(n):
    graph = pk.graphs.knn_graph(np.zeros((n, 3)))
    assert graph.shape == (n, n)
    assert graph.nnz == 0


def test_the_graph_goes_into_a_kernel():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(20, 3)) for _ in range(3)]
    kernel = pk.PropagationKernel(t_max=2, random_state=0)
    computed = kernel.fit_transform([(pk.graphs.knn_graph(cloud), [0, 1] * 10) for cloud in clouds])
    expected = kernel.fit_transform([(naive(cloud, 4, False).astype(float), [0, 1] * 10) for cloud in clouds])
    assert np.array_equal(computed, expected)


@pytest.mark.parametrize(
    ("points", "message"),
    [([1.0, 2.0], "two dimensions"), ([[0.0], [np.nan]], "point 1 is")],
)
def test_bad_points(points, message):
    with pytest.raises(ValueError, match=message):
        pk.graphs.knn_graph(points)


def test_bad_number():
    with pytest.raises(ValueError, match="n_neighbors"):
        pk.graphs.knn_graph([[0.0], [1.0]], 0)


def naive_curvature(adjacency, normals):
    """The paper's sum, for complete normals of length 1."""
    return [
        sum(1 - abs(normals[u] @ normals[v]) for v in np.flatnonzero(adjacency[u]) if u != v)
        for u in range(len(normals))
    ]


def random_cloud(seed):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(30, 3))
    return pk.graphs.knn_graph(rng.normal(size=(30, 3))), normals / np.linalg.norm(normals, axis=1)[:, None]


def test_curvature_equals_the_definition():
    graph, normals = random_cloud(0)
    assert np.allclose(
        pk.graphs.curvature(graph, normals), naive_curvature(graph.toarray(), normals), atol=1e-14
    )


def test_length_and_direction_of_normals_do_not_matter():
    graph, normals = random_cloud(1)
    other = normals * np.random.default_rng(2).choice([-3.0, 0.5], size=(30, 1))
    assert np.allclose(pk.graphs.curvature(graph, other), pk.graphs.curvature(graph, normals))


def test_weights_and_self_loops_do_not_matter():
    graph, normals = random_cloud(3)
    changed = graph.toarray() * 7 + np.eye(30)
    assert np.allclose(pk.graphs.curvature(changed, normals), pk.graphs.curvature(graph, normals))


def test_mean_divides_by_the_neighbours():
    graph, normals = random_cloud(4)
    degrees = np.diff(graph.indptr)
    assert np.allclose(
        pk.graphs.curvature(graph, normals, mean=True), pk.graphs.curvature(graph, normals) / degrees
    )


def test_unknown_normals_do_not_count():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    computed = pk.graphs.curvature(path, [[0, 0, 1], [0, 1, 1], [np.nan, np.nan, np.nan]])
    assert np.allclose(computed, [1 - 0.5**0.5, 1 - 0.5**0.5, np.nan], equal_nan=True)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="do not fit"):
        pk.graphs.curvature(np.zeros((2, 2)), np.zeros((3, 3)))


@pytest.mark.slow
@pytest.mark.data
def test_the_attribute_in_the_files_is_one_less_the_mean(data_folder):
    data = pk.datasets.read_tu(data_folder / "FIRSTMM_DB.zip")
    mean = pk.graphs.curvature(data.graphs.adjacency, data.extras["normals"], mean=True)
    same = np.abs(1 - mean - data.graphs.node_attributes[:, 0]) < 1e-5
    assert same.mean() > 0.99
