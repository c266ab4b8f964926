"""plot_explanation: what is drawn, where, and in which colors."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.explain.explanation import Explanation

SQUARE = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])


@pytest.fixture
def explained():
    """Two graphs: a square whose nodes speak for -3, -1, 0 and 2 in all, and a single node."""
    graphs = pk.check_graphs([(SQUARE, ["C", "N", "O", "C"]), (np.zeros((1, 1)), ["N"])])
    contributions = np.array([[-1.0, -2.0], [-2.0, 1.0], [0.0, 0.0], [1.0, 1.0], [5.0, 0.0]])
    return Explanation(contributions, graphs.graph_ptr, 0.25, graphs, "yes", "no")


def points(ax):
    return next(child for child in ax.collections if isinstance(child, PathCollection))


def lines(ax):
    return next(child for child in ax.collections if isinstance(child, LineCollection))


def color_bar(ax):
    return ax.figure.axes[-1]


def test_nodes_and_edges_are_drawn(explained):
    ax = pk.plotting.plot_explanation(explained)
    assert np.array_equal(points(ax).get_array(), [-3, -1, 0, 2])
    assert points(ax).get_offsets().shape == (4, 2)
    assert len(lines(ax).get_segments()) == 4
    assert [text.get_text() for text in ax.texts] == ["C", "N", "O", "C"]
    assert ax.get_title() == "0: class no\n(nodes -2, intercept +0.25 = -1.75)"


def test_colors_are_centered_and_ordered(explained):
    drawn = points(pk.plotting.plot_explanation(explained))
    assert drawn.get_clim() == (-3, 3)
    against, weakly, nothing, speaks_for = drawn.to_rgba(drawn.get_array())[:, :3]
    assert against[2] > against[0], "blue speaks against"
    assert speaks_for[0] > speaks_for[2], "red speaks for"
    assert nothing == pytest.approx([1, 1, 1], abs=0.05)
    assert weakly[2] > weakly[0]


def test_the_limit_of_colors(explained):
    assert points(pk.plotting.plot_explanation(explained, limit=2)).get_clim() == (-2, 2)
    with pytest.raises(ValueError, match="limit must be a finite number above 0"):
        pk.plotting.plot_explanation(explained, limit=0)
    n = 1500
    graphs = pk.check_graphs([np.zeros((n, n))])
    values = np.ones((n, 1))
    values[3] = -1000
    outlier = Explanation(values, graphs.graph_ptr, 0.0, graphs, 1, 0)
    assert points(pk.plotting.plot_explanation(outlier, layout=np.zeros((n, 2)))).get_clim() == (-1, 1)


def test_the_color_bar_names_the_classes(explained):
    label = color_bar(pk.plotting.plot_explanation(explained)).get_ylabel()
    assert label.startswith("← class no")
    assert label.endswith("class yes →")
    named = pk.plotting.plot_explanation(explained, class_names={"yes": "mutagenic"})
    assert "mutagenic →" in color_bar(named).get_ylabel()
    alone = Explanation(explained.contributions, explained.graph_ptr, 0.0, explained.graphs, "yes", None)
    assert color_bar(pk.plotting.plot_explanation(alone)).get_ylabel().startswith("← others")
    number = Explanation(explained.contributions, explained.graph_ptr, 0.0, explained.graphs)
    assert color_bar(pk.plotting.plot_explanation(number)).get_ylabel() == "contribution to the prediction"


def test_long_names_of_classes_fit_beside_the_color_bar(explained):
    names = {"yes": "a class with a name", "no": "one with another name"}
    ax = pk.plotting.plot_explanation(explained, class_names=names)
    label = color_bar(ax).yaxis.label
    ax.figure.canvas.draw()
    assert label.get_window_extent().height <= ax.figure.bbox.height
    assert label.get_fontsize() >= 6


def test_one_iteration_and_each_of_them(explained):
    ax = pk.plotting.plot_explanation(explained, t=1)
    assert np.array_equal(points(ax).get_array(), [-2, 1, 0, 1])
    assert "t = 1" in ax.get_title()
    several = pk.plotting.plot_explanation(explained, t="each")
    assert [np.asarray(points(ax).get_array()).tolist() for ax in several] == [[-1, -2, 0, 1], [-2, 1, 0, 1]]
    assert {points(ax).get_clim() for ax in several} == {(-2, 2)}
    assert [ax.get_title() for ax in several] == ["t = 0: -2", "t = 1: +0"]
    assert len(pk.plotting.plot_explanation(explained, t=[1])) == 1
    axes = Figure().subplots(1, 2)
    assert pk.plotting.plot_explanation(explained, t="each", ax=axes) == list(axes)
    with pytest.raises(ValueError, match="ax must hold 2 axes"):
        pk.plotting.plot_explanation(explained, t="each", ax=axes[:1])


@pytest.fixture(scope="module")
def molecules():
    return pk.datasets.make_molecules(45, random_state=0)


@pytest.mark.slow
def test_a_model_explains_by_itself(molecules):
    model = pk.PropagationClassifier(C=10, t_max=1, random_state=0).fit(molecules.graphs, molecules.target)
    ax = pk.plotting.plot_explanation(model, molecules.graphs, 3)
    expected = model.explain(molecules.graphs).of_graph(3).sum(axis=1)
    assert np.allclose(points(ax).get_array(), expected)
    turned = pk.plotting.plot_explanation(model, molecules.graphs, 3, classes=(0, 1))
    assert np.allclose(points(turned).get_array(), -expected)
    assert ax.get_title().startswith("3: ")


@pytest.mark.slow
def test_of_several_classes_the_predicted_one_is_explained(molecules):
    target = np.arange(45) % 3
    model = pk.PropagationClassifier(C=10, t_max=1, random_state=0).fit(molecules.graphs, target)
    ax = pk.plotting.plot_explanation(model, molecules.graphs, 5)
    predicted = model.predict(molecules.graphs[[5]])[0]
    label = color_bar(ax).get_ylabel()
    assert label.startswith("← others")
    assert label.endswith(f"class {predicted} →")


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"t": 2}, ValueError, "t must be between 0 and 1; got 2"),
        ({"t": "all"}, ValueError, "t must be an int"),
        ({"t": []}, ValueError, "t must be between 0 and 1"),
        ({"graph": 2}, IndexError, "graph 2 is out of range"),
        ({"classes": ("yes", "no")}, ValueError, "pass classes to explain"),
        ({"layout": [[0, 0]]}, ValueError, "a point for each of 4 nodes"),
        ({"layout": "nonsense"}, ValueError, "networkx has no layout 'nonsense'"),
    ],
)
def test_bad_arguments(explained, arguments, kind, message):
    with pytest.raises(kind, match=message):
        pk.plotting.plot_explanation(explained, **arguments)


def test_other_graphs_and_no_graphs(explained, molecules):
    with pytest.raises(ValueError, match="not the explained ones"):
        pk.plotting.plot_explanation(explained, molecules.graphs)
    bare = Explanation(explained.contributions, explained.graph_ptr, 0.0)
    with pytest.raises(ValueError, match="does not include its graphs"):
        pk.plotting.plot_explanation(bare)
    assert len(points(pk.plotting.plot_explanation(bare, explained.graphs)).get_offsets()) == 4
    with pytest.raises(TypeError, match="fitted model with a method explain, got int"):
        pk.plotting.plot_explanation(3, molecules.graphs)
    with pytest.raises(ValueError, match="a model needs graphs"):
        pk.plotting.plot_explanation(pk.PropagationClassifier())


def test_without_networkx_only_its_layouts_are_missing(explained, without):
    without("networkx")
    pk.plotting.plot_explanation(explained)
    with pytest.raises(ImportError, match=r"pip install .*networkx"):
        pk.plotting.plot_explanation(explained, layout="spring")


def test_scales_of_what_is_never_negative_begin_at_zero():
    graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    detector = pk.NoveltyDetector(random_state=0).fit(graphs[:20])
    ax = pk.plotting.plot_explanation(detector.explain(graphs[20:]))
    nodes = ax.collections[-1]
    assert nodes.norm.vmin == 0.0
    assert nodes.get_cmap().name == "Oranges"


def test_graphs_with_names_of_elements_and_bonds_are_formulas():
    pytest.importorskip("rdkit")
    smiles = ["CCO", "CCC", "CCN", "CCCO"]
    graphs = pk.from_smiles(smiles, node_labels="symbol")
    plain = pk.GraphDatabase(
        graphs.adjacency, graphs.graph_ptr, graphs.node_labels, edge_labels=graphs.edge_labels
    )
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, random_state=0)
    explanation = model.fit(plain, [1, 0, 0, 1]).explain(plain)
    assert pk.plotting.plot_explanation(explanation).get_images()
    assert not pk.plotting.plot_explanation(explanation, layout="spring").get_images()
    assert explanation.key("atoms") == "Red atoms are evidence for class 1, blue atoms for class 0."


@pytest.mark.parametrize("as_inputs", [np.asarray, list])
def test_a_pipeline_of_images_is_drawn_as_a_picture(as_inputs):
    images = np.random.default_rng(0).random((6, 5, 4))
    model = pk.PropagationClassifier(kernel=pk.PropagationKernel(), t_max=1, C=1, random_state=0)
    pipeline = make_pipeline(pk.images.GrayLevels(), model).fit(images, [0, 1] * 3)
    ax = pk.plotting.plot_explanation(pipeline, as_inputs(images), 2)
    expected = pk.plotting.plot_explanation(model, pipeline[0].transform(images), 2)
    assert ax.get_title() == expected.get_title()
    assert [image.get_array().shape[:2] for image in ax.images] == [(5, 4)] * len(expected.images)
