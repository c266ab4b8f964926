"""plot_graph: what is drawn for all kinds of graphs."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from tests.zoo import one, path_edges, zoo


def texts(ax):
    return [text.get_text() for text in ax.texts]


def entries(ax):
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


def node_colors(ax):
    return ax.collections[-1].get_facecolors()


def test_labels_of_nodes_and_edges():
    graphs = one(3, path_edges(3), ["C", "O", None], edge_labels=["single", "double"]).with_ids(["mine"])
    ax = pk.plotting.plot_graph(graphs)
    assert ax.get_title() == "graph mine: 3 nodes, 2 edges"
    assert texts(ax) == ["C", "O", "?"]
    assert entries(ax) == ["C", "O", "unobserved", "double", "single"]
    assert entries(pk.plotting.plot_graph(graphs, legend=False)) == []


def test_a_label_has_its_color_in_every_graph():
    several = pk.GraphDatabase.concat([one(2, [(0, 1)], ["a", "b"]), one(2, [(0, 1)], ["b", "b"])])
    first, second = (node_colors(pk.plotting.plot_graph(several, i)) for i in (0, 1))
    assert first[1].tolist() == second[0].tolist() != first[0].tolist()


def test_attributes_and_given_numbers():
    graphs = one(3, path_edges(3), None, attributes=[[0.0, 5.0], [1.0, np.nan], [2.0, 7.0]])
    ax = pk.plotting.plot_graph(graphs)
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[1].get_ylabel() == "attribute 0"
    assert pk.plotting.plot_graph(graphs, color=[3, 2, 1]).figure.axes[1].get_ylabel() == "value"
    assert len(pk.plotting.plot_graph(graphs, color=None).figure.axes) == 1


def test_parallel_edges_and_directions_are_arcs_and_arrows():
    graph = nx.MultiDiGraph()
    graph.add_edges_from([(0, 1, {"label": "a"}), (0, 1, {"label": "b"}), (1, 0, {"label": "a"}), (1, 1, {})])
    ax = pk.plotting.plot_graph([graph])
    assert len(ax.patches) == 3
    ends = {tuple(np.round(patch.get_path().vertices[1], 6)) for patch in ax.patches}
    assert len(ends) == 3  # none lies on another
    undirected = nx.MultiGraph()
    undirected.add_edges_from([(0, 1, {"label": "a"}), (0, 1, {"label": "b"})])
    assert len(pk.plotting.plot_graph([undirected]).patches) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, graphs in zoo().items() if len(graphs)])
def test_the_zoo_can_be_drawn(name):
    pk.plotting.plot_graph(zoo()[name]).figure.canvas.draw()


def test_pictures():
    grids = pk.GridDatabase([np.arange(12).reshape(3, 4)])
    assert pk.plotting.plot_graph(grids).get_title() == "graph 0: 3 x 4 pixels"
    volume = pk.GridDatabase([np.zeros((3, 4, 5), dtype=int)])
    assert pk.plotting.plot_graph(volume[0]).get_title() == "graph: 3 x 4 x 5 pixels"


def test_wrong_colors():
    graphs = one(2, [(0, 1)], None)
    for color, message in (
        ("attribute", "no attributes to color by"),
        ("red", "color must be 'auto'"),
        ([1, 2, 3], "a number for each of 2 nodes"),
    ):
        with pytest.raises(ValueError, match=message):
            pk.plotting.plot_graph(graphs, color=color)


def test_legends_have_names():
    graphs = one(3, path_edges(3), [0, 1, 0], edge_labels=[5, 6]).with_names({0: "C", 1: "O"}, {5: "near"})
    ax = pk.plotting.plot_graph(graphs)
    assert entries(ax) == ["C", "O", "near", "6"]


def test_molecules_are_skeletal_formulas():
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["CCO"])
    ax = pk.plotting.plot_graph(graphs)
    assert ax.get_title() == "graph 0: 3 atoms, 2 bonds"
    assert len(ax.images) == 1
    assert texts(ax) == entries(ax) == []
    assert texts(pk.plotting.plot_graph(graphs, color=None)) == ["C", "C", "O"]
