"""Bonds, from matrices of bond orders and bond by bond."""

import pytest

import propkernels as pk
from tests.convert.test_rdkit import SMILES

Chem = pytest.importorskip("rdkit.Chem")


def test_without_edge_labels():
    assert pk.from_smiles(["CC=O"], edge_labels=False).edge_labels is None


def test_large_molecules_go_bond_by_bond():
    chain = "C" * 1200
    graphs = pk.from_smiles([chain, "CC"])
    assert graphs.graph_sizes.tolist() == [1200, 2]
    assert graphs.n_edges == 1200


@pytest.mark.parametrize("stereo", [False, True])
def test_bonds_of_large_molecules_are_those_of_small_ones(stereo, monkeypatch):
    texts = [*SMILES, "F/C=C/F", "F/C=C\\F"]
    small = pk.from_smiles(texts, stereo=stereo)
    monkeypatch.setattr("propkernels.convert.bonds.LARGE", 1)
    assert pk.from_smiles(texts, stereo=stereo) == small
