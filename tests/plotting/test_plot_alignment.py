"""plot_alignment: partners, colors, and turned layouts."""

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure

import propkernels as pk
from propkernels.plotting.panels import turned


def test_partners_have_lines_and_the_same_colors():
    axes = Figure().subplots(1, 2)
    g, h = nx.path_graph(4), nx.path_graph(6)
    left, right = pk.plotting.plot_alignment(g, h, ax=axes)
    assert left.get_title() == "g: 4 of 4 nodes paired"
    assert right.get_title().startswith("h: 4 of 6 nodes paired; ")
    found = pk.align(g, h)
    values = [np.asarray(ax.collections[-1].get_array()) for ax in (left, right)]
    assert (values[1] == -2).sum() == 2, "nodes without a partner"
    for (a, b), step in zip(found.pairs.tolist(), found.steps.tolist(), strict=True):
        assert values[0][a] == values[1][b] == step
    assert len(left.figure.artists) == 4
    again = pk.plotting.plot_alignment(g, h, found)
    assert [ax.get_title() for ax in again] == [left.get_title(), right.get_title()]


def test_turned_points_fall_on_their_partners():
    rng = np.random.default_rng(0)
    reference, angle = rng.normal(size=(6, 2)), 0.7
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    order = rng.permutation(6)
    mirrored = reference[order] @ rotation * [1, -1] + [3, 5]
    pairs = np.column_stack([order, np.arange(6)])
    np.testing.assert_allclose(turned(mirrored, reference, pairs), reference[order], atol=1e-12)
    assert turned(mirrored, reference, pairs[:1]) is mirrored


def test_similar_graphs_are_drawn_alike():
    g = nx.random_labeled_tree(9, seed=1)
    h = nx.relabel_nodes(g, dict(zip(g, np.random.default_rng(1).permutation(9).tolist(), strict=True)))
    left, right = pk.similar_because(g, h).plot()
    places = [np.asarray(ax.collections[-1].get_offsets()) for ax in (left, right)]
    for a, b in pk.align(g, h).pairs.tolist():
        assert np.linalg.norm(places[0][a] - places[1][b]) < 4.0


def test_pictures_of_any_graphs(tmp_path):
    picture = pk.molecules.draw_similarity(nx.path_graph(4), nx.cycle_graph(4))
    picture.save(tmp_path / "two.svg")
    assert "<svg" in (tmp_path / "two.svg").read_text()
    assert picture.png.startswith(b"\x89PNG")
    assert repr(picture).startswith("Picture(")


def test_graphs_with_names_of_elements_are_pictures_of_molecules():
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["CCO", "CCN"], node_labels="symbol")
    picture = pk.molecules.draw_similarity(graphs[0], graphs[1])
    assert repr(picture) == "MoleculePicture(2 panels)"
