"""open_source: data sets from names, files and folders."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from propkernels._utils.cells import read_cells
from propkernels._utils.checks import shown
from propkernels._utils.parallel import workers
from propkernels._utils.typing import PathLike
from propkernels.convert.parquet import has_graphs, read_parquet
from propkernels.convert.points import from_points
from propkernels.convert.rdkit import from_rdkit, from_smiles
from propkernels.datasets.dataset import (
    PLAIN_NAME,
    Dataset,
    cache_folder,
    data_folder,
    find_in,
    home_expanded,
    refuse_foreign,
)
from propkernels.datasets.folders import FOLDERS, read_folder, read_points
from propkernels.datasets.graph_files import FORMATS, read_graph_files
from propkernels.datasets.graph_tables import SOURCE, TARGET, read_edges
from propkernels.datasets.loader import load
from propkernels.datasets.reading import Reading
from propkernels.datasets.tables import (
    SMILES_NAMES,
    check_property,
    find_column,
    iter_records,
    iter_sdf_records,
    listed_names,
    read_table,
    row_names,
    sdf_molecule,
    sdf_properties,
    smiles_of,
    usual_target,
)
from propkernels.datasets.tu_reader import read_tu

MOST_COLUMNS = 30  # further columns of a table that are kept
MOST_NAMED = 5  # maximum number of molecules in an error


def open_source(
    source: PathLike,
    *,
    smiles_column: str | None = None,
    target_column: str | Sequence[str] | None = None,
    id_column: str | None = None,
    node_labels: str | Sequence[str] | None = None,
    edge_labels: str | None = None,
    key_columns: Mapping[str, str] | None = None,
    standardize: str | Sequence[str] | None = None,
    descriptors: str | Sequence[str] | None = None,
    target_required: bool = True,
    errors: str = "raise",
    n_jobs: int | None = None,
) -> Dataset:
    r"""Return the data set of a name, file or folder.

    Parameters
    ----------
    source : str or path
        Name of a data set (see :func:`load`), in any case; or path of

        - a TU folder or zip, or a Parquet file or folder of graphs;
        - a CSV, TSV or Parquet table of molecules, an SDF or SMI file;
        - CSV or TSV files of edges, nodes and graphs: ``X_edges.csv`` is read together with ``X_nodes.csv``
          and ``X_graphs.csv``, if these exist; or pass "edges.csv,nodes.csv[,graphs.csv]";
        - a graph file: JSON (node-link, one graph, a list, or one per line), or an edge list (.edges,
          .edgelist, .txt);
        - a point cloud (.npy);
        - a folder of images, point clouds or graph files, with or without a subfolder per class.
    smiles_column : str, optional
        Column of SMILES in a table; by default one with a usual name.
    target_column : str or sequence of str, optional
        Column of the target in a table, property in an SDF file, or number of a column of a TU or Parquet
        target; several give a target of several columns. By default a column with a usual name.
    id_column : str, optional
        Column of a table of molecules or graphs whose values become the ids of the graphs.
    node_labels : str or sequence of str, optional
        Labels of atoms, see :func:`propkernels.from_smiles`; by default those of
        :class:`propkernels.MoleculesToGraphs`. For tables and graph files: columns of nodes that are the
        label; by default by the rule of :func:`propkernels.from_pandas`.
    edge_labels : str, optional
        Column of edges that is their label; by default by the same rule.
    key_columns : mapping of str to str, optional
        Columns of tables of edges, nodes and graphs by what they hold ("graph", "node", "source", "target" or
        "weight"), such as ``{"source": "from", "weight": "km"}``; others have usual names.
    standardize : {"fragment", "charge", "tautomer"} or sequence of these, optional
        Steps that molecules take before they are read, see :func:`propkernels.from_smiles`.
    descriptors : {"rdkit"} or sequence of str, optional
        Numbers of whole molecules, see :func:`propkernels.from_smiles`.
    target_required : bool, default=True
        Whether to raise an error if there is no target; otherwise the target has no columns.
    errors : {"raise", "skip", "empty"}, default="raise"
        Raise an error for an invalid molecule or graph, leave it out with a warning, or replace it by a graph
        without nodes.
    n_jobs : int or None, default=None
        Number of processes that read molecules, and of threads that read TU and Parquet files; None: 1, -1:
        all cores.

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
    ...     pk.datasets.open_source(file, node_labels="symbol")
    Dataset(drugs: 2 graphs, 6 nodes, 4 edges, 3 node labels, 1 edge label, 2 classes)
    """
    how = Reading(
        smiles_column=smiles_column,
        target_columns=_several(target_column, "target_column"),
        id_column=id_column,
        node_labels=_several(node_labels, "node_labels"),
        edge_labels=edge_labels,
        key_columns=key_columns or {},
        standardize=_several(standardize, "standardize"),
        descriptors=_several(descriptors, "descriptors"),
        target_required=target_required,
        errors=errors,
        n_jobs=n_jobs,
    )
    data = read_source(source, how)
    check_molecules(data, {"standardize": standardize, "descriptors": descriptors})
    return data


def check_molecules(data: Dataset, options: Mapping[str, Any]) -> None:
    """Raise ValueError if an option for molecules is given, but the data set has none."""
    given = [name for name, value in options.items() if value]
    if given and not {"smiles", "molecules"} & set(data.extras):
        raise ValueError(
            f"--{given[0]} ({given[0]}=) applies to molecules, and {data.name} has none: leave it out"
        )


def _several(names: str | Sequence[str] | None, option: str) -> tuple[str, ...]:
    """Return names as a tuple; raise TypeError for anything but texts."""
    if names is None or isinstance(names, str):
        return () if names is None else (names,)
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{option} must be a text or a sequence of texts, got {shown(names)}")
    return tuple(names)


def read_source(source: Any, how: Reading) -> Dataset:
    """Return the data set of a name, file or folder, see :func:`open_source`."""
    text = str(source)
    if "," in text and not Path(text).exists():
        return read_edges([home_expanded(part.strip()) for part in text.split(",")], how)
    path = home_expanded(text)
    if path.is_dir():
        return read_folder(path, how)
    if path.is_file():
        refuse_foreign(path)
        if path.suffix.lower() not in READERS:
            raise ValueError(f"{path} has the unknown suffix {path.suffix!r}: supported are {SUPPORTED}")
        return READERS[path.suffix.lower()](path, how)
    places = (data_folder(), cache_folder())
    is_there = PLAIN_NAME.fullmatch(text) and any(find_in(place, text) for place in places)
    if len(path.parts) <= 1 and (is_there or not path.suffix):
        how.refuse_columns("data sets by name")
        return _chosen(load(text, target_required=how.target_required, n_jobs=how.n_jobs), how)
    if path.exists():
        raise ValueError(f"{path} is neither a file nor a folder: a pipe or a device is not read")
    raise FileNotFoundError(f"the file or folder {path} does not exist")


def _chosen(data: Dataset, how: Reading) -> Dataset:
    """Return a data set with the chosen columns of its target."""
    if not how.target_columns:
        return data
    target = how.stored_target(data.target, len(data.graphs), data.name)
    names = data.target_names if target.ndim == data.target.ndim == 1 else ()
    return replace(data, target=target, target_names=names)


def _read_zip(path: Path, how: Reading) -> Dataset:
    how.refuse_columns("TU data sets")
    return _chosen(read_tu(path, target_required=how.target_required, n_jobs=how.n_jobs), how)


def _read_parquet(path: Path, how: Reading) -> Dataset:
    """Return the graphs of a Parquet file, or the molecules of a Parquet table."""
    if not has_graphs(path):
        return _read_table(path, how)
    how.refuse_columns("Parquet files of graphs")
    with workers(how.n_jobs):
        graphs, target = read_parquet(path)
    return Dataset(path.stem, graphs, how.stored_target(target, len(graphs), path))


def _read_cloud(path: Path, how: Reading) -> Dataset:
    how.refuse_columns("point clouds")
    points = read_points(path)
    graphs = from_points([points], errors=how.errors)
    target = how.checked_target([], len(graphs), path)
    extras = {"coordinates": points} if len(points) == graphs.n_nodes else {}
    return Dataset(path.stem, graphs, target, extras=extras)


def _read_table(path: Path, how: Reading) -> Dataset:
    table = read_table(path)
    names = list(table)
    smiles = find_column(names, how.smiles_column, SMILES_NAMES, path)
    if smiles is None:
        keys = {"source": SOURCE, "target": TARGET}
        if all(how.key_columns.get(k) in names or find_column(names, None, u, path) for k, u in keys.items()):
            return read_edges(_companions(path), how)
        raise ValueError(
            f"{path} has neither a column of SMILES nor columns source and target of edges: name the SMILES "
            f"by --smiles (smiles_column=); its columns are {listed_names(names)}"
        )
    _refuse_edge_labels(how)
    columns = how.table_targets(names, path, smiles)
    texts = [cell.strip() or None for cell in table[smiles]]
    graphs = _rows_of_smiles(texts, path, how)
    kept = [row for row in range(len(texts)) if row not in graphs.skipped or how.errors == "empty"]
    target = how.checked_target(
        [read_cells(table[column], f"column {column!r} of {path}")[kept] for column in columns],
        len(graphs),
        path,
    )
    if how.id_column is not None:
        ids = table[str(find_column(names, how.id_column, (), path))]
        skipped, graphs = graphs.skipped, graphs.with_ids(row_names([ids[row] for row in kept], kept))
        graphs.skipped = skipped
    extras = {"smiles": [texts[row] for row in kept]}
    others = [name for name in names if name and name not in (smiles, *columns)][:MOST_COLUMNS]
    further = {name: read_cells(table[name])[kept] for name in others}
    return Dataset(path.stem, graphs, target, (), extras, columns=further)


def _refuse_edge_labels(how: Reading) -> None:
    if how.edge_labels:
        raise ValueError(
            "--edge-labels (edge_labels=) does not apply to molecules: bond types are their labels"
        )


def _rows_of_smiles(column: Any, path: Path, how: Reading) -> Any:
    """Return the molecules of a table; errors name rows of invalid molecules, counted from 0."""
    options: dict[str, Any] = {**how.of_molecules, "n_jobs": how.n_jobs}
    if how.errors != "raise":
        return from_smiles(column, errors=how.errors, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an error is raised below
        graphs = from_smiles(column, errors="skip", **options)
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


def _read_smi(path: Path, how: Reading) -> Dataset:
    """Return the molecules of an SMI file, with an optional name after each SMILES."""
    _refuse_edge_labels(how)
    lines = [words for _, record in iter_records(path, quoted=False) if (words := smiles_of(record, path))]
    if not lines:
        raise ValueError(f"{path} has no molecules")
    names = [line[1].strip() if len(line) > 1 else "" for line in lines]
    keys = names if all(names) and len(set(names)) == len(names) else list(range(len(lines)))
    options: dict[str, Any] = {**how.of_molecules, "errors": how.errors, "n_jobs": how.n_jobs}
    graphs = from_smiles([line[0] for line in lines], ids=keys, **options)
    kept = [row for row, key in enumerate(keys) if how.errors == "empty" or key not in graphs.skipped]
    graphs = graphs.with_ids(row_names([names[row] for row in kept], kept) if any(names) else None)
    extras = {"smiles": [lines[row][0] for row in kept]}
    return Dataset(path.stem, graphs, how.checked_target([], len(graphs), path), (), extras)


def _read_sdf(path: Path, how: Reading) -> Dataset:
    """Return the molecules of an SDF file, with properties as target and ids."""
    _refuse_edge_labels(how)
    records = [record for _, record in iter_sdf_records(path)]
    mols, properties = list(map(sdf_molecule, records)), list(map(sdf_properties, records))
    if all(mol is None for mol in mols):
        raise ValueError(f"{path} has no molecules that can be read")
    names = sorted({name for one in properties for name in one})
    for column in filter(None, (*how.target_columns, how.id_column)):
        check_property(column, names, path)
    usual = usual_target(names)
    columns = how.target_columns or (() if usual is None else (usual,))
    graphs = from_rdkit(mols, **how.of_molecules, errors=how.errors)
    kept = [row for row in range(len(mols)) if how.errors == "empty" or row not in graphs.skipped]
    cells = [[one.get(column, "") for one in properties] for column in columns]
    target = [read_cells(column, f"the target of {path}")[kept] for column in cells]
    if how.id_column is not None:
        graphs = graphs.with_ids(row_names([properties[row].get(how.id_column) for row in kept], kept))
    values = how.checked_target(target, len(graphs), path)
    return Dataset(path.stem, graphs, values, (), {"molecules": [mols[row] for row in kept]})


READERS: dict[str, Callable[[Path, Reading], Dataset]] = {
    ".zip": _read_zip,
    ".parquet": _read_parquet,
    ".csv": _read_table,
    ".tsv": _read_table,
    ".sdf": _read_sdf,
    ".smi": _read_smi,
    ".smiles": _read_smi,
    **dict.fromkeys(FORMATS, lambda path, how: read_graph_files([path], how, path.stem, path)),
    ".npy": _read_cloud,
}
SUPPORTED = (
    "tables (.csv, .tsv), Parquet (.parquet), molecules (.smi, .sdf), graph files (.json, .edges), "
    f"point clouds (.npy) and TU archives (.zip); {FOLDERS}"
)
