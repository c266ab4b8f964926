"""Graph kernels and count features, as scikit-learn estimators."""

from propkernels.kernels.descriptor_kernel import DescriptorKernel
from propkernels.kernels.graph_hopper import GraphHopper
from propkernels.kernels.pairs import AttributeKernel
from propkernels.kernels.propagation_kernel import P2K, PropagationFeatures, PropagationKernel
from propkernels.kernels.shortest_path import ShortestPath, ShortestPathFeatures
from propkernels.kernels.subgraph_matching import SubgraphMatching
from propkernels.kernels.sum_kernel import SumKernel
from propkernels.kernels.weisfeiler_lehman import (
    LabelHistogram,
    LabelHistogramFeatures,
    WeisfeilerLehman,
    WeisfeilerLehmanFeatures,
)

__all__ = [
    "P2K",
    "AttributeKernel",
    "DescriptorKernel",
    "GraphHopper",
    "LabelHistogram",
    "LabelHistogramFeatures",
    "PropagationFeatures",
    "PropagationKernel",
    "ShortestPath",
    "ShortestPathFeatures",
    "SubgraphMatching",
    "SumKernel",
    "WeisfeilerLehman",
    "WeisfeilerLehmanFeatures",
]
