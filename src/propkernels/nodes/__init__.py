"""Learning on the nodes of one graph: features, kernel, classifier and regressor."""

from propkernels.nodes.coinciding_walks import CoincidingWalkKernel
from propkernels.nodes.estimators import NodeClassifier, NodeRegressor
from propkernels.nodes.explanation import NodeExplanation
from propkernels.nodes.features import NodeFeatures

__all__ = ["CoincidingWalkKernel", "NodeClassifier", "NodeExplanation", "NodeFeatures", "NodeRegressor"]
