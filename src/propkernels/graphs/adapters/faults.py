"""What is wrong with graphs that come from outside: named in one sentence, or left out on request."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.edges import check_ids

ERRORS = ("raise", "skip")
MOST_NAMED = 5


class Faults:
    """Faults of the graphs of a list; with ``errors="raise"`` the first one is raised at once.

    Parameters
    ----------
    errors : {"raise", "skip"}
    n_graphs : int
    ids : sequence, optional
        What the graphs are called.
    first : int, default=0
        Position of the first graph in the list of the user.
    noun : str, default="graph"
        What the graphs are: "molecule", say.
    """

    def __init__(
        self, errors: str, n_graphs: int, ids: Any = None, first: int = 0, noun: str = "graph"
    ) -> None:
        if errors not in ERRORS:
            raise ValueError(f"errors must be 'raise' or 'skip', got {errors!r}")
        self.errors, self.n_graphs, self.first, self.noun = errors, n_graphs, first, noun
        self.ids = check_ids(ids, n_graphs)
        self.found: dict[int, str] = {}

    def name(self, position: int) -> str:
        """What a graph is called in a sentence."""
        if self.ids is None:
            return f"{self.noun} {self.first + int(position)}"
        return f"{self.noun} {self.ids.tolist()[position]!r}"

    def add(self, position: int, reason: str, kind: type[Exception] = ValueError, link: str = ": ") -> None:
        """Note what is wrong with a graph, or raise it."""
        if self.errors == "raise":
            raise kind(f"{self.name(position)}{link}{reason}") from None
        self.found.setdefault(int(position), reason)

    def refuse(self, reason: str, kind: type[Exception] = ValueError) -> NoReturn:
        """Raise what no graph alone is to blame for."""
        raise kind(reason)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """For each graph, whether nothing is wrong with it."""
        mask = np.ones(self.n_graphs, dtype=bool)
        mask[list(self.found)] = False
        return mask

    @property
    def kept_ids(self) -> NDArray[Any] | None:
        """Ids of the graphs that are kept; their positions where some could have been left out."""
        if self.ids is not None:
            return self.ids[self.kept]
        return None if self.errors == "raise" else np.flatnonzero(self.kept) + self.first

    def finish(self, graphs: GraphDatabase) -> GraphDatabase:
        """Tell what was left out: in a warning, and as ``graphs.skipped``."""
        if self.found:
            names = range(self.first, self.first + self.n_graphs) if self.ids is None else self.ids.tolist()
            graphs.skipped = {names[i]: self.found[i] for i in sorted(self.found)}
            named = [f"{name!r} ({reason})" for name, reason in list(graphs.skipped.items())[:MOST_NAMED]]
            more = ", ..." if len(self.found) > MOST_NAMED else ""
            warnings.warn(
                f"skipped {len(self.found)} of {self.n_graphs} {self.noun}s: {', '.join(named)}{more}",
                stacklevel=4,
            )
        return graphs


def with_target(graphs: GraphDatabase, target: Any, faults: Faults) -> tuple[GraphDatabase, NDArray[Any]]:
    """Return graphs and the targets of those that were kept, one row per graph."""
    return graphs, np.asarray(target)[faults.kept]
