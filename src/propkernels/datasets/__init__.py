"""Data sets: the TU text layout, the sets of the paper, bundled images and generators."""

from propkernels.datasets.dataset import Dataset, list_datasets
from propkernels.datasets.generators import make_molecules, make_synthetic
from propkernels.datasets.images.brodatz import load_brodatz
from propkernels.datasets.images.pictures import load_leaves, load_plants
from propkernels.datasets.loader import load, load_dataset
from propkernels.datasets.sources import open_source
from propkernels.datasets.tu.reader import read_tu
from propkernels.datasets.tu.writer import write_tu

__all__ = [
    "Dataset",
    "list_datasets",
    "load",
    "load_brodatz",
    "load_dataset",
    "load_leaves",
    "load_plants",
    "make_molecules",
    "make_synthetic",
    "open_source",
    "read_tu",
    "write_tu",
]
