"""Molecules: SMILES or RDKit's objects into graphs, groups by scaffold, explanations drawn on molecules."""

from propkernels.molecules.scaffolds import scaffolds
from propkernels.molecules.transformer import MoleculesToGraphs

__all__ = ["MoleculesToGraphs", "scaffolds"]
