"""Plan: parts of files of graphs; and what format readers return."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.typing import Record
from propkernels.datasets.tables import Reading
from propkernels.graphs.database import GraphDatabase


class Piece(NamedTuple):
    """Rows ``first`` to ``last - 1`` of a file, with their nodes and byte range (text files only)."""

    first: int
    last: int
    n_nodes: int
    span: tuple[int, int] = (0, 0)


class Survey(NamedTuple):
    """Pieces of a file, type of the target (None without target), and its name if it was looked for."""

    pieces: list[Piece]
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


@dataclass(frozen=True)
class Part:
    """Rows of one file that are read, computed and written together.

    Attributes
    ----------
    path : str
        File, or folder of a TU data set.
    kind : {"parquet", "table", "tu"}
        "table": of molecules, also in SDF and SMI files.
    first, last : int
        Rows ``first`` to ``last - 1`` of the file, counted from 0.
    first_id : int
        Id of row ``first``: graphs are numbered consecutively over all files of the plan.
    n_nodes : int
        Number of nodes; an estimate for molecules.
    span : pair of int
        First and last byte offset of these rows in a text file.
    target : {None, "bool", "int64", "double", "string", "list<double>"}
        Type of the target in the whole plan.
    reading : Reading
        Options of the reader.
    sha256 : str
        SHA-256 of the file.
    stamp : pair of int
        Size and time of the last change of the file, to notice changes.
    """

    path: str
    kind: str
    first: int
    last: int
    first_id: int
    n_nodes: int
    span: tuple[int, int]
    target: str | None
    reading: Reading
    sha256: str
    stamp: tuple[int, int] = field(compare=False)

    def __len__(self) -> int:
        return self.last - self.first

    def __str__(self) -> str:
        return f"{self.path}, rows {self.first:,} to {self.last - 1:,}"

    def digest(self, work: Record) -> str:
        """Return the SHA-256 of what determines a result: the work, and all fields but the place."""
        fields = asdict(self)
        del fields["path"], fields["stamp"]
        text = json.dumps([work, fields], sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, repr=False)
class Plan:
    """Database of graphs in files, cut into parts by :func:`~propkernels.scale.partition`.

    Two plans are equal if they have the same rows of the same files with the same contents.

    Attributes
    ----------
    parts : tuple of Part
        In the order of the files and of their rows.

    See Also
    --------
    propkernels.scale.partition : Make a plan.
    featurize : Compute the features of all parts.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data.graphs.to_parquet(f"{folder}/graphs.parquet")
    ...     plan = pk.scale.partition(folder)
    >>> plan.n_graphs, [len(part) for part in plan]
    (100, [100])
    """

    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    @property
    def n_graphs(self) -> int:
        """Total number of graphs (rows)."""
        return sum(map(len, self.parts))

    @property
    def n_nodes(self) -> int:
        """Total number of nodes; an estimate for molecules."""
        return sum(part.n_nodes for part in self.parts)

    def __repr__(self) -> str:
        n_files = len({part.path for part in self.parts})
        files = "1 file" if n_files == 1 else f"{n_files:,} files"
        parts = "1 part" if len(self) == 1 else f"{len(self):,} parts"
        return f"Plan({files}, {parts}, {self.n_graphs:,} graphs, {self.n_nodes:,} nodes)"
