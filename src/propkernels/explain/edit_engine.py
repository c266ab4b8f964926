"""Decisions of edited graphs without the pipeline: trackers list changed counts, members add them up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import run_threads, thread_count
from propkernels.counts.entries import Vocabulary
from propkernels.explain.members import Counted
from propkernels.explain.rule import Rule
from propkernels.graphs.database import GraphDatabase
from propkernels.tracking.alphabet import NEW_NODES, Alphabet
from propkernels.tracking.trackers import Tracker, is_trackable, wired

EDITS_AT_ONCE = 256
EDITS_OF_A_THREAD = 1024  # least number; fewer threads wait less for Python
MOST_CHANGES = 2**22  # changed counts held in memory at a time
ADD_LEAF = 3
Matrix = NDArray[np.float64]
Edits = NDArray[np.int64]


class Desk(NamedTuple):
    """A graph that is edited and restored, trackers and states of members, for one thread at a time."""

    wiring: Any
    trackers: dict[Vocabulary, Tracker]
    begun: list[Any]


def _trackers(rule: Rule, graph: GraphDatabase, alphabet: Alphabet) -> list[Tracker] | None:
    """Return a tracker per vocabulary of a rule; None if a kernel has none."""
    trackers = []
    for vocabulary in rule.vocabularies:
        trackers.append(vocabulary.tracker(graph, alphabet))
        if trackers[-1] is None:
            return None
    return trackers


class Engine:
    """A graph prepared for fast decisions after edits.

    Parameters
    ----------
    rule : Rule
    graph : GraphDatabase
        One graph.
    alphabet : Alphabet
        Labels of nodes and edges that edits may use.
    trackers : list of Tracker
        One per vocabulary of the rule.
    counted : Counted
        The counts of the graph.
    n_jobs : int or None
        Number of threads, each of which has trackers of its own.
    """

    def __init__(
        self,
        rule: Rule,
        graph: GraphDatabase,
        alphabet: Alphabet,
        trackers: list[Tracker],
        counted: Counted,
        n_jobs: int | None = None,
    ) -> None:
        self.rule, self.n_nodes, self.n_jobs = rule, graph.n_nodes, n_jobs
        self._parts = rule, graph, alphabet
        self._begin = partial(rule.begin, counted)
        self._desks = deque([self._new_desk(trackers)])
        self.counted = {v for member in rule.members if member.needs_counts for v in member.vocabularies}
        most = max(tracker.most_changes for tracker in trackers)
        self.n_at_once = max(1, min(EDITS_AT_ONCE, MOST_CHANGES // most))

    @classmethod
    def of(
        cls,
        rule: Rule,
        graph: GraphDatabase,
        alphabet: Alphabet,
        counted: Counted | None = None,
        n_jobs: int | None = None,
    ) -> Engine | None:
        """Return an engine; None if a kernel of the rule, or the graph, has no tracker.

        The graph is counted, unless its counts are given.
        """
        if not rule.compares_bins or not is_trackable(graph):
            return None
        trackers, counted = _trackers(rule, graph, alphabet), counted or Counted(graph, None)
        return None if trackers is None else cls(rule, graph, alphabet, trackers, counted, n_jobs)

    def decisions(self, edits: Edits, connected: bool) -> Matrix:
        """Return decisions without intercepts, (edits, decisions); NaN for impossible edits.

        Parameters
        ----------
        edits : ndarray of int64, (m, 2, 5)
            One or two edits per row.
        connected : bool
            Whether the ends of a removed edge must stay connected.
        """
        edits = self._numbered(edits)
        decisions = np.full((len(edits), self.rule.n_decisions), np.nan)

        def some_edits(first: int) -> None:
            some = edits[first : first + self.n_at_once]
            with self._desk() as desk:
                possible = np.flatnonzero(self._possible(desk, some, connected))
                if len(possible):
                    decisions[first + possible] = self._decided(desk, some[possible])

        threads = max(min(thread_count(self.n_jobs), len(edits) // EDITS_OF_A_THREAD), 1)
        run_threads(some_edits, range(0, len(edits), self.n_at_once), threads)
        return decisions

    @contextmanager
    def _desk(self) -> Iterator[Desk]:
        """Lend a desk that no other thread uses; one that an error has left edited is not used again."""
        try:
            desk = self._desks.pop()
        except IndexError:
            desk = self._new_desk(_trackers(*self._parts) or [])
        yield desk
        self._desks.append(desk)

    def _new_desk(self, trackers: Sequence[Tracker]) -> Desk:
        rule, graph, alphabet = self._parts
        of_vocabularies = dict(zip(rule.vocabularies, trackers, strict=True))
        return Desk(wired(graph, alphabet), of_vocabularies, self._begin())

    def _decided(self, desk: Desk, edits: Edits) -> Matrix:
        """Return decisions after possible edits."""
        trackers = desk.trackers.items()
        changes = {own: one.changes(edits, own in self.counted) for own, one in trackers}
        return self.rule.changed(desk.begun, changes)

    def _numbered(self, edits: Edits) -> Edits:
        """Number new nodes after those of the graph."""
        edits = np.array(edits, dtype=np.int64, order="C")
        first, second = edits[:, 0], edits[:, 1]
        is_leaf = first[:, 0] == ADD_LEAF
        first[is_leaf, 2] = self.n_nodes
        again = second[:, 0] == ADD_LEAF
        second[again, 2] = self.n_nodes + is_leaf[again]
        return edits

    def _possible(self, desk: Desk, edits: Edits, connected: bool) -> NDArray[np.bool_]:
        from propkernels.tracking.wiring_compiled import possible_edits

        n, possible = self.n_nodes + NEW_NODES, np.zeros(len(edits), dtype=bool)
        possible_edits(desk.wiring, edits, connected, np.zeros(n, np.int64), np.zeros(n, bool), possible)
        return possible
