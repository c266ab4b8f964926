"""Molecules: SMILES or RDKit molecules to graphs, groups by scaffold, and pictures of explanations."""

from propkernels.molecules.formulas import formula_svg
from propkernels.molecules.molecule_pictures import MoleculePicture, Picture, draw_molecule
from propkernels.molecules.scaffolds import scaffolds
from propkernels.molecules.similarity_pictures import draw_similarity
from propkernels.molecules.transformer import MoleculesToGraphs

__all__ = [
    "MoleculePicture",
    "MoleculesToGraphs",
    "Picture",
    "draw_molecule",
    "draw_similarity",
    "formula_svg",
    "scaffolds",
]
