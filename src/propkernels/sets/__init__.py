"""Collections of graphs: hashes, duplicates, alignments, clusters, splits, and tests of two collections."""

from propkernels.sets.clusters import MaxMinPicker, SphereExclusion
from propkernels.sets.hashes import graph_hash, unique
from propkernels.sets.splits import SimilarityGroupKFold, SimilaritySplit

__all__ = [
    "MaxMinPicker",
    "SimilarityGroupKFold",
    "SimilaritySplit",
    "SphereExclusion",
    "graph_hash",
    "unique",
]
