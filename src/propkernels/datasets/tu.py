"""Reader and writer of the text layout of the TU Dortmund collection, in zips and folders."""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from propkernels._utils.arrays import check_declared, offsets
from propkernels._utils.cells import is_missing
from propkernels._utils.checks import reason_of, shown
from propkernels._utils.optional import import_optional
from propkernels._utils.safe_files import atomic_write, open_regular, read_regular, zip_writer
from propkernels._utils.typing import Target
from propkernels.convert.check import check_graphs
from propkernels.convert.contacts import from_contacts
from propkernels.datasets.dataset import Dataset, check_name
from propkernels.graphs import GraphDatabase, GridDatabase, LabelColumn
from propkernels.graphs.container import count
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.labels import UNOBSERVED, labels_of_rows

MOST_MEMBERS = 10_000
MOST_BYTES = 2**33
MOST_BYTES_UNSUSPECTED = 2**26
MOST_EXPANSION = 100
# With these methods zipfile unpacks only as many bytes as requested; with bzip2 and LZMA it unpacks all.
BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip; raise ValueError for members that point outside and for excessive sizes.

    Parameters
    ----------
    path : Path
        Path of the zip.

    Yields
    ------
    zipfile.ZipFile

    Raises
    ------
    ValueError
        If the file is not a zip, is damaged, or is unsafe; this is found before unpacking.
    """
    with open_regular(path) as stream:
        try:
            archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
            text = f"{path.name} is not a zip file, or it is damaged ({reason_of(error)})"
            raise ValueError(text) from None
        check_members(archive.infolist(), path)
        yield archive


def check_members(members: Iterable[zipfile.ZipInfo], path: Path) -> None:
    """Validate names and sizes of all members by the directory of the zip."""
    members = list(members)
    for member in members:
        if points_outside(member.filename):
            raise ValueError(f"{path.name} has a member that points outside its folder: {member.filename!r}")
        if member.compress_type not in BOUNDED or member.flag_bits & ENCRYPTED:
            raise ValueError(
                f"{path.name}: member {member.filename!r} is encrypted, or packed by another method than "
                "'stored' or 'deflated'"
            )
    if len(members) > MOST_MEMBERS:
        raise ValueError(f"{path.name} has {len(members)} members, more than the {MOST_MEMBERS} allowed")
    total, packed = sum(member.file_size for member in members), path.stat().st_size
    if total > MOST_BYTES:
        raise ValueError(f"{path.name} would grow to {total} bytes, more than the {MOST_BYTES} allowed")
    if total > max(MOST_BYTES_UNSUSPECTED, MOST_EXPANSION * packed):
        raise ValueError(
            f"{path.name} would grow from {packed} to {total} bytes, "
            f"more than the {MOST_EXPANSION} times its size that are allowed"
        )


def points_outside(member: str) -> bool:
    """Whether a member's name is absolute, has a drive letter or climbs up.

    Examples
    --------
    >>> [points_outside(name) for name in ("X/X_A.txt", "../X_A.txt", "/etc/X", "C:X")]
    [False, True, True, True]
    """
    name = member.replace("\\", "/")
    return name.startswith("/") or bool(re.match("[A-Za-z]:", name)) or ".." in name.split("/")


def read_member(archive: zipfile.ZipFile, member: str, path: Path) -> bytes:
    """Read one member, and no more bytes than the directory of the zip says; its checksum is verified."""
    try:
        with archive.open(member) as stream:
            return stream.read(archive.getinfo(member).file_size + 1)
    except DAMAGE as error:
        raise ValueError(f"{path.name}: member {member} cannot be read ({reason_of(error)})") from None


ADJACENCY = "_A.txt"


def read_files(path: Path, name: str | None = None) -> tuple[str, dict[str, bytes]]:
    """Return the name of a data set and the contents of all its text files.

    Parameters
    ----------
    path : Path
        Folder or zip with ``NAME_A.txt`` and the other files, at the top or in a folder inside it.
    name : str, optional
        The NAME; by default that of the only file that ends in ``_A.txt``.

    Returns
    -------
    name : str
    files : dict of bytes
        Contents by kind: "A", "graph_indicator", ...; other files, such as "README", by full name.
    """
    if path.is_dir():
        entries = [p.relative_to(path).as_posix() for p in [*path.glob("*.txt"), *path.glob("*/*.txt")]]
        name, chosen = choose_files(entries, name, path)
        return name, {kind: read_regular(path / entry, path, MOST_BYTES) for kind, entry in chosen.items()}
    if not path.exists():
        raise FileNotFoundError(f"the folder or zip {path} does not exist")
    with open_archive(path) as archive:
        name, chosen = choose_files(archive.namelist(), name, path)
        return name, {kind: read_member(archive, entry, path) for kind, entry in chosen.items()}


def choose_files(entries: Iterable[str], name: str | None, path: Path) -> tuple[str, dict[str, str]]:
    """Return the name of the only data set among the entries, and its files by kind."""
    own_names = {PurePosixPath(entry): entry for entry in entries}  # "./X" is X
    texts = [text for text in own_names if _is_text(text)]
    wanted = ADJACENCY if name is None else name + ADJACENCY
    found = [text for text in texts if (text.name == wanted if name else text.name.endswith(wanted))]
    if not found:
        raise ValueError(f"{path.name} holds no file {'NAME' if name is None else ''}{wanted}")
    if len(found) > 1:
        several = ", ".join(sorted(map(str, found)))
        raise ValueError(f"{path.name} holds several data sets ({several}): name the one to read")
    name = found[0].name.removesuffix(ADJACENCY)
    beside = [text for text in texts if text.parent == found[0].parent]
    chosen = _belonging(beside, name)
    return name, {text.stem.removeprefix(f"{name}_"): own_names[text] for text in chosen}


def _belonging(texts: list[PurePosixPath], name: str) -> list[PurePosixPath]:
    """Return the files of a set and readme files, without files of another set NAME_full."""
    names = [text.name.removesuffix(ADJACENCY) for text in texts if text.name.endswith(ADJACENCY)]
    longer = tuple(f"{other}_" for other in names if other.startswith(f"{name}_"))
    own = [text for text in texts if text.name.startswith(f"{name}_")]
    readme = [text for text in texts if "readme" in text.name.lower() and text not in own]
    return [text for text in own if not (longer and text.name.startswith(longer))] + readme


def _is_text(entry: PurePosixPath) -> bool:
    hidden = entry.name.startswith(".") or entry.parts[:1] == ("__MACOSX",)
    return entry.suffix == ".txt" and not hidden


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATORS_TO_BLANKS = bytes.maketrans(b",;\t", b"   ")
LARGEST = np.iinfo(np.int64).max


def clean_text(data: bytes) -> bytes:
    """Return text without byte order mark and trailing empty lines, with newlines as line ends."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.removeprefix(BYTE_ORDER_MARK).rstrip()


def integer_table(data: bytes, file: str, columns: int | None = None) -> NDArray[np.int64]:
    r"""Return a table of whole numbers, one row per line.

    Parameters
    ----------
    data : bytes
        Contents of the file.
    file : str
        Name of the file, for error messages.
    columns : int, optional
        Number of values on each line; by default that of the first line.

    Returns
    -------
    ndarray of int64, shape (lines, columns)

    Raises
    ------
    ValueError
        If a line has a different number of fields, or a field is not a whole number.

    Examples
    --------
    >>> integer_table(b"2, 1\n1,2\n", "X_A.txt")
    array([[2, 1], [1, 2]])
    """
    return _table(data, file, columns, np.dtype(np.int64))


def float_table(data: bytes, file: str) -> NDArray[np.float64]:
    """Return a table of real numbers, one row per line; like :func:`integer_table`, "nan" allowed."""
    return _table(data, file, None, np.dtype(np.float64))


def text_lines(data: bytes, file: str) -> list[str]:
    """Return lines of text, stripped of blanks; raise ValueError for bytes that are not UTF-8."""
    try:
        text = clean_text(data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} cannot be read: {reason_of(error)}") from None
    return [line.strip() for line in text.split("\n")] if text else []


def _table(data: bytes, file: str, columns: int | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    text = clean_text(data).translate(SEPARATORS_TO_BLANKS).rstrip()
    if not text:
        return np.empty((0, columns or 1), dtype=dtype)
    width = columns or max(1, len(text.split(b"\n", 1)[0].split()))
    n_lines = text.count(b"\n") + 1
    try:
        values: NDArray[Any] = np.loadtxt(io.BytesIO(text), dtype, comments=None, ndmin=2)
    except ValueError:
        values = np.empty(0)
    if values.shape != (n_lines, width) or np.isinf(values).any():
        _name_the_fault(text, file, width, dtype)
    return values


def _name_the_fault(text: bytes, file: str, width: int, dtype: np.dtype[Any]) -> NoReturn:
    kind = "a whole number of 64 bits" if dtype.kind == "i" else "a finite number"
    for number, line in enumerate(text.split(b"\n"), start=1):
        fields = line.split()
        if len(fields) != width:
            over_time = file.endswith("_node_labels.txt") and len(fields) % 2 == width % 2 == 0
            hint = " (labels over time are read by datasets.read_temporal)" if over_time else ""
            raise ValueError(
                f"{file}, line {number} has {count(len(fields), 'value')} instead of {width}{hint}"
            )
        for item in fields:
            if not _is_number(item, dtype):
                value = item[:40].decode("utf-8", errors="replace")
                raise ValueError(f"{file}, line {number}: {value!r} is not {kind}")
    raise ValueError(f"{file} is not a table of numbers with {width} on each line")


def _is_number(item: bytes, dtype: np.dtype[Any]) -> bool:
    """Return whether a field is a number within range, written without underscores."""
    try:
        value = (int if dtype.kind == "i" else float)(item.decode("ascii"))
    except ValueError:
        return False
    return b"_" not in item and (abs(value) <= LARGEST if dtype.kind == "i" else not np.isinf(value))


INDICATOR = "graph_indicator"
KNOWN = [
    "A",
    "graph_indicator",
    "graph_labels",
    "graph_attributes",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
    "graph_ids",
    "node_label_names",
    "edge_label_names",
    "graph_label_names",
]
NODE_EXTRAS = ("coordinates", "normals")


def read_tu(
    path: str | os.PathLike[str], name: str | None = None, *, target_required: bool = True
) -> Dataset:
    """Read a data set in the TU text layout from a folder or a zip.

    The layout is ``NAME_A.txt`` (edges), ``NAME_graph_indicator.txt`` (the graph of each node),
    ``NAME_graph_labels.txt`` or ``NAME_graph_attributes.txt`` (the target), and optional node and edge
    labels and attributes. An edge that is listed in one direction is directed. Repeated lines are an edge of
    weight 1, or parallel edges if their labels or attributes differ. Nodes are sorted by graph. Several
    columns of labels become tuples; a node or edge label of -1 means "not observed". Line i of the optional
    files ``NAME_node_label_names.txt``, ``NAME_edge_label_names.txt`` and ``NAME_graph_label_names.txt`` is
    the name of label i; ``NAME_graph_ids.txt`` contains the ids of the graphs (:func:`write_tu` writes these
    files).

    Parameters
    ----------
    path : str or path
        Folder or zip; a zip is not unpacked to disk.
    name : str, optional
        The NAME; required only if the path contains several sets.
    target_required : bool, default=True
        Whether graph labels or attributes are required; without them, the target has no columns.

    Returns
    -------
    Dataset
        ``extras`` contains "coordinates" and "normals" (one row per node), "graph_attributes" (if there are
        also graph labels), "smiles" (one string per graph), and the lines of any other ``NAME_*.txt``.

    Raises
    ------
    ValueError
        If files are damaged or inconsistent; the message names the file and the line.
    """
    name, files = read_files(Path(path), name)
    return TuFiles(name, files, target_required).assemble()


@dataclass(frozen=True)
class TuFiles:
    """Contents of the files of one data set, by kind ("A", "graph_indicator", ...)."""

    name: str
    files: dict[str, bytes]
    target_required: bool = True

    def file(self, kind: str) -> str:
        """Return the name of the file of a kind."""
        return f"{self.name}_{kind}.txt"

    def assemble(self) -> Dataset:
        """Return the data set of the files."""
        target = self.target()
        graph = self.graph_of_nodes(len(target))
        order = np.argsort(graph, kind="stable")
        ends, n_nodes = self.ends(graph), len(graph)
        place = np.empty(n_nodes, dtype=np.int64)
        place[order] = np.arange(n_nodes)
        edge_labels = self.rows("edge_labels", "A", len(ends), integers=True)
        labels = self.rows("node_labels", INDICATOR, n_nodes, integers=True)
        attributes = self.rows("node_attributes", INDICATOR, n_nodes)
        graphs = GraphDatabase(
            coo_array((np.ones(len(ends)), tuple(place[ends].T)), shape=(n_nodes, n_nodes)),
            offsets(np.bincount(graph, minlength=len(target))),
            None if labels is None else self.named("node_labels", labels_of_rows(labels[order])),
            None if attributes is None else attributes[order],
            None if edge_labels is None else self.named("edge_labels", labels_of_rows(edge_labels)),
            self.rows("edge_attributes", "A", len(ends)),
            self.ids(len(target)),
        )
        graphs = graphs if graphs.is_unweighted else graphs.with_weights(None)  # repeated lines do not count
        names = tuple(self.names("graph_labels") or ())
        return Dataset(self.name, graphs, target, names, self.extras(order, len(target)), self.description())

    def integers(self, kind: str, columns: int | None = None) -> NDArray[np.int64]:
        """Return the whole numbers of a required file."""
        if kind not in self.files:
            raise ValueError(f"the data set {self.name} has no file {self.file(kind)}")
        return integer_table(self.files[kind], self.file(kind), columns)

    def floats(self, kind: str) -> NDArray[np.float64]:
        """Return the real numbers of a file."""
        return float_table(self.files[kind], self.file(kind))

    def target(self) -> NDArray[Any]:
        """Return graph labels, or graph attributes if there are no graph labels."""
        if not self.target_required and not {"graph_labels", "graph_attributes"} & set(self.files):
            graph = self.integers(INDICATOR, columns=1)
            n_graphs = int(graph.max(initial=0))
            check_declared(n_graphs, len(graph), "graphs", f"lines of {self.file(INDICATOR)}")
            return np.empty((n_graphs, 0))
        is_regression = self.target_kind == "graph_attributes"
        table = self.floats("graph_attributes") if is_regression else self.integers("graph_labels")
        if not len(table):
            raise ValueError(f"{self.file(self.target_kind)} is empty: it has no graphs")
        return table[:, 0] if table.shape[1] == 1 else table

    @property
    def target_kind(self) -> str:
        """Kind of the file of the target: graph labels if present, else graph attributes."""
        is_regression = "graph_attributes" in self.files and "graph_labels" not in self.files
        return "graph_attributes" if is_regression else "graph_labels"

    def graph_of_nodes(self, n_graphs: int) -> NDArray[np.int64]:
        """Return the graph of each node, counted from 0."""
        graph = self.integers(INDICATOR, columns=1)[:, 0]
        file, labels = self.file(INDICATOR), self.file(self.target_kind)
        wrong = np.flatnonzero((graph < 1) | (graph > n_graphs))
        if wrong.size:
            line, named = int(wrong[0]), int(graph[wrong[0]])
            known = f"{labels} has {n_graphs} lines" if named > 0 else "graphs are counted from 1"
            raise ValueError(f"{file}, line {line + 1} names graph {named}, but {known}")
        last = int(graph.max(initial=0))
        if last < n_graphs:
            raise ValueError(f"{labels} has {n_graphs} lines, but the last graph that {file} names is {last}")
        return graph - 1

    def rows(self, kind: str, other: str, n_rows: int, integers: bool = False) -> NDArray[Any] | None:
        """Return the numbers of an optional file that has as many lines as another one."""
        if kind not in self.files:
            return None
        table: NDArray[Any] = self.integers(kind) if integers else self.floats(kind)
        self.check_lines(kind, len(table), other, n_rows)
        return table

    def names(self, kind: str) -> list[str] | None:
        """Return names of labels by number, or None."""
        file = f"{kind.removesuffix('s')}_names"
        return text_lines(self.files[file], self.file(file)) if file in self.files else None

    def named(self, kind: str, column: LabelColumn) -> LabelColumn:
        """Return labels replaced by their names, if these exist."""
        names = self.names(kind)
        if names is None:
            return column
        file = self.file(f"{kind.removesuffix('s')}_names")
        used = [names[value] for value in column.values if isinstance(value, int) and 0 <= value < len(names)]
        if len(set(used)) < len(used):
            raise ValueError(f"{file} gives two labels the same name")
        for value in column.values:
            if not (isinstance(value, int) and 0 <= value < len(names)):
                raise ValueError(f"{file} has {len(names)} lines, but a label is {value}, counted from 0")
        return LabelColumn(column.ids, tuple(names[int(str(value))] for value in column.values))

    def ids(self, n_graphs: int) -> list[Any] | None:
        """Return ids of the graphs, as integers if all are integers; None without ids."""
        if "graph_ids" not in self.files:
            return None
        lines = text_lines(self.files["graph_ids"], self.file("graph_ids"))
        self.check_lines("graph_ids", len(lines), self.target_kind, n_graphs)
        numbers = all(re.fullmatch(r"-?\d{1,18}", line) for line in lines)
        return [int(line) for line in lines] if numbers else lines

    def ends(self, graph: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the nodes of each edge, counted from 0; both must exist and belong to one graph."""
        ends = self.integers("A", columns=2) - 1
        n_nodes = len(graph)
        wrong = np.flatnonzero((ends < 0) | (ends >= n_nodes))
        if wrong.size:
            line, named = int(wrong[0]) // 2, int(ends.ravel()[wrong[0]]) + 1
            raise ValueError(
                f"{self.file('A')}, line {line + 1} names node {named}, but {self.file(INDICATOR)} "
                f"has the nodes 1 to {n_nodes}"
            )
        graphs = graph[ends]
        crossing = np.flatnonzero(graphs[:, 0] != graphs[:, 1])
        if crossing.size:
            line = int(crossing[0])
            (u, v), (g, h) = ends[line] + 1, graphs[line] + 1
            raise ValueError(
                f"{self.file('A')}, line {line + 1} joins node {u} of graph {g} and node {v} of graph {h}: "
                "edges must stay inside one graph"
            )
        return ends

    def check_lines(self, kind: str, n_lines: int, other: str, n_other: int) -> None:
        """Raise ValueError if two files have different numbers of lines."""
        if n_lines != n_other:
            raise ValueError(f"{self.file(kind)} has {n_lines} lines, but {self.file(other)} has {n_other}")

    def extras(self, order: NDArray[np.int64], n_graphs: int) -> dict[str, Any]:
        """Return all data other than graphs and target; nodes are in the given order."""
        others = set(self.files) - {*KNOWN, *NODE_EXTRAS}
        extras: dict[str, Any] = {
            kind: text_lines(self.files[kind], self.file(kind))
            for kind in sorted(others)
            if "readme" not in kind.lower()
        }
        for kind in NODE_EXTRAS:
            rows = self.rows(kind, INDICATOR, len(order))
            extras |= {} if rows is None else {kind: rows[order]}
        if "graph_attributes" in self.files and self.target_kind == "graph_labels":
            extras["graph_attributes"] = self.floats("graph_attributes")
        for kind in {"smiles", "graph_attributes"} & set(extras):
            self.check_lines(kind, len(extras[kind]), self.target_kind, n_graphs)
        return extras

    def description(self) -> str:
        """Return the text of the README files."""
        texts = [self.files[kind] for kind in sorted(self.files) if "readme" in kind.lower()]
        return "\n\n".join(text.decode("utf-8", errors="replace").strip() for text in texts)


def read_temporal(path: str | os.PathLike[str], name: str | None = None) -> Dataset:
    """Read a data set of graphs in time from a folder or a zip.

    The layout is that of :func:`read_tu`, with one time per line of ``NAME_A.txt`` in
    ``NAME_edge_attributes.txt``, and in line i of ``NAME_node_labels.txt`` the labels of vertex i over time:
    "time, label, time, label, ...".

    Parameters
    ----------
    path : str or path
        Folder or zip; a zip is not unpacked to disk.
    name : str, optional
        The NAME; required only if the path contains several sets.

    Returns
    -------
    Dataset
        Graphs in time, as :func:`propkernels.from_contacts` makes them.

    Raises
    ------
    ValueError
        If files are damaged or inconsistent; the message names the file and the line.
    """
    pd = import_optional("pandas", extra="pandas", purpose="graphs in time need")
    name, contents = read_files(Path(path), name)
    files = TuFiles(name, contents)
    target = files.target()
    graph = files.graph_of_nodes(len(target))
    if "edge_attributes" not in contents:
        raise ValueError(f"{files.file('edge_attributes')} is missing: it has the times of the contacts")
    ends, times = files.ends(graph), files.floats("edge_attributes")
    if len(times) != len(ends):
        raise ValueError(f"{files.file('edge_attributes')} has {len(times)} times for {len(ends)} contacts")
    contacts = pd.DataFrame(
        {"graph": graph[ends[:, 0]], "source": ends[:, 0], "target": ends[:, 1], "time": times[:, 0]}
    )
    graphs = from_contacts(
        contacts,
        pd.DataFrame({"graph": np.arange(len(target))}),
        node_labels=_labels_over_time(pd, files, graph) if "node_labels" in contents else None,
    )
    return Dataset(name, graphs.with_ids(None), target, tuple(files.names("graph_labels") or ()))


def _labels_over_time(pd: Any, files: TuFiles, graph: NDArray[np.int64]) -> Any:
    """Return the table of labels over time."""
    lines = text_lines(files.files["node_labels"], files.file("node_labels"))
    if len(lines) != len(graph):
        raise ValueError(f"{files.file('node_labels')} has {len(lines)} lines for {len(graph)} vertices")
    rows: list[tuple[int, float, int]] = []
    for number, line in enumerate(lines):
        try:
            cells = line.split(",")
            pairs = list(zip(map(float, cells[::2]), map(int, cells[1::2]), strict=True))
        except ValueError:
            raise ValueError(
                f"{files.file('node_labels')}, line {number + 1}: expected "
                '"time, label, time, label, ...", with whole numbers as labels'
            ) from None
        rows += [(number, when, label) for when, label in pairs]
    table = pd.DataFrame(rows, columns=["node", "time", "label"])
    table["graph"] = graph[table["node"].to_numpy(dtype=np.int64)]
    return table


SAME_TIME = (1980, 1, 1, 0, 0, 0)  # a constant, so that equal graphs give equal zips


def write_tu(
    data: Dataset | Graphs,
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    target: Target | None = None,
    overwrite: bool = False,
) -> None:
    """Write graphs in the TU text layout, for ``read_tu`` and other tools.

    Text labels become numbers in sorted order, and their names are written to
    ``NAME_node_label_names.txt``; the same holds for edges and classes. Ids of graphs are written to
    ``NAME_graph_ids.txt``.

    Parameters
    ----------
    data : Dataset, GraphDatabase or sequence of graphs
    path : str or path
        Folder, or file that ends in ``.zip``.
    name : str, optional
        The NAME of the files; by default that of the Dataset, or of the path.
    target : sequence, optional
        Classes (whole numbers or texts) or numbers, one value or row per graph; by default that of the
        Dataset.
    overwrite : bool, default=False
        Whether to replace an existing set of this name.

    Raises
    ------
    ValueError
        If the layout does not support the data: weights other than 1 (make them an edge attribute, with
        ``graphs.with_edge_attributes(graphs.adjacency.data)``), graphs without nodes, labels that are neither
        whole numbers, texts nor tuples of whole numbers.
    FileExistsError
        If the set exists already.

    See Also
    --------
    read_tu : Read the layout.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(10, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pk.datasets.write_tu(data, f"{folder}/mine.zip", "MINE")
    ...     again = pk.datasets.read_tu(f"{folder}/mine.zip")
    >>> again.graphs == data.graphs
    True
    """
    place = Path(path)
    graphs, values, names = _parts(data, target)
    name = check_name(name or getattr(data, "name", None) or place.stem)
    files = _contents(graphs, values, names)
    if place.suffix == ".zip":
        _write_zip(place, name, files, overwrite)
    else:
        _write_folder(place, name, files, overwrite)


def _parts(data: Any, target: Any) -> tuple[GraphDatabase, Any, tuple[str, ...]]:
    names: tuple[str, ...] = ()
    if isinstance(data, Dataset):
        target, names = (data.target, data.target_names) if target is None else (target, ())
        data = data.graphs
    graphs = data.to_graphs() if isinstance(data, GridDatabase) else check_graphs(data)
    if target is not None and len(target) != len(graphs):
        raise ValueError(f"target has {len(target)} values for {len(graphs)} graphs")
    return graphs, None if target is None else np.asarray(target), names


def _contents(graphs: GraphDatabase, target: Any, names: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of the files by kind, edges last."""
    if not graphs.is_unweighted:
        raise ValueError(
            "the TU layout has no weights: write them as an edge attribute, "
            "graphs.with_edge_attributes(graphs.adjacency.data).with_weights(None)"
        )
    if (graphs.graph_sizes == 0).any():
        empty = int(np.flatnonzero(graphs.graph_sizes == 0)[0])
        raise ValueError(f"graph {empty} has no nodes, and the TU layout cannot hold such graphs")
    files = {"graph_indicator": _lines(graphs.graph_ids + 1)}
    files |= _target_files(target, names)
    files |= _label_files(graphs.label_column, "node_label")
    files |= _label_files(graphs.edge_label_column, "edge_label")
    for kind, rows in (
        ("node_attributes", graphs.node_attributes),
        ("edge_attributes", graphs.edge_attributes),
    ):
        files |= {} if rows is None else {kind: _lines(rows)}
    files |= {} if graphs.ids is None else {"graph_ids": _texts(graphs.ids.tolist(), "id")}
    return files | {"A": _lines(np.stack(graphs.adjacency.tocoo().coords, axis=1) + 1)}


def _target_files(target: Any, names: tuple[str, ...]) -> dict[str, str]:
    if target is None or target.size == 0:
        return {}
    if target.dtype.kind in "biu" and target.ndim == 1:
        files = {"graph_labels": _lines(target.astype(np.int64))}
        return files | ({"graph_label_names": _texts(names, "name of a class")} if names else {})
    if target.dtype.kind == "f" or target.ndim == 2:
        return {"graph_attributes": _lines(np.asarray(target, dtype=np.float64))}
    if is_missing(target).any():
        raise ValueError("the TU layout cannot hold missing classes: leave these graphs out, or use .parquet")
    classes, numbers = np.unique([str(value) for value in target.tolist()], return_inverse=True)
    return {"graph_labels": _lines(numbers), "graph_label_names": _texts(classes.tolist(), "name of a class")}


def _label_files(column: Any, kind: str) -> dict[str, str]:
    """Return the files of labels as numbers and of the names of text labels."""
    if column is None:
        return {}
    if not isinstance(column, LabelColumn):
        raise ValueError("the TU layout cannot hold label distributions: use LabelImputer, or save")
    values = column.values
    if all(isinstance(value, int) and -(2**63) < value < 2**63 for value in values):
        return {f"{kind}s": _lines(np.array([*values, UNOBSERVED], dtype=np.int64)[column.ids])}
    if all(isinstance(value, str) for value in values):
        order = sorted(range(len(values)), key=lambda i: values[i])  # type: ignore[arg-type, return-value]
        rank = np.full(len(values) + 1, UNOBSERVED)
        rank[order] = np.arange(len(order))
        names = _texts([values[i] for i in order], kind.replace("_", " "))
        return {f"{kind}s": _lines(rank[column.ids]), f"{kind}_names": names}
    are_rows = all(isinstance(value, tuple) and all(type(part) is int for part in value) for value in values)
    if column.observed.all() and are_rows and len(set(map(len, values))) == 1:  # type: ignore[arg-type]
        return {f"{kind}s": _lines(np.array(values, dtype=np.int64)[column.ids])}
    odd = next((v for v in values if not isinstance(v, int) or not -(2**63) < v < 2**63), None)
    raise ValueError(
        "the TU layout holds labels that are whole numbers of 64 bits, texts, or tuples of whole numbers, "
        f"got {shown(odd)}"
    )


def _texts(values: Iterable[Any], what: str) -> str:
    """Return one text per line; raise ValueError for a text that would be read back differently."""
    texts = [str(value) for value in values]
    for text in texts:
        if text != text.strip() or len(text.splitlines()) > 1 or not text:
            raise ValueError(f"the TU layout has one {what} per line, which {text!r} would break")
    return "\n".join(texts) + "\n"


def _lines(rows: NDArray[Any]) -> str:
    """Return numbers without rounding, one row per line."""
    if rows.ndim == 1:
        return "\n".join(map(repr, rows.tolist())) + "\n" if len(rows) else ""
    return "".join(", ".join(map(repr, row)) + "\n" for row in rows.tolist())


def _write_zip(path: Path, name: str, files: dict[str, str], overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists already: pass overwrite=True to replace it")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream, zip_writer(stream, zipfile.ZIP_DEFLATED) as archive:
        for kind, text in files.items():
            member = zipfile.ZipInfo(f"{name}/{name}_{kind}.txt", SAME_TIME)
            archive.writestr(member, text, zipfile.ZIP_DEFLATED)


def _write_folder(path: Path, name: str, files: dict[str, str], overwrite: bool) -> None:
    """Write the files, edges last, because a set without edges is ignored."""
    old = sorted(path.glob(f"{name}_*.txt")) if path.is_dir() else []
    if old and not overwrite:
        raise FileExistsError(f"{path} holds a set {name} already: pass overwrite=True to replace it")
    path.mkdir(parents=True, exist_ok=True)
    for kind in KNOWN:
        if overwrite and (path / f"{name}_{kind}.txt") in old:
            (path / f"{name}_{kind}.txt").unlink()
    for kind, text in files.items():
        with atomic_write(path / f"{name}_{kind}.txt", follow_links=False) as stream:
            stream.write(text.encode())
