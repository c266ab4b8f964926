"""Plan: parts of files of graphs, with the hashes of their contents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from propkernels._utils.arrays import check_sizes
from propkernels._utils.checks import reason_of
from propkernels._utils.locks import cached_property
from propkernels._utils.safe_files import Pathlike, atomic_write, read_regular
from propkernels._utils.text_tables import format_table
from propkernels._utils.typing import Record
from propkernels.datasets.reading import Reading as SourceReading

FORMAT, VERSION = "propkernels plan", 1
MOST_SHOWN = 12
LATER = ("standardize", "descriptors", "id_column")  # fields of Reading that older plans do not have
TARGETS = (None, "bool", "int64", "double", "string", "list<double>")


def canonical(value: Any) -> bytes:
    """Return canonical JSON, for hashing: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


@dataclass(frozen=True)
class Reading:
    """Options for reading tables of molecules.

    Attributes
    ----------
    smiles_column, target_column : str or None
        Columns of a table; None selects columns with common names.
    node_labels : str
        Labels of atoms, see :func:`propkernels.from_smiles`; several are separated by commas.
    errors : {"raise", "skip", "empty"}
        Whether an invalid SMILES is an error, is left out, or is a graph without nodes.
    standardize, descriptors : str
        Steps of standardization, and descriptors of whole molecules, separated by commas.
    id_column : str
        Column, or property of an SDF file, whose values become the ids of the graphs; "": none.
    """

    smiles_column: str | None = None
    target_column: str | None = None
    node_labels: str = "symbol"
    errors: str = "raise"
    standardize: str = ""
    descriptors: str = ""
    id_column: str = ""

    def to_dict(self) -> Record:
        """Return all fields; empty ones of later versions are left out: digests stay the same."""
        fields = asdict(self)
        return {name: value for name, value in fields.items() if value or name not in LATER}

    def of_molecules(self) -> SourceReading:
        """Return the options for readers of molecules."""
        return SourceReading(
            smiles_column=self.smiles_column,
            atom_labels=_split(self.node_labels),
            standardize=_split(self.standardize),
            descriptors=_split(self.descriptors),
            errors=self.errors,
        )


@dataclass(frozen=True)
class Part:
    """Rows of one file that are read, computed and written together.

    Attributes
    ----------
    path : str
        File, or folder of a TU data set.
    kind : {"parquet", "parquet table", "table", "smiles", "sdf", "tu", "source"}
    first, last : int
        Rows ``first`` to ``last - 1`` of the file, counted from 0.
    first_id : int
        Id of row ``first``: graphs are numbered consecutively over all files of the plan.
    n_nodes : int
        Number of nodes; an estimate for molecules.
    sha256 : str
        SHA-256 of the bytes of these rows.
    span : pair of int
        First and last byte offset of these rows in a text file.
    target : {None, "bool", "int64", "double", "string", "list<double>"}
        Type of the target in the whole plan.
    reading : Reading
    """

    path: str
    kind: str
    first: int
    last: int
    first_id: int
    n_nodes: int
    sha256: str
    span: tuple[int, int]
    target: str | None
    reading: Reading

    def __len__(self) -> int:
        return self.last - self.first

    def __str__(self) -> str:
        return f"{self.path}, rows {self.first:,} to {self.last - 1:,}"

    def content(self) -> Record:
        """Return all fields except the path: results do not depend on it."""
        fields = asdict(self)
        fields.pop("path")
        fields |= {"span": list(self.span), "reading": self.reading.to_dict()}
        return fields


@dataclass(frozen=True, repr=False)
class Plan:
    """Database of graphs in files, cut into parts by :func:`partition`.

    Two plans are equal if they have the same rows of the same files with the same contents.

    Attributes
    ----------
    parts : tuple of Part
        In the order of the files and of their rows.
    nodes_per_part : int

    See Also
    --------
    partition : Make a plan.
    featurize : Compute the features of all parts.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(100, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> data.graphs.to_parquet(f"{folder.name}/graphs.parquet")
    >>> plan = pk.partition(folder.name)
    >>> plan.save(f"{folder.name}/plan.json")
    >>> pk.scale.Plan.load(f"{folder.name}/plan.json") == plan
    True
    >>> folder.cleanup()
    """

    parts: tuple[Part, ...]
    nodes_per_part: int

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

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the files, in reading order."""
        return tuple(dict.fromkeys(part.path for part in self.parts))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the contents of all parts; independent of the paths of the files."""
        return hashlib.sha256(canonical([part.content() for part in self.parts])).hexdigest()

    def save(self, path: Pathlike) -> None:
        """Write the plan as JSON; equal plans give equal bytes.

        Parameters
        ----------
        path : str or path
        """
        with atomic_write(path, text=True) as stream:
            stream.write(self.to_json())

    def to_json(self) -> str:
        """Return the plan as JSON, one line per part."""
        number = {path: i for i, path in enumerate(self.paths)}
        readings = list(dict.fromkeys(part.reading for part in self.parts))
        head = {
            "format": FORMAT,
            "version": VERSION,
            "nodes_per_part": self.nodes_per_part,
            "paths": list(self.paths),
            "readings": [reading.to_dict() for reading in readings],
        }
        lines = []
        for part in self.parts:
            row = part.content() | {"path": number[part.path], "reading": readings.index(part.reading)}
            lines.append(json.dumps(row, sort_keys=True))
        parts = ",\n".join(lines)
        return f'{json.dumps(head, indent=1)[:-2]},\n "parts": [\n{parts}\n]}}\n'

    @classmethod
    def load(cls, path: Pathlike) -> Plan:
        """Read a plan that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Plan

        Raises
        ------
        ValueError
            If the file is not a plan, or it is damaged.
        """
        try:
            return cls._from_json(json.loads(read_regular(path).decode("utf-8")))
        except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"{path} is not a plan of propkernels, or it is damaged ({reason_of(error)})"
            ) from None

    @classmethod
    def _from_json(cls, document: Any) -> Plan:
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise ValueError(f"its format is {document['format']!r}, version {document['version']!r}")
        readings = [Reading(**_checked(row, Reading)) for row in document["readings"]]
        parts = []
        for row in document["parts"]:
            path, reading = document["paths"][_whole(row["path"])], readings[_whole(row["reading"])]
            row = row | {"path": path, "reading": reading}
            parts.append(Part(**_checked(row | {"span": tuple(row["span"])}, Part)))
        if not parts:
            raise ValueError("it has no parts")
        check_sizes([len(part) for part in parts], "rows of its parts")
        return cls(tuple(parts), _whole(document["nodes_per_part"]))

    def __repr__(self) -> str:
        files = "1 file" if len(self.paths) == 1 else f"{len(self.paths):,} files"
        parts = "1 part" if len(self) == 1 else f"{len(self):,} parts"
        return f"Plan({files}, {parts}, {self.n_graphs:,} graphs, {self.n_nodes:,} nodes)"

    def __str__(self) -> str:
        rows = [
            [str(i), part.path, f"{part.first:,} - {part.last - 1:,}", f"{part.n_nodes:,}", part.sha256[:12]]
            for i, part in enumerate(self.parts[:MOST_SHOWN])
        ]
        more = f"\n... and {len(self) - MOST_SHOWN:,} more" if len(self) > MOST_SHOWN else ""
        head = ["part", "file", "rows", "nodes", "sha256"]
        return f"{self!r}\n{format_table(head, rows, left=['file', 'sha256'])}{more}"


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split(",")) if names else ()


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError(f"{value!r} is not an integer from 0 to 2**62 - 1")
    return value


def _checked(row: dict[str, Any], of: type[Any]) -> dict[str, Any]:
    """Return the fields of a Part or Reading; raise ValueError if a value is invalid."""
    for name in ("first", "last", "first_id", "n_nodes", *(["span"] if "span" in row else [])):
        for value in row[name] if name == "span" else [row[name]] if name in row else []:
            _whole(value)
    for name in ("path", "kind", "sha256", "node_labels", "errors", *LATER):
        if name in row and type(row[name]) is not str:
            raise ValueError(f"{row[name]!r} is not a string")
    for name in ("smiles_column", "target_column"):
        if type(row.get(name)) not in (str, type(None)):
            raise ValueError(f"{row[name]!r} is not the name of a column")
    if of is Part and (row["target"] not in TARGETS or len(row["span"]) != 2 or row["last"] < row["first"]):
        raise ValueError(f"invalid part: {row}")
    return row
