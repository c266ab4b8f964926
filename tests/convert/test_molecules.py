"""Molecules: labels and bonds by every recipe against RDKit asked atom by atom, faults, standard forms."""

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
from propkernels.convert.graph_molecules import known_molecule, matched_molecule, rebuilt_molecule, symbols_of
from propkernels.convert.rdkit import RECIPES, ROLES
from propkernels.counts.bins import smarts_of

Chem = pytest.importorskip("rdkit.Chem")
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors  # noqa: E402

from propkernels.convert.rdkit import compute_descriptors, descriptor_names  # noqa: E402

# a salt, an isotope, charges, dative and unspecified bonds, stereo, metals
SMILES = str.split("""CCO c1ccccc1C(=O)[O-].[Na+] C#N [13CH4] C[N+](C)(C)C [NH3]->[Fe] c1ccc2[nH]ccc2c1 [H][H]
    F/C=C/F N[C@@H](C)C(=O)O O=S(=O)(O)O C~C Cl[Pt](Cl)([NH3])[NH3]""")
# kinds of atoms that RDKit's invariants do not tell apart
UNUSUAL = str.split("[12CH4] [13CH3]C [2H]OC [NH3]->[Pt](Cl)Cl C[N+](C)(C)C.[Cl-] CS(C)=O CSC")
WITH_ROLES = str.split("""CC(=O)Oc1ccccc1C(=O)O NC(=O)c1cnccn1 CN(C)CCc1c[nH]c2ccccc12 C[NH3+].[O-]C(=O)CF
    c1ccoc1 c1cnco1 c1cscn1 c1ccsc1 o1nccc1 CS(=O)(=O)N CS(=O)(=O)O OP(=O)(O)OCl N=C(N)NCCBr Nc1ccccc1
    CNC(C)=O CNc1ccccc1 CN(C)C(=O)C CN(c1ccccc1)C C=CO CC(=S)S C[S-].[K+] ON=O C[N+](=O)[O-]
    [O-][n+]1ccccc1 CC#N SC=N [NH4+] I[Si](I)(O)O C1=CC=NC1=O""")
# aromatic though not written so, separated charges, metals, isotopes, a radical, cubane with ambiguous rings
ODD = str.split("""C1=CC=CN1 O=c1cccc[nH]1 CN(=O)=O [Fe](Cl)(Cl)(N)(N)N C[Mg]Br [13CH3][2H] [H]C([H])O [CH2]C
    C12C3C4C1C5C2C3C45 *C c1cc2ccc3cccc4ccc(c1)c2c34 Cl[C@H]1[C@H](Cl)[C@@H](Cl)CCC1""")


def roles_of(mol):
    bits = rdMolDescriptors.GetFeatureInvariants(mol)
    return ["+".join(name for i, name in enumerate(ROLES) if one >> i & 1) or "none" for one in bits]


def atom_by_atom(label):
    return lambda mol: [label(atom) for atom in mol.GetAtoms()]


EXPECTED = {
    "symbol": atom_by_atom(lambda atom: atom.GetSymbol()),
    "symbol+aromatic": atom_by_atom(
        lambda atom: atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol()
    ),
    "invariants": atom_by_atom(
        lambda atom: (
            sum(n.GetAtomicNum() > 1 for n in atom.GetNeighbors()),
            atom.GetTotalValence() - atom.GetTotalNumHs(True),
            atom.GetAtomicNum(),
            atom.GetIsotope(),
            atom.GetFormalCharge(),
            atom.GetTotalNumHs(True),
            int(atom.IsInRing()),
        )
    ),
    "pharmacophore": roles_of,
}


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("hydrogens", [False, True])
def test_every_atom_and_bond(recipe, hydrogens):
    texts = [*SMILES, *WITH_ROLES]
    mols = [Chem.MolFromSmiles(text) for text in texts]
    graphs = pk.from_rdkit(mols, node_labels=recipe, explicit_hydrogens=hydrogens)
    for mol, graph in zip(mols, graphs, strict=True):
        asked = Chem.AddHs(mol) if hydrogens else mol
        assert graph.node_labels.tolist() == EXPECTED[recipe](asked), Chem.MolToSmiles(mol)
        ends = zip(*graph.adjacency.tocoo().coords, graph.edge_labels.tolist(), strict=True)
        assert {(int(u), int(v)): kind for u, v, kind in ends if u < v} == {
            tuple(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx()))): b.GetBondType().name.lower()
            for b in asked.GetBonds()
        }
    assert graphs == pk.from_smiles(texts, node_labels=recipe, explicit_hydrogens=hydrogens)


def test_invariants_of_kinds_of_atoms_that_rdkit_does_not_tell_apart():
    mols = [Chem.MolFromSmiles(text) for text in UNUSUAL]
    for mol, graph in zip(mols, pk.from_rdkit(mols, node_labels="invariants"), strict=True):
        assert graph.node_labels.tolist() == EXPECTED["invariants"](mol)


def test_functions_of_atoms_see_whole_molecules():
    """Also what graphs do not need, such as hybridization."""
    graphs = pk.from_smiles(["C=CC"], node_labels=("symbol", lambda atom: atom.GetHybridization().name))
    assert graphs.node_labels.tolist() == [("C", "SP2"), ("C", "SP2"), ("C", "SP3")]


def test_stereoisomers_are_told_apart_only_on_request():
    left, right = "N[C@@H](C)C(=O)O", "N[C@H](C)C(=O)O"
    apart = pk.from_smiles([left, right, "F/C=C/F", "F/C=C\\F"], stereo=True, node_labels="symbol")
    assert ("C", "S") in apart[0].node_labels.tolist()
    assert ("C", "R") in apart[1].node_labels.tolist()
    assert "double E" in apart[2].edge_labels.tolist()
    assert "double Z" in apart[3].edge_labels.tolist()
    together = pk.from_smiles([left, right])
    assert together[0] == together[1]


def test_molecules_are_left_as_they_were():
    mol = Chem.MolFromSmiles("CCO")
    before = list(mol.GetPropNames(True, True))
    pk.from_rdkit([mol], stereo=True, explicit_hydrogens=True)
    pk.from_rdkit([mol])
    assert list(mol.GetPropNames(True, True)) == before
    assert mol.GetNumAtoms() == 3


def test_processes_and_columns_give_the_same_molecules(monkeypatch):
    pandas = pytest.importorskip("pandas")
    expected = pk.from_smiles(SMILES)
    assert pk.from_smiles(pandas.Series(SMILES, index=range(5, 5 + len(SMILES)))) == expected
    assert pk.check_graphs(np.array(SMILES)) == expected
    monkeypatch.setattr("propkernels.convert.rdkit.CHUNK", 4)
    assert pk.from_smiles(SMILES, n_jobs=2) == expected


RAW = Chem.MolFromSmiles("[#119]", sanitize=False)
INVALID = [
    (lambda: pk.from_smiles(["CC", "C1CC"]), ValueError, "molecule 1: 'C1CC' cannot be read as SMILES"),
    (lambda: pk.from_smiles(["C(C)(C)(C)(C)C"], ids=["b"]), ValueError, "'b': .* is not a possible molecule"),
    (lambda: pk.from_smiles([float("nan")]), ValueError, "molecule 0: nan is not a SMILES string"),
    (lambda: pk.from_smiles([" "]), ValueError, "molecule 0: the SMILES string is empty"),
    (lambda: pk.from_smiles(["CC", "[#119]"]), ValueError, "molecule 1: .* is not a possible molecule"),
    (lambda: pk.from_smiles("CCO"), TypeError, r"wrap the one string: \[smiles\]"),
    (lambda: pk.from_smiles(["C"], node_labels=()), ValueError, "at least one recipe, got none"),
    (lambda: pk.from_smiles(["C"], node_labels=("symbol", "symbols")), ValueError, "several, got 'symbols'"),
    (lambda: pk.from_smiles(["C"], standardize="salt"), ValueError, "None or some of 'fragment'"),
    (lambda: pk.from_smiles(["C"], standardize=["fragment", 1]), ValueError, "None or some of 'fragment'"),
    (lambda: pk.from_smiles(["C"], descriptors="all"), ValueError, "descriptors must be None, 'rdkit' or"),
    (lambda: pk.from_smiles(["C"], descriptors=["tpsa", "beauty"]), ValueError, "got 'beauty'"),
    (lambda: pk.from_rdkit(RAW), TypeError, r"wrap the one molecule: \[mol\]"),
    (lambda: pk.from_rdkit([RAW]), ValueError, r"molecule 0: RDKit refuses it \(Atomic number not found\)"),
    (lambda: pk.from_rdkit([None]), ValueError, "molecule 0: is None: RDKit could not read it"),
    (lambda: molecule_of("C1CC"), ValueError, "'C1CC' cannot be read as SMILES"),
    (lambda: with_atoms(None, 0, 3), ValueError, "molecule 3 is None: it could not be read"),
    (lambda: with_atoms(Chem.MolFromSmiles("C"), 2, 3), ValueError, "1 atoms, but its graph has 2 nodes"),
]


@pytest.mark.parametrize(("call", "kind", "words"), INVALID)
def test_what_is_wrong_is_named(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_molecules_that_were_not_sanitized_are_faults_where_more_is_asked():
    raw = Chem.MolFromSmiles("CCO", sanitize=False)
    assert pk.from_rdkit([raw], node_labels="symbol").node_labels.tolist() == ["C", "C", "O"]
    with pytest.warns(UserWarning, match=r"skipped 1 of 2 molecules: 1 \(RDKit refuses it"):
        graphs = pk.from_rdkit([Chem.MolFromSmiles("C"), raw], explicit_hydrogens=True, errors="skip")
    assert graphs.graph_sizes.tolist() == [5]


SALT, ENOL, WATER = "CC(=O)[O-].[Na+]", "CC(O)=CC(C)=O", "O"


def test_standard_forms_of_texts_and_molecules():
    texts, forms = [SALT, ENOL, WATER], ["CC(=O)O", "CC(=O)CC(C)=O", "O"]
    graphs = pk.from_smiles(texts, standardize=("charge", "fragment", "tautomer"))
    assert graphs == pk.from_smiles(forms)
    assert dict(graphs.standardized) == {"fragment": 1, "charge": 1, "tautomer": 1}
    assert graphs.sources == forms
    assert dict(pk.from_smiles([SALT]).standardized) == {}
    mols = [Chem.MolFromSmiles(text) for text in texts]
    of_mols = pk.MoleculesToGraphs(standardize="fragment").transform(mols)
    assert of_mols == pk.MoleculesToGraphs(standardize="fragment").transform(texts)
    assert mols[0].GetNumAtoms() == 5
    assert of_mols.sources[1] is mols[1]


@pytest.mark.parametrize("text", [*SMILES, *ODD, "CCO ethanol", "CCO |$;;name$|"])
def test_less_work_for_the_same_atoms_bonds_and_smarts(text):
    lean, fast, full = parse_atoms_and_bonds(Chem, text), molecule_of(text), parse_smiles(Chem, text)
    assert pk.from_rdkit([lean], node_labels=RECIPES) == pk.from_rdkit([full], node_labels=RECIPES)
    places = [(np.array([atom]), radius) for atom in range(full.GetNumAtoms()) for radius in range(4)]
    assert [smarts_of(fast, *place) for place in places] == [smarts_of(full, *place) for place in places]


@pytest.mark.parametrize("text", ["not", "", "  ", None, 5, b"C", "C\ud800", "C1CC", "C(C)(C)(C)(C)C", "cc"])
def test_texts_that_are_no_smiles_are_none(text):
    assert parse_smiles(Chem, text) is None
    assert parse_atoms_and_bonds(Chem, text) is None


def test_reasons_are_one_line_without_positions_in_source():
    long = "Invariant Violation\n  a is b\nViolation occurred on line 12 in file x.cpp"
    assert rdkit_reason(RuntimeError(long)) == "RDKit refuses it (a is b)"
    assert len(rdkit_reason(ValueError("x" * 900))) < 250
    message = r"^molecule 3: RDKit refuses it \(no ring\)$"
    with pytest.raises(ValueError, match=message), asking_rdkit("molecule 3"):
        raise RuntimeError("no ring")
    with pytest.raises(MemoryError), asking_rdkit("molecule 3"):
        raise MemoryError


def test_hydrogens_are_added_to_match_the_graph():
    methane = Chem.MolFromSmiles("C")
    assert with_atoms(methane, 1, 0) is methane
    assert with_atoms(methane, 5, 0).GetNumAtoms() == matched_molecule(methane, 5).GetNumAtoms() == 5
    assert matched_molecule(methane, 3) is None


def test_descriptors_are_those_of_rdkit():
    graphs = pk.from_smiles(SMILES[:2], descriptors=["tpsa", "CrippenClogP", "amw", "SMR_VSA3", "MQN12"])
    functions = (rdMolDescriptors.CalcTPSA, Crippen.MolLogP, Descriptors.MolWt, Descriptors.SMR_VSA3)
    mols = [Chem.MolFromSmiles(text) for text in SMILES[:2]]
    reference = [[*(f(mol) for f in functions), rdMolDescriptors.MQNs_(mol)[11]] for mol in mols]
    np.testing.assert_allclose(graphs.descriptors.values, reference)
    assert pk.from_rdkit(mols, descriptors=graphs.descriptors.names).descriptors == graphs.descriptors
    every = pk.MoleculesToGraphs(descriptors="rdkit").transform(SMILES[:3]).descriptors
    assert every.names == tuple(descriptor_names())
    assert len(set(descriptor_names())) == len(descriptor_names()) > 100
    assert np.isfinite(every.values).all()
    assert np.isnan(compute_descriptors([Chem.Mol()], ["tpsa"])).all()


def test_the_molecule_of_a_graph_is_its_source_or_built_from_the_names_of_labels():
    nitro = "O=[N+]([O-])c1ccccc1"
    graphs = pk.from_smiles(["CC(=O)O", nitro], node_labels="symbol")
    assert Chem.MolToSmiles(known_molecule(graphs[[1]])) == nitro
    graph, numbers, kinds = graphs[[1]], ["C", "N", "O"], ["aromatic", "single", "double"]
    coded = pk.GraphDatabase(
        graph.adjacency,
        graph.graph_ptr,
        [numbers.index(label) for label in graph.node_labels],
        edge_labels=[kinds.index(label) for label in graph.edge_labels],
    )
    assert known_molecule(coded) is None
    named = coded.with_names(dict(enumerate(numbers)), dict(enumerate(kinds)))
    assert symbols_of(named)[:3] == ["O", "N", "O"]
    assert Chem.MolToSmiles(known_molecule(named)) == nitro
    pair = pk.GraphDatabase(np.array([[0, 1], [1, 0]]), [0, 2], ["F", "F"], edge_labels=["triple"] * 2)
    assert known_molecule(pair) is None
    assert known_molecule(pair.with_labels(["word", "F"])) is None


@pytest.mark.parametrize("text", ["c1cc[nH]c1", "c1c[nH]cn1", "c1ccc2[nH]c3ccccc3c2c1", "c1ccncc1"])
def test_hydrogens_of_aromatic_nitrogens_are_found(text):
    assert Chem.MolToSmiles(rebuilt_molecule(pk.from_smiles([text]))) == Chem.CanonSmiles(text)
