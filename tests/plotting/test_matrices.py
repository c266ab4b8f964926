"""plot_kernel, plot_embedding, plot_propagation and plot_contacts."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

import propkernels as pk
from propkernels.convert.check import check_graph
from propkernels.plotting.plot_kernel import embed, kernel_distances
from propkernels.plotting.plot_propagation import node_bins, plot_propagation

# plot kernel

TARGET = np.array(["b", "a", "b", "a", "a"])


@pytest.fixture
def kernel():
    points = np.array([[5.0, 0], [0, 1], [5, 1], [0, 9], [1, 1]])
    return points @ points.T


def shown(ax):
    return np.asarray(ax.get_images()[0].get_array())


def test_classes_side_by_side_with_lines_and_names(kernel):
    ax = pk.plotting.plot_kernel(kernel, TARGET)
    diagonal = shown(ax).diagonal()
    assert sorted(diagonal[:3]) == sorted(kernel.diagonal()[TARGET == "a"])
    assert sorted(diagonal[3:]) == sorted(kernel.diagonal()[TARGET == "b"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert ax.get_yticks().tolist() == [1.0, 3.5]
    assert sorted(float(line.get_ydata()[0]) for line in ax.lines if line.get_xdata() == [0, 1]) == [2.5]
    assert np.array_equal(shown(ax), shown(ax).T)


def test_names_of_classes(kernel):
    ax = pk.plotting.plot_kernel(kernel, TARGET, target_names=["apples", "beans"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["apples", "beans"]
    with pytest.raises(ValueError, match="target_names must name 2 classes, got 1"):
        pk.plotting.plot_kernel(kernel, TARGET, target_names=["apples"])


def test_by_cluster(kernel):
    clustered = shown(pk.plotting.plot_kernel(kernel)).diagonal().tolist()
    assert sorted(clustered) == sorted(kernel.diagonal().tolist())
    near = [clustered.index(25.0), clustered.index(26.0)]
    assert abs(near[0] - near[1]) == 1, "graphs at distance 1 are side by side"


def test_distances_are_those_between_the_features():
    points = np.random.default_rng(0).normal(size=(6, 3))
    reference = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert kernel_distances(points @ points.T) == pytest.approx(reference, abs=1e-7)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_graphs(n):
    assert shown(pk.plotting.plot_kernel(np.eye(n))).shape == (n, n)


@pytest.mark.parametrize(
    ("matrix", "arguments", "message"),
    [
        (np.ones((2, 3)), {}, r"square, got shape \(2, 3\)"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), {}, "NaN"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), {}, "not symmetric"),
        (np.eye(2), {"target": [1, 2, 3]}, "one value for each of 2 graphs"),
    ],
)
def test_bad_arguments(matrix, arguments, message):
    with pytest.raises(ValueError, match=message):
        pk.plotting.plot_kernel(matrix, **arguments)


# plot embedding

POINTS = np.random.default_rng(0).normal(size=(12, 4)) * [4, 2, 1, 0.5]
THREE = np.arange(12) % 3


def offsets(ax):
    return [np.asarray(part.get_offsets()) for part in ax.collections]


def test_points_are_those_of_principal_component_analysis():
    reference = PCA(2).fit(POINTS)
    points, shares = embed(POINTS @ POINTS.T)
    assert np.abs(points) == pytest.approx(np.abs(reference.transform(POINTS)))
    assert shares == pytest.approx(reference.explained_variance_ratio_)


def test_classes_have_colors_and_a_legend():
    ax = pk.plotting.plot_embedding(POINTS @ POINTS.T, THREE, target_names=["x", "y", "z"])
    assert [len(part) for part in offsets(ax)] == [4, 4, 4]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y", "z"]
    assert len({tuple(part.get_facecolor()[0]) for part in ax.collections}) == 3
    points, shares = embed(POINTS @ POINTS.T)
    assert offsets(ax)[1] == pytest.approx(points[THREE == 1])
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


def test_bad_features():
    with pytest.raises(ValueError, match="one row per graph"):
        pk.plotting.plot_embedding(np.ones(3))
    with pytest.raises(ValueError, match="one value for each of 12 graphs"):
        pk.plotting.plot_embedding(POINTS, THREE[:5])


def test_graphs_are_refused():
    graphs = pk.datasets.make_molecules(3, random_state=0).graphs
    for wrong in (graphs, list(graphs), [nx.path_graph(3)] * 3):
        with pytest.raises(
            TypeError, match="a kernel matrix, or features with one row per graph, got graphs"
        ):
            pk.plotting.plot_embedding(wrong)
    with pytest.raises(TypeError, match="got graphs"):
        pk.plotting.plot_kernel(graphs)


# plot propagation


def test_one_panel_per_iteration():
    axes = plot_propagation(nx.path_graph(5), t_max=2)
    assert [axis.get_title() for axis in axes] == ["t = 0: 2 bins", "t = 1: 2 bins", "t = 2: 2 bins"]


def test_bins_of_a_path_are_symmetric_and_refined():
    bins = node_bins(pk.WeisfeilerLehmanFeatures(t_max=2), check_graph(nx.path_graph(5)))
    assert [row.tolist() for row in bins] == [[0, 1, 1, 1, 0], [0, 1, 2, 1, 0], [0, 1, 2, 1, 0]]
    assert all(np.array_equal(row, row[::-1]) for row in bins)


def test_several_graphs_and_no_features_are_refused():
    with pytest.raises(ValueError, match=r"draws one graph, got 2: pass graphs\[i\]"):
        plot_propagation(pk.datasets.make_molecules(2, random_state=0).graphs)
    with pytest.raises(TypeError, match="int does not count nodes"):
        plot_propagation(nx.path_graph(5), 0)


# plot contacts

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

MET = pd.DataFrame(
    {"graph": [0, 0, 1], "source": ["a", "b", "x"], "target": ["b", "c", "y"], "time": [1, 2, 5]}
)
STATES = pd.DataFrame({"graph": [0, 0], "node": ["a", "b"], "time": [0, 0], "label": ["ill", "well"]})
GRAPHS = pk.from_contacts(MET, node_labels=STATES)


def test_one_line_per_vertex_and_one_segment_per_contact():
    axes = pk.plotting.plot_contacts(GRAPHS.with_names({"ill": "infected"}))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    segments = axes.collections[0].get_segments()
    assert sorted(segment[0][0] for segment in segments) == [1, 2]
    texts = {text.get_text() for text in axes.get_legend().get_texts()}
    assert texts == {"infected", "well", "not observed"}


def test_contributions_color_contacts():
    contributions = np.zeros((GRAPHS.n_nodes, 2))
    contributions[:, 1] = np.arange(GRAPHS.n_nodes)
    explanation = pk.explain.Explanation(contributions, GRAPHS.graph_ptr, 0.0, GRAPHS)
    axes = pk.plotting.plot_contacts(explanation, 1)
    listed = explanation.contacts(1)
    assert [(contact["source"], contact["target"], contact["time"]) for contact in listed] == [
        ("x", "y", 5.0)
    ]
    assert axes.collections[0].get_array().tolist() == [listed[0]["contribution"]]
    assert listed[0]["contribution"] == pytest.approx(contributions[4:].sum())


def test_graphs_without_time_are_refused():
    plain = pk.check_graphs([np.ones((3, 3)) - np.eye(3)])
    with pytest.raises(TypeError, match="from_contacts"):
        pk.plotting.plot_contacts(plain)
    explanation = pk.explain.Explanation(np.zeros((3, 1)), plain.graph_ptr, 0.0, plain)
    with pytest.raises(TypeError, match="graphs in time"):
        explanation.contacts()
