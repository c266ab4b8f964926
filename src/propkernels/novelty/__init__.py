"""Novelty: graphs unlike the training graphs, their p-values, and node neighborhoods unseen in training."""

from propkernels.novelty.applicability import Applicability
from propkernels.novelty.detector import NoveltyDetector
from propkernels.novelty.explanation import NoveltyExplanation

__all__ = ["Applicability", "NoveltyDetector", "NoveltyExplanation"]
