"""Parts of Parquet files: runs of whole row groups, or ranges of rows of a large row group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_sizes
from propkernels.convert.parquet import iter_rows, open_parquet, reading_parquet
from propkernels.datasets.reading import Reading
from propkernels.scale.plan import GraphBlock, Part, Piece, Survey

BLOCK_NODES = 250_000  # nodes per block: decoded and featurized together


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a file into pieces; decodes only the column of sizes."""
    file = open_parquet(path)
    names = file.schema_arrow.names
    target = _target_type(file.schema_arrow.field("y").type, path) if "y" in names else None
    return Survey(list(_pieces(file, nodes_per_part, path)), target)


def _target_type(kind: Any, path: Path) -> str:
    import pyarrow.types as types

    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return "list<double>"
    if types.is_boolean(kind):
        return "bool"
    if types.is_integer(kind):
        return "int64"
    if types.is_floating(kind):
        return "double"
    if types.is_string(kind) or types.is_large_string(kind):
        return "string"
    raise ValueError(f"the target y of {path} must hold numbers, strings or lists of numbers, not {kind}")


def _pieces(file: Any, nodes_per_part: int, path: Path) -> Iterator[Piece]:
    start = row = nodes = 0
    for group in range(file.num_row_groups):
        sizes = _sizes(file, group, path)
        here = int(sizes.sum())
        if row > start and nodes + here > nodes_per_part:
            yield Piece(start, row, nodes)
            start, nodes = row, 0
        if here > nodes_per_part:
            yield from _cut(sizes, nodes_per_part, row)
            start = row + len(sizes)
        else:
            nodes += here
        row += len(sizes)
    if row > start:
        yield Piece(start, row, nodes)


def _sizes(file: Any, group: int, path: Path) -> NDArray[np.int64]:
    with reading_parquet(path):
        sizes = file.read_row_group(group, columns=["n_nodes"]).column(0).to_numpy(zero_copy_only=False)
    if sizes.dtype.kind not in "iu" and sizes.size:
        raise ValueError("the column 'n_nodes' must hold non-negative integers without missing values")
    return check_sizes(sizes, "the column 'n_nodes'")


def _cut(sizes: NDArray[np.int64], limit: int, row: int) -> Iterator[Piece]:
    """Yield runs of rows of a group with at most ``limit`` nodes, or of a single larger row."""
    ends = np.cumsum(sizes)
    first, before = 0, 0
    while first < len(sizes):
        last = max(first + 1, int(np.searchsorted(ends, before + limit, side="right")))
        yield Piece(row + first, row + last, int(ends[last - 1]) - before)
        first, before = last, int(ends[last - 1])


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the graphs of a part in blocks."""
    rows = max(1, BLOCK_NODES * len(part) // max(part.n_nodes, 1))
    for graphs, target, row in iter_rows(part.path, part.first, part.last, rows):
        ids = np.arange(len(graphs), dtype=np.int64) + (part.first_id + row - part.first)
        names = None if graphs.ids is None else graphs.ids.tolist()
        yield GraphBlock(graphs, None if target is None else target.to_pylist(), ids, names)
