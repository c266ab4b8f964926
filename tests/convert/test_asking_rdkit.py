"""RDKit's errors as one line about the molecule."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.asking_rdkit import (
    asking_rdkit,
    molecule_of,
    parse_atoms_and_bonds,
    parse_smiles,
    rdkit_reason,
    with_atoms,
)
from propkernels.convert.atoms import RECIPES
from propkernels.counts.bins import smarts_of

Chem = pytest.importorskip("rdkit.Chem")


def test_texts_that_are_no_smiles_are_none():
    assert parse_smiles(Chem, "CCO").GetNumAtoms() == 3
    for text in ("not smiles", "", "  ", None, 5, b"CC", "C\ud800"):
        assert parse_smiles(Chem, text) is None


@pytest.mark.parametrize(
    "text",
    [
        "c1ccccc1C(=O)[O-].[Na+]",
        "C1=CC=CN1",  # aromatic, though not written so: the hydrogen of nitrogen stays
        "O=c1cccc[nH]1",
        "CN(=O)=O",  # charges are separated
        "[Fe](Cl)(Cl)(N)(N)N",
        "C[Mg]Br",
        "[13CH3][2H]",
        "[H]C([H])O",
        "[H][H]",
        "F/C=C/F",
        "N[C@@H](C)C(=O)O",
        "[CH2]C",  # a radical
        "C12C3C4C1C5C2C3C45",  # cubane, whose smallest rings are ambiguous
        "c1cc2ccc3cccc4ccc(c1)c2c34",
        "C~C",
        "*C",
        "CCO ethanol",
        "CCO |$;;name$|",
    ],
)
def test_less_work_for_the_same_atoms_and_bonds(text):
    lean, full = parse_atoms_and_bonds(Chem, text), parse_smiles(Chem, text)
    assert pk.from_rdkit([lean], node_labels=RECIPES) == pk.from_rdkit([full], node_labels=RECIPES)


@pytest.mark.parametrize(
    "text", ["CN(=O)=O", "c1ccc2[nH]ccc2c1CC(=O)[O-]", "Cl[C@H]1[C@H](Cl)[C@@H](Cl)CCC1", "F/C=C/F", "[2H]CO"]
)
def test_less_work_for_the_same_smarts(text):
    fast, full = molecule_of(text), parse_smiles(Chem, text)
    places = [(np.array([atom]), radius) for atom in range(full.GetNumAtoms()) for radius in range(4)]
    assert [smarts_of(fast, *place) for place in places] == [smarts_of(full, *place) for place in places]


def test_less_work_refuses_the_same_texts():
    for text in ("not", "", "  ", None, 5, b"CC", "C\ud800", "C1CC", "C(C)(C)(C)(C)C", "c1cccc1", "cc"):
        assert parse_smiles(Chem, text) is None
        assert parse_atoms_and_bonds(Chem, text) is None


def test_hybridization_and_stereochemistry_are_left_out():
    """Otherwise nothing was gained."""
    unknown = Chem.HybridizationType.UNSPECIFIED
    assert parse_atoms_and_bonds(Chem, "CCO").GetAtomWithIdx(0).GetHybridization() == unknown
    assert not parse_atoms_and_bonds(Chem, "N[C@@H](C)O").GetAtomWithIdx(1).HasProp("_CIPCode")


def test_unsanitized_molecules_may_have_impossible_valences():
    assert parse_smiles(Chem, "C(C)(C)(C)(C)C") is None
    assert parse_smiles(Chem, "C(C)(C)(C)(C)C", sanitize=False).GetNumAtoms() == 6


def test_reasons_are_one_line_without_positions_in_source():
    long = "Invariant Violation\n  a is b\nViolation occurred on line 12 in file x.cpp"
    assert rdkit_reason(RuntimeError(long)) == "RDKit refuses it (a is b)"
    assert len(rdkit_reason(ValueError("x" * 900))) < 250


def test_errors_name_the_molecule():
    message = r"^molecule 3: RDKit refuses it \(no ring\)$"
    with pytest.raises(ValueError, match=message), asking_rdkit("molecule 3"):
        raise RuntimeError("no ring")
    with pytest.raises(MemoryError), asking_rdkit("molecule 3"):
        raise MemoryError


def test_hydrogens_are_added_to_match_the_graph():
    methane = Chem.MolFromSmiles("C")
    assert with_atoms(methane, 1, 0) is methane
    assert with_atoms(methane, 5, 0).GetNumAtoms() == 5
    with pytest.raises(ValueError, match="molecule 3 has 1 atoms, but its graph has 2 nodes"):
        with_atoms(methane, 2, 3)


def test_none_is_not_a_molecule():
    with pytest.raises(ValueError, match="molecule 3 is None: it could not be read"):
        with_atoms(None, 0, 3)
