"""draw_molecule: contributions as colors of atoms."""

import re

import matplotlib.image
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import propkernels as pk
from propkernels.molecules.depiction import light_colors

Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "CCCO", "CCN", "CCCN", "OC1CCC1", "NC1CCC1", "Oc1ccccc1", "Nc1ccccc1"]
TARGET = [1, 1, 0, 0, 1, 0, 1, 0]


def pipeline(**options):
    kernel = pk.WeisfeilerLehman(n_iter=1)
    model = pk.PropagationClassifier(kernel=kernel, C=10, n_folds=2, t_max=1, random_state=0)
    return make_pipeline(pk.MoleculesToGraphs(**options), model).fit(SMILES, TARGET)


@pytest.fixture(scope="module")
def model():
    return pipeline()


def test_values_are_those_of_the_explanation(model):
    explanation = model[-1].explain(pk.from_smiles(SMILES))
    for given in (model, model[-1], explanation):
        picture = pk.draw_molecule(given, SMILES, 4)
        np.testing.assert_allclose(picture.values, explanation.of_graph(4).sum(axis=1))
        np.testing.assert_allclose(
            pk.draw_molecule(given, SMILES, 4, t=1).values, explanation.of_graph(4)[:, 1]
        )


def circles(svg):
    """Fill colors of the circles behind atoms, by atom."""
    found = re.findall(r"<ellipse[^>]*class='atom-(\d+)'[^>]*fill:(#[0-9A-F]{6})", svg)
    return {int(atom): color.lower() for atom, color in found}


def test_colors_are_those_of_the_map(model):
    from matplotlib.colors import to_hex

    picture = pk.draw_molecule(model, SMILES, 1, limit=0.5)
    expected = [to_hex(color) for color in light_colors()(0.5 + picture.values)]
    found = circles(picture.svg)
    assert len(found) == 4
    for atom, color in found.items():
        channels = [[int(text[i : i + 2], 16) for i in (1, 3, 5)] for text in (color, expected[atom])]
        np.testing.assert_allclose(*channels, atol=1)


def test_oxygen_speaks_for_its_class(model):
    values = pk.draw_molecule(model, SMILES, 0).values
    assert values.argmax() == 2  # the oxygen of CCO
    assert pk.draw_molecule(model, SMILES, 0, classes=(0, 1)).values.argmin() == 2


def test_files(model, tmp_path):
    picture = pk.draw_molecule(model, SMILES, 6, title="phenol", size=(300, 200))
    picture.save(tmp_path / "phenol.png")
    picture.save(tmp_path / "phenol.SVG")
    image = matplotlib.image.imread(tmp_path / "phenol.png")
    assert image.shape[:2] == (200, 300)
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 10
    assert (tmp_path / "phenol.SVG").read_text() == picture.svg == picture._repr_svg_()
    with pytest.raises(ValueError, match=r"drawn as \.svg or \.png"):
        picture.save(tmp_path / "phenol.gif")
    assert repr(picture).startswith("MoleculePicture(7 atoms, contributions ")


def test_hydrogens_are_drawn_where_graphs_have_them():
    picture = pk.draw_molecule(pipeline(explicit_hydrogens=True), SMILES, 0)
    assert picture.molecule.GetNumAtoms() == len(picture.values) == 9


def test_molecules_are_not_changed(model):
    mols = [Chem.MolFromSmiles(text) for text in SMILES]
    before = [mol.ToBinary() for mol in mols]
    pk.draw_molecule(model, mols, 2)
    assert [mol.ToBinary() for mol in mols] == before
    assert mols[2].GetNumConformers() == 0


def test_figures_show_the_depiction(model):
    mols = [Chem.MolFromSmiles(text) for text in SMILES]
    axes = pk.plot_explanation(model[-1], mols, 5)
    assert len(axes.images) == 1
    assert not axes.collections
    assert axes.get_title().startswith("graph 5: ")
    panels = pk.plot_explanation(model[-1].explain(mols), mols, 5, t="each")
    assert [len(panel.images) for panel in panels] == [1, 1]
    nodes = pk.plot_explanation(model[-1], mols, 5, layout="spring")
    assert not nodes.images
    assert nodes.collections


@pytest.mark.parametrize(
    ("which", "molecules", "number", "error", "message"),
    [
        ("model", SMILES, 8, IndexError, "8 molecules, and no molecule 8"),
        ("model", ["C1CC"], 0, ValueError, "cannot be read"),
        ("explanation", SMILES[:3], 0, ValueError, "3 molecules, but 8 graphs"),
        ("explanation", SMILES[::-1], 0, ValueError, "not those that were explained: molecule 0 has 7 atoms"),
    ],
)
def test_bad_input_is_named(model, which, molecules, number, error, message):
    given = model if which == "model" else model[-1].explain(pk.from_smiles(SMILES))
    with pytest.raises(error, match=message):
        pk.draw_molecule(given, molecules, number)
