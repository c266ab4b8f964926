import numpy as np
import pytest

import propkernels as pk


def naive(adjacency, normals):
    """The paper's sum, for complete normals of length 1."""
    return [
        sum(1 - abs(normals[u] @ normals[v]) for v in np.flatnonzero(adjacency[u]) if u != v)
        for u in range(len(normals))
    ]


def random_cloud(seed):
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(30, 3))
    return pk.knn_graph(rng.normal(size=(30, 3))), normals / np.linalg.norm(normals, axis=1)[:, None]


def test_equals_the_definition():
    graph, normals = random_cloud(0)
    assert np.allclose(pk.curvature(graph, normals), naive(graph.toarray(), normals), atol=1e-14)


def test_length_and_direction_of_normals_do_not_matter():
    graph, normals = random_cloud(1)
    other = normals * np.random.default_rng(2).choice([-3.0, 0.5], size=(30, 1))
    assert np.allclose(pk.curvature(graph, other), pk.curvature(graph, normals))


def test_weights_and_self_loops_do_not_matter():
    graph, normals = random_cloud(3)
    changed = graph.toarray() * 7 + np.eye(30)
    assert np.allclose(pk.curvature(changed, normals), pk.curvature(graph, normals))


def test_mean_divides_by_the_neighbours():
    graph, normals = random_cloud(4)
    degrees = np.diff(graph.indptr)
    assert np.allclose(pk.curvature(graph, normals, mean=True), pk.curvature(graph, normals) / degrees)


def test_unknown_normals_do_not_count():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    computed = pk.curvature(path, [[0, 0, 1], [0, 1, 1], [np.nan, np.nan, np.nan]])
    assert np.allclose(computed, [1 - 0.5**0.5, 1 - 0.5**0.5, np.nan], equal_nan=True)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="do not fit"):
        pk.curvature(np.zeros((2, 2)), np.zeros((3, 3)))


@pytest.mark.data
def test_the_attribute_in_the_files_is_one_less_the_mean(data_folder):
    data = pk.datasets.read_tu(data_folder / "FIRSTMM_DB.zip")
    mean = pk.curvature(data.graphs.adjacency, data.extras["normals"], mean=True)
    same = np.abs(1 - mean - data.graphs.node_attributes[:, 0]) < 1e-5
    assert same.mean() > 0.99
