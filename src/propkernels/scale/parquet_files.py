"""Parts of Parquet files: runs of whole row groups, or ranges of rows of a large row group."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_sizes
from propkernels.convert.parquet import iter_rows, open_any_parquet, open_parquet, reading_parquet
from propkernels.scale.pieces import GraphBlock, Piece, Survey
from propkernels.scale.plan import Part, Reading

BLOCK_NODES = 250_000  # nodes per block: decoded and featurized together
CHUNK = 2**20


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a file into pieces; decodes only the column of sizes, and hashes all bytes."""
    file = open_parquet(path)
    target = _target_type(file.schema_arrow.field("y").type, path) if "y" in file.schema_arrow.names else None
    with open(path, "rb") as stream:
        return Survey(tuple(_pieces(file, stream, nodes_per_part, path)), target)


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


def _pieces(file: Any, stream: Any, nodes_per_part: int, path: Path) -> Iterator[Piece]:
    foot = _footer_digest(stream)
    start = row = nodes = 0
    digests: list[bytes] = []
    for group in range(file.num_row_groups):
        sizes = _sizes(file, group, path)
        digest, here = _group_digest(file, group, stream), int(sizes.sum())
        if digests and nodes + here > nodes_per_part:
            yield Piece(start, row, nodes, _joined(foot, digests))
            start, nodes, digests = row, 0, []
        if here > nodes_per_part:
            for first, last, count in _cut(sizes, nodes_per_part):
                yield Piece(row + first, row + last, count, _joined(foot, [digest]))
            start = row + len(sizes)
        elif len(sizes):
            digests, nodes = [*digests, digest], nodes + here
        row += len(sizes)
    if digests:
        yield Piece(start, row, nodes, _joined(foot, digests))


def _sizes(file: Any, group: int, path: Path) -> NDArray[np.int64]:
    with reading_parquet(path):
        sizes = file.read_row_group(group, columns=["n_nodes"]).column(0).to_numpy(zero_copy_only=False)
    if sizes.dtype.kind not in "iu" and sizes.size:
        raise ValueError("the column 'n_nodes' must hold non-negative integers without missing values")
    return check_sizes(sizes, "the column 'n_nodes'")


def _cut(sizes: NDArray[np.int64], limit: int) -> Iterator[tuple[int, int, int]]:
    """Yield (first, last, nodes) of runs of rows with at most ``limit`` nodes, or of a single larger row."""
    ends = np.cumsum(sizes)
    first, before = 0, 0
    while first < len(sizes):
        last = max(first + 1, int(np.searchsorted(ends, before + limit, side="right")))
        yield first, last, int(ends[last - 1]) - before
        first, before = last, int(ends[last - 1])


def _joined(foot: bytes, groups: list[bytes]) -> str:
    return hashlib.sha256(foot + b"".join(groups)).hexdigest()


def _footer_digest(stream: Any) -> bytes:
    """Return the SHA-256 of the footer: schema, metadata and offsets of columns."""
    size = os.fstat(stream.fileno()).st_size
    stream.seek(max(size - 8, 0))
    length = int.from_bytes(stream.read(4), "little")
    return _digest(stream, max(size - 8 - length, 0), size)


def _group_digest(file: Any, group: int, stream: Any) -> bytes:
    """Return the SHA-256 of the bytes of a row group."""
    row_group = file.metadata.row_group(group)
    columns = [row_group.column(i) for i in range(row_group.num_columns)]
    starts = [min(filter(None, (c.dictionary_page_offset, c.data_page_offset)), default=0) for c in columns]
    ends = [start + column.total_compressed_size for start, column in zip(starts, columns, strict=True)]
    return _digest(stream, min(starts, default=0), max(ends, default=0))


def _digest(stream: Any, first: int, last: int) -> bytes:
    stream.seek(first)
    digest = hashlib.sha256()
    for at in range(first, last, CHUNK):
        digest.update(stream.read(min(CHUNK, last - at)))
    return digest.digest()


def digest(part: Part) -> str:
    """Return the SHA-256 of the current bytes of a part."""
    open_parquet(part.path)
    return rows_digest(Path(part.path), part.first, part.last)


def rows_digest(path: Path, first: int, last: int) -> str:
    """Return the SHA-256 of the footer and of the row groups that hold rows first to last - 1."""
    file = open_any_parquet(path)
    row, digests = 0, []
    with open(path, "rb") as stream:
        for group in range(file.num_row_groups):
            end = row + file.metadata.row_group(group).num_rows
            if row < last and end > first:
                digests.append(_group_digest(file, group, stream))
            row = end
        return _joined(_footer_digest(stream), digests)


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the graphs of a part in blocks."""
    rows = max(1, BLOCK_NODES * len(part) // max(part.n_nodes, 1))
    for graphs, target, row in iter_rows(part.path, part.first, part.last, rows):
        ids = np.arange(len(graphs), dtype=np.int64) + (part.first_id + row - part.first)
        names = None if graphs.ids is None else graphs.ids.tolist()
        yield GraphBlock(graphs, None if target is None else target.to_pylist(), ids, names)
