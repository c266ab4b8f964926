"""Novelty: graphs unlike the training graphs, p-values, and surroundings never seen."""

from propkernels.novelty.applicability import Applicability
from propkernels.novelty.detector import NoveltyDetector
from propkernels.novelty.novelty_explanation import NoveltyExplanation

__all__ = ["Applicability", "NoveltyDetector", "NoveltyExplanation"]
