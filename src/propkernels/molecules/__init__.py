"""Molecules: graphs of SMILES and RDKit molecules, scaffolds, repeated measurements, and pictures."""

from propkernels.molecules.depiction import formula_svg
from propkernels.molecules.measurements import Merged, merge_duplicates
from propkernels.molecules.pictures import MoleculePicture, draw_molecule
from propkernels.molecules.scaffolds import scaffolds
from propkernels.molecules.transformer import MoleculesToGraphs

__all__ = [
    "Merged",
    "MoleculePicture",
    "MoleculesToGraphs",
    "draw_molecule",
    "formula_svg",
    "merge_duplicates",
    "scaffolds",
]
