"""Reader and writer of Parquet files: one row per graph, with list columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_declared, check_sizes, object_array
from propkernels._utils.cells import is_missing, typed_column
from propkernels._utils.checks import reason_of, shown
from propkernels._utils.optional import import_optional
from propkernels._utils.parallel import thread_count
from propkernels._utils.safe_files import atomic_write, open_regular
from propkernels._utils.typing import PathLike, Target
from propkernels.convert.build import Faults, FlatGraphs, build
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.graphs.names import Names

KEY, VERSION = b"propkernels", 1
# Memory that a file may take: so much anyway, and so many times its size; a value takes about 32 bytes.
FREE_BYTES, MOST_EXPANSION, BYTES_OF_A_VALUE = 2**27, 1000, 32
REQUIRED = ("n_nodes", "source", "target")
BARE = ("nodes without labels (give them labels)", "graphs and edges")


def to_parquet(
    graphs: Graphs, path: PathLike, *, target: Target | None = None, row_group_size: int = 10_000
) -> None:
    """Write graphs to a Parquet file.

    The columns are ``id``, ``n_nodes``, ``source`` and ``target`` (lists of node numbers from 0; both
    directions of an undirected edge), ``weight``, ``node_label``, ``edge_label`` (lists), ``node_attributes``
    and ``edge_attributes`` (lists of lists), and ``y``, the target; columns without data are left out.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
        Labels are whole numbers or strings; other labels are stored as JSON and read back unchanged.
    path : str or path
        An existing file is replaced once the new file is complete.
    target : sequence, optional
        One number or string per graph, or one row of numbers.
    row_group_size : int, default=10,000
        Number of graphs per row group.

    Raises
    ------
    TypeError
        If labels or ids have unsupported types.

    See Also
    --------
    propkernels.GraphDatabase.from_parquet : Read the file.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> graphs = pk.datasets.make_molecules(10, random_state=0).graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graphs.to_parquet(f"{folder}/graphs.parquet")
    ...     again = pk.GraphDatabase.from_parquet(f"{folder}/graphs.parquet")
    >>> again == graphs
    True
    """
    from propkernels.convert.check import check_graphs

    pa = import_optional("pyarrow", extra="parquet", purpose="Parquet files need")
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="Parquet files need")
    database = check_graphs(graphs)
    columns, notes = _columns(pa, database)
    if target is not None:
        columns["y"] = _target(pa, target, len(database))
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(notes)})
    with atomic_write(Path(os.fspath(path))) as stream:
        pq.write_table(table, stream, row_group_size=row_group_size)


def _columns(pa: Any, database: GraphDatabase) -> tuple[dict[str, Any], dict[str, Any]]:
    notes: dict[str, Any] = {"version": VERSION, "labels": {}}
    nodes = database.graph_ptr
    entries = database.adjacency.indptr[nodes].astype(np.int64)
    if database.label_column is None and database.node_attributes is None:
        check_declared(database.n_nodes, len(database) + int(entries[-1]), *BARE)
    adjacency = database.adjacency.tocoo()
    owner = np.repeat(nodes[:-1], np.diff(entries))
    columns: dict[str, Any] = {} if database.ids is None else {"id": _ids(pa, database.ids.tolist())}
    columns["n_nodes"] = pa.array(np.diff(nodes))
    for name, axis in zip(("source", "target"), adjacency.coords, strict=True):
        columns[name] = _lists(pa, entries, pa.array((axis - owner).astype(np.int32)))
    if not database.is_unweighted:
        columns["weight"] = _lists(pa, entries, pa.array(adjacency.data))
    for name, column, ptr in (
        ("node_label", database.label_column, nodes),
        ("edge_label", database.edge_label_column, entries),
        ("vertex", None if database.moments is None else database.moments.vertices, nodes),
    ):
        if isinstance(column, LabelColumn):
            values, notes["labels"][name] = _label_values(pa, column)
            columns[name] = _lists(pa, ptr, values)
        elif column is not None:
            raise TypeError(
                "label distributions cannot be written to Parquet: use save, or one label per node"
            )
    for name, rows, ptr in (
        ("node_attributes", database.node_attributes, nodes),
        ("edge_attributes", database.edge_attributes, entries),
    ):
        if rows is not None:
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), max(rows.shape[1], 1))
            columns[name] = _lists(pa, ptr, vectors)
    if database.moments is not None:
        columns["time"] = _lists(pa, nodes, pa.array(database.moments.times))
    if database.descriptors is not None:
        rows = database.descriptors.values
        columns["descriptors"] = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
        notes["descriptor_names"] = database.descriptors.names
    notes["edge_attribute_names"] = database.edge_attribute_names
    notes["names"] = database.names.to_pairs()
    return columns, notes


def _ids(pa: Any, ids: list[Any]) -> Any:
    try:
        return pa.array(ids)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        kinds = "all texts, or all whole numbers of 64 bits"
        raise TypeError(
            f"the ids, such as {shown(ids[0])}, cannot be written to Parquet: use {kinds}"
        ) from None


def _lists(pa: Any, ptr: NDArray[Any], values: Any) -> Any:
    return pa.LargeListArray.from_arrays(pa.array(np.asarray(ptr, dtype=np.int64)), values)


def _label_values(pa: Any, column: LabelColumn) -> tuple[Any, str]:
    """Return labels as an Arrow array (null: unobserved) and the name of their encoding."""
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in column.values):
        kind, values = "integers", pa.array(column.values, type=pa.int64())
    elif all(type(value) is str for value in column.values):
        kind, values = "texts", pa.array(column.values, type=pa.string())
    else:
        kind, values = "json", pa.array([_as_json(value) for value in column.values], type=pa.string())
    ids = pa.array(column.ids, mask=column.ids < 0)
    return values.take(ids), kind


def _as_json(value: Any) -> str:
    """Return a label as JSON, with tuples as lists (labels are never lists)."""
    try:
        text = json.dumps(value)
    except TypeError:
        text = "null"
    if _from_json(text) != value:
        kinds = "numbers, texts or tuples of them"
        raise TypeError(f"the label {value!r} cannot be written to Parquet: use {kinds}")
    return text


def _from_json(text: str) -> Any:
    def tuples(value: Any) -> Any:
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    return tuples(json.loads(text))


def _target(pa: Any, target: Any, n_graphs: int) -> Any:
    values = np.asarray(target)
    if len(values) != n_graphs:
        raise ValueError(f"target has {len(values)} values for {n_graphs} graphs")
    if values.ndim == 1:
        values = typed_column(values)
        return pa.array(values, mask=is_missing(values) if values.dtype == object else None)
    return pa.array(values.tolist())


def read_parquet(path: Any, *, rows: slice | None = None) -> tuple[GraphDatabase, Any]:
    """Return graphs, and the target or None."""
    file = open_parquet(path)
    first, last, step = (rows or slice(None)).indices(file.metadata.num_rows)
    if step != 1:
        raise ValueError("rows must be a slice without a step")
    groups, start = _groups_between(file, first, last)
    check_values(file.metadata, groups, path)
    table = file.schema_arrow.empty_table()
    if groups:
        with reading_parquet(path):  # with several threads, Arrow uses its own
            table = file.read_row_groups(groups, use_threads=thread_count() > 1)
    return _decode(table.slice(first - start, max(last - first, 0)), _notes(file, path), first)


def iter_rows(
    path: Any, first: int, last: int, rows_per_block: int
) -> Iterator[tuple[GraphDatabase, Any, int]]:
    """Yield the graphs of rows first to last - 1 in blocks, with one block in memory.

    Yields
    ------
    graphs : GraphDatabase
    target : pyarrow.Array or None
    row : int
        Row of the first graph.
    """
    pa = import_optional("pyarrow", extra="parquet", purpose="Parquet files need")
    file = open_parquet(path)
    notes, (groups, begin) = _notes(file, path), _groups_between(file, first, last)
    for group in groups:  # one is in memory at a time
        check_values(file.metadata, [group], path)
    for row, batch in iter_batches(file, path, begin, (first, last), rows_per_block, row_groups=groups):
        table = pa.Table.from_batches([batch])
        target = table.column("y").combine_chunks() if "y" in table.column_names else None
        graphs = _decode(table if target is None else table.drop_columns(["y"]), notes, row)[0]
        yield graphs, target, row


def iter_batches(
    file: Any, path: Any, row: int, rows: tuple[int, int], n_rows: int, **options: Any
) -> Iterator[tuple[int, Any]]:
    """Yield the first row of a batch and the batch, for some rows of a file that is read from ``row`` on."""
    batches = file.iter_batches(batch_size=n_rows, use_threads=False, **options)
    while row < rows[1]:
        with reading_parquet(path):
            batch = next(batches, None)
        if batch is None:
            return
        start, end = max(row, rows[0]), min(row + batch.num_rows, rows[1])
        if start < end:
            yield start, batch.slice(start - row, end - start)
        row += batch.num_rows


def open_parquet(path: Any) -> Any:
    """Return an open Parquet file of graphs; only its footer is read."""
    file = open_any_parquet(path)
    missing = [name for name in REQUIRED if name not in file.schema_arrow.names]
    if missing:
        raise ValueError(f"{path} has no column {missing[0]!r}; graphs have {', '.join(REQUIRED)}")
    return file


def has_graphs(path: Any) -> bool:
    """Return whether a Parquet file has the columns of graphs; others are tables."""
    return set(REQUIRED) <= set(open_any_parquet(path).schema_arrow.names)


def open_any_parquet(path: Any, texts: Sequence[str] = ()) -> Any:
    """Return an open Parquet file; repeated values of columns of texts are kept once in memory."""
    pa = import_optional("pyarrow", extra="parquet", purpose="Parquet files need")
    pq = import_optional("pyarrow.parquet", extra="parquet", purpose="Parquet files need")
    try:
        open_regular(path).close()  # no pipe: Arrow opens files by name
    except FileNotFoundError:
        raise FileNotFoundError(f"the file {path} does not exist") from None
    with reading_parquet(path):
        source = pa.OSFile(os.fsencode(path))  # text paths would have to be UTF-8
        return pq.ParquetFile(source, read_dictionary=list(texts))


@contextmanager
def reading_parquet(path: Any) -> Iterator[None]:
    """Convert errors of Arrow to a ValueError with a one-line message."""
    pa = import_optional("pyarrow", extra="parquet", purpose="Parquet files need")
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a Parquet file, or it is damaged ({reason_of(error)})") from None


def _notes(file: Any, path: Any) -> dict[str, Any]:
    text = (file.schema_arrow.metadata or {}).get(KEY)
    if text is None:
        return {}
    try:
        notes = dict(json.loads(text))
        is_newer = notes.get("version", 0) > VERSION
        if not is_newer:
            _check_notes(notes)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"the notes in {path} are damaged ({reason_of(error)})") from None
    if is_newer:
        raise ValueError(
            f"the file was written by a newer version of propkernels (format {notes['version']})"
        )
    return dict(notes)


def _check_notes(notes: dict[str, Any]) -> None:
    """Raise ValueError for invalid metadata."""
    labels, names = notes.get("labels", {}), notes.get("edge_attribute_names")
    if not isinstance(labels, dict) or not all(isinstance(kind, str) for kind in labels.values()):
        raise ValueError(f"labels are {shown(labels)}")
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ValueError(f"names of edge attributes are {shown(names)}")
    Names.from_pairs(notes.get("names"))


def check_values(metadata: Any, groups: Iterable[int], path: Any) -> None:
    """Raise ValueError if row groups would take memory out of proportion to the file.

    A run of equal values takes a few bytes, whatever its length. The numbers of values are in the footer.
    """
    chunks = [metadata.row_group(i) for i in groups]
    n_values = sum(some.column(j).num_values for some in chunks for j in range(some.num_columns))
    n_bytes = os.path.getsize(path)
    if n_values * BYTES_OF_A_VALUE > max(FREE_BYTES, MOST_EXPANSION * n_bytes):
        raise ValueError(
            f"{path} has {n_bytes:,} bytes, and declares {n_values:,} values: too many to be read at once; "
            "write it in smaller row groups, and read some rows at a time"
        )


def _groups_between(file: Any, first: int, last: int) -> tuple[list[int], int]:
    """Return the row groups of rows first to last - 1, and the first row of these groups."""
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    ends = np.cumsum([0, *sizes])
    groups = [i for i in range(len(sizes)) if ends[i] < last and ends[i + 1] > first]
    return groups, int(ends[groups[0]]) if groups else 0


def _decode(table: Any, notes: dict[str, Any], first: int) -> tuple[GraphDatabase, Any]:
    columns = {name: table.column(name).combine_chunks() for name in table.column_names}
    ids = columns["id"].to_pylist() if "id" in columns else None
    faults = Faults("raise", table.num_rows, ids, first)
    counts, source = _flat_list(columns["source"], "source", None, faults)
    sizes = check_sizes(_whole(columns["n_nodes"], "n_nodes"), "the column 'n_nodes'")
    if not {"node_label", "node_attributes"} & columns.keys():
        check_declared(int(sizes.sum()), len(sizes) + len(source), *BARE)
    lengths = {"edges": counts, "nodes": sizes}
    flat = FlatGraphs(
        sizes,
        counts,
        _whole(source, "source").astype(np.int64),
        _whole(_flat_list(columns["target"], "target", counts, faults)[1], "target").astype(np.int64),
        True,
        _optional(columns, "weight", counts, faults, _floats),
        _labels(columns, "node_label", lengths["nodes"], notes, faults),
        _optional(columns, "node_attributes", sizes, faults, _vectors),
        _labels(columns, "edge_label", lengths["edges"], notes, faults),
        _optional(columns, "edge_attributes", counts, faults, _vectors),
        notes.get("edge_attribute_names"),
    )
    target = None
    if "y" in columns:  # null becomes NaN among numbers and None among texts
        values, is_rows = columns["y"], hasattr(columns["y"].type, "value_type")
        target = _vectors(values, "y") if is_rows else typed_column(values.to_pylist())
    database = build(flat, faults)
    if "vertex" in columns and "time" in columns:
        vertices = _labels(columns, "vertex", sizes, notes, faults)
        database = database.with_moments(vertices, _optional(columns, "time", sizes, faults, _floats))
    if "descriptors" in columns:
        rows = _vectors(columns["descriptors"], "descriptors")
        database = database.with_descriptors(rows, notes.get("descriptor_names"))
    database.names = Names.from_pairs(notes.get("names"))
    return database, target


def _whole(values: Any, name: str) -> NDArray[Any]:
    array: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    if array.dtype.kind not in "iu" and array.size:
        raise ValueError(f"the column {name!r} must hold whole numbers without gaps")
    return array if array.dtype.kind in "iu" else np.empty(0, dtype=np.int64)


def _flat_list(
    column: Any, name: str, expected: NDArray[np.int64] | None, faults: Faults
) -> tuple[NDArray[np.int64], Any]:
    """Return the lengths of the lists of a column and their concatenated values."""
    compute = import_optional("pyarrow.compute", extra="parquet", purpose="Parquet files need")
    if not hasattr(column, "flatten") or not hasattr(column.type, "value_type"):
        raise ValueError(f"the column {name!r} must hold lists")
    if column.null_count:
        at = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        faults.add(at, f"{name} is missing")
    lengths = compute.list_value_length(column).to_numpy(zero_copy_only=False).astype(np.int64)
    if expected is not None:
        for at in np.flatnonzero(lengths != expected).tolist():
            faults.add(at, f"{name} has {lengths[at]} values instead of {expected[at]}")
    return lengths, column.flatten()


def _optional(columns: Any, name: str, expected: NDArray[np.int64], faults: Faults, read: Any) -> Any:
    return None if name not in columns else read(_flat_list(columns[name], name, expected, faults)[1], name)


def _floats(values: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the column {name!r} must hold numbers") from None


def _vectors(values: Any, name: str) -> NDArray[np.float64]:
    """Return rows from lists of numbers of equal length; plain numbers become one column."""
    if not hasattr(values.type, "value_type"):
        return _floats(values, name)[:, None]
    compute = import_optional("pyarrow.compute", extra="parquet", purpose="Parquet files need")
    lengths = compute.list_value_length(values).to_numpy(zero_copy_only=False)
    widths = np.unique(lengths) if len(lengths) else np.array([getattr(values.type, "list_size", 1)])
    if len(widths) != 1:
        raise ValueError(f"the vectors in the column {name!r} must all be of one length")
    return _floats(values.flatten(), name).reshape(len(values), int(widths[0]))


def _labels(
    columns: Any, name: str, expected: NDArray[np.int64], notes: dict[str, Any], faults: Faults
) -> LabelColumn | None:
    if name not in columns:
        return None
    values = _flat_list(columns[name], name, expected, faults)[1]
    encoded = values.dictionary_encode()
    known = encoded.dictionary.to_pylist()
    if notes.get("labels", {}).get(name) == "json":
        known = [_from_json(text) for text in known]
    ids = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int32)
    table = LabelColumn.from_values(object_array(known))
    return LabelColumn(np.append(table.ids, np.int32(-1))[ids], table.values)
