"""Data sets: the TU text layout, tables and files of graphs, and generators."""

from propkernels.datasets.brodatz import load_brodatz
from propkernels.datasets.corrupt import flip_labels, hide_labels
from propkernels.datasets.dataset import Dataset, list_datasets
from propkernels.datasets.generators import make_molecules, make_synthetic
from propkernels.datasets.loader import load
from propkernels.datasets.pictures import load_leaves, load_plants
from propkernels.datasets.sources import open_source
from propkernels.datasets.temporal_reader import read_temporal
from propkernels.datasets.tu_reader import read_tu
from propkernels.datasets.tu_writer import write_tu

__all__ = [
    "Dataset",
    "flip_labels",
    "hide_labels",
    "list_datasets",
    "load",
    "load_brodatz",
    "load_leaves",
    "load_plants",
    "make_molecules",
    "make_synthetic",
    "open_source",
    "read_temporal",
    "read_tu",
    "write_tu",
]
