"""Weisfeiler-Lehman refinement by a hash of the multiset of neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels.codes.codes import NO_BIN, CodeStreams, Work
from propkernels.graphs.database import GraphDatabase

ANY_OTHER = 0x5851F42D4C957F2D  # replaces the code that means "not counted"


def multiset_codes(
    graphs: GraphDatabase,
    node_keys: NDArray[np.uint64],
    edge_keys: NDArray[np.uint64] | None,
    t_max: int,
) -> CodeStreams:
    """Return codes after 0 .. t_max refinements; each hashes a node's code with its neighbors' multiset.

    Codes are pure functions of keys and structure, equal in all batches, processes and machines. Two
    different neighborhoods have the same code with probability about 2^-64.

    Parameters
    ----------
    graphs : GraphDatabase
        Neighbors of a node are the targets of its edges.
    node_keys : ndarray of uint64, (N,)
    edge_keys : ndarray of uint64, one per stored entry of the adjacency, or None
    t_max : int

    Returns
    -------
    CodeStreams
        Iterations t = 0, ..., t_max, one stream each.
    """
    codes = np.empty((t_max + 1, graphs.n_nodes), dtype=np.uint64)
    codes[0] = node_keys
    edges = graphs.adjacency.indptr, graphs.adjacency.indices, edge_keys
    work = Work.of(graphs, graphs.adjacency.indptr, codes.size)
    for bounds in work.large:
        _core.refine_large(edges, bounds, codes, work.threads)
    _core.refine(edges, work.blocks, work.runs, codes, work.threads)
    return as_streams(codes)


def as_streams(codes: NDArray[np.uint64]) -> CodeStreams:
    """Return one stream per row, with weight 1; the code that means "not counted" is replaced."""
    signed = codes.view(np.int64)
    signed[signed == NO_BIN] = ANY_OTHER
    return CodeStreams(signed, np.arange(len(codes)), np.ones(len(codes)))
