"""Edits of molecules: valences hold, and SMILES are those of the edited graphs."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.propagation import Diffusion

chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN", "c1ccccc1O", "c1ccccc1N", "CC(=O)O", "CC(=O)N"] * 2
KERNEL = pk.PropagationKernel(propagation=Diffusion(0.5, "none"), t_max=1, random_state=0)


@pytest.fixture(scope="module")
def model():
    graphs = pk.from_smiles(SMILES)
    target = [int("O" in text.removeprefix("CC(=O)")) for text in SMILES]
    return pk.PropagationClassifier(kernel=KERNEL, t_max=1, C=10.0, random_state=0).fit(graphs, target)


def check(model, found):
    """Every molecule can be read, is there once, and is the graph beside it."""
    assert found.reached
    assert len(set(found.smiles)) == len(found.smiles)
    for one in found:
        mol = chem.MolFromSmiles(one.smiles)
        assert mol is not None
        assert mol.GetNumAtoms() == one.graph.n_nodes
        own = pk.from_rdkit([mol])
        assert sorted(own.node_labels) == sorted(one.graph.node_labels)
        assert model.decision_function(own)[0] == pytest.approx(one.decision, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["CCO", "c1ccccc1O", "CC(=O)O", "c1ccccc1[N+](=O)[O-]", "C[NH3+]"])
def test_valences_hold(model, text):
    mol = chem.MolFromSmiles(text)
    found = model.counterfactuals(mol, n=8, budget=5000)
    check(model, found)
    assert "valences" in found.summary
    same = model.counterfactuals(pk.from_smiles([text])[0], n=8, budget=5000, molecule=text)
    assert same.smiles == found.smiles


def test_labels_of_from_smiles_are_enough(model):
    graph = pk.from_smiles(["OC(=O)c1ccccc1"])[0]
    assert model.counterfactuals(graph, n=3).smiles[0] is not None
    nitro = pk.from_smiles(["Cc1ccccc1[N+](=O)[O-]"])[0]
    assert all("+" in text for text in model.counterfactuals(nitro, n=3, allowed={"nodes": [0, 1, 2]}).smiles)
    bare = pk.from_smiles(["CCO"], edge_labels=False)
    assert None not in model.counterfactuals(bare[0], n=3).smiles
    symbols = pk.from_smiles(["CCO"], node_labels="symbol", edge_labels=False)
    symbols.sources = None
    with pytest.warns(pk.models.ForeignGraphsWarning, match="such as 'C', 'O'"):
        assert model.counterfactuals(symbols[0], n=3).smiles == [None] * 3


def test_atoms_have_room_for_their_bonds(model):
    mol = chem.MolFromSmiles("FC(F)(F)O")
    with pytest.warns(pk.models.ForeignGraphsWarning, match="such as"):
        found = model.counterfactuals(mol, n=50, max_edits=1, allowed=["add_leaf", "relabel"])
    on_carbon = [e for edits in found.edits for e in edits if e.kind == "add_leaf" and e.node == 1]
    assert not on_carbon  # it has four neighbors already
    assert all(chem.MolFromSmiles(text) is not None for text in found.smiles)


def test_bonds_that_a_model_tells_apart_stay_what_they_are():
    graphs = pk.from_smiles(SMILES)
    kernel = pk.WeisfeilerLehman(t_max=2, edge_labels=True)
    target = [int("O" in text) for text in SMILES]
    model = pk.PropagationClassifier(kernel=kernel, t_max=2, C=10.0, random_state=0).fit(graphs, target)
    found = model.counterfactuals(chem.MolFromSmiles("c1ccccc1O"), n=20, budget=20_000)
    check(model, found)
    for one in found:
        own = pk.from_rdkit([chem.MolFromSmiles(one.smiles)])
        assert sorted(own.edge_labels) == sorted(one.graph.edge_labels)


def test_another_molecule_is_refused(model):
    graph = pk.from_smiles(["CCO"])[0]
    with pytest.raises(ValueError, match="does not match the graph"):
        model.counterfactuals(graph, molecule="CCN")
    with pytest.raises(ValueError, match="RDKit molecule or SMILES"):
        model.counterfactuals(graph, molecule="C(C")
    with pytest.raises(ValueError, match="symbol of an element"):
        model.counterfactuals(graph, molecule="CCO", allowed={"labels": ["Xx"]})
    assert np.isfinite(model.counterfactuals(graph, molecule="CCO").decision).all()


@pytest.mark.filterwarnings("ignore::propkernels.models.ForeignGraphsWarning")
@pytest.mark.parametrize(
    "recipe", [("symbol", "invariants", "pharmacophore"), "invariants", "symbol+aromatic"]
)
def test_labels_that_depend_on_the_whole_molecule_are_computed_again(recipe):
    """Decisions are those of the edited SMILES, read with the labels of the model."""
    smiles = [
        f"{group}{chain}" for chain in ("CC", "CCC", "CC(C)C", "c1ccccc1", "C1CCCC1") for group in "ONF"
    ]
    graphs = pk.from_smiles(smiles, node_labels=recipe)
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=2), C=1, cv=2, random_state=0)
    model.fit(graphs, [text[0] == "O" for text in smiles])
    found = model.counterfactuals(graphs[9], 1, 5, molecule=smiles[9])
    assert len(found)
    for item in found:
        again = model.decision_function(pk.from_smiles([item.smiles], node_labels=recipe))
        assert item.decision == pytest.approx(float(again[0]), abs=1e-11)
