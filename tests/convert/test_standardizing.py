"""Standard forms of molecules: fragments, charges, tautomers."""

import pytest

import propkernels as pk

Chem = pytest.importorskip("rdkit.Chem")
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
    graphs = pk.from_smiles([SALT, "CCO", "CCN"], standardize="fragment")
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, cv=None, random_state=0)
    picture = model.fit(graphs, [0, 0, 1]).explain(graphs).draw_molecule(0)
    assert len(picture.values) == 4


def test_unknown_steps_are_named():
    for steps in ("salt", ["fragment", 1]):
        with pytest.raises(ValueError, match="standardize must be None or some of 'fragment'"):
            pk.from_smiles([WATER], standardize=steps)
