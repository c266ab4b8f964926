"""Forged files: another value at one place of a whole file, and checksums that are right again.

Bytes that are flipped at random seldom pass a checksum. A forger changes the header or an array of a model,
a column of a Parquet file, or a number in a manifest, and seals the file anew.
"""

import io
import json
from zipfile import ZipFile

import numpy as np

from tests.fuzz.cases import pick
from tests.fuzz.values import as_kept, near_power, right_sizes, wild_array, wild_sizes

TEXTS = ("", "a", "nan", "None", "\0", "\ud800".encode("utf-8", "replace").decode(), "x" * 200, "1", "<b>")


def damaged(data, rng):
    """The same bytes with some flipped, cut off, doubled, or put elsewhere."""
    text = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(text) + 1))
        style = int(rng.integers(5))
        if style == 0 and at < len(text):
            text[at] ^= 1 << int(rng.integers(8))
        elif style == 1:
            del text[at : at + int(rng.integers(1, 40))]
        elif style == 2:
            text[at:at] = text[at : at + int(rng.integers(1, 40))]
        elif style == 3:
            text[at:at] = bytes(rng.integers(0, 256, size=int(rng.integers(1, 6)), dtype=np.uint8))
        else:
            del text[at:]
    return bytes(text)


def changed_tree(tree, rng):
    """Another value at a random place of nested lists and dictionaries."""
    if isinstance(tree, dict) and tree and rng.random() < 0.95:
        key = pick(rng, sorted(tree))
        return {**tree, key: changed_tree(tree[key], rng)}
    if isinstance(tree, list) and tree and rng.random() < 0.95:
        at = int(rng.integers(len(tree)))
        if rng.random() < 0.1:
            return pick(rng, (tree[:at], tree + tree[at:], tree[::-1]))
        return [*tree[:at], changed_tree(tree[at], rng), *tree[at + 1 :]]
    if isinstance(tree, (int, float)) and not isinstance(tree, bool) and rng.random() < 0.6:
        return near_power(rng)
    values = (None, 0, 1, -1, 2**40, 0.5, "", "tv", [], {}, True, -1e300, {"array": 0}, {"same": 0}, [[0]])
    return pick(rng, values)


def changed_archive(data, rng):
    """A model file with another header or another array, and checksums that are right."""
    with ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = pick(rng, sorted(members))
    if name.endswith(".json"):
        header = changed_tree(json.loads(members[name]), rng)
        members[name] = json.dumps(header).encode()
    else:
        members[name] = changed_npy(members[name], rng)
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for key, content in members.items():
            archive.writestr(key, content)
    return stream.getvalue()


def changed_npy(data, rng):
    """An array with other numbers or another shape; sometimes its header alone lies."""
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, MemoryError):  # its header lies already
        return damaged(data, rng)
    if rng.random() < 0.1:
        shape = pick(rng, ((2**32, 2**32), (2**63 - 1,), (-1,), (2**61, 8), (0, 2**40), (near_power(rng),)))
        text = data.replace(repr(array.shape).encode(), repr(shape).encode(), 1)
        return text if len(text) == len(data) else _with_header(array, shape)
    stream = io.BytesIO()
    np.save(stream, _changed_array(array, rng), allow_pickle=False)
    return stream.getvalue()


def _with_header(array, shape):
    """The bytes of an array under a header that tells another shape."""
    stream = io.BytesIO()
    header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + array.tobytes()


def _changed_array(array, rng):
    style = int(rng.integers(7))
    if style <= 2 or array.ndim == 0:
        return wild_array(rng, array)
    if style == 3 and array.ndim:
        return array[: int(rng.integers(len(array) + 1))]
    if style == 4:
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(pick(rng, ("f4", "f8", "i4", "i8", "u1", "u8", "?")))
    if style == 5 and array.size and array.dtype.kind == "f":
        array = array.copy()
        with np.errstate(over="ignore", under="ignore"):  # in arrays of fewer bits
            array.flat[int(rng.integers(array.size))] = pick(rng, (np.nan, np.inf, -1e308, 5e-324, -0.0))
        return array
    return pick(rng, (array[None], array.ravel()[::-1].reshape(array.shape), array[..., :0]))


def table_bytes(table, **options):
    """A table of Arrow as the bytes of a Parquet file."""
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def read_table(data):
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(data))


def changed_table(table, rng):
    """A table with other numbers, lists of other lengths, another type or a gap in one or two columns."""
    for _ in range(int(rng.integers(1, 3))):
        if table.num_columns == 0:
            return table
        at = int(rng.integers(table.num_columns))
        column = table.column(at).combine_chunks()
        found = _changed_column(column, rng)
        table = table.set_column(at, table.column_names[at], found)
    if rng.random() < 0.1:
        table = table.drop_columns([pick(rng, table.column_names)])
    if rng.random() < 0.15 and table.schema.metadata:
        notes = {key: json.loads(text) for key, text in table.schema.metadata.items() if text[:1] == b"{"}
        if notes:
            key = pick(rng, sorted(notes))
            forged = {**table.schema.metadata, key: json.dumps(changed_tree(notes[key], rng)).encode()}
            table = table.replace_schema_metadata(forged)
    return table


def _changed_column(column, rng):
    """Another column of as many rows."""
    import pyarrow as pa

    n = len(column)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return _changed_lists(column, rng)
    style = int(rng.integers(6))
    if pa.types.is_integer(column.type):
        total = sum(value or 0 for value in column.to_pylist())
        sizes = (wild_sizes(rng, n, total) + right_sizes(rng, n, total))[:n]
        if style <= 2:
            return pa.array([as_kept(size, np.dtype("i8")) for size in sizes], type=pa.int64())
        if style == 3:
            return pa.array([as_kept(near_power(rng), np.dtype("u8")) for _ in range(n)], type=pa.uint64())
    if style == 4:
        return pa.array([pick(rng, (None, 1, 2**62, -1)) for _ in range(n)], type=pa.int64())
    return pa.array([pick(rng, (None, *TEXTS)) for _ in range(n)]) if style else pa.nulls(n)


def _changed_lists(column, rng):
    import pyarrow as pa

    rows = column.to_pylist()
    flat = [(i, j) for i, row in enumerate(rows) if row for j in range(len(row))]
    style = int(rng.integers(6))
    if style <= 2 and flat:
        i, j = pick(rng, flat)
        value = rows[i][j]
        if isinstance(value, list):
            rows[i][j] = pick(rng, (value * 2, [], None, [1e308, float("nan")][: len(value)]))
        elif isinstance(value, str):
            rows[i][j] = pick(rng, (None, *TEXTS, "[1, ", '{"a": 1}', "1e999"))
        elif isinstance(value, float):
            rows[i][j] = pick(rng, (None, float("nan"), float("inf"), -1.0, 1e308, 5e-324))
        else:
            rows[i][j] = as_kept(near_power(rng), np.dtype("i8"))
    elif style == 3 and rows:
        at = int(rng.integers(len(rows)))
        rows[at] = pick(rng, (None, [], (rows[at] or []) * 2, (rows[at] or [])[:-1]))
    elif style == 4:
        return pa.array([pick(rng, (0, 1, -1)) for _ in rows])
    for kind in (column.type, pa.large_list(pa.int64())):
        try:
            return pa.array(rows, type=kind)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            continue
    return column
