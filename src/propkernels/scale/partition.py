"""partition: cut files of graphs into parts, by their contents alone; iter_part: read a part."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from propkernels._utils.checks import check_integer, kind_of
from propkernels._utils.progress import LOG, ProgressBar
from propkernels._utils.safe_files import open_regular
from propkernels._utils.typing import PathLike
from propkernels.convert.parquet import has_graphs
from propkernels.convert.rdkit import VIEWS
from propkernels.datasets.dataset import PLAIN_NAME, data_folder, find_in, home_expanded
from propkernels.datasets.tables import Reading
from propkernels.scale.opened import MANIFEST
from propkernels.scale.readers import FORMATS, GraphBlock, Part, Plan

Files = PathLike | Sequence[PathLike]
TABLES = (".csv", ".tsv", ".smi", ".smiles", ".sdf")
KINDS = {".parquet": "parquet", ".zip": "tu", **dict.fromkeys(TABLES, "table")}
REMEDY = "write its graphs to a Parquet file, open_source(path).graphs.to_parquet(file)"


def partition(
    source: Files,
    nodes_per_part: int = 2_000_000,
    *,
    smiles_column: str | None = None,
    target_column: str | None = None,
    id_column: str | None = None,
    node_labels: str = ",".join(VIEWS),
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
        name.
    nodes_per_part : int, default=2,000,000
        Maximum number of nodes of a part (graphs are never cut). Parts of Parquet files are runs of whole row
        groups if these are small enough. For molecules, the number of atoms is estimated from the SMILES.
    smiles_column, target_column, id_column : str, optional
        Columns of tables; by default, columns with common names. The values of ``id_column`` are kept as
        ``names`` of features.
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

    Examples
    --------
    >>> import tempfile, propkernels as pk
    >>> data = pk.datasets.make_molecules(1000, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data.graphs.to_parquet(f"{folder}/graphs.parquet", row_group_size=100)
    ...     plan = pk.scale.partition(folder, nodes_per_part=10_000)
    >>> plan
    Plan(1 file, 4 parts, 1,000 graphs, 25,277 nodes)
    >>> [(part.first, part.last) for part in plan]
    [(0, 300), (300, 600), (600, 900), (900, 1000)]
    """
    targets = () if target_column is None else (target_column,)
    labels = tuple(node_labels.split(","))
    reading = Reading(smiles_column, targets, id_column, atom_labels=labels, errors=errors)
    return plan_sources(source, check_integer(nodes_per_part, "nodes_per_part", 1), reading)


def plan_sources(source: Files, nodes_per_part: int, how: Reading) -> Plan:
    """Return the plan of files that are read with the options of :func:`open_source`.

    Parameters
    ----------
    source : str, path or sequence of them
    nodes_per_part : int
    how : Reading

    Raises
    ------
    ValueError
        If an option cannot be used part by part.
    """
    if len(how.target_columns) > 1:
        raise ValueError(f"one --target is possible for files that are read part by part: {REMEDY}")
    if how.edge_labels:
        raise ValueError(f"--edge-labels does not apply to files that are read part by part: {REMEDY}")
    labels = how.node_labels or how.atom_labels
    how = replace(how, node_labels=(), atom_labels=labels, target_required=False, n_jobs=None)
    files = list(_files(source))
    surveys = []
    with ProgressBar("Planning", total=len(files)) as bar:
        for kind, path in files:
            stamp = _stamp(path)
            surveys.append((stamp, _content_digest(path), FORMATS[kind].survey(path, how, nodes_per_part)))
            bar.step()
    target = _common_target({found.target for _, _, found in surveys} - {None})
    parts: list[Part] = []
    n_graphs = 0
    for (kind, path), (stamp, sha256, found) in zip(files, surveys, strict=True):
        columns = how.target_columns if found.target_column is None else (found.target_column,)
        own = replace(how, target_columns=columns)
        for first, last, n_nodes, span in found.pieces:
            place = (str(path), kind, first, last, n_graphs, n_nodes, span)
            parts.append(Part(*place, target, own, sha256, stamp))
            n_graphs += last - first
    if not parts:
        raise ValueError(f"no graphs were found in {', '.join(str(path) for _, path in files[:3])}")
    LOG.info("plan: %d parts of %d files, %d graphs", len(parts), len(files), n_graphs)
    return Plan(tuple(parts))


def _members(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def _stamp(path: Path) -> tuple[int, int]:
    """Return the size of a file or folder, and the time of its last change."""
    found = [file.stat() for file in _members(path)]
    return sum(one.st_size for one in found), max((one.st_mtime_ns for one in found), default=0)


def _content_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files of a folder."""
    digest = hashlib.sha256()
    for file in _members(path):
        with open_regular(file) as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        name = file.relative_to(path).as_posix() if path.is_dir() else ""
        digest.update(f"{name} {content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _common_target(types: set[str | None]) -> str | None:
    """Return a type that holds the targets of all files, or None without targets."""
    if len(types) < 2:
        return next(iter(types), None)
    if types == {"int64", "double"}:
        return "double"
    if "list<double>" in types:
        raise ValueError("some files have one target per graph and others several: make a plan for each")
    return "string"


def _files(source: Files) -> Iterator[tuple[str, Path]]:
    """Yield kind and absolute path of each file, in the order of the sources, sorted by name in folders."""
    if hasattr(source, "columns") or isinstance(source, Mapping):
        raise TypeError(f"partition reads files, got {kind_of(source)}: write it to a Parquet file first")
    if not isinstance(source, (str, os.PathLike)):
        items = list(source)
        if not items:
            raise ValueError("partition needs at least one file or folder, got an empty list")
        for item in items:
            yield from _files(item)
        return
    path = Path(os.path.abspath(home_expanded(source)))
    if not path.exists() and PLAIN_NAME.fullmatch(str(source)):
        path = find_in(data_folder(), str(source)) or path
    if not path.exists():
        raise FileNotFoundError(f"the file or folder {path} does not exist")
    if not path.is_dir():
        yield _kind(path), path
        return
    found = list(_in_folder(path))
    if not found:
        raise ValueError(f"the folder {path} has no files that can be read part by part: {REMEDY}")
    yield from found


def _kind(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in KINDS:
        raise ValueError(f"{path} is not read part by part, only {', '.join(KINDS)} files are: {REMEDY}")
    return "table" if suffix == ".parquet" and not has_graphs(path) else KINDS[suffix]


def _in_folder(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield kind and path of the files of a folder and its subfolders; folders of features are skipped."""
    if any(folder.glob("*_A.txt")):
        yield "tu", folder
        return
    if (folder / MANIFEST).exists():
        return
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _in_folder(path)
        elif path.suffix.lower() in KINDS and path.is_file():
            yield _kind(path), path


def iter_part(part: Part) -> Iterator[GraphBlock]:
    """Read the graphs of a part in blocks of bounded size.

    Parameters
    ----------
    part : Part

    Yields
    ------
    GraphBlock
        Graphs, target (a list, or None) and ids.

    Raises
    ------
    ValueError
        If the file has changed since the plan was made.
    """
    path = Path(part.path)
    if not path.exists():
        raise FileNotFoundError(f"the file {path} is missing: restore it, or make a new plan")
    if _stamp(path) != part.stamp:
        raise ValueError(f"{path} has changed since the plan was made: make a new plan")
    yield from FORMATS[part.kind].read(part)
