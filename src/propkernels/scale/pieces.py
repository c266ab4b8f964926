"""What readers of formats give: pieces of a file that is surveyed, blocks of graphs of one that is read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase


class Piece(NamedTuple):
    """A range of rows of a file: number of nodes, hash and, in text files, place of its bytes."""

    first: int
    last: int
    n_nodes: int
    sha256: str
    span: tuple[int, int] = (0, 0)


class Survey(NamedTuple):
    """The pieces of a file, and the type of the target (or None)."""

    pieces: tuple[Piece, ...]
    target: str | None


class GraphBlock(NamedTuple):
    """Some graphs of a part.

    Attributes
    ----------
    graphs : GraphDatabase
    target : list or None
        One value per graph; None where one is missing.
    ids : ndarray of int64
        Numbers of the graphs in the plan.
    """

    graphs: GraphDatabase
    target: list[Any] | None
    ids: NDArray[np.int64]
