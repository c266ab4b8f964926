"""Learning: from kernels to decisions, and how good they are."""

from propkernels.learn.category_prior import CategoryPrior
from propkernels.learn.classifier import PropagationClassifier
from propkernels.learn.cross_validation import evaluate
from propkernels.learn.evaluation import Choice, Evaluation
from propkernels.learn.explanation import Explanation
from propkernels.learn.index import GraphIndex, Neighbors
from propkernels.learn.paired_test import PairedTest
from propkernels.learn.regressor import PropagationRegressor
from propkernels.learn.similar_because import similar_because
from propkernels.learn.similarity import SharedBin, Similarity

__all__ = [
    "CategoryPrior",
    "Choice",
    "Evaluation",
    "Explanation",
    "GraphIndex",
    "Neighbors",
    "PairedTest",
    "PropagationClassifier",
    "PropagationRegressor",
    "SharedBin",
    "Similarity",
    "evaluate",
    "similar_because",
]
