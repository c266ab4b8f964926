"""open_source: data sets from names, files and folders; save_source: data sets to files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import as_classes, read_cells, read_labels, typed_column
from propkernels._utils.checks import shown
from propkernels._utils.optional import import_optional
from propkernels._utils.typing import PathLike
from propkernels.convert.pandas import from_pandas
from propkernels.convert.parquet import read_parquet
from propkernels.convert.rdkit import from_rdkit, from_smiles
from propkernels.datasets.dataset import BUNDLED, FROM_FILES, IMAGES, Dataset, home_expanded
from propkernels.datasets.loader import load
from propkernels.datasets.tables import (
    SMILES_NAMES,
    TARGET_NAMES,
    find_column,
    iter_records,
    listed_names,
    read_table,
    smiles_of,
)
from propkernels.datasets.tu_reader import read_tu
from propkernels.graphs.labels import UNOBSERVED, LabelColumn, canonical_label

MOST_COLUMNS = 30  # further columns of a table that are kept
MOST_NAMED = 5  # maximum number of molecules in an error
SUFFIXES = (".zip", ".parquet", ".csv", ".tsv", ".sdf", ".smi", ".smiles")


@dataclass(frozen=True)
class Reading:
    """Options for reading tables.

    Attributes
    ----------
    smiles_column, target_column : str or None
        Columns of a table of molecules (or graphs); None: columns with a usual name.
    target_required : bool
        Whether a target is required.
    node_labels : str or tuple of str
        Labels of atoms, see :func:`from_smiles`.
    errors : {"raise", "skip"}
    n_jobs : int or None
    """

    smiles_column: str | None = None
    target_column: str | None = None
    target_required: bool = True
    node_labels: str | tuple[str, ...] = "symbol"
    errors: str = "raise"
    n_jobs: int | None = None


def open_source(
    source: PathLike,
    *,
    smiles_column: str | None = None,
    target_column: str | None = None,
    target_required: bool = True,
    node_labels: str | tuple[str, ...] = "symbol",
    errors: str = "raise",
    n_jobs: int | None = None,
) -> Dataset:
    r"""Return the data set of a name, file or folder.

    Parameters
    ----------
    source : str or path
        Name of a data set (see :func:`load`), in any case; or path of a TU folder or zip, a Parquet file, a
        CSV, TSV, SDF or SMI file of molecules, a folder of images (with or without a subfolder per class), or
        a CSV file of edges. ``X_edges.csv`` is read together with the nodes ``X_nodes.csv`` and graphs
        ``X_graphs.csv``, if these exist; or pass "edges.csv,nodes.csv[,graphs.csv]".
    smiles_column, target_column : str, optional
        Columns of a table, or properties in an SDF file; by default those with a usual name.
    target_required : bool, default=True
        Whether to raise an error if there is no target; otherwise the target has no columns.
    node_labels : str or tuple of str, default="symbol"
        Labels of atoms, see :func:`propkernels.from_smiles`.
    errors : {"raise", "skip"}, default="raise"
        Raise an error for an invalid molecule or graph, or leave it out with a warning.
    n_jobs : int, optional
        Number of processes that read molecules.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError, OSError, ImportError
        If the source cannot be read; the message names the file and the reason.

    Examples
    --------
    >>> import tempfile, pathlib, propkernels as pk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "drugs.csv"
    ...     _ = file.write_text("smiles,active\nCCO,0\nCCN,1\n")
    ...     pk.datasets.open_source(file)
    Dataset(drugs: 2 graphs, 6 nodes, 4 edges, 3 node labels, 1 edge label, 2 classes)
    """
    how = Reading(smiles_column, target_column, target_required, node_labels, errors, n_jobs)
    text = str(source)
    if "," in text and not Path(text).exists():
        return _read_edges([home_expanded(part.strip()) for part in text.split(",")], how)
    path = home_expanded(text)
    if len(path.parts) <= 1 and path.suffix.lower() not in SUFFIXES and not path.is_dir():
        return load(_known_name(text), target_required=target_required)
    if not path.exists():
        raise FileNotFoundError(f"the file or folder {path} does not exist")
    return _read_folder(path, how) if path.is_dir() else _reader_of(path)(path, how)


def _known_name(name: str) -> str:
    """Return the name of a data set in the catalogue in its usual case; other names unchanged."""
    known = {info.name.casefold(): info.name for info in (*FROM_FILES, *IMAGES, *BUNDLED)}
    return known.get(name.casefold(), name)


def _reader_of(path: Path) -> Callable[[Path, Reading], Dataset]:
    readers: dict[str, Callable[[Path, Reading], Dataset]] = {
        ".zip": _read_zip,
        ".parquet": _read_parquet,
        ".csv": _read_table,
        ".tsv": _read_table,
        ".sdf": _read_sdf,
        ".smi": _read_smi,
        ".smiles": _read_smi,
    }
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path} is of no known kind: {', '.join(SUFFIXES)}, or a folder, can be read")
    return readers[path.suffix.lower()]


def _read_zip(path: Path, how: Reading) -> Dataset:
    return read_tu(path, target_required=how.target_required)


def _read_folder(path: Path, how: Reading) -> Dataset:
    from propkernels.images.gray_levels import GrayLevels
    from propkernels.images.image_folder import is_image, read_image_folder

    images = [file for pattern in ("*", "*/*") for file in path.glob(pattern) if is_image(file.name)]
    if not images or [*path.glob("*_A.txt"), *path.glob("*/*_A.txt")]:
        return read_tu(path, target_required=how.target_required)
    folder = read_image_folder(path)
    if how.target_required and not folder.target_names:
        raise ValueError(f"{path} has images but no subfolders, one per class, to learn from")
    grids = GrayLevels().fit_transform(folder.images)
    target = folder.target if folder.target_names else np.empty((len(grids), 0))
    return Dataset(path.name, grids, target, folder.target_names, {"paths": folder.paths})


def _read_parquet(path: Path, how: Reading) -> Dataset:
    graphs, target = read_parquet(path)
    return Dataset(path.stem, graphs, _checked_target(target, len(graphs), path, how))


def _checked_target(target: Any, n_graphs: int, path: Path, how: Reading) -> NDArray[Any]:
    """Return the target: integers or strings for classes, floats for other numbers; empty if absent."""
    if target is None:
        if how.target_required:
            raise ValueError(f"{path} has no target: name its column by --target-column")
        return np.empty((n_graphs, 0))
    return as_classes(target)


def _read_table(path: Path, how: Reading) -> Dataset:
    table = read_table(path)
    names = list(table)
    smiles = find_column(names, how.smiles_column, SMILES_NAMES, path)
    if smiles is None:
        if {"source", "target"} <= set(names):
            return _read_edges(_companions(path), how)
        raise ValueError(
            f"{path} has neither a column of SMILES nor columns source and target of edges: name the SMILES "
            f"by --smiles-column; its columns are {listed_names(names)}"
        )
    column = find_column(names, how.target_column, TARGET_NAMES, path)
    if column is None and how.target_required:
        left = listed_names([name for name in names if name != smiles])
        raise ValueError(f"{path} has no column with a usual name for the target: choose one of {left}")
    texts = [cell.strip() or None for cell in table[smiles]]
    graphs = _rows_of_smiles(texts, path, how)
    kept = list(range(len(texts))) if graphs.ids is None else graphs.ids.astype(np.int64).tolist()
    target = None if column is None else read_cells(table[column], f"column {column!r} of {path}")[kept]
    extras = {"smiles": [texts[i] for i in kept]}
    others = [name for name in names if name and name not in (smiles, column)][:MOST_COLUMNS]
    columns = {name: read_cells(table[name])[kept] for name in others}
    values = _checked_target(target, len(graphs), path, how)
    return Dataset(path.stem, graphs, values, (), extras, columns=columns)


def _rows_of_smiles(column: Any, path: Path, how: Reading) -> Any:
    """Return the molecules of a table; errors name rows of invalid molecules, counted from 0."""
    options: dict[str, Any] = {"node_labels": how.node_labels, "n_jobs": how.n_jobs}
    with warnings.catch_warnings():
        if how.errors == "raise":
            warnings.simplefilter("ignore")  # an error is raised below
        graphs = from_smiles(column, errors="skip", **options)
    if how.errors == "skip":
        return graphs
    if not graphs.skipped:
        return graphs.with_ids(None)
    named = [f"row {row} ({reason})" for row, reason in list(graphs.skipped.items())[:MOST_NAMED]]
    more = ", ..." if len(graphs.skipped) > MOST_NAMED else ""
    raise ValueError(
        f"{path}: {len(graphs.skipped)} of {len(column)} molecules cannot be read: {', '.join(named)}{more}; "
        'rows are counted from 0; --errors skip (errors="skip") leaves them out'
    )


def _companions(path: Path) -> list[Path]:
    """Return the file of edges and the existing files of its nodes and graphs."""
    base = path.stem.removesuffix("edges")
    others = [path.with_name(f"{base}{kind}{path.suffix}") for kind in ("nodes", "graphs")]
    return [path, *(other for other in others if path.stem.endswith("edges") and other.exists())]


def _read_edges(paths: list[Path], how: Reading) -> Dataset:
    """Return the data set of tables of edges, nodes and graphs, distinguished by their columns."""
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"the file {path} does not exist")
    tables: dict[str, Cells] = {}
    for path in paths:
        table = read_table(path)
        kind = "edges" if {"source", "target"} <= set(table) else "nodes" if "node" in table else "graphs"
        if kind in tables:
            raise ValueError(f"{path} is a second table of {kind}")
        tables[kind] = table
    if "edges" not in tables:
        raise ValueError(f"{paths[0]} has no columns source and target: it is not a table of edges")
    if all("graph" not in table for table in tables.values()):  # one graph
        for table in tables.values():
            table["graph"] = ["0"] * len(next(iter(table.values())))
    target = (
        None
        if "graphs" not in tables
        else find_column(list(tables["graphs"]), how.target_column, TARGET_NAMES, paths[-1])
    )
    frames, columns = _frames(tables, target)
    found: Any = from_pandas(**frames, **columns, graph_target=target, errors=how.errors)
    graphs, values = (found, None) if target is None else found
    name = paths[0].stem.removesuffix("edges").rstrip("_-") or paths[0].parent.name
    return Dataset(name, graphs, _checked_target(values, len(graphs), paths[0], how))


Cells = dict[str, list[str]]
KEYS = {"graph": ("graph",), "node": ("node", "source", "target")}  # columns that share a type


def _frames(tables: dict[str, Cells], target: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return tables and column arguments for :func:`from_pandas`."""
    pd = import_optional("pandas", extra="pandas", purpose="tables need")
    read = {kind: _typed(table, kind, target) for kind, table in tables.items()}
    for names in KEYS.values():
        places = [(kind, name) for kind in read for name in names if name in read[kind]]
        places = [place for place in places if place != ("graphs", "target")]
        cells = read_labels([cell for kind, name in places for cell in tables[kind][name]])
        for kind, name in places:
            n_rows = len(tables[kind][name])
            read[kind][name], cells = cells[:n_rows], cells[n_rows:]
    return {kind: pd.DataFrame(columns) for kind, columns in read.items()}, _columns_of(read)


def _typed(table: Cells, kind: str, target: str | None) -> dict[str, Any]:
    """Return columns with their texts converted to labels, numbers or other values."""
    keys = ("graph", "node", "source", "target")  # of rows; read again together with those of other tables
    columns = {}
    for name, cells in table.items():
        is_used = name == target if kind == "graphs" else name not in keys
        where = f"column {name!r} of the table of {kind}" if is_used else ""
        is_label = kind != "graphs" and name == "label"
        columns[name] = read_labels(cells) if is_label else read_cells(cells, where)
    return columns


def _columns_of(tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return arguments for :func:`from_pandas`: label, weight, and attributes (other numeric columns)."""
    columns: dict[str, Any] = {}
    edges = tables["edges"]
    if "nodes" in tables:
        nodes = tables["nodes"]
        columns |= {"label": "label"} if "label" in nodes else {}
        columns["attributes"] = _number_columns(nodes, ("graph", "node", "label"))
    columns |= {"edge_label": "label"} if "label" in edges else {}
    columns |= {"weight": "weight"} if "weight" in edges else {}
    columns["edge_attributes"] = _number_columns(
        edges, ("graph", "source", "target", "label", "weight", "directed")
    )
    if "directed" in edges:
        columns["directed"] = bool(np.all(edges["directed"]))
    return columns


def _number_columns(table: dict[str, Any], without: tuple[str, ...]) -> list[str]:
    return [name for name, values in table.items() if values.dtype.kind in "if" and name not in without]


def _read_smi(path: Path, how: Reading) -> Dataset:
    """Return the molecules of an SMI file, with an optional name or target after each SMILES."""
    lines = [words for _, record in iter_records(path, quoted=False) if (words := smiles_of(record, path))]
    if not lines:
        raise ValueError(f"{path} has no molecules")
    names = [line[1].strip() if len(line) > 1 else "" for line in lines]
    ids = names if all(names) and len(set(names)) == len(names) else None
    graphs = from_smiles(
        [line[0] for line in lines],
        node_labels=how.node_labels,
        ids=ids,
        errors=how.errors,
        n_jobs=how.n_jobs,
    )
    kept = [line[0] for i, line in enumerate(lines) if (i if ids is None else ids[i]) not in graphs.skipped]
    target = _checked_target(None, len(graphs), path, how)
    return Dataset(path.stem, graphs, target, (), {"smiles": kept})


def _read_sdf(path: Path, how: Reading) -> Dataset:
    chem = import_optional("rdkit.Chem", extra="chem", purpose="molecules need")
    base = import_optional("rdkit.rdBase", extra="chem", purpose="molecules need")
    with base.BlockLogs():
        mols = list(chem.SDMolSupplier(str(path)))
    known = [mol for mol in mols if mol is not None]
    if not known:
        raise ValueError(f"{path} has no molecules that can be read")
    names = sorted({name for mol in known for name in mol.GetPropNames()})
    usual = {name.casefold(): name for name in names}
    column = how.target_column or next((usual[name] for name in TARGET_NAMES if name in usual), None)
    if column is not None and column not in names:
        raise ValueError(f"no molecule of {path} has the property {column!r}; there are {names}")
    found: Any = from_rdkit(mols, node_labels=how.node_labels, target=column, errors=how.errors)
    graphs, target = (found, None) if column is None else found
    kept = [mol for i, mol in enumerate(mols) if i not in graphs.skipped]
    values = _checked_target(target, len(graphs), path, how)
    return Dataset(path.stem, graphs, values, (), {"molecules": kept})


def save_source(data: Dataset, path: Any, *, overwrite: bool = False) -> None:
    """Write a data set in the format given by the suffix of a path.

    Parameters
    ----------
    data : Dataset
    path : str or path
        Path that ends in ``.parquet``, ``.zip`` (TU) or ``_edges.csv`` (also writes ``_nodes.csv`` and
        ``_graphs.csv``); without a suffix, a TU folder.
    overwrite : bool, default=False
        Whether to replace existing files.
    """
    from propkernels.convert.parquet import to_parquet
    from propkernels.datasets.tu_writer import write_tu
    from propkernels.graphs import GridDatabase

    place = Path(path)
    graphs = data.graphs.to_graphs() if isinstance(data.graphs, GridDatabase) else data.graphs
    target = data.target if data.target.size else None
    if place.suffix in ("", ".zip"):
        write_tu(Dataset(data.name, graphs, data.target, data.target_names), place, overwrite=overwrite)
    elif place.suffix == ".parquet":
        _refuse_existing([place], overwrite)
        to_parquet(graphs, place, target=target)
    elif place.suffix == ".csv":
        _write_tables(graphs, target, place, overwrite)
    else:
        raise ValueError(f"cannot write {place}: use .parquet, .zip, _edges.csv, or a folder")


def _refuse_existing(paths: list[Path], overwrite: bool) -> None:
    for path in paths:
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists already: pass --force to replace it")


def _write_tables(graphs: Any, target: Any, path: Path, overwrite: bool) -> None:
    from propkernels._utils.safe_files import atomic_write
    from propkernels.convert.pandas import to_pandas

    base = path.stem.removesuffix("edges").rstrip("_-")
    paths = [path.with_name(f"{base}_{kind}.csv") for kind in ("edges", "nodes", "graphs")]
    _refuse_existing(paths, overwrite)
    if graphs.label_column is not None and not isinstance(graphs.label_column, LabelColumn):
        raise ValueError("CSV files cannot hold label distributions: use LabelImputer, or save")
    values = None if target is None else typed_column(target)
    for column in (graphs.label_column, graphs.edge_label_column):
        if column is not None:
            gap = [] if column.observed.all() else [None]
            _check_texts([*column.present, *gap], "label", path)
    _check_texts([] if graphs.ids is None else graphs.ids.tolist(), "id", path)
    if values is not None and values.ndim == 1 and values.dtype.kind not in "if":
        _check_texts(values.tolist(), "class", path)
    tables = to_pandas(graphs, values)
    edges = tables.edges.assign(directed=True) if tables.edges.attrs["directed"] else tables.edges
    for place, table in zip(paths, (edges, tables.nodes, tables.graphs), strict=True):
        with atomic_write(place) as stream:
            stream.write(table.to_csv(index=False).encode())


def _check_texts(values: list[Any], what: str, path: Path) -> None:
    """Raise ValueError for values that would be read back as equal or missing; warn about other changes."""
    written = list(dict.fromkeys(values))
    texts = ["" if value is None else str(value) for value in written]
    read = read_labels(texts).tolist()
    hidden = what == "label" and all(back is None or type(back) is int for back in read)  # -1: unobserved
    found: dict[Any, Any] = {}
    for value, text, back in zip(written, texts, read, strict=True):
        is_lost = (back is None or (hidden and back == UNOBSERVED)) != (value is None)
        if is_lost or back in found or not _is_plain(text):
            other = f" beside {shown(found[back])}" if back in found else ""
            raise ValueError(
                f"{path} cannot hold the {what} {shown(value)}{other}: it would be read back as another one, "
                "or as missing; write a .parquet file"
            )
        found[back] = value
    renamed = [(value, back) for back, value in found.items() if canonical_label(back) != value]
    if renamed:
        value, back = renamed[0]
        warnings.warn(f"{path}: the {what} {shown(value)} is read back as {shown(back)}", stacklevel=4)


def _is_plain(text: str) -> bool:
    """Return whether a text can be written to a CSV file unchanged."""
    try:
        return "\r" not in text and bool(text.encode("utf-8") or True)
    except UnicodeEncodeError:
        return False
