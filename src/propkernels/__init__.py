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
    "Grid": "graphs",
    "GridDatabase": "graphs",
    "LabelDistributions": "graphs",
    "check_graphs": "graphs",
    "circular_neighborhood": "graphs",
    "curvature": "graphs",
    "flip_labels": "graphs",
    "from_networkx": "graphs",
    "hide_labels": "graphs",
    "knn_graph": "graphs",
    "AbsorbingWalk": "propagation",
    "AnisotropicDiffusion": "propagation",
    "BeliefPropagation": "propagation",
    "Convolution": "propagation",
    "Diffusion": "propagation",
    "GaussianMixtures": "propagation",
    "PropagatedAttributes": "propagation",
    "LabelImputer": "propagation",
    "LabelPropagation": "propagation",
    "LabelSpreading": "propagation",
    "PartialAbsorption": "propagation",
    "PropagationScheme": "propagation",
    "check_scheme": "propagation",
    "transition_matrix": "propagation",
    "LabelHistogram": "kernels",
    "P2K": "kernels",
    "PropagationFeatures": "kernels",
    "PropagationKernel": "kernels",
    "AttributeKernel": "kernels",
    "ShortestPath": "kernels",
    "ShortestPathFeatures": "kernels",
    "GraphHopper": "kernels",
    "SubgraphMatching": "kernels",
    "WeisfeilerLehman": "kernels",
    "WeisfeilerLehmanFeatures": "kernels",
    "CategoryPrior": "learn",
    "Evaluation": "learn",
    "PairedTest": "learn",
    "Explanation": "learn",
    "Similarity": "learn",
    "GraphIndex": "learn",
    "PropagationClassifier": "learn",
    "PropagationRegressor": "learn",
    "evaluate": "learn",
    "ModelFileError": "storage",
    "load": "storage",
    "save": "storage",
    "similar_because": "learn",
    "plot_embedding": "report",
    "plot_evaluation": "report",
    "plot_explanation": "report",
    "plot_kernel": "report",
    "plot_similarity": "report",
}
_MODULES = ("datasets", "images")

__all__ = ["__version__", "datasets", "images", *_HOME]

if TYPE_CHECKING:
    from propkernels import datasets as datasets
    from propkernels import images as images
    from propkernels.graphs import Graph as Graph
    from propkernels.graphs import GraphDatabase as GraphDatabase
    from propkernels.graphs import Grid as Grid
    from propkernels.graphs import GridDatabase as GridDatabase
    from propkernels.graphs import LabelDistributions as LabelDistributions
    from propkernels.graphs import check_graphs as check_graphs
    from propkernels.graphs import circular_neighborhood as circular_neighborhood
    from propkernels.graphs import curvature as curvature
    from propkernels.graphs import flip_labels as flip_labels
    from propkernels.graphs import from_networkx as from_networkx
    from propkernels.graphs import hide_labels as hide_labels
    from propkernels.graphs import knn_graph as knn_graph
    from propkernels.kernels import P2K as P2K
    from propkernels.kernels import AttributeKernel as AttributeKernel
    from propkernels.kernels import GraphHopper as GraphHopper
    from propkernels.kernels import LabelHistogram as LabelHistogram
    from propkernels.kernels import PropagationFeatures as PropagationFeatures
    from propkernels.kernels import PropagationKernel as PropagationKernel
    from propkernels.kernels import ShortestPath as ShortestPath
    from propkernels.kernels import ShortestPathFeatures as ShortestPathFeatures
    from propkernels.kernels import SubgraphMatching as SubgraphMatching
    from propkernels.kernels import WeisfeilerLehman as WeisfeilerLehman
    from propkernels.kernels import WeisfeilerLehmanFeatures as WeisfeilerLehmanFeatures
    from propkernels.learn import CategoryPrior as CategoryPrior
    from propkernels.learn import Evaluation as Evaluation
    from propkernels.learn import Explanation as Explanation
    from propkernels.learn import GraphIndex as GraphIndex
    from propkernels.learn import PairedTest as PairedTest
    from propkernels.learn import PropagationClassifier as PropagationClassifier
    from propkernels.learn import PropagationRegressor as PropagationRegressor
    from propkernels.learn import Similarity as Similarity
    from propkernels.learn import evaluate as evaluate
    from propkernels.learn import similar_because as similar_because
    from propkernels.propagation import AbsorbingWalk as AbsorbingWalk
    from propkernels.propagation import AnisotropicDiffusion as AnisotropicDiffusion
    from propkernels.propagation import BeliefPropagation as BeliefPropagation
    from propkernels.propagation import Convolution as Convolution
    from propkernels.propagation import Diffusion as Diffusion
    from propkernels.propagation import GaussianMixtures as GaussianMixtures
    from propkernels.propagation import LabelImputer as LabelImputer
    from propkernels.propagation import LabelPropagation as LabelPropagation
    from propkernels.propagation import LabelSpreading as LabelSpreading
    from propkernels.propagation import PartialAbsorption as PartialAbsorption
    from propkernels.propagation import PropagatedAttributes as PropagatedAttributes
    from propkernels.propagation import PropagationScheme as PropagationScheme
    from propkernels.propagation import check_scheme as check_scheme
    from propkernels.propagation import transition_matrix as transition_matrix
    from propkernels.report import plot_embedding as plot_embedding
    from propkernels.report import plot_evaluation as plot_evaluation
    from propkernels.report import plot_explanation as plot_explanation
    from propkernels.report import plot_kernel as plot_kernel
    from propkernels.report import plot_similarity as plot_similarity
    from propkernels.storage import ModelFileError as ModelFileError
    from propkernels.storage import load as load
    from propkernels.storage import save as save


def __getattr__(name: str) -> Any:
    from propkernels.quick_import import quick_import

    with quick_import():
        if name in _MODULES:
            return importlib.import_module(f"propkernels.{name}")
        if name in _HOME:
            return getattr(importlib.import_module(f"propkernels.{_HOME[name]}"), name)
    raise AttributeError(f"module 'propkernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
