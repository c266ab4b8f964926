"""Parts of tables of molecules: CSV, TSV and Parquet files with a column of SMILES, and SMI files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from propkernels._utils.cells import CellKinds, parse_cell
from propkernels._utils.safe_files import open_regular
from propkernels.convert.parquet import open_any_parquet
from propkernels.datasets.reading import Reading
from propkernels.datasets.tables import (
    BOM,
    SMILES_NAMES,
    TARGET_NAMES,
    find_column,
    iter_parquet_cells,
    iter_records,
    listed_names,
    parquet_names,
    row_names,
    row_of,
    separator_of,
    smiles_of,
    split_record,
)
from propkernels.scale.plan import GraphBlock, Part, Piece, Survey

ATOMS = re.compile(r"Cl|Br|Si|Se|[BCNOFPSI]|[bcnops]|\[")  # estimates the number of atoms
BLOCK_ROWS = 10_000


class Row(NamedTuple):
    """Cells of one molecule: its SMILES, and its target and id, if there are columns for them."""

    smiles: str
    target: str | None = None
    name: str | None = None


class Layout(NamedTuple):
    """Columns of SMILES, target and id in a line; separator None splits at blanks (SMI files)."""

    separator: str | None
    smiles: int
    target: int | None
    header: bytes
    n_columns: int = 1
    name: int | None = None


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a table into pieces, reading it row by row."""
    kinds = CellKinds()

    def sizes() -> Iterator[tuple[int, int, int]]:
        for row, start, end in _rows(path, reading):
            if row.target is not None:
                kinds.add(row.target)
            yield count_atoms(row.smiles), start, end

    pieces = cut(sizes(), nodes_per_part, path)
    target = None if path.suffix.lower() in (".smi", ".smiles") else _columns(path, reading)[1]
    return Survey(pieces, None if target is None else kinds.common(f"column {target!r} of {path}"))


def cut(rows: Iterable[tuple[int, int, int]], nodes_per_part: int, path: Path) -> list[Piece]:
    """Cut rows, given by their nodes and the bytes where they start and end, into pieces."""
    pieces: list[Piece] = []
    first = number = nodes = start = end = 0
    for size, place, stop in rows:
        if number > first and nodes + size > nodes_per_part:
            pieces.append(Piece(first, number, nodes, (start, end)))
            first, nodes = number, 0
        start = place if number == first else start
        number, nodes, end = number + 1, nodes + size, stop
    if not number:
        raise ValueError(f"{path} has no molecules")
    return [*pieces, Piece(first, number, nodes, (start, end))]


def count_atoms(smiles: str) -> int:
    """Return an estimate of the number of atoms.

    Examples
    --------
    >>> count_atoms("CC(=O)Oc1ccccc1C(=O)O"), count_atoms("ClCCBr")
    (13, 4)
    """
    return len(ATOMS.findall(smiles))


def _columns(path: Path, reading: Reading) -> tuple[str, str | None, str | None]:
    """Return the names of the columns of SMILES, target and id; raise ValueError without SMILES."""
    names = parquet_names(path) if path.suffix.lower() == ".parquet" else _header(path)[0]
    smiles = find_column(names, reading.smiles_column, SMILES_NAMES, path)
    if smiles is None:
        raise ValueError(
            f"{path} has no column of SMILES: name it by --smiles (smiles_column=); its columns are "
            f"{listed_names(names)}"
        )
    target = find_column(names, next(iter(reading.target_columns), None), TARGET_NAMES, path)
    return smiles, target, find_column(names, reading.id_column, (), path)


def _header(path: Path) -> tuple[list[str], bytes]:
    """Return the names of the columns of a CSV or TSV file, and the bytes that hold them."""
    _, header = next(iter_records(path), (0, b""))
    return split_record(header.removeprefix(BOM), separator_of(path), path), header


def _layout(path: Path, reading: Reading) -> Layout:
    """Return the columns of a text file, from its header."""
    if path.suffix.lower() in (".smi", ".smiles"):
        with open_regular(path) as stream:
            return Layout(None, 0, None, BOM if stream.read(3) == BOM else b"")
    names, header = _header(path)
    chosen = _columns(path, reading)
    target, name = (None if one is None else names.index(one) for one in chosen[1:])
    return Layout(separator_of(path), names.index(chosen[0]), target, header, len(names), name)


def _rows(path: Path, reading: Reading, part: Part | None = None) -> Iterator[tuple[Row, int, int]]:
    """Yield the molecules of a file, or of a part of it, with the bytes where they start and end."""
    if path.suffix.lower() == ".parquet":
        yield from ((row, 0, 0) for row in _parquet_rows(path, reading, part))
        return
    layout = _layout(path, reading)
    start = len(layout.header) if part is None else part.span[0]
    for place, record in iter_records(path, start, layout.separator is not None):
        if part is not None and place >= part.span[1]:
            break
        row = _row(record, layout, path)
        if row is not None:
            yield row, place, place + len(record)


def _row(record: bytes, layout: Layout, path: Path) -> Row | None:
    """Return the molecule of a line, or None if it is blank."""
    if layout.separator is None:
        words = smiles_of(record, path)
        return Row(words[0], None, words[1].strip() if len(words) > 1 else None) if words else None
    cells = row_of(record, layout.separator, layout.n_columns, path)
    if cells is None:
        return None
    target, name = (None if at is None else cells[at] for at in (layout.target, layout.name))
    return Row(cells[layout.smiles], target, name)


def _parquet_rows(path: Path, reading: Reading, part: Part | None) -> Iterator[Row]:
    """Yield the molecules of a Parquet table, or of a part of it."""
    chosen = _columns(path, reading)
    wanted = [column for column in dict.fromkeys(chosen) if column is not None]
    n_rows = open_any_parquet(path).metadata.num_rows
    first, last = (0, n_rows) if part is None else (part.first, part.last)
    for _, columns in iter_parquet_cells(path, wanted, first, last, BLOCK_ROWS):
        cells = dict(zip(wanted, columns, strict=True))
        none = [None] * len(columns[0])
        for row in zip(*(none if name is None else cells[name] for name in chosen), strict=True):
            yield Row(*row)


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the molecules of a part as blocks of graphs."""
    rows: list[Row] = []
    number = part.first_id
    for row, _, _ in _rows(Path(part.path), part.reading, part):
        rows.append(row)
        if len(rows) == BLOCK_ROWS:
            yield block_of(rows, number, part)
            number, rows = number + len(rows), []
    if rows:
        yield block_of(rows, number, part)


def block_of(rows: Sequence[Row], number: int, part: Part, mols: Sequence[Any] | None = None) -> GraphBlock:
    """Return the graphs of rows, of which the first has a number; ``mols`` take the place of SMILES."""
    from propkernels.convert.rdkit import from_rdkit, from_smiles

    ids = np.arange(number, number + len(rows), dtype=np.int64)
    row_numbers = (ids - part.first_id + part.first).tolist()  # errors name the rows of the file
    errors = part.reading.errors
    options: dict[str, Any] = {**part.reading.of_molecules, "ids": row_numbers, "errors": errors}
    if mols is None:
        graphs = from_smiles([row.smiles.strip() or None for row in rows], **options)
    else:
        graphs = from_rdkit(mols, **options)
    kept = [i for i, row in enumerate(row_numbers) if errors == "empty" or row not in graphs.skipped]
    target = None if part.target is None else [_value(rows[i].target, part.target) for i in kept]
    has_names = any(row.name for row in rows)
    names = row_names([rows[i].name for i in kept], [row_numbers[i] for i in kept]) if has_names else None
    return GraphBlock(graphs, target, ids[kept], names)


def _value(cell: str | None, kind: str) -> object:
    value = None if cell is None else parse_cell(cell, kind)
    return None if isinstance(value, float) and math.isnan(value) else value
