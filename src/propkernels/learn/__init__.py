"""Learning: from kernels to decisions, and how good they are."""

from propkernels.learn.cross_validation import evaluate
from propkernels.learn.evaluation import Choice, Evaluation

__all__ = ["Choice", "Evaluation", "evaluate"]
