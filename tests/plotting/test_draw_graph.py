"""draw_graph: texts in the nodes, lines and arrows."""

from io import BytesIO

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import propkernels as pk
from propkernels.convert.graph_molecules import atom_positions
from propkernels.plotting.draw_graph import bond_orders, draw_graph, node_texts
from tests.zoo import one

SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]
CORNERS = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])


def drawn(graph, positions, labels=True):
    """Axes and mappable of a graph whose nodes have the values 0, 1, ..."""
    ax = Figure().subplots()
    values = np.arange(float(graph.n_nodes))
    return ax, draw_graph(ax, graph, positions, labels, c=values, norm=Normalize(0, 3), cmap="Reds")


def test_nodes_at_their_positions_with_the_color_of_their_values():
    ax, mappable = drawn(one(4, SQUARE, ["C", "N", "O", "C"])[0], CORNERS)
    assert np.array_equal(mappable.get_offsets(), CORNERS)
    assert np.array_equal(mappable.get_array(), [0, 1, 2, 3])
    lines = next(child for child in ax.collections if isinstance(child, LineCollection))
    assert len(lines.get_segments()) == 4
    assert [text.get_text() for text in ax.texts] == ["C", "N", "O", "C"]
    assert [ax.texts[0].get_color(), ax.texts[3].get_color()] == ["black", "white"]  # on pale and dark red


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        (False, []),
        (True, ["C", "?", "O", "C"]),
        ({"C": "carbon"}, ["carbon", "?", "O", "carbon"]),
        ([1, 2, 3, 4], ["1", "2", "3", "4"]),
    ],
)
def test_texts_in_the_nodes(labels, texts):
    assert node_texts(one(4, SQUARE, ["C", None, "O", "C"])[0], labels) == texts


def test_one_text_per_node_is_required():
    with pytest.raises(ValueError, match="a text for each of 4 nodes, got 3"):
        node_texts(one(4, SQUARE)[0], ["a", "b", "c"])


def test_no_texts_without_labels_or_in_large_graphs():
    assert node_texts(one(4, SQUARE, None)[0], True) == []
    assert len(node_texts(one(150, [], ["C"] * 150)[0], True)) == 150
    assert node_texts(one(151, [], ["C"] * 151)[0], True) == []


def test_directed_edges_are_arrows():
    ax, _ = drawn(one(4, SQUARE, None, directed=True)[0], CORNERS)
    assert len(ax.patches) == 4
    ax.figure.canvas.draw()


@pytest.mark.parametrize("positions", [[[0.0, 0], [1, 0]], [[2.0, 1], [2, 5]], [[3.0, 3]]])
def test_nodes_on_a_line_are_drawn_in_an_area(positions):
    n = len(positions)
    ax, _ = drawn(one(n, [(0, 1)][: n - 1], ["C", "O"][:n])[0], np.array(positions))
    ax.figure.savefig(BytesIO())
    width, height = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    assert 0.2 < width / height < 5


def test_names_of_labels_and_bonds_as_parallel_lines():
    graph = one(4, SQUARE, [0, 1, 0, 1], edge_labels=[1, 2, 3, 4])
    named = graph.with_names({0: "C", 1: "N"}, {1: "single", 2: "double", 3: "triple", 4: "aromatic"})
    ax, _ = drawn(named[0], CORNERS)
    lines = [child for child in ax.collections if isinstance(child, LineCollection)]
    assert sum(len(child.get_segments()) for child in lines) == 1 + 2 + 3 + 2
    assert [text.get_text() for text in ax.texts] == ["C", "N", "C", "N"]
    assert bond_orders(graph[0]) is None


def test_dashed_lines_of_aromatic_bonds_lie_inside_their_ring():
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["Oc1ccccc1O"])
    ax = pk.plotting.plot_graph(graphs)
    places = atom_positions(graphs)
    middle = places[1:7].mean(axis=0)
    dashed = [
        lines for lines in ax.collections if isinstance(lines, LineCollection) and lines.get_linestyle()[0][1]
    ]
    (lines,) = [np.array(each.get_segments()) for each in dashed if len(each.get_segments())]
    inside = np.linalg.norm(lines.mean(axis=1) - middle, axis=1)
    bonds = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 1)]
    assert len(lines) == 6
    assert inside.max() < min(np.linalg.norm(places[[a, b]].mean(axis=0) - middle) for a, b in bonds)
