"""Models: classifier, regressor, and their evaluation."""

from propkernels.models.classifier import PropagationClassifier
from propkernels.models.cross_validation import evaluate
from propkernels.models.evaluation_result import Choice, Evaluation, PairedTest
from propkernels.models.regressor import PropagationRegressor
from propkernels.novelty.applicability import Applicability, ForeignGraphsWarning

__all__ = [
    "Applicability",
    "Choice",
    "Evaluation",
    "ForeignGraphsWarning",
    "PairedTest",
    "PropagationClassifier",
    "PropagationRegressor",
    "evaluate",
]
