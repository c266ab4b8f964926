"""Propagation: how information spreads from node to node."""

from propkernels.propagation.absorbing import AbsorbingWalk
from propkernels.propagation.anisotropic import AnisotropicDiffusion
from propkernels.propagation.belief_propagation import BeliefPropagation
from propkernels.propagation.convolution import Convolution
from propkernels.propagation.diffusion import Diffusion
from propkernels.propagation.gaussian_mixtures import GaussianMixtures
from propkernels.propagation.imputer import LabelImputer
from propkernels.propagation.label_propagation import LabelPropagation
from propkernels.propagation.label_spreading import LabelSpreading
from propkernels.propagation.partial_absorption import PartialAbsorption
from propkernels.propagation.propagated_attributes import PropagatedAttributes
from propkernels.propagation.scheme import PropagationScheme
from propkernels.propagation.scheme_contract import check_scheme
from propkernels.propagation.transition import transition_matrix

__all__ = [
    "AbsorbingWalk",
    "AnisotropicDiffusion",
    "BeliefPropagation",
    "Convolution",
    "Diffusion",
    "GaussianMixtures",
    "LabelImputer",
    "LabelPropagation",
    "LabelSpreading",
    "PartialAbsorption",
    "PropagatedAttributes",
    "PropagationScheme",
    "check_scheme",
    "transition_matrix",
]
