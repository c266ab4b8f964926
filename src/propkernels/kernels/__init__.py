"""Kernels: the estimators that a user meets."""

from propkernels.kernels.propagation_features import PropagationFeatures
from propkernels.kernels.propagation_kernel import PropagationKernel

__all__ = ["PropagationFeatures", "PropagationKernel"]
