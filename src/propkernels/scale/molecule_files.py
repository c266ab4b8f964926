"""Parts of text files of molecules: CSV and TSV tables with a column of SMILES, and SMI files."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
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
    row_names,
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
    target_name: str | None = None
    name: int | None = None


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
        atoms = count_atoms(cells.smiles)
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


def count_atoms(smiles: str) -> int:
    """Return an estimate of the number of atoms.

    Examples
    --------
    >>> count_atoms("CC(=O)Oc1ccccc1C(=O)O"), count_atoms("ClCCBr")
    (13, 4)
    """
    return len(ATOMS.findall(smiles))


def _layout(path: Path, reading: Reading) -> Layout:
    """Return the columns of a file, from its header."""
    if path.suffix.lower() in (".smi", ".smiles"):
        with open(path, "rb") as stream:
            return Layout(None, 0, None, BOM if stream.read(3) == BOM else b"")
    _, header = next(iter_records(path), (0, b""))
    separator = separator_of(path)
    names = split_record(header.removeprefix(BOM), separator, path)
    found = columns_of(names, reading, path)
    smiles, target, name = (None if one is None else names.index(one) for one in found)
    assert smiles is not None
    return Layout(separator, smiles, target, header, len(names), found[1], name)


def columns_of(names: Sequence[str], reading: Reading, path: Path) -> tuple[str, str | None, str | None]:
    """Return the names of the columns of SMILES, target and id; raise ValueError without SMILES."""
    smiles = find_column(names, reading.smiles_column, SMILES_NAMES, path)
    if smiles is None:
        raise ValueError(
            f"{path} has no column of SMILES: name it by --smiles (smiles_column=); its columns are "
            f"{listed_names(names)}"
        )
    target = find_column(names, reading.target_column, TARGET_NAMES, path)
    return smiles, target, find_column(names, reading.id_column or None, (), path)


def _cells(record: bytes, layout: Layout, path: Path) -> Row | None:
    """Return SMILES, target and id of a record, or None if it is blank."""
    if layout.separator is None:
        words = smiles_of(record, path)
        return Row(words[0], None, words[1].strip() if len(words) > 1 else None) if words else None
    cells = row_of(record, layout.separator, layout.n_columns, path)
    if cells is None:
        return None
    target, name = (None if at is None else cells[at] for at in (layout.target, layout.name))
    return Row(cells[layout.smiles], target, name)


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
            yield block_of(rows, number, part)
            number, rows = number + len(rows), []
    if rows:
        yield block_of(rows, number, part)


def block_of(rows: Sequence[Row], number: int, part: Part, mols: Sequence[Any] | None = None) -> GraphBlock:
    """Return the graphs of rows, of which the first has a number; ``mols`` take the place of SMILES."""
    from propkernels.convert.rdkit import from_rdkit, from_smiles

    ids = np.arange(number, number + len(rows), dtype=np.int64)
    row_numbers = (ids - part.first_id + part.first).tolist()  # errors name the rows of the file
    how = part.reading.of_molecules()
    options: dict[str, Any] = {**how.of_molecules, "ids": row_numbers, "errors": how.errors}
    if mols is None:
        graphs = from_smiles([row.smiles.strip() or None for row in rows], **options)
    else:
        graphs = from_rdkit(mols, **options)
    kept = [i for i, row in enumerate(row_numbers) if how.errors == "empty" or row not in graphs.skipped]
    target = None if part.target is None else [_value(rows[i].target, part.target) for i in kept]
    has_names = any(row.name for row in rows)
    names = row_names([rows[i].name for i in kept], [row_numbers[i] for i in kept]) if has_names else None
    return GraphBlock(graphs, target, ids[kept], names)


def _value(cell: str | None, kind: str) -> Any:
    value = None if cell is None else parse_cell(cell, kind)
    return None if isinstance(value, float) and math.isnan(value) else value
