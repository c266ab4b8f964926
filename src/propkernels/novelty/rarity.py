"""Rarity: the information content of a graph's bins under their frequencies in the training graphs.

A bin with ``c`` of the ``N`` items counted in a stream of ``B`` distinct bins has the smoothed probability
``p = (c + 1/2) / (N + (B + 1) / 2)`` (Krichevsky and Trofimov, 1981; all unseen bins together form one
more bin) and an information content of ``-log p`` nats. A graph's rarity is the mean over its nodes and the
streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.stored import ANY_NUMBER, require
from propkernels.codes.codes import NO_BIN
from propkernels.counts.counters import Codes, Counter, Occurrences, add_column, stack_columns
from propkernels.graphs.database import GraphDatabase
from propkernels.novelty.novelty_scores import Score, Training, Values

SMOOTHING = 0.5


class Tally(NamedTuple):
    """Counts of the codes of one stream: each pair of graph and code once."""

    graphs: NDArray[np.int64]
    codes: Codes
    numbers: Values


class Neighborhoods(NamedTuple):
    """Statistics of the bins of nodes, per iteration: arrays of shape (nodes, iterations).

    Attributes
    ----------
    information : ndarray
        Nats of a node's bins, before division by the numbers of nodes and streams.
    seen : ndarray
        Share of a node's bins that occur in training.
    numbers : ndarray
        Mean number of their occurrences in training.
    """

    information: Values
    seen: Values
    numbers: Values


@dataclass(frozen=True)
class RarityScore(Score):
    """Minus the information content of a graph's bins, per node and stream.

    Attributes
    ----------
    counter : Counter
    codes : list of ndarray of int64
        For each stream, the codes seen in training, sorted.
    numbers : list of ndarray, (bins, folds + 1)
        Occurrences of each code outside each fold; last column: in all training graphs.
    """

    counter: Counter
    codes: Annotated[list[Codes], ANY_NUMBER]
    numbers: list[Values]

    def _check_parts(self) -> None:
        """Refuse numbers of occurrences that do not match the codes."""
        require(len(self.codes) == len(self.numbers), "every stream needs codes and numbers")
        for codes, table in zip(self.codes, self.numbers, strict=True):
            require(table.ndim == 2 and codes.shape == table.shape[:1], "every code needs a row of numbers")
            require(bool((table >= 0).all()), "numbers of graphs are not negative")

    def check_rows(self, n_graphs: int, n_rows: int) -> None:
        """Refuse any number of columns but one per fold and one for all graphs."""
        require(all(table.shape[1] == n_rows for table in self.numbers), "every fold needs numbers of graphs")

    @classmethod
    def learn(cls, training: Training) -> tuple[RarityScore, Values]:
        """Return the score and its values for the training graphs under the frequencies of all others."""
        counter = training.index._counter
        tallies = tally(counter, training.graphs)
        codes = [np.unique(counts.codes) for counts in tallies]
        kept = ~training.left_out.T  # (graphs, folds + 1)
        numbers = [
            _frequencies(counts, known, kept[counts.graphs])
            for counts, known in zip(tallies, codes, strict=True)
        ]
        score = cls(counter, codes, numbers)
        return score, training.of_judged(score._values(training.graphs, tallies, slice(None), kept))

    def of_new(self, graphs: GraphDatabase, index: Any, by_fold: bool) -> Values:
        """Return the scores of new graphs."""
        rows = slice(None) if by_fold else slice(-1, None)
        return self._values(graphs, tally(self.counter, graphs), rows)

    def _values(
        self, graphs: GraphDatabase, tallies: list[Tally], rows: slice, kept: NDArray[np.bool_] | None = None
    ) -> Values:
        """Minus rarity, (rows, graphs); a graph's own counts are subtracted from the rows in ``kept``."""
        n = len(graphs)
        total = np.zeros((self.numbers[0][:, rows].shape[1], n))
        for counts, codes, numbers in zip(tallies, self.codes, self.numbers, strict=True):
            table = numbers[:, rows]
            seen = known_numbers(counts.codes, codes, table)
            totals, bins = np.tile(table.sum(axis=0), (n, 1)), np.tile(_bins(table), (n, 1))
            if kept is not None:
                own = np.where(kept[counts.graphs], counts.numbers[:, None], 0.0)
                alone = (seen > 0) & (seen == own)  # bins that no other graph has
                seen = seen - own
                totals -= _sums(counts.graphs, own, n)
                bins -= _sums(counts.graphs, alone, n)
            nats = information(seen, totals[counts.graphs], bins[counts.graphs])
            total -= _sums(counts.graphs, counts.numbers[:, None] * nats, n).T
        return total / (np.maximum(graphs.graph_sizes, 1) * len(tallies))

    def neighborhoods(self, graphs: GraphDatabase) -> Neighborhoods:
        """Return information, share seen and occurrences of the bins of each node."""
        parts = [self._part(part) for part in self.counter.parts_of(graphs)]
        return Neighborhoods(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _part(self, graphs: GraphDatabase) -> Neighborhoods:
        nats: dict[int, Values] = {}
        streams = zip(self.counter.occurrences(graphs), self.codes, self.numbers, strict=True)
        described = []
        for items, codes, numbers in streams:
            table = numbers[:, -1]
            seen = np.where(items.codes == NO_BIN, 0.0, known_numbers(items.codes, codes, table))
            content = information(seen, table.sum(), np.count_nonzero(table))
            content = np.where(items.codes == NO_BIN, 0.0, content)
            add_column(nats, items.iteration, items.by_node(content, graphs.n_nodes))
            described.append((items, seen))
        return Neighborhoods(stack_columns(nats), *means_by_node(described, graphs.n_nodes))

    def shares(self, graphs: GraphDatabase) -> Values:
        """Weight of one nat of each node in its graph's rarity."""
        return 1.0 / (np.maximum(graphs.graph_sizes, 1) * len(self.codes))[graphs.graph_ids]


def tally(counter: Counter, graphs: GraphDatabase) -> list[Tally]:
    """Count all bins of graphs, stream by stream."""
    parts: list[list[Tally]] = []
    first = 0
    for part in counter.parts_of(graphs):
        parts.append([_tally(items, part, first) for items in counter.occurrences(part)])
        first += len(part)
    return [
        Tally(*(np.concatenate(arrays) for arrays in zip(*streams, strict=True)))
        for streams in zip(*parts, strict=True)
    ]


def _tally(items: Occurrences, graphs: GraphDatabase, first: int) -> Tally:
    is_bin = items.codes != NO_BIN
    codes, column = np.unique(items.codes[is_bin], return_inverse=True)
    owner = items.graphs_of_items(graphs)[is_bin].astype(np.int64)
    keys, entry = np.unique(owner * max(len(codes), 1) + column, return_inverse=True)
    weights = None if items.numbers is None else items.numbers[is_bin]
    numbers = np.bincount(entry, weights=weights, minlength=len(keys)).astype(np.float64)
    return Tally(keys // max(len(codes), 1) + first, codes[keys % max(len(codes), 1)], numbers)


def known_numbers(codes: Codes, known: Codes, numbers: Values) -> Values:
    """Rows of a table by code; 0 for codes missing from it.

    Examples
    --------
    >>> known_numbers(np.array([7, 5]), np.array([3, 7]), np.array([2.0, 4.0]))
    array([4., 0.])
    """
    if not len(known):
        return np.zeros((len(codes), *numbers.shape[1:]))
    at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    rows = numbers[at]
    rows[known[at] != codes] = 0.0
    return rows


def information(numbers: Any, totals: Any, bins: Any) -> Values:
    """Nats of bins, from their occurrences and the totals of items and bins."""
    return np.asarray(np.log(totals + SMOOTHING * (bins + 1)) - np.log(numbers + SMOOTHING))


def means_by_node(described: list[tuple[Occurrences, Values]], n_nodes: int) -> tuple[Values, Values]:
    """Share of each node's bins that are seen, and their mean number of occurrences, per iteration."""
    seen: dict[int, Values] = {}
    numbers: dict[int, Values] = {}
    totals: dict[int, Values] = {}
    for items, number in described:
        add_column(seen, items.iteration, items.by_node((number > 0).astype(np.float64), n_nodes))
        add_column(numbers, items.iteration, items.by_node(number, n_nodes))
        counted = (items.codes != NO_BIN).astype(np.float64)
        add_column(totals, items.iteration, items.by_node(counted, n_nodes))
    total = stack_columns(totals)
    share = np.divide(stack_columns(seen), total, out=np.ones_like(total), where=total > 0)
    return share, np.divide(stack_columns(numbers), total, out=np.zeros_like(total), where=total > 0)


def _frequencies(counts: Tally, codes: Codes, kept: NDArray[np.bool_]) -> Values:
    """Occurrences of each code in the graphs that each column keeps, (bins, folds + 1)."""
    at = np.searchsorted(codes, counts.codes)
    return _sums(at, np.where(kept, counts.numbers[:, None], 0.0), len(codes))


def _bins(table: Values) -> Values:
    return np.count_nonzero(table, axis=0).astype(np.float64)


def _sums(group: NDArray[np.int64], values: Any, n: int) -> Values:
    """Sums of the rows of each group, per column."""
    columns = [np.bincount(group, weights=column, minlength=n) for column in np.asarray(values).T]
    return np.stack(columns, axis=1).astype(np.float64, copy=False)  # bincount of nothing is whole numbers
