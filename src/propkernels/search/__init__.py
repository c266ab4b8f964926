"""Search: an inverted file (bin -> graphs) for exact nearest graphs, in memory or on disk."""

from propkernels.search.index import GraphIndex
from propkernels.search.nearest import Neighbors
from propkernels.search.similarity import similarity

__all__ = ["GraphIndex", "Neighbors", "similarity"]
