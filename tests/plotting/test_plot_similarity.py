"""plot_similarity: two graphs, and what they share."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import propkernels as pk

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
G, H = (PATH, ["C", "O", "C"]), (PATH, ["C", "O", "N"])
FOUND = pk.similar_because(G, H, kernel=pk.WeisfeilerLehman(t_max=1))


def shown(ax):
    points = next(child for child in ax.collections if isinstance(child, PathCollection))
    return np.asarray(points.get_array()), points


def test_nodes_show_their_part_on_either_side():
    left, right = pk.plotting.plot_similarity(FOUND)
    assert shown(left)[0].tolist() == [2, 1, 2]
    assert shown(right)[0].tolist() == [4, 1, 0]
    assert shown(left)[1].get_clim() == shown(right)[1].get_clim() == (0, 4)
    assert [ax.get_title() for ax in (left, right)] == ["g: 3 of 3 nodes", "h: 2 of 3 nodes"]
    assert left.figure.axes[-1].get_ylabel() == "part of k(g, h) = 5"
    assert [text.get_text() for text in right.texts] == ["C", "O", "N"]


def test_one_iteration():
    left, right = pk.plotting.plot_similarity(FOUND, t=1)
    assert shown(left)[0].tolist() == [1, 0, 1]
    assert shown(right)[0].tolist() == [2, 0, 0]


def test_the_result_draws_itself():
    axes = Figure().subplots(1, 2)
    assert pk.similar_because(G, H).plot(ax=axes, t=0) == list(axes)
    assert axes[0].figure.axes[-1].get_ylabel() == "part of similarity = 0.1429, t = 0"


def test_molecules_are_formulas():
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["CC(=O)Oc1ccccc1C(=O)O", "O=C(O)c1ccccc1O"])
    for ax in pk.similar_because(graphs[0], graphs[1]).plot():
        assert len(ax.images) == 1
        assert not ax.texts


def test_grids():
    mask = np.array([[True, False, True], [True, True, True]])
    grids = pk.GridDatabase([np.zeros((2, 3), dtype=int), np.zeros((2, 2), dtype=int)], masks=[mask, None])
    left, right = pk.similar_because(grids[0], grids[1]).plot()
    assert len(left.collections[0].get_paths()) == mask.sum()
    assert len(right.collections[0].get_paths()) == 4


def test_nothing_in_common():
    left, _ = pk.similar_because((PATH, list("CCC")), (PATH, list("OOO"))).plot()
    assert shown(left)[0].tolist() == [0, 0, 0]
    assert left.get_title() == "g: 0 of 3 nodes"


def test_bad_arguments(without):
    with pytest.raises(ValueError, match="t must be between 0 and 1; got 2"):
        FOUND.plot(t=2)
    without("matplotlib")
    with pytest.raises(ImportError, match=r"pip install .*matplotlib"):
        pk.plotting.plot_similarity(FOUND)
