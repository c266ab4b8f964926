"""Molecules: labels by every recipe, all kinds of bonds, faults; against RDKit asked atom by atom."""

import numpy as np
import pytest

import propkernels as pk

Chem = pytest.importorskip("rdkit.Chem")

SMILES = [
    "CCO",
    "c1ccccc1C(=O)[O-].[Na+]",  # a salt: two parts
    "C#N",
    "[13CH4]",
    "C[N+](C)(C)C",
    "[NH3]->[Fe]",  # dative
    "c1ccc2[nH]ccc2c1",
    "[H][H]",
    "F/C=C/F",
    "N[C@@H](C)C(=O)O",
    "O=S(=O)(O)O",
    "C~C",  # an unspecified bond
    "Cl[Pt](Cl)([NH3])[NH3]",
]


def test_stereoisomers_are_told_apart_only_on_request():
    left, right = "N[C@@H](C)C(=O)O", "N[C@H](C)C(=O)O"
    apart = pk.from_smiles([left, right, "F/C=C/F", "F/C=C\\F"], stereo=True, node_labels="symbol")
    assert apart[0] != apart[1]
    assert ("C", "S") in apart[0].node_labels.tolist()
    assert "double E" in apart[2].edge_labels.tolist()
    assert "double Z" in apart[3].edge_labels.tolist()
    together = pk.from_smiles([left, right])
    assert together[0] == together[1]


def test_functions_of_atoms_see_whole_molecules():
    """Also what graphs do not need, such as hybridization."""
    graphs = pk.from_smiles(["C=CC"], node_labels=lambda atom: atom.GetHybridization().name)
    assert graphs.node_labels.tolist() == ["SP2", "SP2", "SP3"]
    graphs = pk.from_smiles(["C=CC"], node_labels=("symbol", lambda atom: atom.GetHybridization().name))
    assert graphs.node_labels.tolist() == [("C", "SP2"), ("C", "SP2"), ("C", "SP3")]


def test_molecules_are_left_as_they_were():
    mol = Chem.MolFromSmiles("CCO")
    before = list(mol.GetPropNames(True, True))
    pk.from_rdkit([mol], stereo=True, explicit_hydrogens=True)
    pk.from_rdkit([mol])
    assert list(mol.GetPropNames(True, True)) == before
    assert mol.GetNumAtoms() == 3


def test_processes_give_the_same_molecules(monkeypatch):
    monkeypatch.setattr("propkernels.convert.rdkit.CHUNK", 4)
    assert pk.from_smiles(SMILES, n_jobs=2) == pk.from_smiles(SMILES)


def test_unreadable_texts_are_named():
    with pytest.raises(ValueError, match="molecule 1: 'C1CC' cannot be read as SMILES"):
        pk.from_smiles(["CC", "C1CC"])
    with pytest.raises(
        ValueError, match=r"molecule 'b': 'C\(C\)\(C\)\(C\)\(C\)C' is not a possible molecule: Explicit"
    ):
        pk.from_smiles(["CC", "C(C)(C)(C)(C)C"], ids=["a", "b"])
    with pytest.raises(ValueError, match="molecule 0: nan is not a SMILES string"):
        pk.from_smiles([float("nan")])
    with pytest.raises(ValueError, match="molecule 0: the SMILES string is empty"):
        pk.from_smiles([" "])
    with pytest.raises(ValueError, match="molecule 1: is None: RDKit could not read it"):
        pk.from_rdkit([Chem.MolFromSmiles("C"), None])
    with pytest.raises(TypeError, match=r"wrap the one string: \[smiles\]"):
        pk.from_smiles("CCO")


def test_unreadable_texts_are_skipped_on_request():
    with pytest.warns(UserWarning, match="skipped 2 of 4 molecules: 1 .* 3 "):
        graphs = pk.from_smiles(["CC", "C1CC", "CO", ""], errors="skip")
    assert graphs == pk.from_smiles(["CC", "CO"])
    assert graphs.ids.tolist() == [0, 2]
    assert list(graphs.skipped) == [1, 3]
    with pytest.warns(UserWarning, match="skipped 1 of 2 molecules: 'x'"):
        named = pk.from_smiles(["C1CC", "CO"], ids=["x", "y"], errors="skip")
    assert named.ids.tolist() == ["y"]


def test_pandas_columns_of_texts():
    pandas = pytest.importorskip("pandas")
    assert pk.from_smiles(pandas.Series(["CCO", "CC"], index=[5, 9])) == pk.from_smiles(["CCO", "CC"])


def test_estimators_take_molecules():
    mols = [Chem.MolFromSmiles(text) for text in ("CCO", "CCN")]
    kernel = pk.PropagationKernel(t_max=1, random_state=0)
    assert np.array_equal(kernel.fit_transform(mols), kernel.fit_transform(pk.from_rdkit(mols)))


SALT, ENOL, WATER = "CC(=O)[O-].[Na+]", "CC(O)=CC(C)=O", "O"


def test_steps_and_counts():
    graphs = pk.from_smiles([SALT, ENOL, WATER], standardize=("charge", "fragment", "tautomer"))
    assert graphs == pk.from_smiles(["CC(=O)O", "CC(=O)CC(C)=O", "O"])
    assert dict(graphs.standardized) == {"fragment": 1, "charge": 1, "tautomer": 1}
    assert graphs.sources == ["CC(=O)O", "CC(=O)CC(C)=O", "O"]
    assert dict(pk.from_smiles([SALT]).standardized) == {}


def test_molecules_and_texts_are_the_same():
    texts = [SALT, ENOL, WATER]
    mols = [Chem.MolFromSmiles(text) for text in texts]
    of_mols = pk.MoleculesToGraphs(standardize="fragment").transform(mols)
    assert of_mols == pk.MoleculesToGraphs(standardize="fragment").transform(texts)
    assert mols[0].GetNumAtoms() == 5
    assert of_mols.sources[1] is mols[1]


def test_pictures_show_the_standard_form():
    graphs = pk.from_smiles([SALT, "CCO", "CCN", "CN"], standardize="fragment")
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, cv=None, random_state=0)
    picture = model.fit(graphs, [0, 0, 1, 1]).explain(graphs).draw_molecule(0)
    assert len(picture.values) == 4


def test_unknown_steps_are_named():
    for steps in ("salt", ["fragment", 1]):
        with pytest.raises(ValueError, match="standardize must be None or some of 'fragment'"):
            pk.from_smiles([WATER], standardize=steps)
