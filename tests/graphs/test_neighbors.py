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
    computed = pk.knn_graph(points, k, mutual=mutual)
    assert np.array_equal(computed.toarray(), naive(points, k, mutual).astype(float))


def test_points_that_coincide_are_no_neighbours_of_themselves():
    graph = pk.knn_graph(np.zeros((12, 2)), 3)
    assert not graph.diagonal().any()
    assert (graph.toarray().sum(axis=1) >= 3).all()


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_points_have_no_edges(n):
    assert pk.knn_graph(np.zeros((n, 3))).shape == (n, n)


def test_the_graph_goes_into_a_kernel():
    rng = np.random.default_rng(0)
    clouds = [rng.normal(size=(20, 3)) for _ in range(3)]
    graphs = [(pk.knn_graph(cloud), [0, 1] * 10) for cloud in clouds]
    assert pk.PropagationKernel(t_max=2, random_state=0).fit_transform(graphs).shape == (3, 3)


@pytest.mark.parametrize(
    ("points", "message"),
    [([1.0, 2.0], "two dimensions"), ([[0.0], [np.nan]], "point 1 is")],
)
def test_bad_points(points, message):
    with pytest.raises(ValueError, match=message):
        pk.knn_graph(points)


def test_bad_number():
    with pytest.raises(ValueError, match="n_neighbors"):
        pk.knn_graph([[0.0], [1.0]], 0)
