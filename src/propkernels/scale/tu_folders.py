"""Parts of TU data sets: ranges of graphs of a zip or folder, which is read once per process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from propkernels._utils.parallel import whole_runs
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.reading import Reading
from propkernels.graphs.database import GraphDatabase
from propkernels.scale.plan import GraphBlock, Part, Piece, Survey

BLOCK_NODES = 250_000


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a data set into pieces."""
    from propkernels.datasets.tu_reader import read_tu

    data = read_tu(path, target_required=False)
    ptr = data.graphs.graph_ptr
    cuts = whole_runs(ptr, nodes_per_part).tolist()
    pieces = [Piece(first, last, int(ptr[last] - ptr[first])) for first, last in pairwise(cuts)]
    kinds = {"i": "int64", "u": "int64", "f": "double", "b": "bool"}
    if data.target.ndim == 2:
        return Survey(pieces, "list<double>" if data.target.shape[1] else None)
    return Survey(pieces, kinds.get(data.target.dtype.kind, "string"))


@lru_cache(maxsize=1)
def _data(path: str, content: str) -> Dataset:
    """Return a data set; cached, because its parts are read one after another."""
    from propkernels.datasets.tu_reader import read_tu

    return read_tu(path, target_required=False)


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the graphs of a part in blocks."""
    data = _data(part.path, part.sha256)
    graphs, target = data.graphs[part.first : part.last], data.target[part.first : part.last]
    rows = max(1, BLOCK_NODES * len(part) // max(part.n_nodes, 1))
    for first in range(0, len(part), rows):
        block = graphs[first : first + rows]
        assert isinstance(block, GraphDatabase)
        ids = np.arange(len(block), dtype=np.int64) + (part.first_id + first)
        values = None if part.target is None else target[first : first + rows].tolist()
        yield GraphBlock(block, values, ids)
