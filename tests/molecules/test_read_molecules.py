"""read_molecules: containers, SMILES and invalid molecules."""

import numpy as np
import pandas as pd
import pytest

from propkernels.molecules.transformer import as_list, as_molecules

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "C"]


@pytest.mark.parametrize(
    "molecules",
    [
        tuple(SMILES),
        np.array(SMILES),
        np.array(SMILES)[:, None],
        pd.Series(SMILES),
        pd.DataFrame({"a": SMILES}),
    ],
    ids=["tuple", "array", "column of an array", "column of pandas", "table of one column"],
)
def test_containers(molecules):
    assert as_list(molecules) == SMILES


def test_a_single_molecule_and_tables_are_errors():
    for molecule in ("CCO", Chem.MolFromSmiles("CCO")):
        with pytest.raises(TypeError, match=r"wrap the one molecule: \[molecule\]"):
            as_list(molecule)
    with pytest.raises(ValueError, match=r"must be one column.*got shape \(2, 2\)"):
        as_list(np.array([SMILES, SMILES]))


def test_molecules_are_kept_and_smiles_parsed():
    given = Chem.MolFromSmiles("N")
    parsed, kept = as_molecules(["CCO", given])
    assert kept is given
    assert Chem.MolToSmiles(parsed) == "CCO"


def test_invalid_molecules():
    with pytest.raises(ValueError, match="molecule 1: 'C1CC' cannot be read"):
        as_molecules(["CCO", "C1CC"])
    with pytest.warns(UserWarning, match="left empty 1 of 2"):
        assert [mol.GetNumAtoms() for mol in as_molecules(["CCO", "C1CC"], "empty")] == [3, 0]
