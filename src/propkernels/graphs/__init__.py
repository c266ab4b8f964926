"""Graphs: the first station of the pipeline."""

from propkernels.graphs.check import check_graphs
from propkernels.graphs.corrupt import flip_labels, hide_labels
from propkernels.graphs.database import Graph, GraphDatabase
from propkernels.graphs.grids.database import Grid, GridDatabase
from propkernels.graphs.grids.neighborhoods import circular_neighborhood
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.networkx import from_networkx
from propkernels.graphs.point_clouds import curvature, knn_graph

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
