"""What fit learns about counting connected subgraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels.counting.counts import StreamCounts, count_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.label_keys import edge_keys, node_keys
from propkernels.kernels.subgraph_tally import SubgraphTally
from propkernels.randomness import mix

Kind = tuple[int, int]  # number of nodes, number of symmetries


@dataclass(frozen=True)
class SubgraphCounter:
    """Counts the connected induced subgraphs of each graph, up to isomorphism.

    Attributes
    ----------
    source : {"node", "degree", None}
        Where labels come from.
    k : int
        Largest number of nodes.
    edge_labels, edge_weights : bool
        What tells edges apart.
    """

    source: str | None
    k: int
    edge_labels: bool
    edge_weights: bool

    def count(
        self, graphs: GraphDatabase, train: Sequence[StreamCounts] | None, n_jobs: int | None
    ) -> list[StreamCounts]:
        """Search all graphs; known kinds come first."""
        tally = SubgraphTally.begin(graphs)
        tally.search(self, n_jobs)
        return self.streams(tally, train)

    def streams(self, tally: SubgraphTally, train: Sequence[StreamCounts] | None) -> list[StreamCounts]:
        """One stream for each number of nodes and of symmetries; those of the training graphs come first.

        The iteration of a stream is the number of nodes less one, its weight the number of symmetries.
        """
        lengths, codes, counts, sizes, symmetries = tally.found()
        graph = np.repeat(np.arange(len(lengths)), lengths)
        known = {_kind_of(stream): stream.codes for stream in train or ()}
        streams = []
        for kind, chosen in _by_kind(sizes, symmetries, known, self.k):
            own = np.bincount(graph[chosen], minlength=len(lengths))
            ptr = np.concatenate([[0], np.cumsum(own)])
            counted, bins = count_codes(codes[chosen], ptr, known.get(kind))
            streams.append(_stream(kind, ptr, counted.indices, counts[chosen], bins))
        return streams

    def prepare(self, graphs: GraphDatabase) -> tuple[NDArray[Any], ...]:
        """Arrays for ``count_subgraphs``: nodes numbered from 0 in each graph, edges seen from both ends."""
        there, back = self._edges(graphs)
        keys = node_keys(graphs, self.source)
        indices = there.indices - np.repeat(graphs.graph_ptr[graphs.graph_ids], np.diff(there.indptr))
        return there.indptr.astype(np.int64), indices.astype(np.int64), there.data, back.data, keys

    def _edges(self, graphs: GraphDatabase) -> tuple[csr_array, csr_array]:
        """Word of what joins u to v, an edge there or back or both; and of what joins v to u."""
        keys = edge_keys(graphs, self.edge_labels, self.edge_weights)
        entries: coo_array = csr_array(graphs.adjacency).tocoo()
        rows, columns = entries.coords
        own = mix(1, 0 if keys is None else keys) * np.ones(len(rows), dtype=np.uint64)
        joins = rows != columns
        rows, columns, own = rows[joins], columns[joins], own[joins]
        ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        there = coo_array((np.concatenate([mix(2, own), mix(3, own)]), ends), shape=entries.shape).tocsr()
        there.sum_duplicates()
        return there, there.T.tocsr()


def _by_kind(
    sizes: NDArray[np.int64], symmetries: NDArray[np.int64], known: dict[Kind, Any], k: int
) -> Iterator[tuple[Kind, NDArray[np.int64]]]:
    """Known kinds, then the others, and where each of them is; every size is there, if need be empty."""
    present = set(zip(sizes.tolist(), symmetries.tolist(), strict=True)) | {
        (size, 1) for size in range(1, k + 1)
    }
    for kind in (*known, *sorted(present - known.keys())):
        yield kind, np.flatnonzero((sizes == kind[0]) & (symmetries == kind[1]))


def _kind_of(stream: StreamCounts) -> Kind:
    return stream.iteration + 1, int(stream.weight)


def _stream(kind: Kind, ptr: Any, columns: Any, counts: Any, codes: NDArray[np.int64]) -> StreamCounts:
    index = np.int32 if len(columns) < 2**31 else np.int64
    shape = len(ptr) - 1, len(codes)
    matrix = csr_array((counts, columns.astype(index), ptr.astype(index)), shape=shape)
    return StreamCounts(matrix, codes, kind[0] - 1, float(kind[1]))
