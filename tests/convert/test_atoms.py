"""Labels of atoms by every recipe, against RDKit asked atom by atom."""

import pytest

import propkernels as pk
from tests.convert.test_rdkit import SMILES

Chem = pytest.importorskip("rdkit.Chem")


def naive(mol, label):
    """One atom and bond at a time."""
    atoms = [label(atom) for atom in mol.GetAtoms()]
    bonds = {
        tuple(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx()))): b.GetBondType().name.lower()
        for b in mol.GetBonds()
    }
    return atoms, bonds


def found(graph):
    rows, cols = graph.adjacency.tocoo().coords
    labels = graph.edge_labels.tolist() if graph.edge_labels is not None else []
    pairs = zip(rows.tolist(), cols.tolist(), labels, strict=True)
    return graph.node_labels.tolist(), {(u, v): label for u, v, label in pairs if u < v}


RECIPES = {
    "symbol": lambda atom: atom.GetSymbol(),
    "symbol+aromatic": lambda atom: atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol(),
    "invariants": lambda atom: (
        sum(n.GetAtomicNum() > 1 for n in atom.GetNeighbors()),
        atom.GetTotalValence() - atom.GetTotalNumHs(True),
        atom.GetAtomicNum(),
        atom.GetIsotope(),
        atom.GetFormalCharge(),
        atom.GetTotalNumHs(True),
        int(atom.IsInRing()),
    ),
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("hydrogens", [False, True])
def test_every_atom_and_bond(recipe, hydrogens):
    mols = [Chem.MolFromSmiles(text) for text in SMILES]
    graphs = pk.from_rdkit(mols, node_labels=recipe, explicit_hydrogens=hydrogens)
    for mol, graph in zip(mols, graphs, strict=True):
        asked = Chem.AddHs(mol) if hydrogens else mol
        assert found(graph) == naive(asked, RECIPES[recipe])
    assert graphs == pk.from_smiles(SMILES, node_labels=recipe, explicit_hydrogens=hydrogens)


UNUSUAL = ["[12CH4]", "[13CH3]C", "[2H]OC", "[NH3]->[Pt](Cl)Cl", "C[N+](C)(C)C.[Cl-]", "CS(C)=O", "CSC"]


def test_invariants_are_those_of_each_atom_alone():
    """Kinds of atoms are asked once: also those that RDKit's invariants do not tell apart."""
    mols = [Chem.MolFromSmiles(text) for text in UNUSUAL]
    graphs = pk.from_rdkit(mols, node_labels="invariants")
    for mol, graph in zip(mols, graphs, strict=True):
        assert graph.node_labels.tolist() == [RECIPES["invariants"](atom) for atom in mol.GetAtoms()]


def test_a_function_of_the_atom():
    graphs = pk.from_smiles(["CCO"], node_labels=lambda atom: atom.GetTotalNumHs())
    assert graphs.node_labels.tolist() == [3, 2, 1]


@pytest.mark.parametrize("stereo", [False, True])
def test_several_recipes_side_by_side(stereo):
    recipes = ("symbol", "invariants", "pharmacophore")
    together = pk.from_smiles(SMILES, node_labels=recipes, stereo=stereo).node_labels.tolist()
    each = [pk.from_smiles(SMILES, node_labels=one, stereo=stereo).node_labels.tolist() for one in recipes]
    assert together == list(zip(*each, strict=True))
    assert pk.from_smiles(["CC"], node_labels=["symbol"]).node_labels.tolist() == [("C",), ("C",)]
    with pytest.raises(ValueError, match="at least one recipe, got none"):
        pk.from_smiles(["CC"], node_labels=())
    with pytest.raises(ValueError, match="or several, got 'symbols'"):
        pk.from_smiles(["CC"], node_labels=("symbol", "symbols"))


def test_an_unknown_element_is_a_fault_of_its_molecule_alone():
    with pytest.raises(ValueError, match=r"molecule 1: '\[#119\]' is not a possible molecule"):
        pk.from_smiles(["CCO", "[#119]"])
    with pytest.warns(UserWarning, match="skipped 1 of 3 molecules: 1"):
        graphs = pk.from_smiles(["CCO", "[#119]", "CC"], errors="skip")
    assert graphs.graph_sizes.tolist() == [3, 2]
    raw = Chem.MolFromSmiles("[#119]", sanitize=False)
    with pytest.raises(ValueError, match=r"molecule 0: RDKit refuses it \(Atomic number not found\)"):
        pk.from_rdkit([raw])


def test_molecules_that_were_not_sanitized_are_faults_where_more_is_asked():
    raw = Chem.MolFromSmiles("CCO", sanitize=False)
    assert pk.from_rdkit([raw], node_labels="symbol").node_labels.tolist() == ["C", "C", "O"]
    with pytest.warns(UserWarning, match=r"skipped 1 of 2 molecules: 1 \(RDKit refuses it"):
        graphs = pk.from_rdkit([Chem.MolFromSmiles("C"), raw], explicit_hydrogens=True, errors="skip")
    assert graphs.graph_sizes.tolist() == [5]
