"""Parts of TU data sets: ranges of graphs of a zip or folder, which is read once per process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from propkernels.scale.pieces import GraphBlock, Piece, Survey
from propkernels.scale.plan import Part, Reading

BLOCK_NODES = 250_000


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a data set into pieces."""
    content = content_digest(path)
    return survey_of(_data(str(path), content), content, nodes_per_part)


def survey_of(data: Any, content: str, nodes_per_part: int) -> Survey:
    """Cut a data set in memory, whose files have a digest, into pieces."""
    from propkernels._utils.parallel import whole_runs

    ptr = data.graphs.graph_ptr
    cuts = whole_runs(ptr, nodes_per_part).tolist()
    pieces = [Piece(first, last, int(ptr[last] - ptr[first]), content) for first, last in pairwise(cuts)]
    return Survey(tuple(pieces), _target_type(data.target))


def _target_type(target: Any) -> str | None:
    if target.ndim == 2:
        return "list<double>" if target.shape[1] else None
    return {"i": "int64", "u": "int64", "f": "double", "b": "bool"}.get(target.dtype.kind, "string")


def content_digest(path: Path) -> str:
    """Return the SHA-256 of the text files of a data set; equal for a folder and its zip."""
    from propkernels.datasets.tu_files import read_files

    digest = hashlib.sha256()
    for kind, text in sorted(read_files(path)[1].items()):
        digest.update(f"{kind} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def digest(part: Part) -> str:
    """Return the SHA-256 of the current files of a part."""
    return content_digest(Path(part.path))


@lru_cache(maxsize=1)
def _data(path: str, content: str) -> Any:
    """Return a data set; cached, because its parts are read one after another."""
    from propkernels.datasets.tu_reader import read_tu

    return read_tu(path, target_required=False)


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the graphs of a part in blocks."""
    return blocks_of(_data(part.path, part.sha256), part)


def blocks_of(data: Any, part: Part) -> Iterator[GraphBlock]:
    """Yield the graphs of a part of a data set in memory, in blocks."""
    graphs, target = data.graphs[part.first : part.last], data.target[part.first : part.last]
    rows = max(1, BLOCK_NODES * len(part) // max(part.n_nodes, 1))
    for first in range(0, len(part), rows):
        block = graphs[first : first + rows]
        ids = np.arange(len(block), dtype=np.int64) + (part.first_id + first)
        values = None if part.target is None else target[first : first + rows].tolist()
        yield GraphBlock(block, values, ids)
