"""Measures of similarity between counts, all streams together, and bounds that skip postings.

Let s be the dot product of two graphs' features, l and r those of each graph with itself. Cosine and
intersection are s / sqrt(l r), Tanimoto and Jaccard s / (l + r - s). Features are counts, or (intersection,
Jaccard) the levels of counts, whose dot product is the sum over bins of the smaller count
(:mod:`propkernels.counts.levels`): Jaccard is the sum of smaller counts over the sum of larger counts.

Bounds give the graphs that may be among the nearest, by the rarest bins of a query first.

With the measures "jaccard" and "intersection", features are levels of counts, which are 0 or 1: the sum s
that two graphs share is the number of common levels. Let l and r be the numbers of levels of the query and of
a graph, and c the number of common levels among those of the query read so far. If ``rest`` levels are left,
s <= min(c + rest, r). A graph without a common level so far has s <= rest, and since r >= s, its similarity
is at most rest / l (Jaccard) or sqrt(rest / l) (intersection). Once this is below the similarity in question,
only graphs that have been met can qualify: the remaining postings, of the most frequent levels, are looked up
for these, as long as their bound allows it (prefix filter [1]_, with the upper bounds of [2]_).

References
----------
.. [1] R. J. Bayardo, Y. Ma and R. Srikant (2007). Scaling up all pairs similarity search. WWW.
.. [2] H. Turtle and J. Flood (1995). Query evaluation: strategies and optimizations. Information Processing
   and Management 31 (6), 831-850.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels import _core

if TYPE_CHECKING:
    from propkernels.search.nearest import Search


from collections.abc import Sequence

from propkernels._utils.checks import check_choice
from propkernels.counts.counters import Counter, StreamCounts
from propkernels.counts.levels import LevelCounter, levels_of

Values = NDArray[np.float64]
LOOSE = 1 - 1e-9  # factor of bounds that rounding must not cross


class Measure(NamedTuple):
    """How an index compares two graphs by their sums s, l and r.

    Attributes
    ----------
    name : str
    by_levels : bool
        Whether s is the sum of smaller counts, not of products.
    is_ratio : bool
        Whether the similarity is s / (l + r - s), not s / sqrt(l r).
    """

    name: str
    by_levels: bool
    is_ratio: bool

    def values(self, shared: Values, own: float, others: NDArray[Any]) -> Values:
        """Return the similarity of a graph to others, given s, l and r; 0 if both are empty."""
        others = others.astype(np.float64, copy=False)
        below = own + others - shared if self.is_ratio else np.sqrt(own * others)
        return np.divide(shared, below, out=np.zeros(len(shared)), where=below > 0)

    def may_exceed(self, shared: Values, own: float, others: NDArray[Any], least: float) -> NDArray[np.bool_]:
        """Return False only for graphs whose similarity is at most ``least``, without dividing."""
        if self.is_ratio:
            return np.asarray((1 + least) * shared >= LOOSE * least * (own + others))
        return np.asarray(shared * shared >= LOOSE * least * least * own * others)

    def counter(self, counter: Counter) -> Counter:
        """Return a counter of the features: of counts, or of their levels."""
        wraps = self.by_levels and not isinstance(counter, LevelCounter)
        return LevelCounter(counter) if wraps else counter

    def features(self, streams: Sequence[StreamCounts]) -> list[StreamCounts]:
        """Return the features of counted graphs.

        Raises
        ------
        ValueError
            If counts are not whole numbers, which have no levels.
        """
        if not self.by_levels:
            return list(streams)
        for stream in streams:
            if not np.array_equal(stream.counts.data, np.rint(stream.counts.data)):
                raise ValueError(f"similarity={self.name!r} needs a kernel whose counts are whole numbers")
        return levels_of(streams)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("cosine", by_levels=False, is_ratio=False),
        Measure("intersection", by_levels=True, is_ratio=False),
        Measure("tanimoto", by_levels=False, is_ratio=True),
        Measure("jaccard", by_levels=True, is_ratio=True),
    )
}
COSINE = MEASURES["cosine"]


def measure_of(name: Any) -> Measure:
    """Return the measure of that name.

    Examples
    --------
    >>> measure_of("jaccard").values(np.array([3.0]), 4.0, np.array([5.0]))
    array([0.5])
    """
    check_choice(name, tuple(MEASURES), "similarity")
    return MEASURES[name]


LEAST_GRAPHS = 1024  # in smaller segments, reading all postings is as fast
FIRST_GUESS = 0.6  # similarity whose levels are read before the k-th similarity is bounded from below
MOST_LOOKED_UP = 64  # for more neighbors, reading all postings is as fast as looking them up
N_MORE = 2  # levels that are read beyond those needed, so that fewer graphs are looked up
MOST_LEVELS = 2**16 - 1
Places = NDArray[np.int64]


class Room(threading.local):
    """Arrays that searches of one thread use one after the other: fresh memory takes longer than a search."""

    def __init__(self) -> None:
        self.known: dict[str, NDArray[Any]] = {}

    def array(self, name: str, length: int, dtype: Any) -> NDArray[Any]:
        """Return an array with values of an earlier search."""
        if len(self.known.get(name, ())) < length:
            self.known[name] = np.empty(length, dtype=dtype)
        return self.known[name][:length]


ROOM = Room()


class Plan(NamedTuple):
    """The levels of a query that a segment has, the rarest first; those with dense rows come last."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    rows: NDArray[np.int64]
    n_lists: int  # levels without a dense row
    length: float  # levels of the query, also of those that no graph has

    @classmethod
    def of(cls, search: Search) -> Plan | None:
        """Return the plan of a search; None if all postings are to be read."""
        segment, query = search.segment, search.query
        weights = set(query.weights.tolist())
        if (
            not query.measure.by_levels
            or not segment.is_packed
            or segment.n_graphs - search.start < LEAST_GRAPHS
        ):
            return None
        if len(weights) != 1 or min(weights) <= 0 or not 0 < len(query.codes) <= MOST_LEVELS:
            return None
        lengths = np.where(search.rows >= 0, segment.n_graphs, search.end - search.begin)
        found = np.flatnonzero(lengths)
        order = found[np.argsort(lengths[found], kind="stable")]
        begin, end, rows = search.begin[order], search.end[order], search.rows[order]
        if search.start > 0:
            _core.skip_graphs(begin, end, segment.postings, search.start)
        if (query.counts != 1).any() or ((rows >= 0) & (end > begin)).any():
            return None
        is_list = rows < 0
        order = np.argsort(~is_list, kind="stable")
        return cls(begin[order], end[order], rows[order], int(is_list.sum()), query.square / min(weights))

    def n_needed(self, least: float, is_ratio: bool) -> int:
        """Return how many levels are to be read, so that graphs not met are less similar than ``least``."""
        needed = LOOSE * (least if is_ratio else least * least) * self.length
        return len(self.rows) + 1 if needed <= 0 else max(math.floor(len(self.rows) - needed) + 1, 0)


def possible(search: Search, k: int, least: float) -> tuple[Places, NDArray[np.float64]] | None:
    """Return all graphs that may be among the k most similar above ``least``, and the sums that they share.

    None: bounds skip nothing, and all postings are to be read.
    """
    plan = Plan.of(search)
    return None if plan is None else _Reader(search, plan).possible(k, least)


class _Reader:
    """Reads the postings of a query, the shortest first, and counts common levels."""

    def __init__(self, search: Search, plan: Plan) -> None:
        self.search, self.plan = search, plan
        self.n_graphs = search.segment.n_graphs - search.start
        self.common = ROOM.array("common", self.n_graphs, np.uint16)
        self.common[:] = 0
        self.n_read, self.is_ratio = 0, search.query.measure.is_ratio
        self.weight = float(search.query.weights[0])

    def possible(self, k: int, least: float) -> tuple[Places, NDArray[np.float64]]:
        plan = self.plan
        if k <= MOST_LOOKED_UP:
            self.read(min(plan.n_needed(max(least, FIRST_GUESS), self.is_ratio), plan.n_lists))
            least = max(least, self.kth(k))
        until = plan.n_needed(least, self.is_ratio)
        if until > plan.n_lists:
            self.read_all()
            least = max(least, self.kth(k))
            return self.looked_up(self.met(least), least)
        self.read(min(until + N_MORE, plan.n_lists))
        return self.looked_up(self.met(least), least)

    def read(self, until: int) -> None:
        """Add the postings of further levels to the common levels of all graphs."""
        some = slice(self.n_read, until)
        if until > self.n_read:
            arrays = (self.search.segment.postings, self.search.start, self.common)
            _core.count_common(self.plan.begin[some], self.plan.end[some], *arrays)
            self.n_read = until

    def read_all(self) -> None:
        """Add the postings and dense rows of all levels."""
        self.read(self.plan.n_lists)
        rows = self.plan.rows[self.plan.n_lists :]
        counts, dense = np.ones(len(rows), dtype=np.uint16), self.search.segment.dense
        _core.add_rows(rows, counts, dense, self.search.start, self.common)
        self.n_read = len(self.plan.rows)

    def met(self, least: float) -> Places:
        """Return the graphs that may be as similar as ``least``, without removed ones."""
        is_possible = ROOM.array("is_possible", self.n_graphs, np.bool_)
        rest, squares = len(self.plan.rows) - self.n_read, self.search.squares[self.search.start :]
        _core.mark_possible(self.common, squares, rest, self.weight, self.bound(least), is_possible)
        return self.present(np.flatnonzero(is_possible))

    def bound(self, least: float) -> tuple[float, float, bool]:
        """Return the bound of a similarity, for compiled loops."""
        return self.plan.length, LOOSE * least, self.is_ratio

    def present(self, places: Places) -> Places:
        """Return graphs, counted from the first one that is searched, as graphs of the segment if present."""
        places = places + self.search.start
        return places if self.search.alive is None else places[self.search.alive[places]]

    def kth(self, k: int) -> float:
        """Return the k-th largest similarity among promising graphs, a lower bound; -1 if they are fewer."""
        most = len(self.plan.rows)
        numbers = np.bincount(np.minimum(self.common, most), minlength=most + 1)
        at_least = np.cumsum(numbers[:0:-1])  # graphs with n, n - 1, ..., 1 common levels or more
        fewest = len(numbers) - 1 - int(np.searchsorted(at_least, k))
        if fewest < 1:
            return -1.0
        places, shared = self.looked_up(self.present(np.flatnonzero(self.common >= fewest))[: 4 * k], -1.0)
        if len(places) < k:
            return -1.0
        query = self.search.query
        values = query.measure.values(shared, query.square, self.search.squares[places])
        return float(np.partition(values, len(values) - k)[len(values) - k])

    def looked_up(self, places: Places, least: float) -> tuple[Places, NDArray[np.float64]]:
        """Return those graphs that may be as similar as ``least``, and the sums that they share."""
        plan, some = self.plan, slice(self.n_read, None)
        places, common = places.copy(), self.common[places - self.search.start].astype(np.int64)
        lengths = self.search.squares[places] / self.weight
        levels = (plan.begin[some], plan.end[some], plan.rows[some])
        arrays = (self.search.segment.postings, self.search.segment.dense)
        n = _core.look_up(places, common, lengths, levels, *arrays, self.bound(least))
        return places[:n], common[:n].astype(np.float64) * self.weight
