"""FAMILIES: atoms and bonds are those of the SMILES."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.graph_molecules import known_molecule
from propkernels.datasets.families import load_families


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
    assert pk.from_smiles(data.extras["smiles"]) == data.graphs
    assert all(known_molecule(data.graphs[[i]]) is not None for i in range(len(data.graphs)))


def test_no_two_molecules_have_the_same_graph():
    features = pk.WeisfeilerLehmanFeatures(t_max=6, edge_labels=True).fit_transform(load_families().graphs)
    rows = {features[[i]].toarray().tobytes() for i in range(features.shape[0])}
    assert len(rows) == features.shape[0]
