"""Types returned by format readers: pieces of a file, and blocks of graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase


class Piece(NamedTuple):
    """Rows ``first`` to ``last - 1`` of a file, with their nodes, hash and byte range (text files only)."""

    first: int
    last: int
    n_nodes: int
    sha256: str
    span: tuple[int, int] = (0, 0)


class Survey(NamedTuple):
    """Pieces of a file, type of the target (None without target), and its name if it was looked for."""

    pieces: tuple[Piece, ...]
    target: str | None
    target_column: str | None = None


class GraphBlock(NamedTuple):
    """Block of graphs of a part.

    Attributes
    ----------
    graphs : GraphDatabase
    target : list or None
        One value per graph; None for missing values.
    ids : ndarray of int64
        Numbers of the graphs in the plan.
    names : list or None
        Names of the graphs in their file; None if it has none.
    """

    graphs: GraphDatabase
    target: list[Any] | None
    ids: NDArray[np.int64]
    names: list[Any] | None = None
