"""Parts of text files of molecules: CSV and TSV tables with a column of SMILES, and SMI files."""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from propkernels.scale.plan import Part, Reading
from propkernels.scale.sources.pieces import GraphBlock, Piece, Survey
from propkernels.utils.checks import reason_of

ATOMS = re.compile(
    r"Cl|Br|Si|Se|[BCNOFPSI]|[bcnops]|\["
)  # good enough to cut files into parts of similar size
LONGEST_RECORD = 2**20
BLOCK_ROWS = 10_000
BOM = b"\xef\xbb\xbf"


class Layout(NamedTuple):
    """Where SMILES and target are in a line: numbers of columns; no separator: blanks (SMI)."""

    separator: str | None
    smiles: int
    target: int | None
    header: bytes


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a file, line by line: it is never in memory as a whole."""
    known = _layout(path, reading)
    pieces: list[Piece] = []
    types = {"int64", "double"}
    start, first, row, nodes, digest = len(known.header), 0, 0, 0, hashlib.sha256(known.header)
    end = start
    for place, record in _records(path, len(known.header), known.separator is not None):
        cells = _cells(record, known, path)
        if cells is None:  # a blank line goes to the part before it
            digest.update(record)
            end = place + len(record)
            continue
        atoms = len(ATOMS.findall(cells[0]))
        if row > first and nodes + atoms > nodes_per_part:
            pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
            start, first, nodes, digest = place, row, 0, hashlib.sha256(known.header)
        digest.update(record)
        types &= _types(cells[1])
        row, nodes, end = row + 1, nodes + atoms, place + len(record)
    if row == 0:
        raise ValueError(f"{path} has no molecules")
    pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
    target = None if known.target is None else next((t for t in ("int64", "double") if t in types), "string")
    return Survey(tuple(pieces), target)


def _types(cell: str | None) -> set[str]:
    """What a cell of the target can be read as; where it is missing, numbers cannot be whole."""
    if cell is None:
        return {"int64", "double"}
    if not cell:
        return {"double"}
    kinds = set()
    for kind, parse in (("int64", int), ("double", float)):
        try:
            value = parse(cell)
        except ValueError:
            continue
        if kind == "double" or abs(value) < 2**63:
            kinds.add(kind)
    return kinds


def _layout(path: Path, reading: Reading) -> Layout:
    """Read the header."""
    from propkernels.datasets.sources import SMILES_NAMES, TARGET_NAMES

    if path.suffix.lower() in (".smi", ".smiles"):
        with open(path, "rb") as stream:
            return Layout(None, 0, None, BOM if stream.read(3) == BOM else b"")
    _, header = next(_records(path, 0, True), (0, b""))
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    names = _row(header.removeprefix(BOM), separator, path)
    smiles = _column(names, reading.smiles_column, SMILES_NAMES, path)
    if smiles is None:
        raise ValueError(f"{path} has no column of SMILES: name it by smiles_column; its columns are {names}")
    return Layout(separator, smiles, _column(names, reading.target_column, TARGET_NAMES, path), header)


def _column(names: list[str], wanted: str | None, usual: tuple[str, ...], path: Path) -> int | None:
    """Number of a column: the one asked for, or the first with a usual name."""
    if wanted is not None:
        if wanted not in names:
            raise ValueError(f"{path} has no column {wanted!r}; its columns are {names}")
        return names.index(wanted)
    known = [name.casefold() for name in names]
    return next((known.index(name) for name in usual if name in known), None)


def _records(path: Path, first: int, quoted: bool) -> Iterator[tuple[int, bytes]]:
    """Lines with their places; a line break inside quotes does not end a record."""
    with open(path, "rb") as stream:
        stream.seek(first)
        place, pending, open_quote = first, b"", False
        while line := stream.readline(LONGEST_RECORD):
            pending += line
            open_quote ^= quoted and line.count(b'"') % 2 == 1
            if len(pending) >= LONGEST_RECORD:
                raise ValueError(f"{path} has a line of over {LONGEST_RECORD:,} bytes at byte {place:,}")
            if not open_quote:
                yield place, pending
                place, pending = place + len(pending), b""
        if pending:
            raise ValueError(f"{path} has a quote that is never closed, in the line at byte {place:,}")


def _row(record: bytes, separator: str, path: Path) -> list[str]:
    try:
        rows = list(csv.reader([record.decode("utf-8")], delimiter=separator, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table: {reason_of(error)}") from None
    return rows[0] if rows else []


def _cells(record: bytes, known: Layout, path: Path) -> tuple[str, str | None] | None:
    """SMILES and target of a record, or None if it is blank."""
    if not record.strip():
        return None
    if known.separator is None:
        try:
            return record.decode("utf-8").split()[0], None
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} cannot be read as text: {reason_of(error)}") from None
    cells = _row(record, known.separator, path)
    needed = max(known.smiles, -1 if known.target is None else known.target)
    if len(cells) <= needed:
        raise ValueError(
            f"{path} has a line with {len(cells)} cells instead of {needed + 1}: {record[:60]!r}"
        )
    return cells[known.smiles], None if known.target is None else cells[known.target].strip()


def digest(part: Part) -> str:
    """Hash of the bytes of a part as they are now."""
    return hashlib.sha256(b"".join(_bytes(part))).hexdigest()


def _bytes(part: Part) -> tuple[bytes, bytes]:
    """Header, and the lines of a part."""
    known = _layout(Path(part.path), part.reading)
    with open(part.path, "rb") as stream:
        stream.seek(part.span[0])
        return known.header, stream.read(part.span[1] - part.span[0])


def read(part: Part) -> Iterator[GraphBlock]:
    """Molecules of a part as graphs, block by block."""
    path = Path(part.path)
    known = _layout(path, part.reading)
    rows: list[tuple[str, str | None]] = []
    number = part.first_id
    for place, record in _records(path, part.span[0], known.separator is not None):
        if place >= part.span[1]:
            break
        cells = _cells(record, known, path)
        if cells is not None:
            rows.append(cells)
        if len(rows) == BLOCK_ROWS:
            yield _block(rows, number, part)
            number, rows = number + len(rows), []
    if rows:
        yield _block(rows, number, part)


def _block(rows: list[tuple[str, str | None]], number: int, part: Part) -> GraphBlock:
    from propkernels.graphs.adapters.rdkit import from_smiles

    ids = np.arange(number, number + len(rows), dtype=np.int64)
    row_numbers = (ids - part.first_id + part.first).tolist()  # errors name the rows of the file
    smiles = [cells[0] for cells in rows]
    reading = part.reading
    graphs = from_smiles(smiles, node_labels=reading.node_labels, ids=row_numbers, errors=reading.errors)
    kept = [i for i, row in enumerate(row_numbers) if row not in graphs.skipped]
    target = None if part.target is None else [_value(rows[i][1], part.target) for i in kept]
    return GraphBlock(graphs, target, ids[kept])


def _value(cell: str | None, kind: str) -> Any:
    if not cell:
        return None
    if kind == "int64":
        return int(cell)
    if kind == "string":
        return cell
    value = float(cell)
    return None if math.isnan(value) else value
