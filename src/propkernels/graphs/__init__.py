"""Databases of graphs and grids."""

from propkernels.graphs.container import Graph
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Grid, GridDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.neighborhoods import circular_neighborhood

__all__ = [
    "Graph",
    "GraphDatabase",
    "Grid",
    "GridDatabase",
    "LabelColumn",
    "LabelDistributions",
    "circular_neighborhood",
]
