"""Molecules of graphs, from their sources or from the names of labels."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.graph_molecules import known_molecule, matched_molecule, rebuilt_molecule, symbols_of

chem = pytest.importorskip("rdkit.Chem")


def test_the_molecule_that_a_graph_was_made_from():
    graphs = pk.from_smiles(["CC(=O)O", "c1ccccc1"])
    assert chem.MolToSmiles(known_molecule(graphs[[1]])) == "c1ccccc1"


def test_a_molecule_from_names_of_labels():
    graphs = pk.from_smiles(["O=[N+]([O-])c1ccccc1"], node_labels="symbol")
    numbers = {"C": 0, "N": 1, "O": 2}
    kinds = {"single": 1, "double": 2, "aromatic": 0}
    coded = pk.GraphDatabase(
        graphs.adjacency,
        graphs.graph_ptr,
        [numbers[label] for label in graphs.node_labels],
        edge_labels=[kinds[label] for label in graphs.edge_labels],
    )
    assert known_molecule(coded) is None
    named = coded.with_names({v: k for k, v in numbers.items()}, {v: k for k, v in kinds.items()})
    assert symbols_of(named)[:3] == ["O", "N", "O"]
    assert chem.MolToSmiles(known_molecule(named)) == "O=[N+]([O-])c1ccccc1"


def test_labels_that_make_no_molecule():
    pair = pk.GraphDatabase(np.array([[0, 1], [1, 0]]), [0, 2], ["F", "F"], edge_labels=["triple"] * 2)
    assert known_molecule(pair) is None
    assert known_molecule(pair.with_labels(["word", "F"])) is None


def test_hydrogens_are_added_to_match_the_graph():
    mol = chem.MolFromSmiles("C")
    assert matched_molecule(mol, 5).GetNumAtoms() == 5
    assert matched_molecule(mol, 3) is None


def test_hydrogens_of_aromatic_nitrogens_are_found():

    for smiles in ("c1cc[nH]c1", "c1c[nH]cn1", "c1ccc2[nH]c3ccccc3c2c1", "c1ccncc1"):
        rebuilt = rebuilt_molecule(pk.from_smiles([smiles]))
        assert chem.MolToSmiles(rebuilt) == chem.CanonSmiles(smiles)
