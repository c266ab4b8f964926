"""Parts of Parquet tables with a column of SMILES: ranges of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from propkernels._utils.cells import CellKinds
from propkernels.convert.parquet import open_any_parquet
from propkernels.datasets.tables import iter_parquet_cells, parquet_names
from propkernels.scale.molecule_files import BLOCK_ROWS, Row, block_of, columns_of, count_atoms
from propkernels.scale.parquet_files import rows_digest
from propkernels.scale.pieces import GraphBlock, Piece, Survey
from propkernels.scale.plan import Part, Reading


def survey(path: Path, reading: Reading, nodes_per_part: int) -> Survey:
    """Cut a table into pieces, reading its molecules block by block."""
    target = columns_of(parquet_names(path), reading, path)[1]
    n_rows = open_any_parquet(path).metadata.num_rows
    kinds, cuts, nodes = CellKinds(), [0], [0]
    for start, rows in _rows(path, reading, 0, n_rows):
        for row, cells in enumerate(rows, start):
            atoms = count_atoms(cells.smiles)
            if row > cuts[-1] and nodes[-1] + atoms > nodes_per_part:
                cuts.append(row)
                nodes.append(0)
            nodes[-1] += atoms
            if cells.target is not None:
                kinds.add(cells.target)
    if not n_rows:
        raise ValueError(f"{path} has no molecules")
    ends = [*cuts[1:], n_rows]
    pieces = [
        Piece(first, last, count, rows_digest(path, first, last))
        for first, last, count in zip(cuts, ends, nodes, strict=True)
    ]
    return Survey(tuple(pieces), None if target is None else kinds.common(f"column {target!r} of {path}"))


def _rows(path: Path, reading: Reading, first: int, last: int) -> Iterator[tuple[int, list[Row]]]:
    """Yield the first row of a block, and the cells of its molecules."""
    smiles, target, name = columns_of(parquet_names(path), reading, path)
    wanted = [column for column in (smiles, target, name) if column is not None]
    for start, columns in iter_parquet_cells(path, list(dict.fromkeys(wanted)), first, last, BLOCK_ROWS):
        cells = dict(zip(dict.fromkeys(wanted), columns, strict=True))
        none = [None] * len(columns[0])
        targets, names = (none if column is None else cells[column] for column in (target, name))
        yield start, [Row(*row) for row in zip(cells[smiles], targets, names, strict=True)]


def digest(part: Part) -> str:
    """Return the SHA-256 of the current bytes of the row groups of a part."""
    return rows_digest(Path(part.path), part.first, part.last)


def read(part: Part) -> Iterator[GraphBlock]:
    """Yield the molecules of a part as blocks of graphs."""
    for start, rows in _rows(Path(part.path), part.reading, part.first, part.last):
        yield block_of(rows, part.first_id + start - part.first, part)
