"""places: positions of pixels, atoms, and coordinates of the user."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.explorer.page_codes import NotLive
from propkernels.explorer.places import quantized_places
from tests.explorer.conftest import embedded, unpacked


def check_pixels(page, height, width):
    assert embedded(page.html, "ex-meta")["pixels"] == 1
    places = unpacked(embedded(page.html, "ex-data")["graphs"])["places"].reshape(-1, 2)[: height * width]
    assert places[:, 0].max() == width - 1
    assert places[:, 1].min() == 1 - height


@pytest.mark.slow
def test_pictures_are_graphs_of_pixels():
    images = np.random.default_rng(0).integers(0, 3, (20, 4, 5))
    target = np.arange(20) % 2
    grids = pk.GridDatabase(list(images))
    check_pixels(pk.explore(grids, target), 4, 5)
    model = pk.PropagationClassifier(C=1, t_max=1, random_state=0).fit(grids, target)
    with pytest.raises(NotLive, match="Convolution"):
        pk.explore(grids, target, model)


def test_given_coordinates_and_molecules_are_drawn_there():
    pytest.importorskip("rdkit")
    smiles = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "CCCl", "C1CC1"]
    graphs = pk.from_smiles(smiles)
    for options in (
        {"molecules": smiles},
        {"layout": np.random.default_rng(0).normal(size=(graphs.n_nodes, 3))},
    ):
        page = pk.explore(graphs, **options)
        places = unpacked(embedded(page.html, "ex-data")["graphs"])["places"]
        assert len(places) == 2 * graphs.n_nodes
        assert np.abs(places).max() == 127


def test_each_graph_has_its_scale():
    points = np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 0.0], [40.0, 0.0]])
    assert quantized_places(points, np.array([0, 2, 4])).tolist() == [-127, -64, 127, 64, -127, 0, 127, 0]
