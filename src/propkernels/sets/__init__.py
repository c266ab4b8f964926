"""Collections of graphs: hashes, duplicates, alignments, clusters, splits, and a test of two collections."""

from propkernels.sets.alignment import Alignment, align, edit_distance
from propkernels.sets.clusters import MaxMinPicker, SphereExclusion
from propkernels.sets.hashes import graph_hash, unique
from propkernels.sets.splits import SimilarityGroupKFold, SimilaritySplit
from propkernels.sets.two_samples import Difference, TwoSampleTest, Witness, two_sample_test

__all__ = [
    "Alignment",
    "Difference",
    "MaxMinPicker",
    "SimilarityGroupKFold",
    "SimilaritySplit",
    "SphereExclusion",
    "TwoSampleTest",
    "Witness",
    "align",
    "edit_distance",
    "graph_hash",
    "two_sample_test",
    "unique",
]
