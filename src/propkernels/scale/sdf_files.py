"""Parts of SDF files: runs of whole records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from propkernels._utils.cells import CellKinds
from propkernels.datasets.tables import (
    check_property,
    iter_sdf_records,
    sdf_molecule,
    sdf_properties,
    usual_target,
)
from propkernels.scale.molecule_files import Row, block_of
from propkernels.scale.pieces import GraphBlock, Piece, Survey
from propkernels.scale.plan import Part, Reading

BLOCK_RECORDS = 2000  # records in memory at once
COUNTS = 3  # line that begins with the number of atoms, in three letters


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a file into pieces, reading it record by record."""
    pieces: list[Piece] = []
    kinds: dict[str, CellKinds] = {}
    start = end = first = row = nodes = 0
    digest = hashlib.sha256()
    for place, record in iter_sdf_records(path):
        atoms = _count_atoms(record)
        if row > first and nodes + atoms > nodes_per_part:
            pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
            start, first, nodes, digest = place, row, 0, hashlib.sha256()
        digest.update(record)
        for name, cell in sdf_properties(record).items():
            kinds.setdefault(name, CellKinds()).add(cell)
        row, nodes, end = row + 1, nodes + atoms, place + len(record)
    if row == 0:
        raise ValueError(f"{path} has no molecules")
    pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
    for name in filter(None, (reading.target_column, reading.id_column)):
        check_property(name, kinds, path)
    target = reading.target_column or usual_target(kinds)
    kind = None if target is None else kinds[target].common(f"the target of {path}")
    return Survey(tuple(pieces), kind, target)


def _count_atoms(record: bytes) -> int:
    """Return the number of atoms that a record announces, or an estimate from its number of lines."""
    lines = record.split(b"\n", COUNTS + 1)
    count = lines[COUNTS][:3].strip() if len(lines) > COUNTS else b""
    return int(count) if count.isdigit() and b"V3000" not in lines[COUNTS] else record.count(b"\n") // 2


def digest(part: Part) -> str:
    """Return the SHA-256 of the current bytes of a part."""
    found = hashlib.sha256()
    for place, record in iter_sdf_records(Path(part.path), part.span[0]):
        if place >= part.span[1]:
            break
        found.update(record)
    return found.hexdigest()


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the molecules of a part as blocks of graphs."""
    rows: list[Row] = []
    mols: list[Any] = []
    number = part.first_id
    for place, record in iter_sdf_records(Path(part.path), part.span[0]):
        if place >= part.span[1]:
            break
        found = sdf_properties(record)
        target, name = part.reading.target_column, part.reading.id_column
        rows.append(Row("", found.get(target) if target else None, found.get(name, "") if name else None))
        mols.append(sdf_molecule(record))
        if len(rows) == BLOCK_RECORDS:
            yield block_of(rows, number, part, mols)
            number, rows, mols = number + len(rows), [], []
    if rows:
        yield block_of(rows, number, part, mols)
