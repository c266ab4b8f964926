"""Point clouds to graphs of nearest neighbors."""

import numpy as np
import pytest

import propkernels as pk


def test_points_are_the_knn_graphs_of_each_cloud():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(n, 3)) for n in (20, 2, 1, 9)]
    normals = [rng.normal(size=cloud.shape) for cloud in clouds]
    graphs = pk.from_points(clouds, k=4, normals=normals)
    for cloud, normal, graph in zip(clouds, normals, graphs, strict=True):
        expected = pk.graphs.knn_graph(cloud, 4)
        assert np.array_equal(graph.adjacency.toarray(), expected.toarray())
        np.testing.assert_allclose(
            graph.node_attributes[:, 0], pk.graphs.curvature(expected, normal), rtol=1e-12
        )
        rows, cols = graph.adjacency.tocoo().coords
        lengths = np.linalg.norm(cloud[rows] - cloud[cols], axis=1)
        np.testing.assert_allclose(graph.edge_attributes[:, 0], lengths)


def test_lengths_as_weights():
    graphs = pk.from_points([[[0.0], [1.0], [3.0]]], k=1, normals=False).with_weights("length")
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
