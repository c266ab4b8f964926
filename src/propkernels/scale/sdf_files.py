"""Parts of SDF files: runs of whole records."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from propkernels._utils.cells import CellKinds
from propkernels.datasets.reading import Reading
from propkernels.datasets.tables import (
    check_property,
    iter_sdf_records,
    sdf_molecule,
    sdf_properties,
    usual_target,
)
from propkernels.scale.molecule_files import Row, block_of, cut
from propkernels.scale.plan import GraphBlock, Part, Survey

BLOCK_RECORDS = 2000  # records in memory at once
COUNTS = 3  # line that begins with the number of atoms, in three letters


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a file into pieces, reading it record by record."""
    kinds: dict[str, CellKinds] = {}

    def sizes() -> Iterator[tuple[int, int, int]]:
        for place, record in iter_sdf_records(path):
            for name, cell in sdf_properties(record).items():
                kinds.setdefault(name, CellKinds()).add(cell)
            yield _count_atoms(record), place, place + len(record)

    pieces = cut(sizes(), nodes_per_part, path)
    for name in filter(None, (*reading.target_columns, reading.id_column)):
        check_property(name, kinds, path)
    target = next(iter(reading.target_columns), None) or usual_target(kinds)
    kind = None if target is None else kinds[target].common(f"the target of {path}")
    return Survey(pieces, kind, target)


def _count_atoms(record: bytes) -> int:
    """Return the number of atoms that a record announces, or an estimate from its number of lines."""
    lines = record.split(b"\n", COUNTS + 1)
    count = lines[COUNTS][:3].strip() if len(lines) > COUNTS else b""
    return int(count) if count.isdigit() and b"V3000" not in lines[COUNTS] else record.count(b"\n") // 2


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the molecules of a part as blocks of graphs."""
    target, name = next(iter(part.reading.target_columns), None), part.reading.id_column
    rows: list[Row] = []
    mols: list[Any] = []
    number = part.first_id
    for place, record in iter_sdf_records(Path(part.path), part.span[0]):
        if place >= part.span[1]:
            break
        found = sdf_properties(record)
        rows.append(Row("", found.get(target) if target else None, found.get(name, "") if name else None))
        mols.append(sdf_molecule(record))
        if len(rows) == BLOCK_RECORDS:
            yield block_of(rows, number, part, mols)
            number, rows, mols = number + len(rows), [], []
    if rows:
        yield block_of(rows, number, part, mols)
