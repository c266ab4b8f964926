"""scaffolds: ring systems as groups."""

import numpy as np
import pytest

import propkernels as pk

Chem = pytest.importorskip("rdkit.Chem")


def test_side_chains_do_not_count_and_links_do():
    texts = ["c1ccccc1", "CCc1ccc(O)cc1", "c1ccccc1Cc1ccccc1", "c1ccccc1CCc1ccccc1", "OC(c1ccccc1)c1ccccc1"]
    np.testing.assert_array_equal(pk.scaffolds(texts), [0, 0, 1, 2, 1])


def test_molecules_without_rings_are_one_group():
    np.testing.assert_array_equal(pk.scaffolds(["CC", "C1CC1", "CCO", "[Na+].[Cl-]"]), [0, 1, 0, 0])


def test_atoms_and_bonds_of_generic_scaffolds_are_alike():
    texts = ["c1ccncc1", "C1CCCCC1", "O=C1CCCCC1", "C1CCCC1"]
    np.testing.assert_array_equal(pk.scaffolds(texts), [0, 1, 2, 3])
    np.testing.assert_array_equal(pk.scaffolds(texts, generic=True), [0, 0, 0, 1])


def test_stereoisomers_and_spellings_are_one_group():
    texts = ["C[C@H]1CC[C@@H](N)O1", "N[C@@H]1CC[C@@H](C)O1", "O1CCCC1"]
    np.testing.assert_array_equal(pk.scaffolds(texts), [0, 0, 0])


def test_molecules_and_their_smiles_are_the_same():
    texts = ["Cc1ccccc1", "CC", "c1ccncc1"]
    mols = [Chem.MolFromSmiles(text) for text in texts]
    before = [Chem.MolToSmiles(mol) for mol in mols]
    np.testing.assert_array_equal(pk.scaffolds(mols), pk.scaffolds(texts))
    assert [Chem.MolToSmiles(mol) for mol in mols] == before


def test_a_faulty_molecule_is_named():
    with pytest.raises(ValueError, match="molecule 1: 'C1CC' cannot be read"):
        pk.scaffolds(["CC", "C1CC"])
    with pytest.raises(ValueError, match="molecule 0: None is not"):
        pk.scaffolds([None])
    with pytest.warns(UserWarning, match="left empty 1 of 3"):
        found = pk.scaffolds(["CC", "C1CC", "C1CC1"], errors="empty")
    np.testing.assert_array_equal(found, [0, 0, 1])
    with pytest.raises(ValueError, match="errors"):
        pk.scaffolds(["CC"], errors="skip")


def test_no_molecules_have_no_scaffolds():
    assert pk.scaffolds([]).shape == (0,)
