"""Molecules: SMILES or RDKit's objects into graphs, groups by scaffold, explanations drawn on molecules."""

from propkernels.molecules.drawing import MoleculePicture, draw_molecule
from propkernels.molecules.scaffolds import scaffolds
from propkernels.molecules.similarity import draw_similarity
from propkernels.molecules.transformer import MoleculesToGraphs

__all__ = ["MoleculePicture", "MoleculesToGraphs", "draw_molecule", "draw_similarity", "scaffolds"]
