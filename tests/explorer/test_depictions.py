"""Arrays from which the page draws skeletal formulas."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.explorer.depictions import depictions, read_molecules

pytest.importorskip("rdkit")


def test_hydrogens_charges_and_wedges():
    graphs = pk.from_smiles(["C[N+](C)(C)CCO", "C[C@H](N)C(=O)O"])
    found = depictions(graphs, read_molecules(graphs, None))
    assert found["charges"].tolist()[:2] == [0, 1]
    assert found["hydrogens"].tolist()[:7] == [3, 0, 3, 3, 2, 2, 1]
    assert len(found["wedges"]) == graphs.n_edges
    assert np.count_nonzero(found["wedges"]) == 1
    assert len(found["places"]) == 2 * graphs.n_nodes


def test_graphs_that_are_no_molecules():
    graphs = pk.datasets.make_molecules(5, random_state=0).graphs
    assert read_molecules(graphs, None) is None
    with pytest.raises(ValueError, match="2 molecules for 5 graphs"):
        read_molecules(graphs, ["C", "CC"])


def test_molecules_given_by_the_user_are_not_changed():
    chem = pytest.importorskip("rdkit.Chem")
    molecules = [chem.MolFromSmiles("CCO")]
    depictions(pk.from_rdkit(molecules), molecules)
    assert molecules[0].GetNumConformers() == 0
