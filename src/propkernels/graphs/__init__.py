"""Graphs: the first station of the pipeline."""

from propkernels.graphs.check import check_graphs
from propkernels.graphs.corrupt import flip_labels, hide_labels
from propkernels.graphs.curvature import curvature
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.distributions import LabelDistributions
from propkernels.graphs.graph import Graph
from propkernels.graphs.grid import Grid
from propkernels.graphs.grid_database import GridDatabase
from propkernels.graphs.grid_neighborhoods import circular_neighborhood
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.neighbors import knn_graph
from propkernels.graphs.networkx import from_networkx

__all__ = [
    "Graph",
    "GraphDatabase",
    "Grid",
    "GridDatabase",
    "LabelColumn",
    "LabelDistributions",
    "check_graphs",
    "circular_neighborhood",
    "curvature",
    "flip_labels",
    "from_networkx",
    "hide_labels",
    "knn_graph",
]
