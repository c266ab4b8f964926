"""Learning: from kernels to decisions, and how good they are."""

from propkernels.learn.classifier import PropagationClassifier
from propkernels.learn.cross_validation import evaluate
from propkernels.learn.evaluation import Choice, Evaluation
from propkernels.learn.explanation import Explanation
from propkernels.learn.index import GraphIndex, Neighbors

__all__ = [
    "Choice",
    "Evaluation",
    "Explanation",
    "GraphIndex",
    "Neighbors",
    "PropagationClassifier",
    "evaluate",
]
