"""partition: cut files of graphs into parts, by their contents alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from propkernels._utils.checks import check_choice, check_integer
from propkernels._utils.progress import ProgressBar
from propkernels._utils.typing import PathLike
from propkernels.datasets.dataset import home_expanded
from propkernels.scale.plan import FORMAT, Part, Plan, Reading
from propkernels.scale.reading_parts import FORMATS

KINDS = {
    ".parquet": "parquet",
    ".zip": "tu",
    ".csv": "table",
    ".tsv": "table",
    ".smi": "smiles",
    ".smiles": "smiles",
}


def partition(
    source: PathLike | Sequence[PathLike],
    nodes_per_part: int = 2_000_000,
    *,
    smiles_column: str | None = None,
    target_column: str | None = None,
    node_labels: str = "symbol",
    errors: str = "raise",
) -> Plan:
    r"""Plan how a database of graphs in files is cut into parts.

    The plan depends only on the contents of the files, so it is the same for every run and every executor. Of
    a Parquet file, only the sizes of the graphs are decoded, and its bytes are hashed; tables are read line
    by line. No file is held in memory as a whole.

    Parameters
    ----------
    source : str, path or sequence of them
        Parquet files (see :meth:`GraphDatabase.to_parquet`), TU folders or zips, CSV, TSV or SMI files of
        molecules, folders of such files, or lists of these. Files in a folder are sorted by name.
    nodes_per_part : int, default=2,000,000
        Maximum number of nodes of a part (graphs are never cut). Parts of Parquet files are runs of whole row
        groups if these are small enough. For molecules, the number of atoms is estimated from the SMILES.
    smiles_column, target_column : str, optional
        Columns of tables; by default, columns with common names.
    node_labels : str, default="symbol"
        Labels of atoms, see :func:`from_smiles`.
    errors : {"raise", "skip"}, default="raise"
        Whether an invalid SMILES makes its part fail or is left out. Ids of other graphs do not change.

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
    check_choice(errors, ("raise", "skip"), "errors")
    reading = Reading(smiles_column, target_column, node_labels, errors)
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
        for piece in survey.pieces:
            place = (str(path), kind, piece.first, piece.last, n_graphs)
            parts.append(Part(*place, piece.n_nodes, piece.sha256, piece.span, target, reading))
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
        raise FileNotFoundError(f"the file or folder {path} does not exist")
    if path.is_dir():
        files = list(_in_folder(path))
        if not files:
            raise ValueError(
                f"{path} holds no files of graphs: supported are {', '.join(KINDS)} and TU folders"
            )
        yield from files
    elif path.suffix.lower() not in KINDS:
        raise ValueError(f"{path} has an unsupported format: supported are {', '.join(KINDS)} and folders")
    else:
        yield KINDS[path.suffix.lower()], path


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
            yield KINDS[path.suffix.lower()], path


def _is_output(folder: Path) -> bool:
    plan = folder / "plan.json"
    if not plan.is_file():
        return False
    with open(plan, "rb") as stream:
        return FORMAT.encode() in stream.read(200)
