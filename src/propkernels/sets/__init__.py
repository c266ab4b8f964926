"""Collections of graphs: hashes, duplicates, alignments, clusters, splits, and tests of two collections."""

from propkernels.sets.hashes import graph_hash, unique

__all__ = ["graph_hash", "unique"]
