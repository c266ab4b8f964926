"""Codes of graphs in time: a kernel sees them forwards in time, in both directions, or without time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propkernels._utils.checks import check_choice
from propkernels._utils.stored import require
from propkernels.codes.codes import NO_BIN, CodeStreams
from propkernels.counts.counters import Coder
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.moments import VIEWS, last_nodes, seen

TIMES = ("auto", *VIEWS)


@dataclass(frozen=True)
class TimeCoder(Coder):
    """Coder of graphs in time.

    Codes of "forward" and "both" belong to vertices at certain times. Without time, a vertex has one code,
    which its latest node carries; its other nodes are not counted.

    Attributes
    ----------
    coder : Coder
        Coder of the graphs as they are seen.
    view : {"forward", "both", "static"}
    labeled : bool
        Whether labels of contacts count.
    """

    coder: Any
    view: str
    labeled: bool

    def _check_parts(self) -> None:
        """Raise an error if the view is unknown."""
        require(self.view in VIEWS and isinstance(self.coder, Coder), "the view of time is unknown")

    def restricted(self, t_max: int) -> TimeCoder:
        """Return a coder of the first iterations."""
        return replace(self, coder=self.coder.restricted(t_max))

    def codes(self, graphs: GraphDatabase) -> Iterable[CodeStreams]:
        """Return the codes of all nodes, block by block."""
        if not graphs.is_temporal and graphs.n_nodes:
            raise ValueError("the training graphs are graphs in time, these are not: use from_contacts")
        blocks = self.coder.codes(seen(graphs, self.view, self.labeled))
        if self.view != "static" or not graphs.n_nodes:
            return blocks
        last = last_nodes(graphs)

        def at_last(block: CodeStreams) -> CodeStreams:
            codes = np.full((len(block.codes), graphs.n_nodes), NO_BIN, dtype=np.int64)
            codes[:, last] = block.codes
            return replace(block, codes=codes)

        return map(at_last, blocks)

    @property
    def known_labels(self) -> Any:
        """Labels of the training graphs."""
        return self.coder.known_labels

    @property
    def reads_labels(self) -> bool:
        """Whether codes depend on node labels."""
        return bool(self.coder.reads_labels)

    @property
    def n_streams(self) -> int:
        """Number of codes per node."""
        return int(self.coder.n_streams)


def learn_in_time(
    graphs: GraphDatabase, parameters: Any, learn: Callable[[GraphDatabase, Any], Coder]
) -> Coder:
    """Return the coder that a kernel learns from graphs, seen as its parameter ``time`` says.

    Parameters
    ----------
    graphs : GraphDatabase
        Training graphs.
    parameters : estimator
        Has ``time`` and ``edge_labels``.
    learn : callable
        Returns a coder from graphs and parameters.
    """
    check_choice(parameters.time, TIMES, "time")
    if not getattr(graphs, "is_temporal", False):
        if parameters.time != "auto":
            raise ValueError(f"time={parameters.time!r} needs graphs in time: use from_contacts")
        return learn(graphs, parameters)
    view = "forward" if parameters.time == "auto" else parameters.time
    settings, labeled = copy(parameters), bool(parameters.edge_labels)
    settings.edge_labels = labeled or view != "static"  # relations are labels of edges
    return TimeCoder(learn(seen(graphs, view, labeled), settings), view, labeled)
