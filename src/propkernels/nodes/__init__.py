"""Learning on the nodes of one graph: features, kernel, classifier and regressor."""

from propkernels.nodes.classifier import NodeClassifier
from propkernels.nodes.coinciding_walks import CoincidingWalkKernel
from propkernels.nodes.explanation import NodeExplanation
from propkernels.nodes.features import NodeFeatures
from propkernels.nodes.regressor import NodeRegressor

__all__ = [
    "CoincidingWalkKernel",
    "NodeClassifier",
    "NodeExplanation",
    "NodeFeatures",
    "NodeRegressor",
]
