"""propkernels: propagation kernels for graphs, images and point clouds.

The public names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from propkernels._version import __version__

_HOME = {
    "Graph": "graphs",
    "GraphDatabase": "graphs",
    "check_graphs": "graphs",
    "from_networkx": "graphs",
    "Diffusion": "propagation",
    "LabelPropagation": "propagation",
    "PropagationScheme": "propagation",
    "transition_matrix": "propagation",
    "PropagationFeatures": "kernels",
    "PropagationKernel": "kernels",
}
_MODULES = ("datasets",)

__all__ = ["__version__", "datasets", *_HOME]

if TYPE_CHECKING:
    from propkernels import datasets as datasets
    from propkernels.graphs import Graph as Graph
    from propkernels.graphs import GraphDatabase as GraphDatabase
    from propkernels.graphs import check_graphs as check_graphs
    from propkernels.graphs import from_networkx as from_networkx
    from propkernels.kernels import PropagationFeatures as PropagationFeatures
    from propkernels.kernels import PropagationKernel as PropagationKernel
    from propkernels.propagation import Diffusion as Diffusion
    from propkernels.propagation import LabelPropagation as LabelPropagation
    from propkernels.propagation import PropagationScheme as PropagationScheme
    from propkernels.propagation import transition_matrix as transition_matrix


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"propkernels.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"propkernels.{_HOME[name]}"), name)
    raise AttributeError(f"module 'propkernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
