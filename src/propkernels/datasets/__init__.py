"""Data sets: the TU text layout, the sets of the paper, bundled images and generators."""

from propkernels.datasets.brodatz import load_brodatz
from propkernels.datasets.catalogue import list_datasets
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.leaves import load_leaves
from propkernels.datasets.loader import load
from propkernels.datasets.molecules import make_molecules
from propkernels.datasets.plants import load_plants
from propkernels.datasets.synthetic import make_synthetic
from propkernels.datasets.tu import read_tu

__all__ = [
    "Dataset",
    "list_datasets",
    "load",
    "load_brodatz",
    "load_leaves",
    "load_plants",
    "make_molecules",
    "make_synthetic",
    "read_tu",
]
