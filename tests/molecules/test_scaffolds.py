"""scaffolds: ring systems as groups."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.molecules.scaffolds import _scaffold

Chem = pytest.importorskip("rdkit.Chem")


def test_atoms_and_bonds_count():
    texts = ["c1ccncc1", "C1CCCCC1", "O=C1CCCCC1", "C1CCCC1"]
    np.testing.assert_array_equal(pk.molecules.scaffolds(texts), [0, 1, 2, 3])


def test_stereoisomers_and_spellings_are_one_group():
    texts = ["C[C@H]1CC[C@@H](N)O1", "N[C@@H]1CC[C@@H](C)O1", "O1CCCC1"]
    np.testing.assert_array_equal(pk.molecules.scaffolds(texts), [0, 0, 0])


def test_molecules_and_their_smiles_are_the_same():
    texts = ["Cc1ccccc1", "CC", "c1ccncc1"]
    mols = [Chem.MolFromSmiles(text) for text in texts]
    before = [Chem.MolToSmiles(mol) for mol in mols]
    np.testing.assert_array_equal(pk.molecules.scaffolds(mols), pk.molecules.scaffolds(texts))
    assert [Chem.MolToSmiles(mol) for mol in mols] == before


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("CC(C)=C1CCCC1", "C=C1CCCC1"),
        ("CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "O=c1[nH]c(=O)c2[nH]cnc2[nH]1"),
        ("C1CC1C(=C)C1CC1", "C=C(C1CC1)C1CC1"),
        ("CC.c1ccccc1O", "c1ccccc1"),
    ],
)
def test_cores_are_those_of_rdkit(text, core):
    mol = Chem.MolFromSmiles(text)
    assert _scaffold(mol) == Chem.CanonSmiles(core)


def test_a_molecule_that_was_not_sanitized_is_named():
    raw = Chem.MolFromSmiles("C1CC1", sanitize=False)
    with pytest.raises(ValueError, match=r"molecule 1: RDKit refuses it \(RingInfo not initialized\)"):
        pk.molecules.scaffolds(["CC", raw])
    with pytest.warns(UserWarning, match="left empty 1 of 2 molecules"):
        np.testing.assert_array_equal(pk.molecules.scaffolds(["CC", raw], errors="empty"), [0, 0])


def test_a_faulty_molecule_is_named():
    with pytest.raises(ValueError, match="molecule 1: 'C1CC' cannot be read"):
        pk.molecules.scaffolds(["CC", "C1CC"])
    with pytest.raises(ValueError, match="molecule 0: the SMILES string is missing"):
        pk.molecules.scaffolds([None])
    with pytest.warns(UserWarning, match="left empty 1 of 3"):
        found = pk.molecules.scaffolds(["CC", "C1CC", "C1CC1"], errors="empty")
    np.testing.assert_array_equal(found, [0, 0, 1])
    with pytest.raises(ValueError, match="errors"):
        pk.molecules.scaffolds(["CC"], errors="skip")
