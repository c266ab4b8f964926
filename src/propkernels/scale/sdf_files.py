"""Parts of SDF files: runs of whole records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from propkernels._utils.cells import CellKinds
from propkernels._utils.optional import import_optional
from propkernels.datasets.tables import TARGET_NAMES, iter_sdf_records
from propkernels.scale.molecule_files import Row, block_of
from propkernels.scale.pieces import GraphBlock, Piece, Survey
from propkernels.scale.plan import Part, Reading

BLOCK_RECORDS = 2000  # records in memory at once
COUNTS = 3  # line that begins with the number of atoms, in three letters


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a file into pieces, reading it record by record."""
    pieces: list[Piece] = []
    kinds, has_target = CellKinds(), False
    start = end = first = row = nodes = 0
    digest = hashlib.sha256()
    for place, record in iter_sdf_records(path):
        atoms = _count_atoms(record)
        if row > first and nodes + atoms > nodes_per_part:
            pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
            start, first, nodes, digest = place, row, 0, hashlib.sha256()
        digest.update(record)
        target = _row(record, reading).target
        kinds.add(target or "")
        has_target |= target is not None
        row, nodes, end = row + 1, nodes + atoms, place + len(record)
    if row == 0:
        raise ValueError(f"{path} has no molecules")
    if reading.target_column is not None and not has_target:
        raise ValueError(f"no molecule of {path} has the property {reading.target_column!r}")
    pieces.append(Piece(first, row, nodes, digest.hexdigest(), (start, end)))
    return Survey(tuple(pieces), kinds.common(f"the target of {path}") if has_target else None)


def _count_atoms(record: bytes) -> int:
    """Return the number of atoms that a record announces, or an estimate from its number of lines."""
    lines = record.split(b"\n", COUNTS + 1)
    count = lines[COUNTS][:3].strip() if len(lines) > COUNTS else b""
    return int(count) if count.isdigit() and b"V3000" not in lines[COUNTS] else record.count(b"\n") // 2


def _row(record: bytes, reading: Reading) -> Row:
    """Return target and id of a record, from its properties."""
    properties = _properties(record)
    usual = {name.casefold(): name for name in properties}
    found = [usual[name] for name in TARGET_NAMES if name in usual][:1]
    target = reading.target_column or (found[0] if found else "")
    name = properties.get(reading.id_column, "") if reading.id_column else None
    return Row("", properties.get(target), name)


def _properties(record: bytes) -> dict[str, str]:
    """Return the properties of a record: the line after ``> <name>``."""
    _, _, data = record.partition(b"M  END")
    lines = data.decode("utf-8", errors="replace").splitlines()
    heads = ((i, line) for i, line in enumerate(lines[:-1]) if line.startswith(">") and "<" in line)
    return {line.partition("<")[2].rpartition(">")[0]: lines[i + 1].strip() for i, line in heads}


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
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    rows: list[Row] = []
    mols: list[Any] = []
    number = part.first_id
    for place, record in iter_sdf_records(Path(part.path), part.span[0]):
        if place >= part.span[1]:
            break
        rows.append(_row(record, part.reading))
        mols.append(_molecule(chem, record))
        if len(rows) == BLOCK_RECORDS:
            yield block_of(rows, number, part, mols)
            number, rows, mols = number + len(rows), [], []
    if rows:
        yield block_of(rows, number, part, mols)


def _molecule(chem: Any, record: bytes) -> Any:
    """Return the molecule of a record; None if it cannot be read."""
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    with base.BlockLogs():
        try:
            return chem.MolFromMolBlock(record.decode("utf-8", errors="replace"))
        except Exception:  # of RDKit
            return None
