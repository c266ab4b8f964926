"""Small skeletal formulas of graphs."""

import numpy as np
import pytest

import propkernels as pk

pytest.importorskip("rdkit")


def test_a_graph_of_a_molecule_is_a_formula():
    graphs = pk.from_smiles(["CC(=O)Oc1ccccc1C(=O)O"])
    plain = pk.molecules.formula_svg(graphs[0], title="<aspirin>")
    assert plain.startswith("<svg")
    assert "<title>&lt;aspirin&gt;</title>" in plain
    halos = pk.molecules.formula_svg(graphs[0], values=np.arange(13) - 6.0)
    assert halos.count("<ellipse") > 8
    assert graphs[0]._repr_html_().count("<circle") == 0


def test_elements_without_bonds_or_with_broken_valences_are_drawn():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    plain = pk.GraphDatabase(path, [0, 3], node_labels=[0, 1, 0])
    assert pk.molecules.formula_svg(plain.with_names({0: "C", 1: "O"})[0]).startswith("<svg")
    assert pk.molecules.formula_svg(plain.with_names({0: "helix", 1: "turn"})[0]) is None
    broken = pk.GraphDatabase(path, [0, 3], ["C", "O", "C"], edge_labels=["triple"] * 4)
    assert pk.molecules.formula_svg(broken[0]).startswith("<svg")
    crystal = pk.GraphDatabase(1 - np.eye(6), [0, 6], node_labels=[0, 1] * 3).with_names({0: "C", 1: "Si"})
    others = [crystal, pk.datasets.make_molecules(1, random_state=0).graphs, pk.from_smiles(["C" * 500])]
    assert [pk.molecules.formula_svg(graphs[0]) for graphs in others] == [None] * 3


def test_formulas_and_pictures_are_legible_on_dark_pages():
    """No white card: ink and halos of atoms and bonds change with the page."""
    graphs = pk.from_smiles(["CCO", "CCCO", "CCN", "CCCN", "CCCCO", "CCCCN"])
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), random_state=0)
    explanation = model.fit(graphs, [1, 1, 0, 0, 1, 0]).explain(graphs)
    plain = pk.molecules.formula_svg(graphs[0])
    bonds, values = (np.array([[0, 1], [1, 2]]), np.array([1.0, -1.0])), [1.0, -0.5, 0.2]
    halos = pk.molecules.formula_svg(graphs[0], values=values, edges=bonds)
    for svg in (plain, halos, explanation.draw_molecule(0)._repr_html_(), explanation._repr_html_()):
        assert "var(--ink, #000000)" in svg
        assert "fill:#FFFFFF" not in svg
    assert "light-dark(" in halos
    assert "light-dark(" not in plain
    atoms = pk.molecules.formula_svg(graphs[0], values=values)
    assert halos.count("light-dark(") > atoms.count("light-dark(")
    assert "var(--atom-o, #FF0000)" in plain
