"""Graphs: the first station of the pipeline."""

from propkernels.graphs.adapters.adjacency import from_adjacency
from propkernels.graphs.adapters.grakel import from_grakel, to_grakel
from propkernels.graphs.adapters.igraph import from_igraph, to_igraph
from propkernels.graphs.adapters.networkx import from_networkx, to_networkx
from propkernels.graphs.adapters.neural.pyg import from_pyg, to_pyg
from propkernels.graphs.adapters.pandas import from_pandas, to_pandas
from propkernels.graphs.adapters.parquet import from_parquet, iter_parquet, to_parquet
from propkernels.graphs.adapters.points import from_points
from propkernels.graphs.adapters.rdkit import from_rdkit, from_smiles
from propkernels.graphs.adapters.triples import from_triples
from propkernels.graphs.check import check_graphs
from propkernels.graphs.container import Graph
from propkernels.graphs.corrupt import flip_labels, hide_labels
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grids.database import Grid, GridDatabase
from propkernels.graphs.grids.neighborhoods import circular_neighborhood
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
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
    "from_adjacency",
    "from_grakel",
    "from_igraph",
    "from_networkx",
    "from_pandas",
    "from_parquet",
    "from_points",
    "from_pyg",
    "from_rdkit",
    "from_smiles",
    "from_triples",
    "hide_labels",
    "iter_parquet",
    "knn_graph",
    "to_grakel",
    "to_igraph",
    "to_networkx",
    "to_pandas",
    "to_parquet",
    "to_pyg",
]
