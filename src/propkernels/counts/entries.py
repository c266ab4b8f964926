"""Entries: bins of new graphs, with their counts and their columns in a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import power_of_two
from propkernels._utils.derived import derived
from propkernels._utils.stored import ANY_NUMBER
from propkernels.counts.counters import Codes, Counter, Listed, Occurrences, StreamCounts, Values
from propkernels.counts.levels import LevelCounter, level_weights
from propkernels.graphs.database import GraphDatabase


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Bins of the training graphs, with the counter that finds them in new graphs.

    Attributes
    ----------
    counter : Counter
        Counts any graph.
    codes : list of ndarray of int64
        For each stream, the codes of its bins. Columns are numbered through all streams.
    """

    counter: Counter
    codes: Annotated[list[Codes], ANY_NUMBER]

    def _check_parts(self) -> None:
        """Raise an error unless codes are one array per stream."""
        if not self.codes or any(codes.ndim != 1 for codes in self.codes):
            raise ValueError("every stream needs codes")

    def __repr__(self) -> str:
        return f"Vocabulary({self.counter!r}, {len(self.codes)} streams, {int(self.starts[-1])} bins)"

    @property
    def starts(self) -> NDArray[np.int64]:
        """First column of each stream, and the total number of columns, (streams + 1,)."""
        return np.concatenate([[0], np.cumsum([len(some) for some in self.codes])]).astype(np.int64)

    @property
    def table(self) -> Any:
        """Hash table from code to column, for the compiled loops."""
        from propkernels.counts.entries_compiled import BinTable

        return derived(self, "table", lambda: BinTable.of(self.codes))

    def enter(self, graphs: GraphDatabase, n_jobs: int | None = None) -> Entries:
        """Return the entries of graphs: their bins, counts and columns, in one pass over codes."""
        listed = self.counter.listed(graphs, n_jobs)
        if listed is not None:
            return entries_of_codes(self, listed, graphs)
        return _of_counts(self, self.counter.count(graphs, None, n_jobs), graphs, n_jobs)


@dataclass(frozen=True, eq=False)
class Entries:
    """Bins and counts of graphs, stream by stream; see :mod:`propkernels.counts.entries_compiled`.

    Attributes
    ----------
    graphs : GraphDatabase
    starts, sizes : ndarray, (streams, graphs)
        First slot, and number of slots, of each stream of each graph.
    columns : ndarray of int32, (slots,)
        Column in the vocabulary; -1: bin not seen in training.
    counts : ndarray of float64, (slots,)
    iterations : ndarray of int64, (streams,)
    places : ndarray of int32, (streams, items), or None
        The entry of each item, if items are listed.
    pair_ptr : ndarray of int64, (graphs + 1,), or None
        Offsets of the items, if these are pairs of nodes.
    items : callable or None
        If items are not listed, returns the items of each stream and the slot of each item.
    """

    graphs: GraphDatabase
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: Values
    iterations: NDArray[np.int64]
    places: NDArray[np.int32] | None = None
    pair_ptr: NDArray[np.int64] | None = None
    items: Any = field(default=None)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Starts, sizes, columns and counts, for the compiled loops."""
        return self.starts, self.sizes, self.columns, self.counts

    def by_node(self, values: Values, n_streams: int) -> Values:
        """Return values of entries split equally among their nodes, (nodes, iterations)."""
        last = int(self.iterations[:n_streams].max(initial=0))
        shares = np.zeros((self.graphs.n_nodes, last + 1))
        if self.places is not None:
            from propkernels.counts.entries_compiled import share_out, share_out_pairs

            width = self.places.shape[1]
            if self.pair_ptr is not None:
                ptr, places = self.graphs.graph_ptr, self.places[0]
                share_out_pairs(ptr, self.pair_ptr, places, self.counts, values, shares[:, 0])
                return shares
            share_out(self.places[:n_streams], width, self.iterations, self.counts, values, shares)
            return shares
        for items, slots in self.items()[:n_streams]:
            each = (
                np.where(slots >= 0, values[slots] / self.counts[slots], 0.0) if len(values) else slots * 0.0
            )
            shares[:, items.iteration] += items.by_node(each, self.graphs.n_nodes)
        return shares


def split_by_node(
    counter: Counter,
    graphs: GraphDatabase,
    known: Sequence[Codes],
    weights: Sequence[Values],
    n_jobs: int | None,
) -> Values:
    """Return ``sum over streams of counts @ weights``, split by node and iteration.

    Parameters
    ----------
    counter : Counter
    graphs : GraphDatabase
    known : sequence of ndarray of int64
        For each stream, the codes that have weights; all other codes have weight 0.
    weights : sequence of ndarray
    n_jobs : int or None

    Returns
    -------
    ndarray of shape (nodes, iterations)
        The rows of a graph's nodes add up to the weighted sum of its counts.
    """
    parts = counter.parts_of(graphs)
    return np.concatenate([_split_part(counter, part, known, weights, n_jobs) for part in parts])


def _split_part(
    counter: Counter,
    graphs: GraphDatabase,
    known: Sequence[Codes],
    weights: Sequence[Values],
    n_jobs: int | None,
) -> Values:
    """Split the sums of graphs whose items fit into memory."""
    from propkernels.counts.entries_compiled import folded_values

    level_ptr = None
    if isinstance(counter, LevelCounter):
        counter = counter.counter
        streams = counter.count(graphs, None, n_jobs)
        level_ptr, weights = level_weights(streams, known, weights)
        known = [stream.codes for stream in streams]
    entries = Vocabulary(counter, list(known)).enter(graphs, n_jobs)
    values, first = np.empty(len(entries.counts)), np.zeros(len(graphs), dtype=np.int64)
    table = np.concatenate(weights)[:, None]
    folded_values(*entries.arrays, len(known), level_ptr, table, first, values)
    return entries.by_node(values, len(known))


def entries_of_codes(vocabulary: Vocabulary, listed: Listed, graphs: GraphDatabase) -> Entries:
    """Return the entries of graphs whose items have one code per stream."""
    from propkernels.counts.entries_compiled import enter_codes

    table, ptr = vocabulary.table, listed.ptr
    n_streams, n_graphs, n_items = len(vocabulary.codes), len(graphs), int(ptr[-1])
    size = power_of_two(2 * int(np.diff(ptr).max(initial=0)) + 1)
    room = np.empty(size, np.int64), np.empty(size, np.int64), np.zeros(size, np.int64)
    sizes = np.zeros((n_streams, n_graphs), dtype=np.int64)
    columns, places = np.empty((2, n_streams, n_items), dtype=np.int32)
    counts, iterations, stream = np.empty((n_streams, n_items)), np.zeros(n_streams, np.int64), 0
    for block in listed.blocks:
        rows = block.by_stream()
        iterations[stream : stream + len(rows)] = block.iterations
        room[2][:] = 0
        enter_codes(rows, stream, ptr, table, *room, sizes, columns, counts, places)
        stream += len(rows)
    starts = np.arange(n_streams, dtype=np.int64)[:, None] * n_items + ptr[:-1]
    pair_ptr = ptr if listed.by_pairs else None
    return Entries(graphs, starts, sizes, columns.ravel(), counts.ravel(), iterations, places, pair_ptr)


def _of_counts(
    vocabulary: Vocabulary, streams: Sequence[StreamCounts], graphs: GraphDatabase, n_jobs: int | None
) -> Entries:
    """Return the entries of graphs that are already counted."""
    from propkernels.counts.entries_compiled import find_columns

    starts, columns, first = [], [], 0
    for number, stream in enumerate(streams):
        column_of_bin = np.empty(len(stream.codes), dtype=np.int32)
        find_columns(vocabulary.table, number, stream.codes, column_of_bin)
        columns.append(column_of_bin[stream.counts.indices])
        starts.append(first + stream.counts.indptr.astype(np.int64))
        first += stream.counts.nnz
    ends = np.array(starts).reshape(len(streams), len(graphs) + 1)
    data = np.concatenate([stream.counts.data for stream in streams]).astype(np.float64, copy=False)
    iterations = np.array([stream.iteration for stream in streams], dtype=np.int64)

    def items() -> list[tuple[Occurrences, NDArray[np.int64]]]:
        occurrences = vocabulary.counter.occurrences(graphs, n_jobs)
        return [
            (part, _slots(part, stream, ends[s], graphs))
            for s, (part, stream) in enumerate(zip(occurrences, streams, strict=True))
        ]

    sizes = np.diff(ends, axis=1)
    return Entries(graphs, ends[:, :-1], sizes, np.concatenate(columns), data, iterations, items=items)


def _slots(
    items: Occurrences, stream: StreamCounts, ends: NDArray[np.int64], graphs: GraphDatabase
) -> NDArray[np.int64]:
    """Return the slot of each item; -1: not counted."""
    if not len(stream.codes):
        return np.full(len(items.codes), -1, dtype=np.int64)
    order = np.argsort(stream.codes)
    at = np.minimum(np.searchsorted(stream.codes, items.codes, sorter=order), len(order) - 1)
    bins, width = order[at], len(order)
    graph = np.repeat(np.arange(len(graphs)), np.diff(ends))
    keys = graph * width + stream.counts.indices
    wanted = items.graphs_of_items(graphs).astype(np.int64) * width + bins
    by_key = np.argsort(keys)
    place = np.minimum(np.searchsorted(keys, wanted, sorter=by_key), len(keys) - 1)
    slots = by_key[place]
    counted = (stream.codes[bins] == items.codes) & (keys[slots] == wanted)
    return np.where(counted, ends[0] + slots, -1)
