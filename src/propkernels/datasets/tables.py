"""Readers of CSV, TSV and SMI files, whole or in parts."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from propkernels._utils.checks import reason_of

SMILES_NAMES = ("smiles", "canonical_smiles", "mol", "structure")
TARGET_NAMES = ("target", "label", "class", "activity", "y", "active")
LONGEST_RECORD = 2**20
BOM = b"\xef\xbb\xbf"


def read_table(path: Path) -> dict[str, list[str]]:
    """Return the cells of a table as strings, by column name, without blank lines.

    Of columns with the same name, only the first is returned.
    """
    records = iter_records(path)
    _, header = next(records, (0, b""))
    separator = separator_of(path)
    names = split_record(header.removeprefix(BOM), separator, path)
    rows = [cells for _, record in records if (cells := row_of(record, separator, len(names), path))]
    if not rows:
        raise ValueError(f"{path} has no rows")
    columns = list(zip(*rows, strict=True))
    return {name: list(columns[names.index(name)]) for name in dict.fromkeys(names)}


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
    with open(path, "rb") as stream:
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
