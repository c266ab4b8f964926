"""Matplotlib figures of graphs, kernels, explanations and evaluations."""

from propkernels.plotting.plot_alignment import plot_alignment
from propkernels.plotting.plot_collections import plot_collections
from propkernels.plotting.plot_contacts import plot_contacts
from propkernels.plotting.plot_embedding import plot_embedding
from propkernels.plotting.plot_evaluation import plot_evaluation
from propkernels.plotting.plot_explanation import plot_explanation
from propkernels.plotting.plot_graph import plot_graph
from propkernels.plotting.plot_kernel import plot_kernel
from propkernels.plotting.plot_propagation import plot_propagation
from propkernels.plotting.plot_similarity import plot_similarity

__all__ = [
    "plot_alignment",
    "plot_collections",
    "plot_contacts",
    "plot_embedding",
    "plot_evaluation",
    "plot_explanation",
    "plot_graph",
    "plot_kernel",
    "plot_propagation",
    "plot_similarity",
]
