"""RDKit's errors as one line about the molecule."""

import pytest

from propkernels.convert.asking_rdkit import asking_rdkit, parse_smiles, rdkit_reason, with_atoms

Chem = pytest.importorskip("rdkit.Chem")


def test_texts_that_are_no_smiles_are_none():
    assert parse_smiles(Chem, "CCO").GetNumAtoms() == 3
    for text in ("not smiles", "", "  ", None, 5, b"CC", "C\ud800"):
        assert parse_smiles(Chem, text) is None


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
