"""Descriptors of molecules by RDKit."""

import numpy as np
import pytest

import propkernels as pk

Chem = pytest.importorskip("rdkit.Chem")
from propkernels.convert.descriptors import check_wanted, compute_descriptors, descriptor_names  # noqa: E402

SMILES = ["CCO", "c1ccccc1O", "CC(=O)[O-].[Na+]", "C[N+](C)(C)C"]


def test_values_are_those_of_rdkit():
    from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors

    graphs = pk.from_smiles(SMILES, descriptors=["tpsa", "CrippenClogP", "amw", "SMR_VSA3", "MQN12"])
    mols = [Chem.MolFromSmiles(text) for text in SMILES]
    reference = [
        [
            rdMolDescriptors.CalcTPSA(mol),
            Crippen.MolLogP(mol),
            Descriptors.MolWt(mol),
            Descriptors.SMR_VSA3(mol),
            rdMolDescriptors.MQNs_(mol)[11],
        ]
        for mol in mols
    ]
    np.testing.assert_allclose(graphs.descriptors.values, reference)
    assert pk.from_rdkit(mols, descriptors=graphs.descriptors.names).descriptors == graphs.descriptors


def test_all_descriptors_by_one_name():
    graphs = pk.MoleculesToGraphs(descriptors="rdkit").transform(SMILES)
    assert graphs.descriptors.names == tuple(descriptor_names())
    assert len(set(descriptor_names())) == len(descriptor_names()) > 100
    assert np.isfinite(graphs.descriptors.values).all()


def test_molecules_that_are_left_out_or_empty():
    wanted = {"descriptors": ["amw"]}
    texts = ["CCO", "not one", "CCN"]
    with pytest.warns(UserWarning, match="skipped 1 of 3"):
        skipped = pk.from_smiles(texts, errors="skip", **wanted)
    assert len(skipped.descriptors.values) == len(skipped) == 2
    assert list(skipped.skipped)
    with pytest.warns(UserWarning, match="left empty 1 of 3"):
        empty = pk.from_smiles(texts, errors="empty", **wanted)
    assert np.isnan(empty.descriptors.values[:, 0]).tolist() == [False, True, False]


def test_faults_are_named():
    for wanted in ("all", [], ["tpsa", "beauty"], 3):
        with pytest.raises(ValueError, match="descriptors must be None, 'rdkit' or names"):
            check_wanted(wanted)
    assert check_wanted(None) is None
    assert np.isnan(compute_descriptors([Chem.Mol()], ["tpsa"])).all()
