"""Bounds that skip postings: the graphs that may be among the nearest, by the rarest bins of a query first.

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
from propkernels.search.measures import LOOSE

if TYPE_CHECKING:
    from propkernels.search.nearest import Search

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
        numbers = np.zeros(len(self.plan.rows) + 1, dtype=np.int64)
        _core.count_values(self.common, numbers)
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
