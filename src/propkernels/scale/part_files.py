"""Files of features: CSR arrays as Parquet, one row per graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import check_indices, offsets
from propkernels._utils.checks import reason_of
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import open_regular
from propkernels._utils.typing import Array, Record
from propkernels.convert.parquet import check_values
from propkernels.scale.plan import GraphBlock

PARQUET: dict[str, Any] = {"extra": "parquet", "purpose": "Parquet files need"}


class FeatureBlock(NamedTuple):
    """Features of a part.

    Attributes
    ----------
    features : csr_array
        One row per graph.
    target : ndarray or None
        One value (or row) per graph.
    ids : ndarray of int64
        Numbers of the graphs in the plan.
    """

    features: csr_array
    target: Array | None
    ids: NDArray[np.int64]


def schema_of(target: str | None, is_whole: bool, notes: Record) -> Any:
    """Return the Arrow schema of a file of features, with notes (the parameters) as metadata."""
    pa = import_optional("pyarrow", **PARQUET)
    columns = [
        pa.field("graph_id", pa.int64(), nullable=False),
        pa.field("indices", pa.list_(pa.uint32())),
        pa.field("counts", pa.list_(pa.uint32() if is_whole else pa.float64())),
        pa.field("name", pa.string()),
    ]
    if target is not None:
        kinds = {"bool": pa.bool_(), "int64": pa.int64(), "double": pa.float64(), "string": pa.string()}
        columns.append(pa.field("target", kinds.get(target, pa.list_(pa.float64()))))
    text = json.dumps(notes, sort_keys=True, separators=(",", ":"))
    return pa.schema(columns, metadata={b"propkernels": text})


def write_blocks(stream: IO[bytes], schema: Any, blocks: Iterable[tuple[csr_array, GraphBlock]]) -> None:
    """Write features and the blocks of graphs that they are of, one row group each.

    Indices are sorted in each row, so that delta encoding is short; pages have checksums.
    """
    pq = import_optional("pyarrow.parquet", **PARQUET)
    with pq.ParquetWriter(
        stream,
        schema,
        compression="zstd",
        use_dictionary=["counts.list.element", "target", "target.list.element"],
        column_encoding={"graph_id": "DELTA_BINARY_PACKED", "indices.list.element": "DELTA_BINARY_PACKED"},
        write_page_checksum=True,
    ) as writer:
        for features, block in blocks:
            writer.write_table(_table(schema, features, block), row_group_size=len(block.ids))


def _table(schema: Any, features: csr_array, block: GraphBlock) -> Any:
    pa = import_optional("pyarrow", **PARQUET)
    if features.nnz >= 2**31:
        raise ValueError(
            f"{features.nnz:,} entries are too many for one block: graphs of this size do not fit"
        )
    ends = pa.array(features.indptr.astype(np.int32, copy=False))
    kind = schema.field("counts").type.value_type.to_pandas_dtype()
    target, names = block.target, block.names
    columns = [
        pa.array(block.ids),
        pa.ListArray.from_arrays(ends, pa.array(features.indices.astype(np.uint32, copy=False))),
        pa.ListArray.from_arrays(ends, pa.array(features.data.astype(kind, copy=False))),
        pa.array([None] * len(block.ids) if names is None else list(map(str, names)), type=pa.string()),
    ]
    if "target" in schema.names:
        wanted = schema.field("target").type
        if target is not None and wanted == pa.string():  # numbers in a plan with texts
            target = [value if value is None or isinstance(value, str) else str(value) for value in target]
        columns.append(pa.nulls(len(block.ids), wanted) if target is None else pa.array(target, type=wanted))
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def open_part(path: Path, check: bool = False) -> Iterator[Any]:
    """Open a file of features; raise ValueError if it is damaged.

    ``check`` verifies page checksums. The file is opened here, because Arrow takes only names in UTF-8.
    """
    pa = import_optional("pyarrow", **PARQUET)
    pq = import_optional("pyarrow.parquet", **PARQUET)
    try:
        with open_regular(path) as stream:
            file = pq.ParquetFile(stream, page_checksum_verification=check)
            if not _holds_features(file.schema_arrow):
                raise ValueError(f"{path} does not hold features: remove it and run again")
            check_values(file.metadata, range(file.num_row_groups), path)
            yield file
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing: run again to compute it") from None
    except (pa.ArrowException, OSError) as error:
        raise ValueError(
            f"{path} is not a Parquet file, or it is damaged ({reason_of(error)}): remove it and run again"
        ) from None


def _holds_features(schema: Any) -> bool:
    """Whether the columns of a file have the names and types of :func:`schema_of`."""
    names = ("graph_id", "indices", "counts")
    if not set(names) <= set(schema.names):
        return False
    graph_id, indices, counts = (schema.field(name).type for name in names)
    lists = all(str(kind).startswith("list<") for kind in (indices, counts))
    is_indexed = lists and (str(graph_id), str(indices.value_type)) == ("int64", "uint32")
    return is_indexed and str(counts.value_type) in ("uint32", "double")


def read_block(path: Path, n_features: int) -> FeatureBlock:
    """Read a file of features as one block, with all values checked."""
    with open_part(path, check=True) as file:
        table = file.read(use_threads=False).combine_chunks()
    try:
        return _block(table, n_features)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({reason_of(error)}): remove it and run again") from None


def _block(table: Any, n_features: int) -> FeatureBlock:
    if any(table.column(name).null_count for name in ("graph_id", "indices", "counts")):
        raise ValueError("a graph has no features")
    ends, indices = _flat(table.column("indices"))
    other_ends, counts = _flat(table.column("counts"))
    if not np.array_equal(ends, other_ends):
        raise ValueError("indices and counts differ in number")
    if not np.isfinite(counts).all():
        raise ValueError("counts must be finite")
    index = np.int32 if len(indices) < 2**31 else np.int64
    columns = check_indices(indices, n_features, "indices").astype(index)
    arrays = (counts.astype(np.float64), columns, ends.astype(index))
    features = csr_array(arrays, shape=(table.num_rows, n_features))
    ids = check_indices(table.column("graph_id").to_numpy(), 2**62, "graph_id")
    return FeatureBlock(features, read_target(table), ids)


def read_column(path: Path, name: str) -> Any:
    """Return a column of a file of features as an Arrow table, or None if it is missing."""
    with open_part(path) as file:
        return file.read(columns=[name], use_threads=False) if name in file.schema_arrow.names else None


def read_target(table: Any) -> Array | None:
    """Return targets as an array: NaN (None for strings) if missing, one row per graph for lists."""
    if "target" not in table.column_names:
        return None
    column = table.column("target")
    if hasattr(column.type, "value_type"):
        return np.array(column.to_pylist(), dtype=np.float64)
    values: Array = column.to_numpy()
    return values if values.dtype != object or column.null_count else np.array(values.tolist(), dtype=str)


def _flat(column: Any) -> tuple[NDArray[np.int64], Array]:
    """Return offsets and values of a column of lists."""
    chunks = column.chunks
    lengths = [np.diff(chunk.offsets.to_numpy()) for chunk in chunks]
    values = [chunk.flatten().to_numpy() for chunk in chunks]
    kind = column.type.value_type.to_pandas_dtype()
    return offsets(np.concatenate([np.empty(0, np.int64), *lengths])), np.concatenate(
        [np.empty(0, kind), *values]
    )
