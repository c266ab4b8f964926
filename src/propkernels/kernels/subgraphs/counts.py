"""Subgraph matching on labels by counting connected induced subgraphs up to isomorphism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import local
from time import monotonic
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from propkernels.counting.counts import StreamCounts, count_codes
from propkernels.gram.base_kernels import Linear
from propkernels.gram.linear import square_gram
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.label_keys import edge_keys, node_keys
from propkernels.kernels.pairwise.comparison import CountedComparison
from propkernels.utils.arrays import index_dtype, offsets
from propkernels.utils.parallel import run_threads, threads_for, whole_runs
from propkernels.utils.progress import ProgressBar
from propkernels.utils.randomness import mix

# of each graph the number of its kinds; of each of them its code, count, number of nodes and of symmetries
Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
STEPS_OF_A_NODE = 2**8  # an estimate
NODES_OF_A_BATCH = 2**9


class Searcher(Protocol):
    """What a search needs to know."""

    @property
    def k(self) -> int:
        """Largest number of nodes."""

    def prepare(self, graphs: GraphDatabase) -> tuple[NDArray[Any], ...]:
        """Arrays for ``count_subgraphs``."""


@dataclass
class SubgraphTally:
    """What was found in those graphs that were searched; batches of graphs are searched one by one.

    Attributes
    ----------
    graphs : GraphDatabase
    bounds : ndarray of int64
        Boundaries of the batches.
    batches : list
        Of each batch the number of kinds of each graph, their codes, counts, sizes and symmetries; None
        where it was not searched.
    """

    graphs: GraphDatabase
    bounds: NDArray[np.int64]
    batches: list[Found | None]

    @classmethod
    def begin(cls, graphs: GraphDatabase) -> SubgraphTally:
        """Nothing is found yet."""
        bounds = whole_runs(graphs.graph_ptr, NODES_OF_A_BATCH)
        return cls(graphs, bounds, [None] * (len(bounds) - 1))

    @property
    def searched(self) -> NDArray[np.bool_]:
        """Whether each graph was searched."""
        return np.repeat([batch is not None for batch in self.batches], np.diff(self.bounds)).astype(bool)

    @property
    def completed(self) -> float:
        """Share of the kernel matrix that can be computed."""
        searched = self.searched
        return float(searched.mean() ** 2) if len(searched) else 1.0

    def search(
        self, counter: Searcher, n_jobs: int | None, time_limit: float | None = None, text: str = ""
    ) -> None:
        """Search what was not searched, until the time is up; batches that have begun are finished.

        Each thread keeps what it learned about kinds of subgraphs for its next batch.
        """
        from propkernels.kernels.subgraphs.counts_compiled import Kinds

        deadline = np.inf if time_limit is None else monotonic() + time_limit
        missing = [number for number, batch in enumerate(self.batches) if batch is None]
        arrays, own = counter.prepare(self.graphs), local()
        with ProgressBar(text, len(self.batches), len(self.batches) - len(missing)) as bar:

            def one_batch(number: int) -> None:
                if monotonic() >= deadline:
                    return
                ptr = self.graphs.graph_ptr[self.bounds[number] : self.bounds[number + 1] + 1]
                known = getattr(own, "kinds", None) or Kinds.none()
                self.batches[number], own.kinds = _search(arrays, ptr, counter.k, known)
                bar.step()

            threads = threads_for(self.graphs.n_nodes * STEPS_OF_A_NODE, n_jobs)
            run_threads(one_batch, missing, threads)

    def found(self) -> Found:
        """Results of all batches in turn; graphs that were not searched have no subgraphs."""
        batches = [batch or self._nothing(number) for number, batch in enumerate(self.batches)]
        if not batches:
            return self._nothing(0)
        lengths, codes, counts, sizes, symmetries = zip(*batches, strict=True)
        joined = [np.concatenate(arrays) for arrays in (lengths, codes, counts, sizes, symmetries)]
        return joined[0], joined[1], joined[2], joined[3], joined[4]

    def _nothing(self, number: int) -> Found:
        size = int(np.diff(self.bounds[number : number + 2]).sum())
        none = np.empty(0, dtype=np.int64)
        return np.zeros(size, dtype=np.int64), none, np.empty(0), none, none


def _search(
    arrays: tuple[NDArray[Any], ...], ptr: NDArray[np.int64], k: int, kinds: Any
) -> tuple[Found, Any]:
    """Search a batch of graphs, in one compiled call; return what was found, and the kinds known by now."""
    from propkernels.kernels.subgraphs.counts_compiled import Scratch, Subgraph, count_subgraphs

    lengths = np.zeros(len(ptr) - 1, dtype=np.int64)
    room = Subgraph.room(k, int(np.diff(ptr).max())), Scratch.room(k)
    met, counts, kinds = count_subgraphs(*arrays, ptr, k, *room, kinds, lengths)
    codes = kinds.codes[met].view(np.int64)
    return (lengths, codes, counts, kinds.sizes[met], kinds.symmetries[met]), kinds


Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class SubgraphCounts(CountedComparison):
    """Subgraph matching where node kernels are 0 or 1.

    Two subgraphs with s nodes of one kind have as many bijections that keep labels and edges as the kind
    has symmetries, others have none. So the sum over all pairs of subgraphs is that over all kinds of
    (symmetries x occurrences here x occurrences there), weighted by lambda_s.

    Attributes
    ----------
    counter : SubgraphCounter
    lambdas : ndarray, (k,)
        Weight of each size.
    """

    counter: SubgraphCounter
    lambdas: NDArray[np.float64]

    def square(self, counts: list[StreamCounts], n_jobs: int | None) -> Matrix:
        """Kernel among training graphs; sizes of one weight go through a single product."""
        total: Matrix | None = None
        for weight in np.unique(self.lambdas):
            some = [s for s in counts if self.lambdas[s.iteration] == weight]
            gram = _gram(some, n_jobs)
            gram *= weight
            total = gram if total is None else np.add(total, gram, out=total)
        assert total is not None
        return total

    def cumulative(self, counts: list[StreamCounts], n_jobs: int | None) -> Matrix:
        """Kernels among training graphs for every smaller maximum size, (k, n, n)."""
        kernels = np.stack([_gram(some, n_jobs) for some in self._sizes(counts)])
        kernels *= self.lambdas[:, None, None]
        return np.asarray(np.cumsum(kernels, axis=0, out=kernels))

    def diagonal(self, counts: list[StreamCounts]) -> Matrix:
        """Self-similarities."""
        return self._sum(Linear().diagonal(some) for some in self._sizes(counts))

    def cross(
        self, graphs: GraphDatabase, train: list[StreamCounts], n_jobs: int | None
    ) -> tuple[Matrix, Matrix]:
        """Kernel of new graphs against training graphs, and the new graphs' self-similarities."""
        new = self.counter.count(graphs, train, n_jobs)
        sides = zip(self._sizes(new[: len(train)]), self._sizes(train), strict=True)
        return self._sum(Linear().cross(a, b, n_jobs) for a, b in sides), self.diagonal(new)

    def _sizes(self, counts: list[StreamCounts]) -> list[list[StreamCounts]]:
        """Streams of subgraphs with 1, 2, ... nodes."""
        return [[s for s in counts if s.iteration == size] for size in range(len(self.lambdas))]

    def _sum(self, kernels: Any) -> Matrix:
        return np.asarray(sum(weight * kernel for weight, kernel in zip(self.lambdas, kernels, strict=True)))


def _gram(streams: list[StreamCounts], n_jobs: int | None) -> Matrix:
    """Sum over streams of <Phi, Phi>, each as often as its kinds have symmetries."""
    symmetries = np.array([int(stream.weight) for stream in streams])
    return square_gram([stream.counts for stream in streams], n_jobs, symmetries)


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
            ptr = offsets(own)
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
    index = index_dtype(len(columns))
    shape = len(ptr) - 1, len(codes)
    matrix = csr_array((counts, columns.astype(index), ptr.astype(index)), shape=shape)
    return StreamCounts(matrix, codes, kind[0] - 1, float(kind[1]))
