"""Converters between GraphDatabase and graphs of other libraries, tables and files."""

from propkernels.convert.adjacency import from_adjacency
from propkernels.convert.check import check_graph, check_graphs
from propkernels.convert.contacts import from_contacts
from propkernels.convert.edges import from_edges
from propkernels.convert.networkx import from_networkx, to_networkx
from propkernels.convert.pandas import from_pandas, to_pandas
from propkernels.convert.parquet import to_parquet
from propkernels.convert.points import curvature, from_points, knn_graph
from propkernels.convert.pyg import from_pyg, to_pyg
from propkernels.convert.rdkit import from_rdkit, from_smiles

__all__ = [
    "check_graph",
    "check_graphs",
    "curvature",
    "from_adjacency",
    "from_contacts",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "from_points",
    "from_pyg",
    "from_rdkit",
    "from_smiles",
    "knn_graph",
    "to_networkx",
    "to_pandas",
    "to_parquet",
    "to_pyg",
]
