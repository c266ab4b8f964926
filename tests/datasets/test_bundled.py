"""FAMILIES and DIGITS: atoms and bonds are those of the SMILES, and pixels are joined to their neighbors."""

import numpy as np
import pytest
import sklearn.datasets

import propkernels as pk
from propkernels.convert.graph_molecules import known_molecule
from propkernels.datasets.loader import load_families


def test_molecules_have_names_and_families():
    data = load_families()
    assert len(set(data.graphs.ids.tolist())) == len(data.graphs) == len(data.extras["smiles"])
    assert len(data.target_names) == data.n_classes == 14
    assert np.bincount(data.target).min() >= 17
    assert "CC0" in data.description
    assert pk.datasets.load("families").graphs == data.graphs


def test_atoms_and_bonds_are_those_of_the_smiles():
    pytest.importorskip("rdkit")
    data = load_families()
    assert pk.from_smiles(data.extras["smiles"], node_labels="symbol") == data.graphs
    assert all(known_molecule(data.graphs[[i]]) is not None for i in range(len(data.graphs)))


def test_digits():
    data = pk.datasets.load("DIGITS")
    digits = sklearn.datasets.load_digits()
    assert repr(data) == "Dataset(DIGITS: 1797 images of 8 x 8, 115008 pixels, 4 labels, 10 classes)"
    np.testing.assert_array_equal(data.target, digits.target)
    assert data.target_names == tuple("0123456789")
    brightness = np.corrcoef(data.graphs[5].node_labels, digits.images[5].ravel())[0, 1]
    assert brightness > 0.95
    html = data._repr_html_()
    assert html.count("<img") == 6, "digits are drawn as images"
    assert "<circle" not in html
