"""Parts of text files of molecules: CSV and TSV tables with a column of SMILES, and SMI files."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.cells import CellKinds, parse_cell
from propkernels.datasets.tables import (
    BOM,
    SMILES_NAMES,
    TARGET_NAMES,
    find_column,
    iter_records,
    listed_names,
    row_of,
    separator_of,
    smiles_of,
    split_record,
)
from propkernels.scale.pieces import GraphBlock, Piece, Survey
from propkernels.scale.plan import Part, Reading

ATOMS = re.compile(r"Cl|Br|Si|Se|[BCNOFPSI]|[bcnops]|\[")  # estimates the number of atoms
BLOCK_ROWS = 10_000


class Row(NamedTuple):
    """Cells of a line: SMILES, target, and the name in an SMI file."""

    smiles: str
    target: str | None
    name: str | None = None


class Layout(NamedTuple):
    """Columns of SMILES and target in a line; separator None splits at blanks (SMI files)."""

    separator: str | None
    smiles: int
    target: int | None
    header: bytes
    n_columns: int = 1
    target_name: str | None = None


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a file into pieces, reading it line by line."""
    layout = _layout(path, reading)
    pieces: list[Piece] = []
    kinds = CellKinds()
    start, first, row, nodes, digest = len(layout.header), 0, 0, 0, hashlib.sha256(layout.header)
    end = start
    for place, record in iter_records(path, len(layout.header), layout.separator is not None):
        cells = _cells(record, layout, path)
        if cells is None:  # a blank line belongs to the piece before it
            digest.update(record)
            end = place + len(record)
            continue
        atoms = len(ATOMS.findall(cells.smiles))
        if row > first and nodes + atoms > nodes_per_part:
            pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
            start, first, nodes, digest = place, row, 0, hashlib.sha256(layout.header)
        digest.update(record)
        if cells.target is not None:
            kinds.add(cells.target)
        row, nodes, end = row + 1, nodes + atoms, place + len(record)
    if row == 0:
        raise ValueError(f"{path} has no molecules")
    pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
    kind = None if layout.target is None else kinds.common(f"column {layout.target_name!r} of {path}")
    return Survey(tuple(pieces), kind)


def _layout(path: Path, reading: Reading) -> Layout:
    """Return the columns of a file, from its header."""
    if path.suffix.lower() in (".smi", ".smiles"):
        with open(path, "rb") as stream:
            return Layout(None, 0, None, BOM if stream.read(3) == BOM else b"")
    _, header = next(iter_records(path), (0, b""))
    separator = separator_of(path)
    names = split_record(header.removeprefix(BOM), separator, path)
    smiles = find_column(names, reading.smiles_column, SMILES_NAMES, path)
    if smiles is None:
        columns = listed_names(names)
        raise ValueError(
            f"{path} has no column of SMILES: name it by --smiles (smiles_column=); its columns are {columns}"
        )
    target = find_column(names, reading.target_column, TARGET_NAMES, path)
    place = None if target is None else names.index(target)
    return Layout(separator, names.index(smiles), place, header, len(names), target)


def _cells(record: bytes, layout: Layout, path: Path) -> Row | None:
    """Return the cells of a record, or None if it is blank."""
    if layout.separator is None:
        words = smiles_of(record, path)
        return Row(words[0], None, words[1].strip() if len(words) > 1 else None) if words else None
    cells = row_of(record, layout.separator, layout.n_columns, path)
    if cells is None:
        return None
    return Row(cells[layout.smiles], None if layout.target is None else cells[layout.target])


def digest(part: Part) -> str:
    """Return the SHA-256 of the current bytes of a part."""
    return hashlib.sha256(b"".join(_bytes(part))).hexdigest()


def _bytes(part: Part) -> tuple[bytes, bytes]:
    """Return the header and the lines of a part."""
    layout = _layout(Path(part.path), part.reading)
    with open(part.path, "rb") as stream:
        stream.seek(part.span[0])
        return layout.header, stream.read(part.span[1] - part.span[0])


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the molecules of a part as blocks of graphs."""
    path = Path(part.path)
    layout = _layout(path, part.reading)
    rows: list[Row] = []
    number = part.first_id
    for place, record in iter_records(path, part.span[0], layout.separator is not None):
        if place >= part.span[1]:
            break
        cells = _cells(record, layout, path)
        if cells is not None:
            rows.append(cells)
        if len(rows) == BLOCK_ROWS:
            yield _block(rows, number, part)
            number, rows = number + len(rows), []
    if rows:
        yield _block(rows, number, part)


def _block(rows: list[Row], number: int, part: Part) -> GraphBlock:
    from propkernels.convert.rdkit import from_smiles

    ids = np.arange(number, number + len(rows), dtype=np.int64)
    row_numbers = (ids - part.first_id + part.first).tolist()  # errors name the rows of the file
    smiles = [row.smiles.strip() or None for row in rows]
    how = part.reading.of_molecules()
    graphs = from_smiles(smiles, **how.of_molecules, ids=row_numbers, errors=how.errors)
    is_kept = [how.errors == "empty" or row not in graphs.skipped for row in row_numbers]
    kept = np.flatnonzero(is_kept).tolist()
    target = None if part.target is None else [_value(rows[i].target, part.target) for i in kept]
    names = [rows[i].name or row_numbers[i] for i in kept] if any(row.name for row in rows) else None
    return GraphBlock(graphs, target, ids[kept], names)


def _value(cell: str | None, kind: str) -> Any:
    value = None if cell is None else parse_cell(cell, kind)
    return None if isinstance(value, float) and math.isnan(value) else value
