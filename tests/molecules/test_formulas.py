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


def test_names_of_labels_make_a_molecule():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    graphs = pk.GraphDatabase(path, [0, 3], node_labels=[0, 0, 1], edge_labels=[1, 1, 1, 1])
    assert pk.molecules.formula_svg(graphs[0]) is None
    named = graphs.with_names({0: "C", 1: "O"}, {1: "single"})
    assert pk.molecules.formula_svg(named[0]).startswith("<svg")


def test_other_graphs_are_no_formulas():
    graphs = pk.datasets.make_molecules(3, random_state=0).graphs
    assert pk.molecules.formula_svg(graphs[0]) is None
