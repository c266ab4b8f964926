"""Options of all readers; and cells of CSV, TSV, SMI and SDF files and Parquet tables, whole or in parts.

Both ways use the same functions for records, cells, properties and names, so that they agree.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.arrays import available_memory
from propkernels._utils.cells import as_classes, check_measurements, typed_column
from propkernels._utils.checks import check_choice, reason_of
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import open_regular
from propkernels.convert.build import ERRORS
from propkernels.convert.parquet import check_values, iter_batches, open_any_parquet
from propkernels.convert.rdkit import ALL, VIEWS

SMILES_NAMES = ("smiles", "canonical_smiles", "mol", "structure")
TARGET_NAMES = ("target", "label", "class", "activity", "y", "active")
ID_NAMES = ("name", "title", "compound", "iupac", "id")  # columns that name graphs without other ids
LONGEST_RECORD = 2**20
LONGEST_MOLECULE = 2**26  # bytes of a record of an SDF file
SDF_END, PARQUET = b"$$$$", ".parquet"
BYTES_OF_A_CELL = 100  # of a table in memory
ROWS_AT_ONCE, ROWS_ANYWAY = 10_000, 2**17  # a larger table has a byte per row
BOM = b"\xef\xbb\xbf"


def read_table(path: Path) -> dict[str, list[str]]:
    """Return the cells of a table as strings, by column name, without blank lines."""
    if path.suffix.lower() == PARQUET:
        return read_parquet_table(path)
    records = iter_records(path)
    _, header = next(records, (0, b""))
    separator = separator_of(path)
    names = header_names(header, path)
    rows = [cells for _, record in records if (cells := row_of(record, separator, len(names), path))]
    if not rows:
        raise ValueError(f"{path} has no rows")
    columns = list(zip(*rows, strict=True))
    return {name: list(columns[names.index(name)]) for name in dict.fromkeys(names)}


def header_names(header: bytes, path: Path) -> list[str]:
    """Return the names of the columns of a CSV or TSV file; two columns may be without a name."""
    names = split_record(header.removeprefix(BOM), separator_of(path), path)
    several = [name for name, times in Counter(names).items() if name and times > 1]
    if several:
        raise ValueError(f"{path} has several columns {several[0]!r}: rename all but one")
    return names


def read_parquet_table(path: Path) -> dict[str, list[str]]:
    """Return the cells of a Parquet table as strings, by column name."""
    names = parquet_names(path)
    metadata = open_any_parquet(path).metadata
    check_values(metadata, range(metadata.num_row_groups), path)
    n_rows, room = metadata.num_rows, available_memory()
    if n_rows > max(ROWS_ANYWAY, n_bytes := path.stat().st_size):
        raise ValueError(f"{path} has {n_bytes:,} bytes, and declares {n_rows:,} rows: too many to be read")
    if room is not None and BYTES_OF_A_CELL * n_rows * len(names) > room:
        raise ValueError(f"{path} has {n_rows:,} rows of {len(names)} columns, too many for the memory")
    table: dict[str, list[str]] = {name: [] for name in names}
    for _, columns in iter_parquet_cells(path, names, 0, n_rows, ROWS_AT_ONCE):
        for name, cells in zip(names, columns, strict=True):
            table[name] += cells
    if not n_rows or not names:
        raise ValueError(f"{path} has no rows")
    return table


def parquet_names(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet table that hold texts, numbers or truth values."""
    types = import_optional("pyarrow.types", extra="parquet", purpose="Parquet files need")
    kinds = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    schema = open_any_parquet(path).schema_arrow
    plain = [field.name for field in schema if any(kind(_value_type(types, field.type)) for kind in kinds)]
    return list(dict.fromkeys(plain))


def _value_type(types: Any, kind: Any) -> Any:
    return kind.value_type if types.is_dictionary(kind) else kind


def iter_parquet_cells(
    path: Path, names: Sequence[str], first: int, last: int, n_rows: int
) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield the first row of a block, and the cells of its columns, for rows first to last - 1."""
    file = open_any_parquet(path, names)
    for row, batch in iter_batches(file, path, 0, (first, last), n_rows, columns=list(names)):
        yield row, [_cells_of(batch.column(name)) for name in names]


def _cells_of(column: Any) -> list[str]:
    """Return the values of an Arrow array as strings; missing ones are empty."""
    if not hasattr(column, "dictionary"):
        return ["" if value is None else str(value) for value in column.to_pylist()]
    texts = [str(value) for value in column.dictionary.to_pylist()]
    return ["" if number is None else texts[number] for number in column.indices.to_pylist()]


def iter_sdf_records(path: Path, first: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the byte position and content of each record of an SDF file, with its last line ``$$$$``."""
    with open_regular(path) as stream:
        stream.seek(first)
        place, size, pending = first, 0, list[bytes]()
        while line := stream.readline(LONGEST_RECORD):
            pending.append(line)
            size += len(line)
            if size > LONGEST_MOLECULE:
                raise ValueError(f"{path} has a record of over {LONGEST_MOLECULE:,} bytes at byte {place:,}")
            if line.startswith(SDF_END):
                yield place, _checked_text(b"".join(pending), path)
                place, size, pending = place + size, 0, []
        if b"".join(pending).strip():
            yield place, _checked_text(b"".join(pending), path)


def _checked_text(record: bytes, path: Path) -> bytes:
    """Return a record; raise ValueError unless it is UTF-8: other letters would all be read as one."""
    try:
        record.decode("utf-8")
    except UnicodeDecodeError as error:
        title = record.partition(b"\n")[0].decode("ascii", errors="replace").strip()
        raise ValueError(f"{path} cannot be read: in the record {title!r}, {reason_of(error)}") from None
    return record


def sdf_properties(record: bytes) -> dict[str, str]:
    r"""Return the properties of a record: the lines after ``> <name>``, up to a blank line.

    Examples
    --------
    >>> sdf_properties(b"\n\n\n...\nM  END\n> 7 <pKi> (A)\n6.5\n\n>  <note>\ntwo\nlines\n\n$$$$\n")
    {'pKi': '6.5', 'note': 'two\nlines'}
    """
    _, _, data = record.partition(b"\nM  END")
    lines = iter(data.decode("utf-8").replace("\r\n", "\n").split("\n"))
    end = SDF_END.decode()
    found: dict[str, str] = {}
    for line in lines:
        name = line.partition("<")[2].rpartition(">")[0] if line.startswith(">") else ""
        if name:
            found[name] = "\n".join(takewhile(lambda one: one.strip() and not one.startswith(end), lines))
    return found


def sdf_molecule(record: bytes) -> Any:
    """Return the RDKit molecule of a record; None if it cannot be read."""
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    with base.BlockLogs():
        try:
            return chem.MolFromMolBlock(record.decode("utf-8"))
        except Exception:  # of RDKit
            return None


def row_names(names: Sequence[str | None], rows: Sequence[int]) -> list[str]:
    """Return a name per row; one without a name is called by its number.

    Examples
    --------
    >>> row_names(["aspirin", "", None], [0, 1, 4])
    ['aspirin', '1', '4']
    """
    return [name or str(row) for name, row in zip(names, rows, strict=True)]


def separator_of(path: Path) -> str:
    """Return the separator of a file: tab for TSV files, comma for others."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


def iter_records(path: Path, first: int = 0, quoted: bool = True) -> Iterator[tuple[int, bytes]]:
    """Yield the byte position and content of each record; line breaks inside quotes do not end it.

    Parameters
    ----------
    path : Path
    first : int, default=0
        Position of the first byte to read.
    quoted : bool, default=True
        Whether to interpret quotes.
    """
    with open_regular(path) as stream:
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
        if "\n" not in text and "\r" in re.sub('"[^"]*"', "", text):
            raise csv.Error("its lines end in a carriage return alone: save it with line feeds")
        return next(iter(csv.reader([text], delimiter=separator, strict=True)), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as a table: {reason_of(error)}") from None


def row_of(record: bytes, separator: str, n_columns: int, path: Path) -> list[str] | None:
    """Return the cells of a line, validated as one per column, or None for a blank line."""
    if not record.strip():
        return None
    cells = split_record(record, separator, path)
    if len(cells) != n_columns:
        raise ValueError(f"{path} has a line with {len(cells)} cells instead of {n_columns}: {record[:60]!r}")
    return cells


def smiles_of(record: bytes, path: Path) -> list[str]:
    """Return the SMILES and optional name of a line of an SMI file; empty for a blank line."""
    try:
        return record.removeprefix(BOM).decode("utf-8").split(None, 1)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read as text: {reason_of(error)}") from None


def find_column(names: Sequence[str], wanted: str | None, usual: tuple[str, ...], path: Path) -> str | None:
    """Return the requested column name, or the first usual name that occurs, or None."""
    if wanted is not None:
        if wanted not in names:
            raise ValueError(f"{path} has no column {wanted!r}; its columns are {listed_names(names)}")
        return wanted
    by_name = {name.casefold(): name for name in reversed(names)}
    return next((by_name[name] for name in usual if name in by_name), None)


def listed_names(names: Sequence[str], most: int = 20) -> str:
    """Return the first names of columns and the number of columns, for messages."""
    shown = ", ".join(map(repr, names[:most]))
    return f"[{shown}]" if len(names) <= most else f"[{shown}, ...] ({len(names):,} in all)"


KEYS = ("graph", "node", "source", "target", "weight")  # of tables of edges, nodes and graphs


@dataclass(frozen=True)
class Reading:
    """Options for reading a data set, the same for every format and command.

    Attributes
    ----------
    smiles_column : str or None
        Column of SMILES in a table; None: a column with a usual name.
    target_columns : tuple of str
        Columns of the target: names in tables, properties in SDF files, numbers from 0 in files of graphs
        with several targets. Empty: a column with a usual name, or all columns of a file of graphs.
    id_column : str or None
        Column of a table whose values become the ids of the graphs.
    node_labels : tuple of str
        Labels of nodes: recipes for atoms (see :func:`propkernels.from_smiles`), or columns of a table of
        nodes or names of node data in a graph file. Empty: ``atom_labels`` for molecules, and a column with a
        usual name.
    edge_labels : str or None
        Column of a table of edges, or name of edge data, that is the label of edges.
    key_columns : mapping of str to str
        Columns of tables by what they hold: "graph", "node", "source", "target" or "weight"; others have
        usual names.
    atom_labels : tuple of str
        Recipes for atoms if ``node_labels`` is empty.
    standardize, descriptors : tuple of str
        Steps of standardization, and descriptors of whole molecules; see :func:`propkernels.from_smiles`.
    target_required : bool
        Whether a missing target is an error.
    errors : {"raise", "skip", "empty"}
        Treatment of invalid molecules and graphs: an error, left out, or a graph without nodes.
    n_jobs : int or None
        Processes that read SMILES.
    """

    smiles_column: str | None = None
    target_columns: tuple[str, ...] = ()
    id_column: str | None = None
    node_labels: tuple[str, ...] = ()
    edge_labels: str | None = None
    key_columns: Mapping[str, str] = field(default_factory=dict)
    atom_labels: tuple[str, ...] = VIEWS
    standardize: tuple[str, ...] = ()
    descriptors: tuple[str, ...] = ()
    target_required: bool = True
    errors: str = "raise"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.errors, ERRORS, "errors")
        for key in self.key_columns:
            check_choice(key, KEYS, "the key of --column (key_columns=)")

    @property
    def recipe(self) -> str | tuple[str, ...]:
        """Labels of atoms."""
        labels = self.node_labels or self.atom_labels
        return labels[0] if len(labels) == 1 else labels

    @property
    def of_molecules(self) -> dict[str, Any]:
        """Options for the conversion of molecules to graphs."""
        wanted = self.descriptors[0] if self.descriptors == (ALL,) else self.descriptors
        return {"node_labels": self.recipe, "standardize": self.standardize, "descriptors": wanted or None}

    def refuse_columns(self, kind: str) -> None:
        """Raise ValueError for options that name columns of tables, for a format without columns."""
        options = {
            "--smiles (smiles_column)": self.smiles_column,
            "--id-column (id_column)": self.id_column,
            "--node-labels (node_labels)": self.node_labels,
            "--edge-labels (edge_labels)": self.edge_labels,
            "--column (key_columns)": self.key_columns,
        }
        for option, value in options.items():
            if value:
                raise ValueError(f"{option} does not apply to {kind}: leave it out")

    def table_targets(self, names: Sequence[str], place: Any, without: str | None = None) -> list[str]:
        """Return the names of the target columns of a table; raise ValueError if there is none."""
        if self.target_columns:
            return [str(find_column(names, column, (), place)) for column in self.target_columns]
        found = find_column(names, None, TARGET_NAMES, place)
        if found is None and self.target_required:
            left = listed_names([name for name in names if name != without])
            raise ValueError(
                f"{place} has no column with a usual name for the target: choose one by --target "
                f"(target_column=), of {left}"
            )
        return [] if found is None else [found]

    def stored_target(self, target: Any, n_graphs: int, place: Any) -> NDArray[Any]:
        """Return the target of a file of graphs: all its columns, or those chosen by number."""
        if target is None or np.shape(target) == (n_graphs, 0):
            return self.checked_target([], n_graphs, place)
        columns = target.reshape(n_graphs, -1).T
        if not self.target_columns:
            return self.checked_target(list(columns), n_graphs, place)
        numbers = [_number(column, len(columns), place) for column in self.target_columns]
        return self.checked_target([columns[number] for number in numbers], n_graphs, place)

    def checked_target(self, columns: Sequence[NDArray[Any]], n_graphs: int, place: Any) -> NDArray[Any]:
        """Return one typed column, several columns of numbers (n, columns), or (n, 0) without a target."""
        if not columns:
            if self.target_required:
                raise ValueError(f"{place} has no target: name its column by --target (target_column=)")
            return np.empty((n_graphs, 0))
        for number, column in enumerate(columns):
            known = f" {self.target_columns[number]!r}" if self.target_columns else ""
            try:
                check_measurements(np.asarray(column), f"{place}: the target{known}")
            except ValueError as error:
                if self.target_required or self.target_columns:
                    raise
                warnings.warn(f"{error}; it is not used", stacklevel=2)  # a column that nobody asked for
                return np.empty((n_graphs, 0))
        typed = [as_classes(typed_column(column)) for column in columns]
        if len(typed) == 1:
            return typed[0]
        for number, column in enumerate(typed):
            if column.dtype.kind not in "biuf":
                name = self.target_columns[number] if self.target_columns else number
                raise ValueError(f"{place}: the target {name} is not numeric; of several targets all must be")
        return np.column_stack([column.astype(np.float64) for column in typed])


def _number(column: str, n_columns: int, place: Any) -> int:
    """Return the number of a target column."""
    if not column.isdecimal() or int(column) >= n_columns:
        if n_columns == 1:
            raise ValueError(f"{place} has one target column: leave --target (target_column=) out")
        raise ValueError(
            f"{place} has {n_columns} target columns without names: choose by number, --target 0 to "
            f"{n_columns - 1}"
        )
    return int(column)
