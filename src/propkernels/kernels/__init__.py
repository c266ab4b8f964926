"""Kernels: the estimators that a user meets."""

from propkernels.kernels.attribute_kernel import AttributeKernel
from propkernels.kernels.graph_hopper import GraphHopper
from propkernels.kernels.label_histogram import LabelHistogram
from propkernels.kernels.p2k import P2K
from propkernels.kernels.propagation_features import PropagationFeatures
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.kernels.shortest_path import ShortestPath
from propkernels.kernels.shortest_path_features import ShortestPathFeatures
from propkernels.kernels.subgraph_matching import SubgraphMatching
from propkernels.kernels.weisfeiler_lehman import WeisfeilerLehman
from propkernels.kernels.weisfeiler_lehman_features import WeisfeilerLehmanFeatures

__all__ = [
    "P2K",
    "AttributeKernel",
    "GraphHopper",
    "LabelHistogram",
    "PropagationFeatures",
    "PropagationKernel",
    "ShortestPath",
    "ShortestPathFeatures",
    "SubgraphMatching",
    "WeisfeilerLehman",
    "WeisfeilerLehmanFeatures",
]
