"""Files of features, and open_features, which reads them part by part or as a whole.

A folder of features has one Parquet file per part, with one row per graph, and ``features.json``: the
parameters of the features, and the names of all parts, written before the first part.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from propkernels._utils.arrays import check_indices, offsets
from propkernels._utils.checks import check_integer, reason_of
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import atomic_write, open_regular, read_regular
from propkernels._utils.typing import Array, PathLike, Record
from propkernels.convert.parquet import check_values
from propkernels.scale.readers import GraphBlock

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


MANIFEST, FORMAT = "features.json", "propkernels features 1"
PART_NAME = re.compile(r"part-\d{5,}-[0-9a-f]{16}\.parquet")


class FeatureFolder:
    """Features in a folder, read from files on access.

    Picklable, so that workers can read parts themselves.

    Attributes
    ----------
    folder : Path
    parameters : dict
        Class, parameters and version of the estimator.
    part_sizes : list of int
        Number of graphs per part.

    See Also
    --------
    propkernels.scale.open_features : Open a folder.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet")
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> opened = pk.featurize(f"{folder.name}/graphs.parquet", features, f"{folder.name}/features")
    >>> opened.shape, opened.n_parts, opened.to_scipy().shape
    ((100, 1048576), 1, (100, 1048576))
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, parameters: Record, names: Sequence[str]) -> None:
        self.folder, self.parameters, self._names = folder, parameters, names
        self._n_columns = check_integer(parameters.get("n_features"), "n_features of the folder", 1, 2**32)
        self.part_sizes = []
        for name in names:
            with open_part(folder / name) as file:
                self.part_sizes.append(int(file.metadata.num_rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of graphs and columns."""
        return sum(self.part_sizes), self._n_columns

    @property
    def n_parts(self) -> int:
        """Number of parts (files)."""
        return len(self._names)

    def __len__(self) -> int:
        return self.shape[0]

    def path(self, part: int) -> Path:
        """Return the file of a part."""
        return self.folder / self._names[check_integer(part, "part", 0, self.n_parts - 1)]

    def block(self, part: int) -> FeatureBlock:
        """Read a part.

        Parameters
        ----------
        part : int

        Returns
        -------
        FeatureBlock
            Features (a csr_array), target and ids.
        """
        return read_block(self.path(part), self._n_columns)

    def __iter__(self) -> Iterator[FeatureBlock]:
        return (self.block(part) for part in range(self.n_parts))

    def to_scipy(self) -> csr_array:
        """Return all features as one array, which must fit into memory.

        Returns
        -------
        csr_array
        """
        blocks = [block.features for block in self]
        return csr_array(vstack(blocks, format="csr")) if blocks else csr_array(self.shape)

    @property
    def target(self) -> Array | None:
        """Targets of all graphs, or None; features are not read."""
        pa = import_optional("pyarrow", extra="parquet", purpose="Parquet files need")
        tables = [read_column(self.path(i), "target") for i in range(self.n_parts)]
        if all(table is None for table in tables):
            return None
        try:
            return read_target(pa.concat_tables(tables))
        except (pa.ArrowException, AttributeError, TypeError):  # another type, or no target at all
            raise ValueError(
                f"the parts of {self.folder} have targets of different types: remove them and run again"
            ) from None

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of all graphs in the plan; features are not read."""
        tables = [read_column(self.path(i), "graph_id") for i in range(self.n_parts)]
        return np.concatenate([table.column(0).to_numpy() for table in tables])

    @property
    def names(self) -> list[str | None] | None:
        """Names of all graphs, such as those of a column of a table; None if none has a name."""
        tables = [read_column(self.path(i), "name") for i in range(self.n_parts)]
        names = [one for t in tables for one in ([] if t is None else t.column(0).to_pylist())]
        return names if any(one is not None for one in names) else None

    def __repr__(self) -> str:
        parts = "1 part" if self.n_parts == 1 else f"{self.n_parts:,} parts"
        return f"FeatureFolder({self.shape[0]:,} graphs, {self.shape[1]:,} columns, {parts})"


def open_features(out: PathLike) -> FeatureFolder:
    """Open a folder written by :func:`featurize`; its files are read on access.

    Parameters
    ----------
    out : str or path

    Returns
    -------
    FeatureFolder
        Iterates over blocks, one per part, in the order of the plan.

    Raises
    ------
    ValueError, FileNotFoundError
        If parts are missing or damaged.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet", target=data.target)
    >>> features = pk.PropagationFeatures(n_features=2**20, random_state=0)
    >>> _ = pk.featurize(f"{folder.name}/graphs.parquet", features, f"{folder.name}/features")
    >>> opened = pk.scale.open_features(f"{folder.name}/features")
    >>> for block in opened:
    ...     print(block.features.shape, block.target[:4], block.ids[:4])
    (100, 1048576) [0 0 0 1] [0 1 2 3]
    >>> (opened.to_scipy() != features.fit_transform(data.graphs)).nnz
    0
    >>> folder.cleanup()
    """
    folder = Path(os.fspath(out))
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    parameters, names = read_manifest(folder)
    missing = sum(not (folder / name).exists() for name in names)
    if missing:
        raise ValueError(f"{missing} of {len(names)} parts of {folder} are missing: run featurize again")
    return FeatureFolder(folder, parameters, names)


def read_manifest(folder: Path) -> tuple[Record, list[str]]:
    """Return the parameters of the features of a folder, and the names of its parts."""
    path = folder / MANIFEST
    try:
        stored = json.loads(read_regular(path).decode("utf-8"))
        if stored["format"] != FORMAT:
            raise ValueError(f"its format is {stored['format']!r}")
        names = [str(name) for name in stored["parts"]]
        if not all(map(PART_NAME.fullmatch, names)):
            raise ValueError("it names other files than parts")
        return dict(stored["parameters"]), names
    except FileNotFoundError:
        raise FileNotFoundError(f"{folder} has no {MANIFEST}: featurize did not write into it") from None
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is damaged ({reason_of(error)}): remove it and run again, complete parts are kept"
        ) from None


def write_manifest(folder: Path, parameters: Record, names: Sequence[str]) -> None:
    """Write parameters and names of parts; raise ValueError if the folder has others."""
    text = json.dumps({"format": FORMAT, "parameters": parameters, "parts": list(names)}, indent=1)
    if os.path.lexists(folder / MANIFEST):
        before, old = read_manifest(folder)
        if (before, old) != (json.loads(text)["parameters"], list(names)):
            why = _difference(before, parameters)
            raise ValueError(f"{folder} holds other features ({why}): choose another folder")
        return
    with atomic_write(folder / MANIFEST, text=True, follow_links=False) as stream:
        stream.write(text + "\n")


def _difference(before: Record, now: Record) -> str:
    """Return a clause that names the first parameter with different values."""
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old != new and isinstance(old, dict) and isinstance(new, dict):
            return _difference(old, new)
        if old != new:
            return f"{name} is {old!r}, not {new!r}"
    return "of other graphs"
