"""What fit learns about counting shortest paths by their ends' labels and their length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.counting.counts import StreamCounts, count_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.lsh import NO_BIN
from propkernels.kernels.label_keys import edge_keys, node_keys
from propkernels.parallel import run_threads
from propkernels.paths.distances import PathLengths, path_lengths, runs_of_graphs

Known = Sequence[NDArray[np.int64]] | None
Counted = tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64]]  # entries a graph, codes, counts


@dataclass(frozen=True)
class TripletCoder:
    """Counts (label, length, label) of all ordered pairs of nodes that a path joins.

    Attributes
    ----------
    source : {"node", "degree", None}
        Where labels come from.
    weighted, edge_labels : bool
    """

    source: str | None
    weighted: bool
    edge_labels: bool

    def count(self, graphs: GraphDatabase, known: Known, n_jobs: int | None) -> list[StreamCounts]:
        """Count triplets, a run of graphs at a time; known codes own the first columns."""
        hops = not self.edge_labels and (graphs.is_unweighted or not self.weighted)
        parts = run_threads(self._hops if hops else self._lengths, list(runs_of_graphs(graphs)), n_jobs)
        lengths, codes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        counted, bins = count_codes(codes, ptr, None if known is None else known[0])
        return [stream_of(lengths, counted.indices, counts, bins)]

    def pair_codes(self, graphs: GraphDatabase) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Code of each ordered pair of nodes, and where each graph's pairs begin (see ``PathLengths``)."""
        paths = path_lengths(graphs, self.weighted)
        return self._codes(paths), paths.pair_ptr

    def _hops(self, graphs: GraphDatabase) -> Counted:
        """Count without listing pairs, where every edge has length 1."""
        from propkernels.paths.triplets import count_triplets

        keys, ids = np.unique(node_keys(graphs, self.source), return_inverse=True)
        adjacency = graphs.adjacency
        counted: Counted = count_triplets(adjacency.indptr, adjacency.indices, graphs.graph_ptr, ids, keys)
        return counted

    def _lengths(self, graphs: GraphDatabase) -> Counted:
        """Count the codes of all pairs: each code once a graph, with its number."""
        paths = path_lengths(graphs, self.weighted)
        counted, bins = count_codes(self._codes(paths), paths.pair_ptr)
        return np.diff(counted.indptr), bins[counted.indices], counted.data

    def _codes(self, paths: PathLengths) -> NDArray[np.int64]:
        from propkernels.paths.compiled import triplet_codes

        codes = np.empty(len(paths.distances), dtype=np.int64)
        keys = node_keys(paths.graphs, self.source)
        words = self._path_words(paths) if self.edge_labels else paths.words()
        triplet_codes(keys, words, paths.graphs.graph_ptr, paths.pair_ptr, codes, NO_BIN)
        return codes

    def _path_words(self, paths: PathLengths) -> NDArray[np.uint64]:
        from propkernels.paths.compiled import path_words

        graphs, words = paths.graphs, np.empty(len(paths.distances), dtype=np.uint64)
        keys = edge_keys(graphs, True, False)
        edges = (graphs.adjacency.indptr, graphs.adjacency.indices, paths.weights, keys)
        path_words(*edges, graphs.graph_ptr, paths.pair_ptr, paths.distances, words)
        return words


def stream_of(
    lengths: NDArray[Any], columns: NDArray[Any], counts: NDArray[np.float64], codes: NDArray[np.int64]
) -> StreamCounts:
    """Counts of a single stream from the lengths of its rows."""
    index = np.int32 if len(columns) < 2**31 else np.int64
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(index)
    matrix = csr_array((counts, columns.astype(index), indptr), shape=(len(lengths), len(codes)))
    return StreamCounts(matrix, codes, 0, 1.0)
