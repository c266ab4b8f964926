"""Evaluation: nested cross-validation, metrics and paired tests."""

from propkernels.evaluation.cross_validation import evaluate
from propkernels.evaluation.evaluation_result import Choice, Evaluation, PairedTest

__all__ = ["Choice", "Evaluation", "PairedTest", "evaluate"]
