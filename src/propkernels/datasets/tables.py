"""Tables in text files: one reader of CSV and TSV, for whole files and for parts of files."""

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
    """Return the cells of a table as texts, by the names of their columns; blank lines are left out.

    Of columns with the same name, the first one counts.
    """
    records = iter_records(path)
    _, header = next(records, (0, b""))
    separator = separator_of(path)
    names = split_record(header.removeprefix(BOM), separator, path)
    rows = [cells for _, record in records if (cells := row_of(record, separator, len(names), path))]
    if not rows:
        raise ValueError(f"{path} has no rows")
    columns = zip(names, zip(*rows, strict=True), strict=True)
    return {name: list(cells) for name, cells in reversed(list(columns))}


def separator_of(path: Path) -> str:
    """Return what separates the cells of a file: tabs in TSV files, commas in all others."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


def iter_records(path: Path, first: int = 0, quoted: bool = True) -> Iterator[tuple[int, bytes]]:
    """Read lines with their places in the file; a line break inside quotes does not end a record.

    Parameters
    ----------
    path : Path
    first : int, default=0
        The byte to begin at.
    quoted : bool, default=True
        Whether quotes mean anything.
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
    """Return the cells of a line that has one per column, or None if it is blank."""
    if not record.strip():
        return None
    cells = split_record(record, separator, path)
    if len(cells) != n_columns:
        raise ValueError(f"{path} has a line with {len(cells)} cells instead of {n_columns}: {record[:60]!r}")
    return cells


def smiles_of(record: bytes, path: Path) -> list[str]:
    """Return the SMILES of a line of an SMI file, and its name where it has one; nothing of a blank line."""
    try:
        return record.removeprefix(BOM).decode("utf-8").split(None, 1)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read as text: {reason_of(error)}") from None


def find_column(names: Sequence[str], wanted: str | None, usual: tuple[str, ...], path: Path) -> str | None:
    """Return the name of a column: the one asked for, or the first with a usual name."""
    if wanted is not None:
        if wanted not in names:
            raise ValueError(f"{path} has no column {wanted!r}; its columns are {listed_names(names)}")
        return wanted
    by_name = {name.casefold(): name for name in reversed(names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def listed_names(names: Sequence[str], most: int = 20) -> str:
    """Return names of columns for a sentence: the first twenty, and how many there are."""
    shown = ", ".join(map(repr, names[:most]))
    return f"[{shown}]" if len(names) <= most else f"[{shown}, ...] ({len(names):,} in all)"
