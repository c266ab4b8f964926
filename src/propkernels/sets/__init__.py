"""Collections of graphs: hashes, duplicates, alignments, clusters, splits, and tests of two collections."""

from propkernels.sets.alignment import Alignment, align
from propkernels.sets.clusters import MaxMinPicker, SphereExclusion
from propkernels.sets.comparing import Comparison, Surrounding, Witness, compare
from propkernels.sets.drift import DriftDetector, Window
from propkernels.sets.hashes import graph_hash, unique
from propkernels.sets.judging import Interval, Judgement, judge
from propkernels.sets.measurements import Merged, merge_duplicates
from propkernels.sets.several import Comparisons, compare_several
from propkernels.sets.splits import SimilarityGroupKFold, SimilaritySplit

__all__ = [
    "Alignment",
    "Comparison",
    "Comparisons",
    "DriftDetector",
    "Interval",
    "Judgement",
    "MaxMinPicker",
    "Merged",
    "SimilarityGroupKFold",
    "SimilaritySplit",
    "SphereExclusion",
    "Surrounding",
    "Window",
    "Witness",
    "align",
    "compare",
    "compare_several",
    "graph_hash",
    "judge",
    "merge_duplicates",
    "unique",
]
