"""Entries: bins of new graphs, with their counts and their columns in a vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.arrays import offsets, power_of_two
from propkernels._utils.locks import derived
from propkernels._utils.parallel import threads_for
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
    def table(self) -> BinTable:
        """Hash tables from code to column, for the compiled loops."""
        return derived(self, "table", lambda: BinTable.of(self))

    def columns_of(self, stream: int, codes: Codes) -> NDArray[np.int32]:
        """Return the columns of codes in a stream; -1: not in the vocabulary."""
        columns = np.empty(len(codes), dtype=np.int32)
        _core.find_columns(self.table, stream, np.ascontiguousarray(codes), columns)
        return columns

    def enter(self, graphs: GraphDatabase) -> Entries:
        """Return the entries of graphs: their bins, counts and columns, in one pass over codes."""
        listed = self.counter.listed(graphs)
        if listed is not None:
            return _of_codes(self, listed, graphs)
        return _of_counts(self, self.counter.count(graphs, None), graphs)


class BinTable(NamedTuple):
    """Hash tables from codes to columns of bins, one for each stream.

    Attributes
    ----------
    codes : ndarray of int64, (columns,)
        Codes of all columns, stream by stream.
    first : ndarray of int64, (streams + 1,)
        Stream s owns the slots ``first[s]`` to ``first[s + 1] - 1``.
    slots : ndarray of int32
        Columns; -1: free.
    """

    codes: NDArray[np.int64]
    first: NDArray[np.int64]
    slots: NDArray[np.int32]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> BinTable:
        """Return the tables of a vocabulary."""
        first = offsets([power_of_two(2 * len(codes) + 1) for codes in vocabulary.codes])
        slots = np.full(int(first[-1]), -1, dtype=np.int32)
        table = cls(np.concatenate(vocabulary.codes).astype(np.int64, copy=False), first, slots)
        _core.fill_tables(table, vocabulary.starts)
        return table


@dataclass(frozen=True, eq=False)
class Entries:
    """Bins and counts of graphs, stream by stream.

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
            if self.pair_ptr is None:
                _core.share_out(self.places[:n_streams], self.iterations, self.counts, values, shares)
            else:
                ptr, places = self.graphs.graph_ptr, self.places[0]
                _core.share_out_pairs(ptr, self.pair_ptr, places, self.counts, values, shares.ravel())
            return shares
        for items, slots in self.items()[:n_streams]:
            each = (
                np.where(slots >= 0, values[slots] / self.counts[slots], 0.0) if len(values) else slots * 0.0
            )
            shares[:, items.iteration] += items.by_node(each, self.graphs.n_nodes)
        return shares


def split_by_node(
    counter: Counter, graphs: GraphDatabase, known: Sequence[Codes], weights: Sequence[Values]
) -> Values:
    """Return ``sum over streams of counts @ weights``, split by node and iteration.

    Parameters
    ----------
    counter : Counter
    graphs : GraphDatabase
    known : sequence of ndarray of int64
        For each stream, the codes that have weights; all other codes have weight 0.
    weights : sequence of ndarray

    Returns
    -------
    ndarray of shape (nodes, iterations)
        The rows of a graph's nodes add up to the weighted sum of its counts.
    """
    by_node = []
    for part in counter.parts_of(graphs):
        base, codes, own, level_ptr = counter, list(known), weights, None
        if isinstance(counter, LevelCounter):
            base = counter.counter
            streams = base.count(part, None)
            level_ptr, own = level_weights(streams, known, weights)
            codes = [stream.codes for stream in streams]
        entries = Vocabulary(base, codes).enter(part)
        values, first = np.empty(len(entries.counts)), np.zeros(len(part), dtype=np.int64)
        table = np.concatenate(own)[:, None]
        _core.folded_values(entries.arrays, len(codes), level_ptr, table, first, values)
        by_node.append(entries.by_node(values, len(codes)))
    return np.concatenate(by_node)


def _of_codes(vocabulary: Vocabulary, listed: Listed, graphs: GraphDatabase) -> Entries:
    """Return the entries of graphs whose items have one code per stream."""
    ptr, n_streams, n_items = listed.ptr, len(vocabulary.codes), int(listed.ptr[-1])
    sizes = np.zeros((n_streams, len(graphs)), dtype=np.int64)
    columns, places = np.empty((2, n_streams, n_items), dtype=np.int32)
    counts, iterations, stream = np.empty((n_streams, n_items)), np.zeros(n_streams, np.int64), 0
    filled = sizes, columns, counts, places
    for block in listed.blocks:
        rows = np.ascontiguousarray(block.by_stream())
        iterations[stream : stream + len(rows)] = block.iterations
        threads = threads_for(rows.size)
        _core.enter_codes(vocabulary.table, rows, stream, ptr, *filled, threads)
        stream += len(rows)
    starts = np.arange(n_streams, dtype=np.int64)[:, None] * n_items + ptr[:-1]
    pair_ptr = ptr if listed.by_pairs else None
    return Entries(graphs, starts, sizes, columns.ravel(), counts.ravel(), iterations, places, pair_ptr)


def _of_counts(vocabulary: Vocabulary, streams: Sequence[StreamCounts], graphs: GraphDatabase) -> Entries:
    """Return the entries of graphs that are already counted."""
    starts, columns, first = [], [], 0
    for number, stream in enumerate(streams):
        columns.append(vocabulary.columns_of(number, stream.codes)[stream.counts.indices])
        starts.append(first + stream.counts.indptr.astype(np.int64))
        first += stream.counts.nnz
    ends = np.array(starts).reshape(len(streams), len(graphs) + 1)
    data = np.concatenate([stream.counts.data for stream in streams]).astype(np.float64, copy=False)
    iterations = np.array([stream.iteration for stream in streams], dtype=np.int64)

    def items() -> list[tuple[Occurrences, NDArray[np.int64]]]:
        occurrences = vocabulary.counter.occurrences(graphs)
        return [
            (part, _slots(part, stream, ends[s], graphs))
            for s, (part, stream) in enumerate(zip(occurrences, streams, strict=True))
        ]

    first_of, sizes = np.ascontiguousarray(ends[:, :-1]), np.diff(ends, axis=1)
    return Entries(graphs, first_of, sizes, np.concatenate(columns), data, iterations, items=items)


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
