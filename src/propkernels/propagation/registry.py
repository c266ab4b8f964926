"""Schemes by name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator, clone

from propkernels.propagation.base import PropagationScheme
from propkernels.propagation.belief_propagation import BeliefPropagation
from propkernels.propagation.diffusion import Diffusion
from propkernels.propagation.grids.anisotropic import AnisotropicDiffusion
from propkernels.propagation.grids.convolution import Convolution
from propkernels.propagation.walks import AbsorbingWalk, LabelPropagation, LabelSpreading, PartialAbsorption
from propkernels.utils.checks import check_choice, shown

_BY_NAME: dict[str, Callable[[], PropagationScheme]] = {
    "diffusion": Diffusion,
    "lazy_diffusion": partial(Diffusion, laziness=0.5),
    "label_propagation": LabelPropagation,
    "absorbing_walk": AbsorbingWalk,
    "partial_absorption": PartialAbsorption,
    "label_spreading": LabelSpreading,
    "belief_propagation": BeliefPropagation,
    "convolution": Convolution,
    "anisotropic_diffusion": AnisotropicDiffusion,
}


def resolve_scheme(propagation: Any, labels_missing: bool, on_grids: bool = False) -> PropagationScheme:
    """Find a scheme by name, or take the user's own; "auto" depends on the graphs: grids, labels missing."""
    if isinstance(propagation, str):
        check_choice(propagation, ("auto", *_BY_NAME), "propagation")
        usual = "convolution" if on_grids else "label_propagation" if labels_missing else "diffusion"
        return _BY_NAME[usual if propagation == "auto" else propagation]()
    if isinstance(propagation, type) or not all(hasattr(propagation, m) for m in ("prepare", "step")):
        raise TypeError(
            "propagation must be a name or a scheme with the methods prepare and step, "
            f"got {shown(propagation)}"
        )
    return clone(propagation) if isinstance(propagation, BaseEstimator) else _copied(propagation)


def _copied(scheme: Any) -> Any:
    """Copy of a scheme that is not an estimator; one that does not say that it is affine is not."""
    copied = copy.deepcopy(scheme)
    if not hasattr(copied, "affine"):
        copied.affine = False
    return copied
