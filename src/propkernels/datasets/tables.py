"""Readers of CSV, TSV, SMI and SDF files and of Parquet tables, whole or in parts.

Both ways use the same functions for records, cells, properties and names, so that they agree.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from propkernels._utils.arrays import available_memory
from propkernels._utils.checks import reason_of
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import open_regular
from propkernels.convert.parquet import check_values, open_any_parquet, reading_parquet

SMILES_NAMES = ("smiles", "canonical_smiles", "mol", "structure")
TARGET_NAMES = ("target", "label", "class", "activity", "y", "active")
LONGEST_RECORD = 2**20
LONGEST_MOLECULE = 2**26  # bytes of a record of an SDF file
SDF_END, PARQUET = b"$$$$", ".parquet"
BYTES_OF_A_CELL = 100  # of a table in memory
ROWS_AT_ONCE = 10_000
BOM = b"\xef\xbb\xbf"


def read_table(path: Path) -> dict[str, list[str]]:
    """Return the cells of a table as strings, by column name, without blank lines.

    Of columns with the same name, only the first is returned.
    """
    if path.suffix.lower() == PARQUET:
        return read_parquet_table(path)
    records = iter_records(path)
    _, header = next(records, (0, b""))
    separator = separator_of(path)
    names = split_record(header.removeprefix(BOM), separator, path)
    rows = [cells for _, record in records if (cells := row_of(record, separator, len(names), path))]
    if not rows:
        raise ValueError(f"{path} has no rows")
    columns = list(zip(*rows, strict=True))
    return {name: list(columns[names.index(name)]) for name in dict.fromkeys(names)}


def read_parquet_table(path: Path) -> dict[str, list[str]]:
    """Return the cells of a Parquet table as strings, by column name."""
    names = parquet_names(path)
    metadata = open_any_parquet(path).metadata
    check_values(metadata, range(metadata.num_row_groups), path)
    n_rows, room = metadata.num_rows, available_memory()
    if room is not None and BYTES_OF_A_CELL * n_rows * len(names) > room:
        raise ValueError(f"{path} has {n_rows:,} rows of {len(names)} columns, too many for the memory")
    table: dict[str, list[str]] = {name: [] for name in names}
    for _, columns in iter_parquet_cells(path, names, 0, n_rows, ROWS_AT_ONCE):
        for name, cells in zip(names, columns, strict=True):
            table[name] += cells
    if not n_rows or not names:
        raise ValueError(f"{path} has no rows")
    return table


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet table that hold texts, numbers or truth values."""
    types = import_optional("pyarrow.types", extra="parquet", purpose="Parquet files need")
    kinds = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    schema = open_any_parquet(path).schema_arrow
    plain = [field.name for field in schema if any(kind(_value_type(types, field.type)) for kind in kinds)]
    return list(dict.fromkeys(plain))


def _value_type(types: Any, kind: Any) -> Any:
    return kind.value_type if types.is_dictionary(kind) else kind


def iter_parquet_cells(
    path: Path, names: Sequence[str], first: int, last: int, n_rows: int
) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield the first row of a block, and the cells of its columns, for rows first to last - 1."""
    file, row = open_any_parquet(path, names), 0
    batches = file.iter_batches(batch_size=n_rows, columns=list(names), use_threads=False)
    while row < last:
        with reading_parquet(path):
            batch = next(batches, None)
        if batch is None:
            return
        start, end = max(row, first), min(row + batch.num_rows, last)
        if start < end:
            part = batch.slice(start - row, end - start)
            yield start, [_cells_of(part.column(name)) for name in names]
        row += batch.num_rows


def _cells_of(column: Any) -> list[str]:
    """Return the values of an Arrow array as strings; missing ones are empty."""
    if not hasattr(column, "dictionary"):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    texts = [str(value) for value in column.dictionary.to_pylist()]
    return ["" if number is None else texts[number] for number in column.indices.to_pylist()]


def iter_sdf_records(path: Path, first: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the byte position and content of each record of an SDF file, with its last line ``$$$$``."""
    with open_regular(path) as stream:
        stream.seek(first)
        place, size, pending = first, 0, list[bytes]()
        while line := stream.readline(LONGEST_RECORD):
            pending.append(line)
            size += len(line)
            if size > LONGEST_MOLECULE:
                raise ValueError(f"{path} has a record of over {LONGEST_MOLECULE:,} bytes at byte {place:,}")
            if line.startswith(SDF_END):
                yield place, _checked_text(b"".join(pending), path)
                place, size, pending = place + size, 0, []
        if b"".join(pending).strip():
            yield place, _checked_text(b"".join(pending), path)


def _checked_text(record: bytes, path: Path) -> bytes:
    """Return a record; raise ValueError unless it is UTF-8: other letters would all be read as one."""
    try:
        record.decode("utf-8")
    except UnicodeDecodeError as error:
        title = record.partition(b"\n")[0].decode("ascii", errors="replace").strip()
        raise ValueError(f"{path} cannot be read: in the record {title!r}, {reason_of(error)}") from None
    return record


def sdf_properties(record: bytes) -> dict[str, str]:
    r"""Return the properties of a record: the lines after ``> <name>``, up to a blank line.

    Examples
    --------
    >>> sdf_properties(b"\n\n\n...\nM  END\n> 7 <pKi> (A)\n6.5\n\n>  <note>\ntwo\nlines\n\n$$$$\n")
    {'pKi': '6.5', 'note': 'two\nlines'}
    """
    _, _, data = record.partition(b"\nM  END")
    lines = iter(data.decode("utf-8").replace("\r\n", "\n").split("\n"))
    end = SDF_END.decode()
    found: dict[str, str] = {}
    for line in lines:
        name = line.partition("<")[2].rpartition(">")[0] if line.startswith(">") else ""
        if name:
            found[name] = "\n".join(takewhile(lambda one: one.strip() and not one.startswith(end), lines))
    return found


def sdf_molecule(record: bytes) -> Any:
    """Return the RDKit molecule of a record; None if it cannot be read."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    with base.BlockLogs():
        try:
            return chem.MolFromMolBlock(record.decode("utf-8"))
        except Exception:  # of RDKit
            return None


def usual_target(names: Iterable[str]) -> str | None:
    """Return the property with the most usual name of a target, or None.

    Examples
    --------
    >>> usual_target(["Label", "pKi", "Target"]), usual_target(["pKi"])
    ('Target', None)
    """
    usual = {name.casefold(): name for name in sorted(names, reverse=True)}
    return next((usual[name] for name in TARGET_NAMES if name in usual), None)


def check_property(name: str, names: Iterable[str], path: Path) -> None:
    """Raise ValueError if no molecule of an SDF file has a property."""
    known = sorted(names)
    if name not in known:
        raise ValueError(f"no molecule of {path} has the property {name!r}; there are {listed_names(known)}")


def row_names(names: Sequence[str | None], rows: Sequence[int]) -> list[str]:
    """Return a name per row; one without a name is called by its number.

    Examples
    --------
    >>> row_names(["aspirin", "", None], [0, 1, 4])
    ['aspirin', '1', '4']
    """
    return [name or str(row) for name, row in zip(names, rows, strict=True)]


def separator_of(path: Path) -> str:
    """Return the separator of a file: tab for TSV files, comma for others."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


def iter_records(path: Path, first: int = 0, quoted: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield the byte position and content of each record; line breaks inside quotes do not end it.

    Parameters
    ----------
    path : Path
    first : int, default=0
        Position of the first byte to read.
    quoted : bool, default=True
        Whether to interpret quotes.
    """
    with open_regular(path) as stream:
        stream.seek(first)
        place, size, pending, open_quote = first, 0, list[bytes](), False
        while line := stream.readline(LONGEST_RECORD):
            pending.append(line)
            size += len(line)
            open_quote ^= quoted and line.count(b'"') % 2 == 1
            if size >= LONGEST_RECORD:
                raise ValueError(f"{path} has a line of over {LONGEST_RECORD:,} bytes at byte {place:,}")
            if not open_quote:
                yield place, b"".join(pending)
                place, size, pending = place + size, 0, []
        if pending:
            raise ValueError(f"{path} has a quote that is never closed, in the line at byte {place:,}")


def split_record(record: bytes, separator: str, path: Path) -> list[str]:
    """Return the cells of a line."""
    try:
        text = record.decode("utf-8").rstrip("\r\n")
        if '"' not in text and "\r" not in text:
            return text.split(separator)
        return next(iter(csv.reader([text], delimiter=separator, strict=True)), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table: {reason_of(error)}") from None


def row_of(record: bytes, separator: str, n_columns: int, path: Path) -> list[str] | None:
    """Return the cells of a line, validated as one per column, or None for a blank line."""
    if not record.strip():
        return None
    cells = split_record(record, separator, path)
    if len(cells) != n_columns:
        raise ValueError(f"{path} has a line with {len(cells)} cells instead of {n_columns}: {record[:60]!r}")
    return cells


def smiles_of(record: bytes, path: Path) -> list[str]:
    """Return the SMILES and optional name of a line of an SMI file; empty for a blank line."""
    try:
        return record.removeprefix(BOM).decode("utf-8").split(None, 1)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read as text: {reason_of(error)}") from None


def find_column(names: Sequence[str], wanted: str | None, usual: tuple[str, ...], path: Path) -> str | None:
    """Return the requested column name, or the first usual name that occurs, or None."""
    if wanted is not None:
        if wanted not in names:
            raise ValueError(f"{path} has no column {wanted!r}; its columns are {listed_names(names)}")
        return wanted
    by_name = {name.casefold(): name for name in reversed(names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def listed_names(names: Sequence[str], most: int = 20) -> str:
    """Return the first names of columns and the number of columns, for messages."""
    shown = ", ".join(map(repr, names[:most]))
    return f"[{shown}]" if len(names) <= most else f"[{shown}, ...] ({len(names):,} in all)"
