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


def test_roles_of_atoms():
    graphs = pk.from_smiles(["CCO", "c1ccncc1"], node_labels="pharmacophore")
    assert graphs.node_labels.tolist()[:3] == ["none", "none", "donor+acceptor"]
    assert "acceptor+aromatic" in graphs.node_labels.tolist()


ROLES = ("donor", "acceptor", "aromatic", "halogen", "basic", "acidic")
WITH_ROLES = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "NC(=O)c1cnccn1",
    "CN(C)CCc1c[nH]c2ccccc12",
    "C[NH3+].[O-]C(=O)CF",
    "c1ccoc1",
    "c1cnco1",
    "c1cscn1",
    "c1ccsc1",
    "o1nccc1",
    "CS(=O)(=O)N",
    "CS(=O)(=O)O",
    "OP(=O)(O)OCl",
    "N=C(N)NCCBr",
    "Nc1ccccc1",
    "CNC(C)=O",
    "CNc1ccccc1",
    "CN(C)C(=O)C",
    "CN(c1ccccc1)C",
    "C=CO",
    "CC(=S)S",
    "C[S-].[K+]",
    "ON=O",
    "C[N+](=O)[O-]",
    "[O-][n+]1ccccc1",
    "CC#N",
    "SC=N",
    "[NH4+]",
    "I[Si](I)(O)O",
    "C1=CC=NC1=O",
]


@pytest.mark.parametrize("hydrogens", [False, True])
def test_roles_are_those_of_rdkit(hydrogens):
    from rdkit.Chem.rdMolDescriptors import GetFeatureInvariants

    mols = [Chem.MolFromSmiles(text) for text in WITH_ROLES + SMILES]
    graphs = pk.from_rdkit(mols, node_labels="pharmacophore", explicit_hydrogens=hydrogens)
    for mol, graph in zip(mols, graphs, strict=True):
        bits = GetFeatureInvariants(Chem.AddHs(mol) if hydrogens else mol)
        names = ["+".join(n for i, n in enumerate(ROLES) if one >> i & 1) or "none" for one in bits]
        assert graph.node_labels.tolist() == names, Chem.MolToSmiles(mol)


def test_stereoisomers_are_told_apart_only_on_request():
    left, right = "N[C@@H](C)C(=O)O", "N[C@H](C)C(=O)O"
    apart = pk.from_smiles([left, right, "F/C=C/F", "F/C=C\\F"], stereo=True)
    assert apart[0] != apart[1]
    assert ("C", "S") in apart[0].node_labels.tolist()
    assert "double E" in apart[2].edge_labels.tolist()
    assert "double Z" in apart[3].edge_labels.tolist()
    together = pk.from_smiles([left, right])
    assert together[0] == together[1]


def test_without_edge_labels():
    assert pk.from_smiles(["CC=O"], edge_labels=False).edge_labels is None


def test_molecules_are_left_as_they_were():
    mol = Chem.MolFromSmiles("CCO")
    before = list(mol.GetPropNames(True, True))
    pk.from_rdkit([mol], stereo=True, explicit_hydrogens=True)
    pk.from_rdkit([mol])
    assert list(mol.GetPropNames(True, True)) == before
    assert mol.GetNumAtoms() == 3


def test_large_molecules_go_bond_by_bond():
    chain = "C" * 1200
    graphs = pk.from_smiles([chain, "CC"])
    assert graphs.graph_sizes.tolist() == [1200, 2]
    assert graphs.n_edges == 1200


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


def test_targets_from_properties():
    mols = [Chem.MolFromSmiles("C"), Chem.MolFromSmiles("CC")]
    for mol, value in zip(mols, ["1.5", "2.5"], strict=True):
        mol.SetProp("activity", value)
    graphs, target = pk.from_rdkit(mols, target="activity")
    assert len(graphs) == 2
    assert target.tolist() == [1.5, 2.5]


def test_pandas_columns_of_texts():
    pandas = pytest.importorskip("pandas")
    assert pk.from_smiles(pandas.Series(["CCO", "CC"], index=[5, 9])) == pk.from_smiles(["CCO", "CC"])


def test_estimators_take_molecules():
    mols = [Chem.MolFromSmiles(text) for text in ("CCO", "CCN")]
    kernel = pk.PropagationKernel(t_max=1, random_state=0)
    assert np.array_equal(kernel.fit_transform(mols), kernel.fit_transform(pk.from_rdkit(mols)))


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
    assert pk.from_rdkit([raw]).node_labels.tolist() == ["C", "C", "O"]
    with pytest.warns(UserWarning, match=r"skipped 1 of 2 molecules: 1 \(RDKit refuses it"):
        graphs = pk.from_rdkit([Chem.MolFromSmiles("C"), raw], explicit_hydrogens=True, errors="skip")
    assert graphs.graph_sizes.tolist() == [5]


@pytest.mark.parametrize("stereo", [False, True])
def test_bonds_of_large_molecules_are_those_of_small_ones(stereo, monkeypatch):
    texts = [*SMILES, "F/C=C/F", "F/C=C\\F"]
    small = pk.from_smiles(texts, stereo=stereo)
    monkeypatch.setattr("propkernels.convert.bonds.LARGE", 1)
    assert pk.from_smiles(texts, stereo=stereo) == small
