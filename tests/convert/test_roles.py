"""Pharmacophoric roles of atoms, against RDKit."""

import pytest

import propkernels as pk
from tests.convert.test_rdkit import SMILES

Chem = pytest.importorskip("rdkit.Chem")


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
