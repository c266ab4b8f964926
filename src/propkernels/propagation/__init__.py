"""Propagation: how information spreads from node to node."""

from propkernels.propagation.diffusion import Diffusion
from propkernels.propagation.label_propagation import LabelPropagation
from propkernels.propagation.scheme import PropagationScheme
from propkernels.propagation.transition import transition_matrix

__all__ = ["Diffusion", "LabelPropagation", "PropagationScheme", "transition_matrix"]
