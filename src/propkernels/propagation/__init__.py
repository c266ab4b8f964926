"""Propagation schemes: spread label distributions and attributes along edges."""

from propkernels.propagation.attributes import GaussianMixtures, PropagatedAttributes
from propkernels.propagation.belief_propagation import BeliefPropagation
from propkernels.propagation.convolution import AnisotropicDiffusion, Convolution
from propkernels.propagation.imputer import LabelImputer
from propkernels.propagation.scheme_checks import check_scheme
from propkernels.propagation.schemes import Diffusion, PropagationScheme, transition_matrix
from propkernels.propagation.walks import AbsorbingWalk, LabelPropagation, LabelSpreading, PartialAbsorption

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
