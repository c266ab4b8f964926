"""A molecule as RDKit depicts it, in axes of matplotlib."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels.convert.rdkit import is_mol
from propkernels.graphs.container import Graph

PIXELS = (800, 600)


def draw_structure(ax: Any, graph: Graph, molecule: Any) -> None:
    """Draw the molecule that a graph was made of.

    Parameters
    ----------
    ax : Axes
    graph : Graph
    molecule : rdkit.Chem.Mol or str
        The molecule, or its SMILES; its atoms are the nodes of the graph.
    """
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    draw = import_optional("rdkit.Chem.Draw.rdMolDraw2D", extra="chem", purpose="molecules need")
    mol = chem.MolFromSmiles(molecule) if isinstance(molecule, str) else molecule
    if mol is None or not is_mol(mol):
        raise ValueError(f"molecule must be an RDKit molecule or SMILES, got {shown(molecule)}")
    whole = mol if mol.GetNumAtoms() == graph.n_nodes else chem.AddHs(mol)
    if whole.GetNumAtoms() != graph.n_nodes:
        raise ValueError(f"the molecule has {mol.GetNumAtoms()} atoms, but the graph {graph.n_nodes} nodes")
    drawer = draw.MolDraw2DCairo(*PIXELS)
    draw.PrepareAndDrawMolecule(drawer, whole)
    drawer.FinishDrawing()
    from matplotlib.image import imread

    ax.imshow(imread(BytesIO(drawer.GetDrawingText()), format="png"), interpolation="lanczos")
    ax.set_axis_off()
