"""Novelty of graphs: the share of neighborhoods that a graph and its nearest training graphs do not share.

With s the sum of smaller counts of two graphs, and l and r the counts of each, their similarity is
s / (l + r - s), and one minus it is

    (l - s) / (l + r - s) + (r - s) / (l + r - s):

what the graph has and the training graph has not, which is a sum over the graph's nodes, and what it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.locks import derived
from propkernels._utils.parallel import run_threads
from propkernels._utils.typing import Values
from propkernels.counts.counters import Occurrences, add_column, stack_columns
from propkernels.counts.levels import LevelCounter, level_codes
from propkernels.explain.explanation import Explanation
from propkernels.explain.shared_bins import GraphBins
from propkernels.graphs.database import GraphDatabase
from propkernels.novelty.applicability import seen_shares
from propkernels.search.index import GraphIndex
from propkernels.search.nearest import Query, largest

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class NoveltyExplanation(Explanation):
    """Contributions of nodes to the novelty of graphs, returned by ``NoveltyDetector.explain``.

    Attributes
    ----------
    contributions : ndarray of shape (nodes, t_max + 1)
        Neighborhoods of each node that the nearest training graph has not, iteration by iteration, as shares
        of all neighborhoods of both graphs; not negative.
    intercept : ndarray of shape (graphs,)
        What the nearest training graph has and the graph has not, which belongs to no node.
    seen : ndarray of shape (nodes, t_max + 1)
        1 if the node's bin occurs in any training graph, else 0; the share of its bins if it has several.
    graph_ptr, graphs
        As in :class:`~propkernels.explain.Explanation`.

    See Also
    --------
    NoveltyDetector : Its ``explain`` returns this.
    propkernels.plotting.plot_explanation : Draws it.

    References
    ----------
    .. [1] P. Willett, J. M. Barnard and G. M. Downs (1998). Chemical similarity searching. Journal of
       Chemical Information and Computer Sciences 38 (6), 983-996. doi:10.1021/ci9800211.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(60, random_state=0).graphs
    >>> detector = pk.NoveltyDetector(random_state=0).fit(graphs[:50])
    >>> explanation = detector.explain(graphs[50:])
    >>> bool(abs(explanation.decisions + detector.score_samples(graphs[50:])).max() < 1e-9)
    True
    >>> bool(explanation.seen[:, 0].all())
    True
    """

    seen: Values = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def unseen_nodes(self) -> NDArray[np.int64]:
        """First iteration at which each node's neighborhood is unseen; -1 if all are seen."""
        unseen = self.seen < 1
        return np.where(unseen.any(axis=1), unseen.argmax(axis=1), -1).astype(np.int64)

    @property
    def subject(self) -> str:
        """The meaning of positive contributions, in words."""
        return "for novelty"

    @property
    def quantity(self) -> str:
        """Name of the quantity that contributions add up to."""
        return "novelty"

    @property
    def constant(self) -> str:
        """Name of the intercept in tables and captions."""
        return "what it lacks"

    @property
    def is_signed(self) -> bool:
        """Whether contributions may be negative: not those to novelty."""
        return False

    def key(self, nodes: str = "nodes") -> str:
        """Return the meaning of colors in drawings, as a sentence about ``nodes``, such as "atoms"."""
        return f"Redder {nodes} have neighborhoods that the nearest training graph has not."

    def _cells(self, nodes: NDArray[np.int64]) -> dict[str, Any]:
        return {**super()._cells(nodes), "first_unseen_t": self.unseen_nodes[nodes]}


def nearest_by_fold(values: Values, folds: Places, k: int, rows: int, own: int | None = None) -> Places:
    """Positions of the k most similar graphs outside each fold, (rows, k); last row: among all graphs.

    Parameters
    ----------
    values : ndarray, (graphs,)
        Similarities.
    folds : ndarray, (graphs,)
    k, rows : int
        ``rows`` is the number of folds plus 1, or 1.
    own : int, optional
        Position of the query, if it is one of the graphs; it is never its own neighbor.

    Examples
    --------
    >>> nearest_by_fold(np.array([0.9, 0.5, 0.7]), np.array([0, 1, 1]), 1, 3)
    array([[2],
           [0],
           [0]])
    """
    if own is not None:
        values = values.copy()
        values[own] = -np.inf
    best = largest(values, k)
    places = np.tile(best, (rows, 1))
    # Folds that hold none of the k nearest graphs have the same answer as the last row.
    for fold in np.unique(folds[best]) if rows > 1 else ():
        others = np.flatnonzero(folds != fold)
        places[fold] = others[largest(values[others], k)]
    return places


def nearest_of(
    index: Any, graphs: GraphDatabase, folds: Places, k: int, rows: int, own: Places | None = None
) -> tuple[Places, Values]:
    """Positions and similarities of the nearest training graphs, (rows, graphs, k).

    ``own`` holds the positions of the graphs if they are training graphs themselves.
    """
    queries = Query.all(index._counter.count(graphs, None), index._measure)

    def one(number: int) -> tuple[Places, Values]:
        values = index._file.similarities(queries[number])
        places = nearest_by_fold(values, folds, k, rows, None if own is None else int(own[number]))
        return places, values[places]

    if not queries:
        return np.zeros((rows, 0, k), dtype=np.int64), np.zeros((rows, 0, k))
    places, similarities = zip(*run_threads(one, range(len(queries))), strict=True)
    return np.stack(places, axis=1), np.stack(similarities, axis=1)


def parts_of(index: GraphIndex, graphs: GraphDatabase, nearest: Places) -> tuple[Values, Values]:
    """Return what graphs do not share with training graphs at these places, (graphs, k).

    Returns
    -------
    nodes : ndarray, (nodes, iterations)
        Share of all neighborhoods of both graphs that a node has, and the training graph has not.
    seen : ndarray, (nodes, iterations)
        Share of a node's bins that occur in any training graph.
    """
    cells = derived(index._file, "cells", lambda: _cells(index))
    squares, counter = index._file.squares, index._counter
    assert isinstance(counter, LevelCounter)
    own = np.array([query.square for query in Query.all(counter.count(graphs, None), index._measure)])
    found = [
        _Stream.of(items, graphs, index, s) for s, items in enumerate(counter.counter.occurrences(graphs))
    ]
    nodes = dict[int, Values]()
    for j in range(nearest.shape[1]):
        shared = [stream.shared(cells, len(index._file.segments[0].codes), nearest[:, j]) for stream in found]
        total = np.zeros(len(graphs))
        for stream, values in zip(found, shared, strict=True):
            total += stream.weight * np.bincount(stream.bins.graphs, values, len(graphs))
        union = own + squares[nearest[:, j]] - total
        unit = np.divide(1.0, union * nearest.shape[1], out=np.zeros(len(graphs)), where=union > 0)
        for stream, values in zip(found, shared, strict=True):
            bins = stream.bins
            extra = stream.weight * (bins.counts - values) * unit[bins.graphs] / bins.counts
            column = stream.items.by_node(stream.spread(extra), graphs.n_nodes)
            add_column(nodes, stream.items.iteration, column)
    is_seen = [(one.items, one.spread((one.levels[one.first] >= 0).astype(np.float64))) for one in found]
    return stack_columns(nodes), seen_shares(is_seen, graphs.n_nodes)


class _Stream(NamedTuple):
    """Bins of graphs in one stream of an index.

    Attributes
    ----------
    items : Occurrences
    bins : GraphBins
        Those of all graphs.
    first : ndarray, (bins,)
        Place of the first level of each bin in ``levels``.
    levels : ndarray, (levels,)
        Columns of the index; -1: levels that no training graph has.
    weight : float
    """

    items: Occurrences
    bins: GraphBins
    first: Places
    levels: Places
    weight: float

    @classmethod
    def of(cls, items: Occurrences, graphs: GraphDatabase, index: GraphIndex, number: int) -> _Stream:
        (segment,) = index._file.segments
        known = segment.codes[segment.stream_ptr[number] : segment.stream_ptr[number + 1]]
        bins = GraphBins.of(items, graphs)
        most = bins.counts.astype(np.int64)
        coded = level_codes(np.ascontiguousarray(bins.codes), most)
        at = np.minimum(np.searchsorted(known, coded), max(len(known) - 1, 0))
        is_known = known[at] == coded if len(known) else np.zeros(len(coded), dtype=bool)
        levels = np.where(is_known, at + segment.stream_ptr[number], -1)
        return cls(items, bins, np.cumsum(most) - most, levels, float(index._file.weights[number]))

    def shared(self, cells: Places, n_levels: int, others: Places) -> Values:
        """Return the smaller counts of bins, in each graph and one training graph for it."""
        owner = np.repeat(np.arange(len(self.first)), self.bins.counts.astype(np.int64))
        known = np.flatnonzero(self.levels >= 0)
        wanted = others[self.bins.graphs[owner[known]]] * n_levels + self.levels[known]
        has = cells[np.searchsorted(cells, wanted).clip(max=len(cells) - 1)] == wanted
        return np.bincount(owner[known][has], minlength=len(self.first)).astype(np.float64)

    def spread(self, values: Values) -> Values:
        """Return values of bins for each item; 0 without a bin."""
        entry = self.bins.entry
        return np.where(entry >= 0, values[entry] if len(values) else 0.0, 0.0)


def _cells(index: GraphIndex) -> Places:
    """Return graph times number of levels plus level, ascending, of the levels that training graphs have."""
    (segment,) = index._file.segments
    bins, graphs, _ = segment.listed()
    return np.unique(graphs.astype(np.int64) * len(segment.codes) + bins)
