"""Counts Phi_t: how often each bin occurs in each graph; and counters, which say what is counted.

A counter is the one protocol by which a kernel says "I am a dot product of counts". A fitted kernel has a
``counter_``, which is None for all other kernels; folding, linear machines, explanations, search and features
ask for it and for nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.parallel import active_device, run_threads, threads_for
from propkernels._utils.stored import ANY_NUMBER, not_negative, require
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.codes import NO_BIN, CodeStreams

CODES_IN_MEMORY = 2**22  # codes whose counts one compiled call returns


@dataclass(frozen=True)
class StreamCounts:
    """Counts of one stream.

    Attributes
    ----------
    counts : csr_array, (graphs, bins)
        Phi: one row per graph, one column per bin.
    codes : ndarray of int64, (bins,)
        The code that each bin stands for.
    iteration : int
        The iteration t of the stream.
    weight : float
        What the stream's kernel counts in the sum.
    """

    counts: csr_array
    codes: Annotated[NDArray[np.int64], ANY_NUMBER]
    iteration: int
    weight: float

    def check_parts(self) -> None:
        """Refuse counts that are not those of the codes."""
        require(self.counts.format == "csr" and self.counts.dtype == np.float64, "counts are rows of floats")
        require(self.codes.ndim == 1 and self.counts.shape[1] == len(self.codes), "every column needs a code")
        require(self.iteration >= 0 and 0 <= self.weight < np.inf, "iteration or weight is out of range")
        require(not_negative(self.counts.data), "counts are not negative")


def count_streams(
    blocks: Iterable[CodeStreams],
    graph_ptr: NDArray[np.int64],
    known: Sequence[NDArray[np.int64]] | None = None,
    n_jobs: int | None = None,
) -> list[StreamCounts]:
    """Count codes per graph, for each stream (the step "count bin strengths" of Algorithm 1).

    Streams that share a row of codes are counted once: they share the counts, and differ in the codes of
    the bins.

    Parameters
    ----------
    blocks : iterable of CodeStreams
        Streams, block after block.
    graph_ptr : ndarray
        Offsets of the graphs' nodes.
    known : sequence of ndarray, optional
        For each stream, codes that own the first columns (the bins seen in fit). Codes that are not
        among them get further columns: nothing is dropped.
    n_jobs : int or None

    Returns
    -------
    list of StreamCounts
    """
    found: list[StreamCounts] = []
    for block in blocks:
        rows, row_of_stream = np.unique(block.rows, return_inverse=True)
        counted = _count_rows(block.codes, rows, graph_ptr, n_jobs)
        for s, row in enumerate(row_of_stream):
            counts, bins = counted[row]
            t, weight = int(block.iterations[s]), float(block.weights[s])
            stream = StreamCounts(counts, block.salted(bins, s), t, weight)
            found.append(stream if known is None else after_known(stream, known[len(found)]))
    return found


def after_known(stream: StreamCounts, known: NDArray[np.int64]) -> StreamCounts:
    """Give known bins the columns they have among ``known``, and the others those after it."""
    counts, bins = _after_known(stream.counts, stream.codes, known)
    return StreamCounts(counts, bins, stream.iteration, stream.weight)


def count_codes(
    codes: NDArray[np.int64], graph_ptr: NDArray[np.int64], known: NDArray[np.int64] | None = None
) -> tuple[csr_array, NDArray[np.int64]]:
    """Counts of one row of codes, and the codes of its bins: the known ones first."""
    ((counts, bins),) = _count_rows(codes[None, :], np.zeros(1, dtype=np.int64), graph_ptr, None)
    return (counts, bins) if known is None else _after_known(counts, bins, known)


def _count_rows(
    codes: NDArray[np.int64], rows: NDArray[np.int64], graph_ptr: NDArray[np.int64], n_jobs: int | None
) -> list[tuple[csr_array, NDArray[np.int64]]]:
    """Count some rows of codes, many in one compiled call; rows are distributed round-robin over threads."""
    from propkernels.counting.counts_compiled import Counted, Room, count_rows

    n_graphs, n_nodes = len(graph_ptr) - 1, codes.shape[1]
    work = len(rows) * n_nodes
    calls = max(threads_for(work, n_jobs), -(-work // CODES_IN_MEMORY))
    shares = [rows[call::calls] for call in range(min(calls, len(rows)))]

    def one_share(share: NDArray[np.int64]) -> Any:
        counted = Counted.make(len(share), n_nodes, n_graphs)  # what is not filled of it takes no memory
        count_rows(codes, share, graph_ptr, NO_BIN, Room.make(n_nodes), counted)
        return counted

    found: list[Any] = [None] * len(rows)
    for call, counted in enumerate(run_threads(one_share, shares, n_jobs)):
        found[call :: len(shares)] = _unpacked(n_graphs, *counted)
    return found


def _unpacked(
    n_graphs: int, indptr: Any, indices: Any, counts: Any, codes: Any, entry_ends: Any, bin_ends: Any
) -> list[tuple[csr_array, NDArray[np.int64]]]:
    """Views of the arrays of many rows: one count matrix, and its bins, per row."""
    unpacked = []
    for r, (a, b, c, d) in enumerate(zip(entry_ends, entry_ends[1:], bin_ends, bin_ends[1:], strict=False)):
        matrix = csr_array((counts[a:b], indices[a:b], indptr[r]), shape=(n_graphs, int(d - c)))
        unpacked.append((matrix, codes[c:d]))
    return unpacked


def _after_known(
    counts: csr_array, bins: NDArray[np.int64], known: NDArray[np.int64]
) -> tuple[csr_array, NDArray[np.int64]]:
    """Give known bins the columns they have among ``known``, and the others those after it."""
    from propkernels.counting.counts_compiled import find_known

    columns = find_known(bins, known)
    new = columns < 0
    columns[new] = len(known) + np.arange(np.count_nonzero(new))
    bins = np.concatenate([known, bins[new]])
    shape = (counts.shape[0], len(bins))
    return csr_array((counts.data, columns[counts.indices], counts.indptr), shape=shape), bins


def rank_bins(stream: StreamCounts) -> StreamCounts:
    """Number the bins by code, so that they do not depend on the order of the graphs; rows stay unsorted."""
    order = np.argsort(stream.codes)
    position = np.empty(len(order), dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    old = stream.counts
    counts = csr_array((old.data, position[old.indices], old.indptr), shape=old.shape)
    return StreamCounts(counts, stream.codes[order], stream.iteration, stream.weight)


def sort_bins(stream: StreamCounts) -> StreamCounts:
    """Number the bins by code, and sort every row by bin."""
    from propkernels.counting.counts_compiled import sort_rows

    ranked = rank_bins(stream)
    counts = ranked.counts.copy()
    sort_rows(counts.indptr, counts.indices, counts.data)
    return StreamCounts(counts, ranked.codes, stream.iteration, stream.weight)


Codes = NDArray[np.int64]
Values = NDArray[np.float64]
Known = Sequence[Codes] | None


@dataclass(frozen=True)
class Occurrences:
    """Where the codes of one stream occur.

    Attributes
    ----------
    codes : ndarray of int64, (items,)
        Code of each item; an item is whatever the stream counts: a node, a pair of nodes, ...
    nodes : ndarray of int64, (items, width), or None
        The nodes of each item, numbered through the database; None: item i is node i.
    iteration : int
    weight : float
        What the stream's kernel counts in the sum.
    numbers : ndarray, (items,), or None
        How much of a count each item stands for; None: 1.
    assigned : bool
        Whether a bin adds the smaller of two graphs' counts to their kernel, instead of the product.
    scales : ndarray, (graphs,), or None
        What the counts of each graph are multiplied by; None: 1.
    """

    codes: Codes
    nodes: NDArray[np.int64] | None
    iteration: int
    weight: float
    numbers: Values | None = None
    assigned: bool = False
    scales: Values | None = None

    def graphs_of_items(self, graphs: GraphDatabase) -> NDArray[np.int32]:
        """Graph of each item."""
        return graphs.graph_ids if self.nodes is None else graphs.graph_ids[self.nodes[:, 0]]

    def by_node(self, values: Values, n_nodes: int) -> Values:
        """Add up values of items, (items,), by node: an item's value is shared equally by its nodes."""
        if self.numbers is not None:
            values = values * self.numbers
        if self.nodes is None:
            return values
        width = self.nodes.shape[1]
        shares = np.repeat(values / width, width)
        return np.asarray(np.bincount(self.nodes.ravel(), weights=shares, minlength=n_nodes), np.float64)


class Listed(NamedTuple):
    """Codes of all items, graph by graph.

    Attributes
    ----------
    ptr : ndarray of int64, (graphs + 1,)
        Offsets of the graphs' items.
    blocks : iterable of CodeStreams
    by_pairs : bool
        Whether items are the ordered pairs of a graph's nodes, row by row, rather than its nodes.
    """

    ptr: NDArray[np.int64]
    blocks: Iterable[CodeStreams]
    by_pairs: bool


class Counter(ABC):
    """Counts whatever it counts in each graph, stream by stream.

    The kernel of two graphs is the sum over streams of the stream's weight times the dot product of their
    counts. All graphs have the same streams, in the same order.
    """

    @abstractmethod
    def count(self, graphs: GraphDatabase, known: Known, n_jobs: int | None, /) -> list[StreamCounts]:
        """Count; for each stream, known codes own the first columns, and nothing is dropped."""

    @abstractmethod
    def occurrences(self, graphs: GraphDatabase, n_jobs: int | None, /) -> Iterator[Occurrences]:
        """What is counted, item by item: the items of a graph with one code are the count of that code."""

    def contributions(
        self, graphs: GraphDatabase, known: Sequence[Codes], weights: Sequence[Values], n_jobs: int | None
    ) -> Values:
        """Write ``sum over streams of counts @ weights`` as a sum over nodes and iterations.

        Parameters
        ----------
        graphs : GraphDatabase
        known : sequence of ndarray of int64
            For each stream, the codes that have weights.
        weights : sequence of ndarray
            For each stream, the weights of these codes, (codes,), or (codes, graphs) where each graph has
            weights of its own; all other codes have weight 0.
        n_jobs : int or None

        Returns
        -------
        ndarray of shape (nodes, iterations)
            The rows of a graph's nodes add up to what its counts are worth.
        """
        found, first = [], 0
        for part in self.parts_of(graphs):
            last = first + len(part)
            own = [weight if weight.ndim == 1 else weight[:, first:last] for weight in weights]
            found.append(self._contributions(part, known, own, n_jobs))
            first = last
        return np.concatenate(found)

    def listed(self, graphs: GraphDatabase, n_jobs: int | None) -> Listed | None:
        """Codes of all items, where each item counts once and all streams have the same; else None."""
        return None

    def items_per_node(self, graphs: GraphDatabase) -> float:
        """About how many items a node has in a stream: what memory is planned by."""
        return 1.0

    def parts_of(self, graphs: GraphDatabase) -> Iterable[GraphDatabase]:
        """Runs of graphs whose items fit the memory."""
        return [graphs]

    @property
    def reads_labels(self) -> bool:
        """Whether counts depend on node labels: by default, what a field ``source`` says."""
        return bool(getattr(self, "source", "node") == "node")

    @property
    def reads_edge_labels(self) -> bool:
        """Whether counts depend on edge labels: by default, what a field ``edge_labels`` says."""
        return bool(getattr(self, "edge_labels", True))

    @property
    def known_labels(self) -> Sequence[Any]:
        """Node labels of the training graphs, as far as the counter has them."""
        return ()

    def tracker(self, vocabulary: Any, graph: GraphDatabase, alphabet: Any) -> Any:
        """Tracker of what edits change in the counts of one graph; None where it is counted as a whole.

        Parameters
        ----------
        vocabulary : Vocabulary
            Has this counter.
        graph : GraphDatabase
            One unweighted, undirected, simple graph.
        alphabet : propkernels.tracking.alphabet.Alphabet
            Labels that edits may use.

        Returns
        -------
        propkernels.tracking.trackers.Tracker or None
        """
        return None

    def column_names(self, codes: Codes) -> list[str]:
        """Name of each column of a stream."""
        return [f"bin{i}" for i in range(len(codes))]

    def extend(self, graphs: GraphDatabase) -> Counter:
        """Return a counter that knows further graphs; only one that numbers what it meets is another one."""
        return self

    def _contributions(
        self, graphs: GraphDatabase, known: Sequence[Codes], weights: Sequence[Values], n_jobs: int | None
    ) -> Values:
        columns: dict[int, Values] = {}
        for found, codes, own in zip(self.occurrences(graphs, n_jobs), known, weights, strict=True):
            of_graph = found.graphs_of_items(graphs) if own.ndim == 2 else None
            added = found.by_node(looked_up(found.codes, codes, own, of_graph), graphs.n_nodes)
            add_column(columns, found.iteration, added)
        return stack_columns(columns)


class Coder(Counter):
    """A counter of codes of nodes: subclasses say by ``codes`` which code each node has."""

    @abstractmethod
    def codes(self, graphs: GraphDatabase, n_jobs: int | None) -> Iterable[CodeStreams]:
        """Codes of all nodes, in blocks of streams, so that not all of them need be in memory at a time."""

    @abstractmethod
    def restricted(self, t: int, /) -> Coder:
        """Return a coder with fewer iterations, which are the first of this one's."""

    def count(self, graphs: GraphDatabase, known: Known, n_jobs: int | None) -> list[StreamCounts]:
        """Count; known codes own the first columns."""
        device = active_device()
        counted = None if device is None else device.count(self, graphs, known, n_jobs)
        if counted is not None:
            return list(counted)
        return count_streams(self.codes(graphs, n_jobs), graphs.graph_ptr, known, n_jobs)

    def listed(self, graphs: GraphDatabase, n_jobs: int | None) -> Listed | None:
        """Codes of all nodes; None on a device, which counts by itself."""
        if active_device() is not None:
            return None
        return Listed(graphs.graph_ptr, self.codes(graphs, n_jobs), False)

    def device_streams(self, graphs: GraphDatabase, runtime: Any) -> Any:
        """Codes on a GPU, or None where only the CPU can give them (:mod:`propkernels.gpu`)."""
        return None

    @property
    def n_streams(self) -> int:
        """About how many codes a node gets: what memory is planned by."""
        return 16

    def occurrences(self, graphs: GraphDatabase, n_jobs: int | None) -> Iterator[Occurrences]:
        """Nodes, and their codes."""
        for block in self.codes(graphs, n_jobs):
            for t, weight, codes in block.streams():
                yield Occurrences(codes, None, t, weight)


def looked_up(codes: Codes, known: Codes, weights: Values, column: Any = None) -> Values:
    """Weight of each code; 0 where it has none. Of several columns of weights, ``column`` says which.

    Examples
    --------
    >>> looked_up(np.array([7, 5, 7]), np.array([9, 7]), np.array([0.5, 2.0]))
    array([2., 0., 2.])
    """
    if not len(known):
        return np.zeros(len(codes))
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known, codes, sorter=order), len(known) - 1)
    found = order[at]
    values = weights[found] if column is None else weights[found, column]
    return np.where(known[found] == codes, values, 0.0)


def add_column(columns: dict[int, Values], t: int, added: Values) -> None:
    """Add values to those of iteration t."""
    columns[t] = columns[t] + added if t in columns else added


def stack_columns(columns: dict[int, Values]) -> Values:
    """Columns side by side, by iteration."""
    return np.stack([columns[t] for t in sorted(columns)], axis=1)
