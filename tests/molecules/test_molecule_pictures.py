"""draw_molecule: contributions as colors of atoms."""

import pickle
import re

import matplotlib.image
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.molecules.depiction import bond_scale, light_colors

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "CCCO", "CCN", "CCCN", "OC1CCC1", "NC1CCC1", "Oc1ccccc1", "Nc1ccccc1"]
TARGET = [1, 1, 0, 0, 1, 0, 1, 0]


def pipeline(**options):
    kernel = pk.WeisfeilerLehman(t_max=1)
    model = pk.PropagationClassifier(kernel=kernel, C=10, cv=2, t_max=1, random_state=0)
    graphs = pk.MoleculesToGraphs(node_labels="symbol", **options)
    return make_pipeline(graphs, model).fit(SMILES, TARGET)


@pytest.fixture(scope="module")
def model():
    return pipeline()


def test_values_are_those_of_the_explanation(model):
    explanation = model[-1].explain(pk.from_smiles(SMILES, node_labels="symbol"))
    for given in (model, explanation):
        picture = pk.molecules.draw_molecule(given, SMILES, 4)
        np.testing.assert_allclose(picture.values, explanation.of_graph(4).sum(axis=1))
        np.testing.assert_allclose(
            pk.molecules.draw_molecule(given, SMILES, 4, t=1).values, explanation.of_graph(4)[:, 1]
        )


def circles(svg):
    """Fill colors of the circles behind atoms, by atom."""
    found = re.findall(r"<ellipse[^>]*class='atom-(\d+)'[^>]*fill:(#[0-9A-F]{6})", svg)
    return {int(atom): color.lower() for atom, color in found}


def test_colors_are_those_of_the_map(model):
    from matplotlib.colors import to_hex

    picture = pk.molecules.draw_molecule(model, SMILES, 1)
    largest = np.abs(picture.values).max()
    expected = [to_hex(color) for color in light_colors()(0.5 + picture.values / (2 * largest))]
    found = circles(picture.svg)
    assert len(found) == 4
    for atom, color in found.items():
        channels = [[int(text[i : i + 2], 16) for i in (1, 3, 5)] for text in (color, expected[atom])]
        np.testing.assert_allclose(*channels, atol=1)


def test_files(model, tmp_path):
    picture = pk.molecules.draw_molecule(model, SMILES, 6, title="phenol", size=(300, 200))
    picture.save(tmp_path / "phenol.png")
    picture.save(tmp_path / "phenol.SVG")
    image = matplotlib.image.imread(tmp_path / "phenol.png")
    assert image.shape[:2] == (200, 300)
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 10
    assert (tmp_path / "phenol.SVG").read_text() == picture.svg == picture._repr_svg_()
    with pytest.raises(ValueError, match=r"must end with \.svg or \.png"):
        picture.save(tmp_path / "phenol.gif")
    assert repr(picture).startswith("MoleculePicture(7 atoms, contributions ")


@pytest.mark.parametrize(
    ("which", "molecules", "number", "error", "message"),
    [
        ("model", SMILES, 8, IndexError, "8 molecules, and no molecule 8"),
        ("model", ["C1CC"], 0, ValueError, "cannot be read"),
        ("explanation", SMILES[:3], 0, ValueError, "3 molecules, but 8 graphs"),
        ("explanation", SMILES[::-1], 0, ValueError, "not those of the graphs: molecule 0 has 7 atoms"),
    ],
)
def test_bad_input_is_named(model, which, molecules, number, error, message):
    given = model if which == "model" else model[-1].explain(pk.from_smiles(SMILES, node_labels="symbol"))
    with pytest.raises(error, match=message):
        pk.molecules.draw_molecule(given, molecules, number)


def test_bonds_have_their_parts_in_the_neighborhoods(model):
    explanation = model[-1].explain(pk.from_smiles(SMILES, node_labels="symbol"))
    picture = pk.molecules.draw_molecule(model, SMILES, 4)
    ends, values = explanation.edge_contributions(4)
    pairs = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in picture.molecule.GetBonds()]
    known = {tuple(pair): value for pair, value in zip(ends.tolist(), values, strict=True)}
    np.testing.assert_allclose(picture.bonds, [known[min(pair), max(pair)] for pair in pairs])


def test_several_molecules_and_iterations(model):
    grid = pk.molecules.draw_molecule(model, SMILES, [0, 6, 7, 1], size=(200, 150))
    assert [len(panel.values) for panel in grid.panels] == [3, 7, 7, 4]
    assert "width='600px' height='300px'" in grid.svg
    assert repr(grid) == "MoleculePicture(4 panels)"
    each = pk.molecules.draw_molecule(model, SMILES, 6, t="each")
    total = pk.molecules.draw_molecule(model, SMILES, 6).values
    np.testing.assert_allclose(sum(panel.values for panel in each.panels), total)
    assert not each.panels[0].bonds.any()
    titled = pk.molecules.draw_molecule(model, SMILES, [0, 1], title=["ethanol", "propanol"])
    assert [panel.title for panel in titled.panels] == ["ethanol", "propanol"]
    assert bond_scale([np.array([1.0, -4.0]), np.array([2.0])], [np.array([0.5]), None]) == 8.0
    assert bond_scale([np.zeros(1)], [np.ones(1)]) == 1.0
    with pytest.raises(ValueError, match="2 panels, but 1 titles"):
        pk.molecules.draw_molecule(model, SMILES, [0, 1], title=["ethanol"])
    with pytest.raises(ValueError, match="at least one molecule"):
        pk.molecules.draw_molecule(model, SMILES, [])


def test_explanations_of_molecules_draw_themselves(model, tmp_path):
    """Graphs remember what they were made of, also after they were sliced; pickles forget it."""
    graphs = model[:-1].transform(SMILES)
    explanation = model[-1].explain(graphs[[6, 4, 1]])
    picture = explanation.draw_molecule(1)
    assert picture.svg == pk.molecules.draw_molecule(explanation, [SMILES[6], SMILES[4], SMILES[1]], 1).svg
    np.testing.assert_allclose(picture.values, pk.molecules.draw_molecule(model, SMILES, 4).values)
    explanation.draw_molecule([0, 2], t="each", size=(200, 150)).save(tmp_path / "picture.svg")
    mols = [Chem.MolFromSmiles(text) for text in SMILES]
    graphs = pk.from_rdkit(mols, node_labels="symbol")
    assert model[-1].explain(graphs).draw_molecule(4).svg == pk.molecules.draw_molecule(model, SMILES, 4).svg
    forgetful = model[-1].explain(pickle.loads(pickle.dumps(graphs)))
    with pytest.raises(ValueError, match=r"pass molecules=\[...\]"):
        forgetful.draw_molecule(0)
    assert (
        forgetful.draw_molecule(4, molecules=SMILES).svg == pk.molecules.draw_molecule(model, SMILES, 4).svg
    )
