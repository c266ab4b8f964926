"""Decisions of edited graphs without the pipeline: trackers list changed counts, members add them up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propkernels.decisions.members import Counted
from propkernels.decisions.rule import Rule
from propkernels.graphs.database import GraphDatabase
from propkernels.tracking.alphabet import NEW_NODES, Alphabet
from propkernels.tracking.trackers import Tracker, is_trackable, wired

EDITS_AT_ONCE = 256
MOST_CHANGES = 2**22  # changed counts held in memory at a time
ADD_LEAF = 3
Matrix = NDArray[np.float64]
Edits = NDArray[np.int64]


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
    """

    def __init__(
        self, rule: Rule, graph: GraphDatabase, alphabet: Alphabet, trackers: list[Tracker], counted: Counted
    ) -> None:
        self.rule, self.n_nodes = rule, graph.n_nodes
        self.trackers = dict(zip(rule.vocabularies, trackers, strict=True))
        self.wiring = wired(graph, alphabet)
        self.begun = rule.begin(counted)
        self.counted = {v for member in rule.members if member.needs_counts for v in member.vocabularies}
        most = max(tracker.most_changes for tracker in trackers)
        self.n_at_once = max(1, min(EDITS_AT_ONCE, MOST_CHANGES // most))

    @classmethod
    def of(
        cls, rule: Rule, graph: GraphDatabase, alphabet: Alphabet, counted: Counted | None = None
    ) -> Engine | None:
        """Return an engine; None if a kernel of the rule, or the graph, has no tracker.

        The graph is counted, unless its counts are given.
        """
        if not rule.compares_bins or not is_trackable(graph):
            return None
        trackers = []
        for vocabulary in rule.vocabularies:
            trackers.append(vocabulary.tracker(graph, alphabet))
            if trackers[-1] is None:
                return None
        return cls(rule, graph, alphabet, trackers, Counted(graph, None) if counted is None else counted)

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
        possible = np.flatnonzero(self._possible(edits, connected))
        decisions = np.full((len(edits), self.rule.n_decisions), np.nan)
        for start in range(0, len(possible), self.n_at_once):
            some = possible[start : start + self.n_at_once]
            trackers = self.trackers.items()
            changes = {own: one.changes(edits[some], own in self.counted) for own, one in trackers}
            decisions[some] = self.rule.changed(self.begun, changes)
        return decisions

    def _numbered(self, edits: Edits) -> Edits:
        """Number new nodes after those of the graph."""
        edits = np.array(edits, dtype=np.int64, order="C")
        first, second = edits[:, 0], edits[:, 1]
        is_leaf = first[:, 0] == ADD_LEAF
        first[is_leaf, 2] = self.n_nodes
        again = second[:, 0] == ADD_LEAF
        second[again, 2] = self.n_nodes + is_leaf[again]
        return edits

    def _possible(self, edits: Edits, connected: bool) -> NDArray[np.bool_]:
        from propkernels.tracking.wiring_compiled import possible_edits

        n, possible = self.n_nodes + NEW_NODES, np.zeros(len(edits), dtype=bool)
        possible_edits(self.wiring, edits, connected, np.zeros(n, np.int64), np.zeros(n, bool), possible)
        return possible
