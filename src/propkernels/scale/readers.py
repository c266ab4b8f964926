"""Plans of files of graphs, and readers: a survey cuts a file into pieces, and a reader yields blocks.

Formats are Parquet files of graphs, tables of molecules (CSV, TSV, Parquet, SMI), SDF files and TU data sets.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import check_sizes
from propkernels._utils.cells import CellKinds, parse_cell
from propkernels._utils.safe_files import open_regular
from propkernels._utils.typing import Record
from propkernels.convert.parquet import iter_rows, open_any_parquet, open_parquet, reading_parquet
from propkernels.datasets import tables
from propkernels.datasets.dataset import Dataset
from propkernels.datasets.tables import Reading
from propkernels.datasets.tu import read_tu
from propkernels.graphs.database import GraphDatabase


class Piece(NamedTuple):
    """Rows ``first`` to ``last - 1`` of a file, with their nodes and byte range (text files only)."""

    first: int
    last: int
    n_nodes: int
    span: tuple[int, int] = (0, 0)


class Survey(NamedTuple):
    """Pieces of a file, type of the target (None without target), and its name if it was looked for."""

    pieces: list[Piece]
    target: str | None
    target_column: str | None = None


class GraphBlock(NamedTuple):
    """Block of graphs of a part.

    Attributes
    ----------
    graphs : GraphDatabase
    target : list or None
        One value per graph; None for missing values.
    ids : ndarray of int64
        Numbers of the graphs in the plan.
    names : list or None
        Names of the graphs in their file; None if it has none.
    """

    graphs: GraphDatabase
    target: list[Any] | None
    ids: NDArray[np.int64]
    names: list[Any] | None = None


@dataclass(frozen=True)
class Part:
    """Rows of one file that are read, computed and written together.

    Attributes
    ----------
    path : str
        File, or folder of a TU data set.
    kind : {"parquet", "table", "tu"}
        "table": of molecules, also in SDF and SMI files.
    first, last : int
        Rows ``first`` to ``last - 1`` of the file, counted from 0.
    first_id : int
        Id of row ``first``: graphs are numbered consecutively over all files of the plan.
    n_nodes : int
        Number of nodes; an estimate for molecules.
    span : pair of int
        First and last byte offset of these rows in a text file.
    target : {None, "bool", "int64", "double", "string", "list<double>"}
        Type of the target in the whole plan.
    reading : Reading
        Options of the reader.
    sha256 : str
        SHA-256 of the file.
    stamp : pair of int
        Size and time of the last change of the file, to notice changes.
    """

    path: str
    kind: str
    first: int
    last: int
    first_id: int
    n_nodes: int
    span: tuple[int, int]
    target: str | None
    reading: Reading
    sha256: str
    stamp: tuple[int, int] = field(compare=False)

    def __len__(self) -> int:
        return self.last - self.first

    def __str__(self) -> str:
        return f"{self.path}, rows {self.first:,} to {self.last - 1:,}"

    def digest(self, work: Record) -> str:
        """Return the SHA-256 of what determines a result: the work, and all fields but the place."""
        fields = asdict(self)
        del fields["path"], fields["stamp"]
        text = json.dumps([work, fields], sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, repr=False)
class Plan:
    """Database of graphs in files, cut into parts by :func:`~propkernels.scale.partition`.

    Two plans are equal if they have the same rows of the same files with the same contents.

    Attributes
    ----------
    parts : tuple of Part
        In the order of the files and of their rows.

    See Also
    --------
    propkernels.scale.partition : Make a plan.
    featurize : Compute the features of all parts.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data.graphs.to_parquet(f"{folder}/graphs.parquet")
    ...     plan = pk.scale.partition(folder)
    >>> plan.n_graphs, [len(part) for part in plan]
    (100, [100])
    """

    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    @property
    def n_graphs(self) -> int:
        """Total number of graphs (rows)."""
        return sum(map(len, self.parts))

    @property
    def n_nodes(self) -> int:
        """Total number of nodes; an estimate for molecules."""
        return sum(part.n_nodes for part in self.parts)

    def __repr__(self) -> str:
        n_files = len({part.path for part in self.parts})
        files = "1 file" if n_files == 1 else f"{n_files:,} files"
        parts = "1 part" if len(self) == 1 else f"{len(self):,} parts"
        return f"Plan({files}, {parts}, {self.n_graphs:,} graphs, {self.n_nodes:,} nodes)"


MOST_ROWS = 2**19  # of a part, so that files of many small graphs stay readable
BLOCK_NODES = 250_000  # nodes per block: decoded and featurized together
BLOCK_ROWS, BLOCK_RECORDS = 10_000, 2_000  # rows of tables and records of SDF files per block
ATOMS = re.compile(r"Cl|Br|Si|Se|[BCNOFPSI]|[bcnops]|\[")  # estimates the number of atoms
COUNTS = 3  # line of an SDF record that begins with the number of atoms, in three letters


class ParquetGraphs:
    """Parquet files of graphs: runs of whole row groups, or ranges of rows of a large row group."""

    def survey(self, path: Path, reading: Reading, nodes_per_part: int) -> Survey:
        """Cut a file into pieces; decodes only the column of sizes."""
        file = open_parquet(path)
        names = file.schema_arrow.names
        target = _target_type(file.schema_arrow.field("y").type, path) if "y" in names else None
        pieces: list[Piece] = []
        start = row = nodes = 0
        for group in range(file.num_row_groups):
            sizes = _sizes(file, group, path)
            here = int(sizes.sum())
            n_rows = len(sizes)
            if row > start and (nodes + here > nodes_per_part or row + n_rows - start > MOST_ROWS):
                pieces.append(Piece(start, row, nodes))
                start, nodes = row, 0
            if here > nodes_per_part or n_rows > MOST_ROWS:
                pieces += _cut_rows(sizes, nodes_per_part, row)
                start = row + n_rows
            else:
                nodes += here
            row += n_rows
        return Survey([*pieces, *([Piece(start, row, nodes)] if row > start else [])], target)

    def read(self, part: Part) -> Iterator[GraphBlock]:
        """Yield the graphs of a part in blocks."""
        rows = max(1, BLOCK_NODES * len(part) // max(part.n_nodes, len(part)))
        for graphs, target, row in iter_rows(part.path, part.first, part.last, rows):
            ids = np.arange(len(graphs), dtype=np.int64) + (part.first_id + row - part.first)
            names = None if graphs.ids is None else graphs.ids.tolist()
            yield GraphBlock(graphs, None if target is None else target.to_pylist(), ids, names)


def _target_type(kind: Any, path: Path) -> str:
    from pyarrow import types

    known = {
        "list<double>": (types.is_list, types.is_large_list, types.is_fixed_size_list),
        "bool": (types.is_boolean,),
        "int64": (types.is_integer,),
        "double": (types.is_floating,),
        "string": (types.is_string, types.is_large_string),
    }
    for name, tests in known.items():
        if any(test(kind) for test in tests):
            return name
    raise ValueError(f"the target y of {path} must hold numbers, strings or lists of numbers, not {kind}")


def _sizes(file: Any, group: int, path: Path) -> NDArray[np.int64]:
    with reading_parquet(path):
        sizes = file.read_row_group(group, columns=["n_nodes"]).column(0).to_numpy(zero_copy_only=False)
    if sizes.dtype.kind not in "iu" and sizes.size:
        raise ValueError("the column 'n_nodes' must hold non-negative integers without missing values")
    return check_sizes(sizes, "the column 'n_nodes'")


def _cut_rows(sizes: NDArray[np.int64], limit: int, row: int) -> Iterator[Piece]:
    """Yield runs of rows of a group with at most ``limit`` nodes and MOST_ROWS rows, or of a larger row."""
    ends = np.cumsum(sizes)
    first, before = 0, 0
    while first < len(sizes):
        last = max(first + 1, int(np.searchsorted(ends, before + limit, side="right")))
        last = min(last, first + MOST_ROWS)
        yield Piece(row + first, row + last, int(ends[last - 1]) - before)
        first, before = last, int(ends[last - 1])


class Row(NamedTuple):
    """A molecule as SMILES or an RDKit molecule, its target and id if there are columns, and its atoms."""

    molecule: Any
    target: str | None
    name: str | None
    n_atoms: int


class Molecules:
    """CSV, TSV and Parquet files with a column of SMILES, SMI files and SDF files: runs of rows."""

    def survey(self, path: Path, reading: Reading, nodes_per_part: int) -> Survey:
        """Cut a file into pieces, reading it row by row."""
        kinds = CellKinds()
        columns = _columns(path, reading)
        pieces: list[Piece] = []
        first = number = nodes = start = end = 0
        for row, place, stop in _rows(path, columns):
            if row.target is not None:
                kinds.add(row.target)
            is_full = nodes + row.n_atoms > nodes_per_part or number - first == MOST_ROWS
            if number > first and is_full:
                pieces.append(Piece(first, number, nodes, (start, end)))
                first, nodes = number, 0
            start = place if number == first else start
            number, nodes, end = number + 1, nodes + row.n_atoms, stop
        if not number:
            raise ValueError(f"{path} has no molecules")
        target = columns.target
        kind = None if target is None else kinds.common(f"column {target!r} of {path}")
        return Survey([*pieces, Piece(first, number, nodes, (start, end))], kind, target)

    def read(self, part: Part) -> Iterator[GraphBlock]:
        """Yield the molecules of a part as blocks of graphs."""
        path, number = Path(part.path), part.first_id
        rows = (row for row, _, _ in _rows(path, _columns(path, part.reading, part), part))
        while some := list(islice(rows, BLOCK_RECORDS if _suffix(path) == ".sdf" else BLOCK_ROWS)):
            yield _block_of(some, number, part)
            number += len(some)


class Columns(NamedTuple):
    """Names of all columns, and of those of SMILES, target and id."""

    names: list[str]
    smiles: str | None
    target: str | None
    name: str | None


def _suffix(path: Path) -> str:
    return {".smiles": ".smi"}.get(path.suffix.lower(), path.suffix.lower())


def _columns(path: Path, reading: Reading, part: Part | None = None) -> Columns:
    """Return the columns of a file; raise ValueError without SMILES. In a part, those of SDF are known."""
    suffix, wanted = _suffix(path), next(iter(reading.target_columns), None)
    if suffix == ".smi" or (suffix == ".sdf" and part is not None):
        return Columns([], None, None if suffix == ".smi" else wanted, reading.id_column)
    if suffix == ".sdf":
        names = sorted(
            {name for _, record in tables.iter_sdf_records(path) for name in tables.sdf_properties(record)}
        )
    else:
        names = tables.parquet_names(path) if suffix == ".parquet" else _header(path)[0]
    smiles = (
        None
        if suffix == ".sdf"
        else tables.find_column(names, reading.smiles_column, tables.SMILES_NAMES, path)
    )
    if smiles is None and suffix != ".sdf":
        raise ValueError(
            f"{path} has no column of SMILES: name it by --smiles (smiles_column=); its columns are "
            f"{tables.listed_names(names)}"
        )
    target = tables.find_column(names, wanted, tables.TARGET_NAMES, path)
    usual = () if suffix == ".sdf" else tables.ID_NAMES
    return Columns(names, smiles, target, tables.find_column(names, reading.id_column, usual, path))


def _header(path: Path) -> tuple[list[str], bytes]:
    """Return the names of the columns of a CSV or TSV file, and the bytes that hold them."""
    _, header = next(tables.iter_records(path), (0, b""))
    return tables.header_names(header, path), header


def _rows(path: Path, columns: Columns, part: Part | None = None) -> Iterator[tuple[Row, int, int]]:
    """Yield the molecules of a file, or of a part of it, with the bytes where they start and end."""
    suffix = _suffix(path)
    if suffix == ".parquet":
        yield from ((row, 0, 0) for row in _parquet_rows(path, columns, part))
        return
    start = 0 if part is None else part.span[0]
    if suffix == ".sdf":
        records = tables.iter_sdf_records(path, start)
    elif suffix == ".smi":
        with open_regular(path) as stream:
            start = max(start, len(tables.BOM) if stream.read(3) == tables.BOM else 0)
        records = tables.iter_records(path, start, quoted=False)
    else:
        records = tables.iter_records(path, max(start, len(_header(path)[1])))
    for place, record in records:
        if part is not None and place >= part.span[1]:
            break
        if (row := _row_of(record, suffix, columns, path, part is None)) is not None:
            yield row, place, place + len(record)


def _row_of(record: bytes, suffix: str, columns: Columns, path: Path, is_survey: bool) -> Row | None:
    """Return the molecule of a line or record; None for a blank line."""
    if suffix == ".sdf":
        found = tables.sdf_properties(record)
        molecule = None if is_survey else tables.sdf_molecule(record)
        name = None if columns.name is None else found.get(columns.name, "")
        return Row(molecule, found.get(columns.target or ""), name, _announced_atoms(record))
    if suffix == ".smi":
        words = tables.smiles_of(record, path)
        name = words[1].strip() if len(words) > 1 else None
        return Row(words[0], None, name, count_atoms(words[0])) if words else None
    cells = tables.row_of(record, tables.separator_of(path), len(columns.names), path)
    if cells is None:
        return None
    smiles, target, name = (None if one is None else cells[columns.names.index(one)] for one in columns[1:])
    return Row(smiles, target, name, count_atoms(str(smiles)))


def _parquet_rows(path: Path, columns: Columns, part: Part | None) -> Iterator[Row]:
    """Yield the molecules of a Parquet table, or of a part of it."""
    wanted = [column for column in dict.fromkeys(columns[1:]) if column is not None]
    n_rows = open_any_parquet(path).metadata.num_rows
    first, last = (0, n_rows) if part is None else (part.first, part.last)
    for _, block in tables.iter_parquet_cells(path, wanted, first, last, BLOCK_ROWS):
        cells = dict(zip(wanted, block, strict=True))
        none = [None] * len(block[0])
        several = zip(*(none if name is None else cells[name] for name in columns[1:]), strict=True)
        yield from (Row(smiles, target, name, count_atoms(smiles)) for smiles, target, name in several)


def count_atoms(smiles: str) -> int:
    """Return an estimate of the number of atoms.

    Examples
    --------
    >>> count_atoms("CC(=O)Oc1ccccc1C(=O)O"), count_atoms("ClCCBr")
    (13, 4)
    """
    return len(ATOMS.findall(smiles))


def _announced_atoms(record: bytes) -> int:
    """Return the number of atoms that a record announces, or an estimate from its number of lines."""
    lines = record.split(b"\n", COUNTS + 1)
    count = lines[COUNTS][:3].strip() if len(lines) > COUNTS else b""
    return int(count) if count.isdigit() and b"V3000" not in lines[COUNTS] else record.count(b"\n") // 2


def _block_of(rows: Sequence[Row], number: int, part: Part) -> GraphBlock:
    """Return the graphs of rows, of which the first has a number."""
    from propkernels.convert.rdkit import from_rdkit, from_smiles

    ids = np.arange(number, number + len(rows), dtype=np.int64)
    row_numbers = (ids - part.first_id + part.first).tolist()  # errors name the rows of the file
    errors = part.reading.errors
    options: dict[str, Any] = {**part.reading.of_molecules, "ids": row_numbers, "errors": errors}
    if _suffix(Path(part.path)) == ".sdf":
        graphs = from_rdkit([row.molecule for row in rows], **options)
    else:
        graphs = from_smiles([row.molecule.strip() or None for row in rows], **options)
    kept = [i for i, row in enumerate(row_numbers) if errors == "empty" or row not in graphs.skipped]
    target = None if part.target is None else [_value(rows[i].target, part.target) for i in kept]
    has_names = any(row.name for row in rows)
    names = (
        tables.row_names([rows[i].name for i in kept], [row_numbers[i] for i in kept]) if has_names else None
    )
    return GraphBlock(graphs, target, ids[kept], names)


def _value(cell: str | None, kind: str) -> object:
    value = None if cell is None else parse_cell(cell, kind)
    return None if isinstance(value, float) and math.isnan(value) else value


@lru_cache(maxsize=1)
def _tu_data(path: str, content: str) -> Dataset:
    """Return a data set; cached, because its parts are read one after another."""
    return read_tu(path, target_required=False)


class TuSets:
    """TU data sets: ranges of graphs of a zip or folder, which is read once per process."""

    def survey(self, path: Path, reading: Reading, nodes_per_part: int) -> Survey:
        """Cut a data set into pieces."""
        data = read_tu(path, target_required=False)
        pieces = list(_cut_rows(data.graphs.graph_sizes, nodes_per_part, 0))
        kinds = {"i": "int64", "u": "int64", "f": "double", "b": "bool"}
        if data.target.ndim == 2:
            return Survey(pieces, "list<double>" if data.target.shape[1] else None)
        return Survey(pieces, kinds.get(data.target.dtype.kind, "string"))

    def read(self, part: Part) -> Iterator[GraphBlock]:
        """Yield the graphs of a part in blocks."""
        data = _tu_data(part.path, part.sha256)
        graphs, target = data.graphs[part.first : part.last], data.target[part.first : part.last]
        rows = max(1, BLOCK_NODES * len(part) // max(part.n_nodes, len(part)))
        for first in range(0, len(part), rows):
            block = graphs[first : first + rows]
            assert isinstance(block, GraphDatabase)
            ids = np.arange(len(block), dtype=np.int64) + (part.first_id + first)
            values = None if part.target is None else target[first : first + rows].tolist()
            yield GraphBlock(block, values, ids)


# A format has a survey that cuts a file into pieces, and reads a part in blocks.
FORMATS: dict[str, ParquetGraphs | Molecules | TuSets] = {
    "parquet": ParquetGraphs(),
    "table": Molecules(),
    "tu": TuSets(),
}
