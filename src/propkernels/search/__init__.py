"""Search: an inverted file (bin -> graphs) for exact nearest graphs, in memory or on disk."""

from propkernels.search.index import GraphIndex, similarity
from propkernels.search.nearest import Neighbors

__all__ = ["GraphIndex", "Neighbors", "similarity"]
