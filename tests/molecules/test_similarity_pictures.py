"""draw_similarity: atoms and bonds that two molecules share."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import propkernels as pk

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "CCCO", "CCN", "CCCN", "OC1CCC1", "NC1CCC1", "Oc1ccccc1", "Nc1ccccc1"]


@pytest.fixture(scope="module")
def model():
    kernel = pk.WeisfeilerLehman(t_max=1)
    classifier = pk.PropagationClassifier(kernel=kernel, C=10, cv=2, t_max=1, random_state=0)
    pipeline = make_pipeline(pk.MoleculesToGraphs(node_labels="symbol"), classifier)
    return pipeline.fit(SMILES, [1, 1, 0, 0, 1, 0, 1, 0])


@pytest.mark.parametrize("kind", ["kernel", "pipeline", "model", "index"])
def test_shared_atoms_and_bonds_are_colored(model, kind):
    kernel = pk.WeisfeilerLehman(t_max=1, edge_labels=True)
    index = pk.GraphIndex(kernel=kernel).fit(pk.from_smiles(SMILES))
    given = {"kernel": kernel, "pipeline": model, "model": model[-1], "index": index}[kind]
    picture = pk.molecules.draw_similarity("CCO", Chem.MolFromSmiles("CCN"), kernel=given)
    g, h = picture.panels
    assert g.values[2] == h.values[2] == 0  # oxygen and nitrogen are not shared
    assert g.values[0] > g.values[1] > 0  # the neighborhood of the methyl group is
    assert g.bonds[0] > g.bonds[1] == 0
    first = pk.molecules.draw_similarity("CCO", "CCN", kernel=given, t=1)
    assert np.flatnonzero(first.panels[0].values).tolist() == [0]


def test_titles_give_the_kernel_value_and_the_number_of_shared_atoms():
    picture = pk.molecules.draw_similarity("CCO", "CCN", kernel=pk.WeisfeilerLehman(t_max=0))
    assert [panel.title for panel in picture.panels] == [
        "k(g, h) = 2; g: 2 of 3 atoms",
        "k(g, h) = 2; h: 2 of 3 atoms",
    ]
