"""Weisfeiler-Lehman refinement by a hash of the multiset of neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import run_pieces
from propkernels.codes.codes import NO_BIN, CodeStreams, Work
from propkernels.graphs.database import GraphDatabase

ANY_OTHER = 0x5851F42D4C957F2D  # replaces the code that means "not counted"


def multiset_codes(
    graphs: GraphDatabase,
    node_keys: NDArray[np.uint64],
    edge_keys: NDArray[np.uint64] | None,
    t_max: int,
    n_jobs: int | None,
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
    n_jobs : int or None

    Returns
    -------
    CodeStreams
        Iterations t = 0, ..., t_max, one stream each.
    """
    from propkernels.codes.codes_compiled import refine, refine_part

    codes = np.empty((t_max + 1, graphs.n_nodes), dtype=np.uint64)
    codes[0] = node_keys
    keys = np.empty(0, dtype=np.uint64) if edge_keys is None else edge_keys
    edges = graphs.adjacency.indptr, graphs.adjacency.indices, keys
    work = Work.of(graphs, graphs.adjacency.indptr, codes.size, n_jobs)
    for bounds in work.large:
        mixed, following = np.empty((2, bounds[-1] - bounds[0]), dtype=np.uint64)
        for t in range(t_max + 1):
            iteration = *edges, bounds, t, mixed, following, codes
            run_pieces(refine_part, iteration, len(bounds) - 1, work.threads)
            mixed, following = following, mixed
    rooms = np.empty((work.threads, work.nodes_of_a_block), dtype=np.uint64)
    every = *edges, work.blocks, work.runs, rooms, codes
    run_pieces(refine, every, len(work.runs) - 1, work.threads)
    return as_streams(codes)


def as_streams(codes: NDArray[np.uint64]) -> CodeStreams:
    """Return one stream per row, with weight 1; the code that means "not counted" is replaced."""
    signed = codes.view(np.int64)
    signed[signed == NO_BIN] = ANY_OTHER
    return CodeStreams(signed, np.arange(len(codes)), np.ones(len(codes)))
