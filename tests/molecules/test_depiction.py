"""depiction: colors, hydrogens, and values of bonds."""

import numpy as np
import pytest
from matplotlib.colors import Normalize

from propkernels.molecules.depiction import (
    Panel,
    bond_scale,
    depict,
    values_of_bonds,
)

Chem = pytest.importorskip("rdkit.Chem")


def test_values_of_pairs_follow_the_bonds():
    molecule = Chem.MolFromSmiles("C(O)N")  # bonds 0-1 and 0-2
    assert values_of_bonds(molecule, np.array([[2, 0], [0, 1]]), np.array([5.0, 7.0])).tolist() == [7.0, 5.0]


def test_the_largest_bond_gets_the_color_of_the_largest_atom():
    assert bond_scale([np.array([1.0, -4.0]), np.array([2.0])], [np.array([0.5]), None]) == 8.0
    assert bond_scale([np.array([1.0])], [None]) == 1.0
    assert bond_scale([np.zeros(1)], [np.ones(1)]) == 1.0


def test_a_picture_has_one_cell_per_panel():
    panels = [
        Panel(Chem.MolFromSmiles("CO"), np.array([1.0, -1.0]), np.array([0.5]), f"p{i}") for i in range(3)
    ]
    svg = depict(panels, Normalize(-1, 1), (120, 80), "svg", n_columns=2).decode()
    assert "width='240px' height='160px'" in svg
    assert depict(panels[:1], Normalize(-1, 1), (120, 80), "png").startswith(b"\x89PNG")
