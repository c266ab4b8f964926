"""Learning: from kernels to decisions, and how good they are."""

from propkernels.learn.category_prior import CategoryPrior
from propkernels.learn.counterfactuals.edits import KINDS as EDIT_KINDS
from propkernels.learn.counterfactuals.result import Counterfactual, Counterfactuals, Edit
from propkernels.learn.evaluation.evaluate import evaluate
from propkernels.learn.evaluation.result import Choice, Evaluation, PairedTest
from propkernels.learn.explain.explanation import Explanation
from propkernels.learn.explain.similar_because import similar_because
from propkernels.learn.explain.similarity import SharedBin, Similarity
from propkernels.learn.linear.model import LinearModel
from propkernels.learn.machines.svm import ForeignGraphsWarning
from propkernels.learn.models.classifier import PropagationClassifier
from propkernels.learn.models.regressor import PropagationRegressor
from propkernels.learn.novelty.applicability import Applicability
from propkernels.learn.novelty.detector import NoveltyDetector
from propkernels.learn.novelty.explanation import NoveltyExplanation
from propkernels.learn.retrieval.index import GraphIndex
from propkernels.learn.retrieval.nearest import Neighbors

__all__ = [
    "EDIT_KINDS",
    "Applicability",
    "CategoryPrior",
    "Choice",
    "Counterfactual",
    "Counterfactuals",
    "Edit",
    "Evaluation",
    "Explanation",
    "ForeignGraphsWarning",
    "GraphIndex",
    "LinearModel",
    "Neighbors",
    "NoveltyDetector",
    "NoveltyExplanation",
    "PairedTest",
    "PropagationClassifier",
    "PropagationRegressor",
    "SharedBin",
    "Similarity",
    "evaluate",
    "similar_because",
]
