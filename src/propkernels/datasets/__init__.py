"""Data sets: the TU text layout, tables and files of graphs, and generators."""

from propkernels.datasets.dataset import Dataset, list_datasets
from propkernels.datasets.generators import make_molecules
from propkernels.datasets.loader import load
from propkernels.datasets.sources import open_source
from propkernels.datasets.tu import read_temporal, read_tu, write_tu

__all__ = [
    "Dataset",
    "list_datasets",
    "load",
    "make_molecules",
    "open_source",
    "read_temporal",
    "read_tu",
    "write_tu",
]
