"""partition: cut files of graphs into parts, by their contents alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from propkernels._utils.checks import check_choice, check_integer
from propkernels._utils.progress import ProgressBar
from propkernels._utils.typing import PathLike
from propkernels.convert.atoms import VIEWS
from propkernels.convert.parquet import has_graphs
from propkernels.datasets.dataset import PLAIN_NAME, data_folder, find_in, home_expanded
from propkernels.datasets.graph_tables import is_edge_table
from propkernels.datasets.reading import Reading as SourceReading
from propkernels.scale.plan import FORMAT, Part, Plan, Reading
from propkernels.scale.reading_parts import FORMATS

ATOM_LABELS = ",".join(VIEWS)
KINDS = {
    ".parquet": "parquet",
    ".zip": "tu",
    ".csv": "table",
    ".tsv": "table",
    ".smi": "smiles",
    ".smiles": "smiles",
    ".sdf": "sdf",
}


def partition(
    source: PathLike | Sequence[PathLike],
    nodes_per_part: int = 2_000_000,
    *,
    smiles_column: str | None = None,
    target_column: str | None = None,
    node_labels: str = ATOM_LABELS,
    errors: str = "raise",
) -> Plan:
    r"""Plan how a database of graphs in files is cut into parts.

    The plan depends only on the contents of the files, so it is the same for every run and every executor. Of
    a Parquet file, only the sizes of the graphs are decoded, and its bytes are hashed; tables are read line
    by line. No file is held in memory as a whole.

    Parameters
    ----------
    source : str, path or sequence of them
        Parquet files (see :meth:`GraphDatabase.to_parquet`), TU folders or zips, CSV, TSV, Parquet, SDF or
        SMI files of molecules, folders of such files, or lists of these. Files in a folder are sorted by
        name. Other files and folders that :func:`propkernels.datasets.open_source` reads are read at once.
    nodes_per_part : int, default=2,000,000
        Maximum number of nodes of a part (graphs are never cut). Parts of Parquet files are runs of whole row
        groups if these are small enough. For molecules, the number of atoms is estimated from the SMILES.
    smiles_column, target_column : str, optional
        Columns of tables; by default, columns with common names.
    node_labels : str, default="symbol,invariants,pharmacophore"
        Labels of atoms, see :func:`from_smiles`; several are separated by commas. By default those of
        :class:`MoleculesToGraphs` and of the command line.
    errors : {"raise", "skip", "empty"}, default="raise"
        Whether an invalid SMILES makes its part fail, is left out, or is a graph without nodes. Ids of other
        graphs do not change.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError, OSError
        If a file is missing or invalid; the message names the file and the fault.

    See Also
    --------
    featurize : Compute features of all parts, and write them to files.
    propkernels.scale.Plan : Saved as JSON, and printed as a table.

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(1000, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data.graphs.to_parquet(f"{folder}/graphs.parquet", row_group_size=100)
    ...     plan = pk.partition(folder, nodes_per_part=10_000)
    >>> plan
    Plan(1 file, 4 parts, 1,000 graphs, 25,277 nodes)
    >>> [(part.first, part.last) for part in plan]
    [(0, 300), (300, 600), (600, 900), (900, 1000)]
    """
    limit = check_integer(nodes_per_part, "nodes_per_part", 1)
    check_choice(errors, ("raise", "skip", "empty"), "errors")
    return _plan(source, limit, Reading(smiles_column, target_column, node_labels, errors))


def plan_sources(source: Any, nodes_per_part: int, how: SourceReading, has_names: bool = False) -> Plan:
    """Return the plan of files that are read with the options of :func:`open_source`.

    Parameters
    ----------
    source : str, path or sequence of them
    nodes_per_part : int
    how : SourceReading
    has_names : bool, default=False
        Whether the values of ``id_column`` are used.

    Raises
    ------
    ValueError
        If an option cannot be used part by part.
    """
    remedy = "read the file by open_source, and use the Parquet file that to_parquet writes"
    if len(how.target_columns) > 1:
        raise ValueError(f"one --target is possible for files that are read part by part: {remedy}")
    if (how.id_column and not has_names) or how.edge_labels:
        option = "--edge-labels" if how.edge_labels else "--id-column"
        raise ValueError(f"{option} does not apply to files that are read part by part: {remedy}")
    labels = ",".join(how.node_labels or how.atom_labels)
    target = how.target_columns[0] if how.target_columns else None
    standard, described = ",".join(how.standardize), ",".join(how.descriptors)
    name = how.id_column or ""
    reading = Reading(how.smiles_column, target, labels, how.errors, standard, described, name)
    return _plan(source, nodes_per_part, reading)


def _plan(source: Any, limit: int, reading: Reading) -> Plan:
    files = list(_files(source))
    with ProgressBar("Planning", total=len(files)) as bar:
        surveys = []
        for kind, path in files:
            surveys.append(FORMATS[kind].survey(path, reading, limit))
            bar.step()
    target = _common_target([survey.target for survey in surveys])
    parts: list[Part] = []
    n_graphs = 0
    for (kind, path), survey in zip(files, surveys, strict=True):
        how = replace(reading, target_column=survey.target_column or reading.target_column)
        for piece in survey.pieces:
            place = (str(path), kind, piece.first, piece.last, n_graphs)
            parts.append(Part(*place, piece.n_nodes, piece.sha256, piece.span, target, how))
            n_graphs += piece.last - piece.first
    if not parts:
        raise ValueError(f"no graphs were found in {', '.join(str(path) for _, path in files[:3])}")
    return Plan(tuple(parts), limit)


def _common_target(kinds: list[str | None]) -> str | None:
    """Return a type that holds the targets of all files, or None without targets."""
    types = {kind for kind in kinds if kind is not None}
    if not types or len(types) == 1:
        return next(iter(types), None)
    if types == {"int64", "double"}:
        return "double"
    if "list<double>" in types:
        raise ValueError("some files have one target per graph and others several: make a plan for each")
    return "string"


def _files(source: Any) -> Iterator[tuple[str, Path]]:
    """Yield kind and absolute path of each file, in the order of the sources, sorted by name in folders."""
    if not isinstance(source, (str, os.PathLike)):
        items = list(source)
        if not items:
            raise ValueError("partition needs at least one file or folder, got an empty list")
        for item in items:
            yield from _files(item)
        return
    path = Path(os.path.abspath(home_expanded(source)))
    if not path.exists():
        path = _by_name(str(source)) or path
    if not path.exists():
        raise FileNotFoundError(f"the file or folder {path} does not exist")
    if path.is_dir():
        yield from list(_in_folder(path)) or [("source", path)]
    else:
        yield _kind(path), path


def _by_name(name: str) -> Path | None:
    """Return the TU zip or folder of a name in the data folder."""
    return find_in(data_folder(), name) if PLAIN_NAME.fullmatch(name) else None


def _kind(path: Path) -> str:
    """Return the format of a file; tables of edges are read at once."""
    from propkernels.datasets.sources import reader_of

    reader_of(path)  # raises for unknown suffixes
    suffix = path.suffix.lower()
    if KINDS.get(suffix) == "table" and is_edge_table(path):
        return "source"
    if suffix == ".parquet" and not has_graphs(path):
        return "parquet table"
    return KINDS.get(suffix, "source")


def _in_folder(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield kind and path of the files of a folder and its subfolders; output folders are skipped."""
    if any(folder.glob("*_A.txt")):
        yield "tu", folder
        return
    if _is_output(folder):
        return
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _in_folder(path)
        elif path.suffix.lower() in KINDS and path.is_file():
            yield _kind(path), path


def _is_output(folder: Path) -> bool:
    plan = folder / "plan.json"
    if not plan.is_file():
        return False
    with open(plan, "rb") as stream:
        return FORMAT.encode() in stream.read(200)
