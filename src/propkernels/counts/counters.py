"""Counts Phi_t of bins per graph, and counters, the protocol of kernels that are dot products of counts.

A counter counts items (nodes, pairs of nodes, subgraphs) by code, stream by stream. Folding, linear machines,
explanations, search and features use the counter of a fitted kernel and nothing else of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.arrays import index_dtype, offsets, rows_of
from propkernels._utils.parallel import active_device, run_threads, threads_for
from propkernels._utils.stored import ANY_NUMBER, not_negative, require
from propkernels.codes.attribute_codes import MISSING, SpreadStreams
from propkernels.codes.codes import NO_BIN, CodeStreams, Step, join_codes
from propkernels.graphs.database import GraphDatabase

Codes = NDArray[np.int64]
Values = NDArray[np.float64]
Known = Sequence[Codes] | None


@dataclass(frozen=True)
class StreamCounts:
    """Counts of one stream.

    Attributes
    ----------
    counts : csr_array, (graphs, bins)
        Phi: one row per graph, one column per bin.
    codes : ndarray of int64, (bins,)
        Code of each bin.
    iteration : int
        The iteration t of the stream.
    weight : float
        Weight of the stream's kernel in the sum.
    """

    counts: csr_array
    codes: Annotated[NDArray[np.int64], ANY_NUMBER]
    iteration: int
    weight: float

    def _check_parts(self) -> None:
        """Raise an error if counts and codes do not match or are out of range."""
        require(self.counts.format == "csr" and self.counts.dtype == np.float64, "counts are rows of floats")
        require(self.codes.ndim == 1 and self.counts.shape[1] == len(self.codes), "every column needs a code")
        require(self.iteration >= 0 and 0 <= self.weight < np.inf, "iteration or weight is out of range")
        require(not_negative(self.counts.data), "counts are not negative")


def count_streams(
    blocks: Iterable[CodeStreams], graph_ptr: NDArray[np.int64], known: Known = None
) -> list[StreamCounts]:
    """Return the counts of codes per graph for each stream (step "count bin strengths" of Algorithm 1).

    Streams that share a row of codes are counted once: they share the counts and differ in bin codes.

    Parameters
    ----------
    blocks : iterable of CodeStreams
        Streams, block by block.
    graph_ptr : ndarray
        Offsets of the graphs' nodes.
    known : sequence of ndarray, optional
        For each stream, the codes of the first columns (the bins seen in fit). Other codes get further
        columns: nothing is dropped.

    Returns
    -------
    list of StreamCounts
    """
    result: list[StreamCounts] = []
    for block in blocks:
        rows, row_of_stream = np.unique(block.rows, return_inverse=True)
        counted = counts_of_rows(block.codes, rows, graph_ptr)
        for s, row in enumerate(row_of_stream):
            counts, bins = counted[row]
            t, weight = int(block.iterations[s]), float(block.weights[s])
            stream = StreamCounts(counts, block.salted(bins, s), t, weight)
            result.append(stream if known is None else after_known(stream, known[len(result)]))
    return result


def after_known(stream: StreamCounts, known: NDArray[np.int64]) -> StreamCounts:
    """Return the stream with the bins ``known`` as first columns, followed by its other bins."""
    old, (bins, (_, columns)) = stream.counts, _merged([known, stream.codes])
    counts = rows_of(old.data, columns[old.indices], old.indptr, (old.shape[0], len(bins)))
    return StreamCounts(counts, bins, stream.iteration, stream.weight)


def count_codes(codes: Codes, graph_ptr: NDArray[np.int64]) -> tuple[csr_array, Codes]:
    """Return the counts of one row of codes, and the codes of its bins."""
    return counts_of_rows(codes[None, :], np.zeros(1, dtype=np.int64), graph_ptr)[0]


def counts_of_rows(codes: Codes, rows: NDArray[Any], ptr: NDArray[Any]) -> list[tuple[csr_array, Codes]]:
    """Return the counts and bin codes of rows of codes; threads take rows."""
    n_graphs, n_nodes, n_rows = len(ptr) - 1, codes.shape[1], len(rows)
    threads = min(threads_for(n_rows * n_nodes), max(n_rows, 1))
    indptr = np.empty((n_rows, n_graphs + 1), dtype=np.int32)
    # rows of the length of all codes: what is not written takes no memory
    indices, bins = (np.empty((n_rows, n_nodes), dtype=dtype) for dtype in (np.int32, np.int64))
    counts, ends = np.empty((n_rows, n_nodes)), np.empty((n_rows, 2), dtype=np.int64)
    codes = np.ascontiguousarray(codes)
    _core.count_rows(codes, rows, ptr, indptr, indices, counts, bins, ends, threads)
    return [
        (rows_of(counts[r, :n], indices[r, :n], indptr[r], (n_graphs, n_bins)), bins[r, :n_bins])
        for r, (n, n_bins) in enumerate(ends.tolist())
    ]


def rank_bins(stream: StreamCounts) -> StreamCounts:
    """Return the stream with bins ordered by code, independent of graph order; rows stay unsorted."""
    order = np.argsort(stream.codes)
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    old = stream.counts
    counts = rows_of(old.data, position[old.indices], old.indptr, old.shape)
    return StreamCounts(counts, stream.codes[order], stream.iteration, stream.weight)


@dataclass(frozen=True)
class Occurrences:
    """Items of one stream, with their codes and nodes.

    Attributes
    ----------
    codes : ndarray of int64, (items,)
        Code of each item; an item is a node, a pair of nodes, a subgraph, ...
    nodes : ndarray of int64, (items, width), or None
        The nodes of each item, numbered through the database; None: item i is node i.
    iteration : int
    weight : float
        Weight of the stream's kernel in the sum.
    numbers : ndarray, (items,), or None
        Contribution of each item to its count; None: 1.
    assigned : bool
        Whether a bin adds the smaller of two graphs' counts to their kernel, instead of the product.
    scales : ndarray, (graphs,), or None
        Factor of the counts of each graph; None: 1.
    """

    codes: Codes
    nodes: NDArray[np.int64] | None
    iteration: int
    weight: float
    numbers: Values | None = None
    assigned: bool = False
    scales: Values | None = None

    def graphs_of_items(self, graphs: GraphDatabase) -> NDArray[np.int32]:
        """Return the graph of each item."""
        return graphs.graph_ids if self.nodes is None else graphs.graph_ids[self.nodes[:, 0]]

    def by_node(self, values: Values, n_nodes: int) -> Values:
        """Return the sum of item values, (items,), per node; the nodes of an item share its value equally."""
        if self.numbers is not None:
            values = values * self.numbers
        if self.nodes is None:
            return values
        width = self.nodes.shape[1]
        shares = np.repeat(values / width, width)
        return np.asarray(np.bincount(self.nodes.ravel(), weights=shares, minlength=n_nodes), np.float64)


class Listed(NamedTuple):
    """Codes of all items, ordered by graph.

    Attributes
    ----------
    ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' items.
    blocks : iterable of CodeStreams
    by_pairs : bool
        Whether items are the ordered pairs of a graph's nodes, row by row, instead of its nodes.
    """

    ptr: NDArray[np.int64]
    blocks: Iterable[CodeStreams]
    by_pairs: bool


class Counter(ABC):
    """Counts items by code in each graph, stream by stream.

    The kernel of two graphs is the sum over streams of the stream's weight times the dot product of their
    counts. All graphs have the same streams, in the same order.
    """

    @abstractmethod
    def count(self, graphs: GraphDatabase, known: Known, /) -> list[StreamCounts]:
        """Return the counts of each stream; ``known`` codes are the first columns, and nothing is dropped."""

    @abstractmethod
    def occurrences(self, graphs: GraphDatabase, /) -> Iterator[Occurrences]:
        """Yield the items of each stream; per graph, the number of items with a code is its count."""

    def listed(self, graphs: GraphDatabase) -> Listed | None:
        """Return the codes of all items if each counts once and streams have the same items; else None."""
        return None

    def items_per_node(self, graphs: GraphDatabase) -> float:
        """Return the approximate number of items per node in a stream, to plan memory."""
        return 1.0

    def parts_of(self, graphs: GraphDatabase) -> Iterable[GraphDatabase]:
        """Return runs of graphs whose items fit into memory."""
        return [graphs]

    @property
    def reads_labels(self) -> bool:
        """Whether counts depend on node labels: by default, whether a field ``source`` is "node"."""
        return bool(getattr(self, "source", "node") == "node")

    @property
    def reads_edge_labels(self) -> bool:
        """Whether counts depend on edge labels: by default, the field ``edge_labels``."""
        return bool(getattr(self, "edge_labels", True))

    @property
    def known_labels(self) -> Sequence[Any]:
        """Node labels of the training graphs, if the counter stores them."""
        return ()


class Coder(Counter):
    """Counter of node codes; subclasses implement ``codes``, one code per node and stream."""

    @abstractmethod
    def codes(self, graphs: GraphDatabase) -> Iterable[CodeStreams]:
        """Return the codes of all nodes in blocks of streams, which need not be in memory together."""

    @abstractmethod
    def restricted(self, t: int, /) -> Coder:
        """Return a coder of the first iterations, 0 .. t."""

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return the counts of each stream; ``known`` codes are the first columns."""
        device = active_device()
        direct = self.counted_directly(graphs, known) if device is None else device.count(self, graphs, known)
        if direct is not None:
            return list(direct)
        return count_streams(self.codes(graphs), graphs.graph_ptr, known)

    def counted_directly(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts] | None:
        """Return the counts if they need no codes of all nodes at once; else None."""
        return None

    def listed(self, graphs: GraphDatabase) -> Listed | None:
        """Return the codes of all nodes; None on a device, which counts on its own."""
        if active_device() is not None:
            return None
        return Listed(graphs.graph_ptr, self.codes(graphs), False)

    def device_streams(self, graphs: GraphDatabase, runtime: Any) -> Any:
        """Return codes on a GPU (:mod:`propkernels.gpu`), or None if only the CPU can compute them."""
        return None

    @property
    def n_streams(self) -> int:
        """Approximate number of codes per node, to plan memory."""
        return 16

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield the nodes and their codes for each stream."""
        for block in self.codes(graphs):
            for t, weight, codes in block.streams():
                yield Occurrences(codes, None, t, weight)


def looked_up(codes: Codes, known: Codes, weights: Values) -> Values:
    """Return the weight of each code; 0 for unknown codes.

    Examples
    --------
    >>> looked_up(np.array([7, 5, 7]), np.array([9, 7]), np.array([0.5, 2.0]))
    array([2., 0., 2.])
    """
    if not len(known):
        return np.zeros(len(codes))
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known, codes, sorter=order), len(known) - 1)
    place = order[at]
    return np.where(known[place] == codes, weights[place], 0.0)


def add_column(columns: dict[int, Values], t: int, added: Values) -> None:
    """Add values to the column of iteration t, in place."""
    columns[t] = columns[t] + added if t in columns else added


def stack_columns(columns: dict[int, Values]) -> Values:
    """Return the columns side by side, ordered by iteration."""
    return np.stack([columns[t] for t in sorted(columns)], axis=1)


ENTRIES_OF_A_STEP = 4  # entries that are copied in the time of an elementary step


class CodeList(NamedTuple):
    """Counts of a run of graphs.

    Attributes
    ----------
    lengths : ndarray of int64, (graphs,)
        Number of entries of each graph.
    columns : ndarray of int32, (entries,)
        Bin of each entry.
    counts : ndarray of float64, (entries,)
    bins : ndarray of int64
        Code of each bin, in order of appearance.
    """

    lengths: NDArray[Any]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]
    bins: NDArray[np.int64]

    @classmethod
    def of(cls, lengths: NDArray[Any], codes: NDArray[np.int64], counts: NDArray[np.float64]) -> CodeList:
        """Number the codes of entries."""
        columns, bins = numbered(codes)
        return cls(lengths, columns, counts, bins)

    @classmethod
    def added(cls, parts: Sequence[CodeList]) -> CodeList:
        """Return the sum of the counts of one graph."""
        columns, bins = numbered(np.concatenate([part.bins[part.columns] for part in parts]))
        counts = np.concatenate([part.counts for part in parts])
        totals = np.bincount(columns, weights=counts, minlength=len(bins))  # whole numbers: exact
        every = np.arange(len(bins), dtype=np.int32)
        return cls(np.array([len(bins)]), every, np.asarray(totals, dtype=np.float64), bins)


def numbered(codes: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the number of each code, in order of appearance, and the distinct codes.

    Examples
    --------
    >>> numbered(np.array([7, 5, 7]))
    (array([0, 1, 0], dtype=int32), array([7, 5]))
    """
    bins, (numbers,) = _merged([codes])
    return numbers, bins


def count_lists(lists: Sequence[CodeList], known: NDArray[np.int64] | None = None) -> StreamCounts:
    """Return the counts of all graphs as one stream; ``known`` codes are the first columns."""
    bins, numbers = _merged([np.empty(0, np.int64) if known is None else known, *(one.bins for one in lists)])
    ends = offsets([len(one.columns) for one in lists])
    indptr = offsets(np.concatenate([one.lengths for one in lists]))
    columns, counts = np.empty(ends[-1], dtype=index_dtype(int(ends[-1]))), np.empty(ends[-1])

    def place(k: int) -> None:
        run = slice(ends[k], ends[k + 1])
        columns[run], counts[run] = numbers[k + 1][lists[k].columns], lists[k].counts

    run_threads(place, range(len(lists)), work=int(ends[-1]) // ENTRIES_OF_A_STEP)
    shape = len(indptr) - 1, len(bins)
    return StreamCounts(rows_of(counts, columns, indptr.astype(columns.dtype), shape), bins, 0, 1.0)


def _merged(lists: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], list[NDArray[np.int32]]]:
    """Return the distinct codes of several lists, in order of appearance, and the numbers of each list."""
    bins = np.empty(sum(map(len, lists)), dtype=np.int64)
    numbers = [np.empty(len(codes), dtype=np.int32) for codes in lists]
    codes = [np.ascontiguousarray(own, dtype=np.int64) for own in lists]
    n_bins = _core.number_codes(codes, bins, numbers)
    return bins[:n_bins].copy(), numbers


STEPS_OF_A_CODE = 8  # to compute and count it


def count_spread(
    streams: SpreadStreams,
    graph_ptr: NDArray[np.int64],
    known: Sequence[NDArray[np.int64]] | None = None,
) -> list[StreamCounts]:
    """Return the counts of all streams; threads take columns, and all iterations of them.

    The values, codes and bins of a few columns stay in the cache, and threads wait for each other once.
    Streams of a hash function that gives all nodes one code share the counts of their label hash.
    """
    single, runs = _counted(streams, graph_ptr)
    labels, (n_steps, n_functions, _) = streams.labels, single.shape
    rows = np.arange(len(labels.codes)).reshape(n_steps, -1)[:, np.arange(n_functions) % streams.n_hashes]
    needed = np.unique(rows[(single != NO_BIN).any(axis=2)])
    shared = dict(zip(needed.tolist(), counts_of_rows(labels.codes, needed, graph_ptr), strict=True))
    result: list[StreamCounts] = []
    for t, f in np.ndindex(n_steps, n_functions):
        row = int(rows[t, f])
        settings = int(labels.iterations[row]), float(labels.weights[row])
        places = [(run, (t * n_functions + f) * run.width + c) for run in runs for c in range(run.width)]
        for code, (run, place) in zip(single[t, f].tolist(), places, strict=True):
            if code == NO_BIN:
                counts, bins = run.counts_of(place)
            else:
                counts, bins = shared[row][0], join_codes(shared[row][1], code)
            result.append(StreamCounts(counts, bins, *settings))
    return result if known is None else list(map(after_known, result, known))


class _Run(NamedTuple):
    """Counts of a run of columns: rows go through iterations, hash functions and columns.

    Row r has the CSR arrays ``indptr[r]``, ``indices[a:b]`` and ``counts[a:b]``, where a and b are
    ``ends[0, r : r + 2]``. Its bins have the codes ``codes[c:d]``, where c and d are ``ends[1, r : r + 2]``.
    """

    width: int
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    counts: NDArray[np.float64]
    codes: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def make(cls, width: int, n_rows: int, n: int, n_graphs: int) -> _Run:
        """Return arrays for the counts of rows of n codes; what is not written takes no memory."""
        indptr, indices = np.empty((n_rows, n_graphs + 1), dtype=np.int32), np.empty(n_rows * n, np.int32)
        counts, codes = np.empty(n_rows * n), np.empty(n_rows * n, dtype=np.int64)
        return cls(width, indptr, indices, counts, codes, np.zeros((2, n_rows + 1), dtype=np.int64))

    def counts_of(self, row: int) -> tuple[csr_array, NDArray[np.int64]]:
        """Return the count matrix of a row and the codes of its bins."""
        (a, b), (c, d) = self.ends[:, row : row + 2].tolist()
        shape = self.indptr.shape[1] - 1, d - c
        return rows_of(self.counts[a:b], self.indices[a:b], self.indptr[row], shape), self.codes[c:d]


def _counted(streams: SpreadStreams, graph_ptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[_Run]]:
    """Return the attribute codes of columns that have only one, and the counts of the others."""
    n, (n_steps, n_functions, n_columns) = len(streams.spread.start), streams.vectors.shape
    threads = threads_for(STEPS_OF_A_CODE * streams.vectors.size * n)
    bounds = _column_bounds(n_columns, threads)
    runs = [
        _Run.make(width, n_steps * n_functions * width, n, len(graph_ptr) - 1)
        for width in np.diff(bounds).tolist()
    ]
    single = np.empty(streams.vectors.shape, dtype=np.int64)
    values = streams.spread.start, streams.scales, streams.vectors, streams.offsets
    hashed = *map(np.ascontiguousarray, values), MISSING, np.ascontiguousarray(streams.labels.codes)
    outputs = (list(arrays) for arrays in zip(*(run[1:] for run in runs), strict=True))
    step = Step.of(streams.spread.walk)
    _core.spread_and_count(step, *hashed, graph_ptr, bounds, *outputs, single, threads)
    return single, runs


def _column_bounds(n_columns: int, threads: int) -> NDArray[np.int64]:
    """Return bounds of runs of columns: at most LANES, and as many runs for each thread as for the others."""
    n_runs = min(threads * -(-n_columns // (_core.LANES * threads)), n_columns)
    return n_columns * np.arange(n_runs + 1) // n_runs
