"""Kernels: the estimators that a user meets."""

from propkernels.kernels.label_histogram import LabelHistogram
from propkernels.kernels.p2k import P2K
from propkernels.kernels.propagation_features import PropagationFeatures
from propkernels.kernels.propagation_kernel import PropagationKernel
from propkernels.kernels.weisfeiler_lehman import WeisfeilerLehman
from propkernels.kernels.weisfeiler_lehman_features import WeisfeilerLehmanFeatures

__all__ = [
    "P2K",
    "LabelHistogram",
    "PropagationFeatures",
    "PropagationKernel",
    "WeisfeilerLehman",
    "WeisfeilerLehmanFeatures",
]
