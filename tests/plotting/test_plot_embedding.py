"""plot_embedding: kernel PCA in two dimensions."""

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

import propkernels as pk
from propkernels.plotting.plot_embedding import embed

POINTS = np.random.default_rng(0).normal(size=(12, 4)) * [4, 2, 1, 0.5]
TARGET = np.arange(12) % 3


def offsets(ax):
    return [np.asarray(part.get_offsets()) for part in ax.collections]


def test_points_are_those_of_principal_component_analysis():
    reference = PCA(2).fit(POINTS)
    points, shares = embed(POINTS @ POINTS.T)
    assert np.abs(points) == pytest.approx(np.abs(reference.transform(POINTS)))
    assert shares == pytest.approx(reference.explained_variance_ratio_)


def test_classes_have_colors_and_a_legend():
    ax = pk.plotting.plot_embedding(POINTS @ POINTS.T, TARGET, target_names=["x", "y", "z"])
    assert [len(part) for part in offsets(ax)] == [4, 4, 4]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y", "z"]
    assert len({tuple(part.get_facecolor()[0]) for part in ax.collections}) == 3
    points, shares = embed(POINTS @ POINTS.T)
    assert offsets(ax)[1] == pytest.approx(points[TARGET == 1])
    assert f"({100 * shares[0]:.0f} %)" in ax.get_xlabel()
    assert f"({100 * shares[1]:.0f} %)" in ax.get_ylabel()


def test_features_and_their_kernel_give_the_same_picture():
    kernel = pk.plotting.plot_embedding(POINTS @ POINTS.T)
    for features in (POINTS, csr_array(POINTS)):
        assert offsets(pk.plotting.plot_embedding(features))[0] == pytest.approx(offsets(kernel)[0], abs=1e-9)


def test_numbers_get_a_color_bar():
    ax = pk.plotting.plot_embedding(POINTS, np.linspace(0, 1, 12))
    assert ax.get_legend() is None
    assert ax.figure.axes[-1].get_ylabel() == "target"
    assert np.array_equal(ax.collections[0].get_array(), np.linspace(0, 1, 12))


@pytest.mark.slow
@pytest.mark.parametrize(
    "matrix", [np.ones((4, 4)), np.eye(2), np.zeros((5, 5)), np.outer([1, 2, 3], [1, 2, 3.0])]
)
def test_too_little_to_see(matrix):
    points, shares = embed(matrix)
    assert np.isfinite(points).all()
    assert 0 <= shares.sum() <= 1 + 1e-12
    pk.plotting.plot_embedding(matrix).figure.canvas.draw()


def test_it_draws_where_it_is_told():
    ax = Figure().subplots()
    assert pk.plotting.plot_embedding(POINTS, ax=ax) is ax


def test_bad_arguments():
    with pytest.raises(ValueError, match="one row per graph"):
        pk.plotting.plot_embedding(np.ones(3))
    with pytest.raises(ValueError, match="one value for each of 12 graphs"):
        pk.plotting.plot_embedding(POINTS, TARGET[:5])


def test_without_matplotlib_the_error_names_the_extra(without):
    without("matplotlib")
    with pytest.raises(ImportError, match=r"pip install .*matplotlib"):
        pk.plotting.plot_embedding(POINTS)


def test_graphs_are_refused():
    graphs = pk.datasets.make_molecules(3, random_state=0).graphs
    for wrong in (graphs, list(graphs), [nx.path_graph(3)] * 3):
        with pytest.raises(
            TypeError, match="takes a kernel matrix, or features with one row per graph, got graphs"
        ):
            pk.plotting.plot_embedding(wrong)
    with pytest.raises(TypeError, match="got graphs"):
        pk.plotting.plot_kernel(graphs)
