"""open_source: data sets from names, files and folders."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import read_cells
from propkernels._utils.checks import reason_of, shown
from propkernels._utils.safe_files import open_regular
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
)
from propkernels.datasets.graph_tables import FORMATS, SOURCE, TARGET, read_edges, read_graph_files
from propkernels.datasets.loader import load
from propkernels.datasets.tables import (
    ID_NAMES,
    SMILES_NAMES,
    Reading,
    find_column,
    iter_records,
    iter_sdf_records,
    listed_names,
    read_table,
    row_names,
    sdf_molecule,
    sdf_properties,
    smiles_of,
)
from propkernels.datasets.tu import read_tu
from propkernels.graphs import GraphDatabase

Reader = Callable[[Path, Sequence[Path], Reading], Dataset]


def read_folder(path: Path, how: Reading) -> Dataset:
    """Return the data set of a folder: a TU data set, or files of one kind, with a subfolder per class."""
    files = [
        file
        for pattern in ("*", "*/*")
        for file in sorted(path.glob(pattern))
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    if any(file.name.endswith("_A.txt") for file in files):
        return _read_tu(path, files, how)
    for suffixes, reader in FOLDER_READERS:
        chosen = [file for file in files if file.suffix.lower() in suffixes]
        nested = [file for file in chosen if file.parent != path]
        for file in chosen:
            open_regular(file, path).close()  # refuses links out of the folder
        if chosen:
            return reader(path, nested or chosen, how)
    raise ValueError(f"{path} has no files that can be read: {FOLDERS}")


def _read_images(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    from propkernels.images.image_folder import read_image_folder
    from propkernels.images.quantizers import GrayLevels

    how.refuse_columns("images")
    folder = read_image_folder(path)
    grids = GrayLevels().fit_transform(folder.images)
    target = _classes([Path(name) for name in folder.paths], "images", path, how)
    return Dataset(
        path.name, grids, target, folder.target_names, {"paths": folder.paths, "images": folder.images}
    )


def read_clouds(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    """Return nearest-neighbor graphs of point clouds, see :func:`propkernels.from_points`."""
    how.refuse_columns("point clouds")
    names = [file.relative_to(path) for file in files]
    clouds = [read_points(file) for file in files]
    ids = None if path in files else [name.as_posix() for name in names]
    graphs = from_points(clouds, ids=ids, errors=how.errors)
    valid = [i for i in range(len(files)) if (i if ids is None else ids[i]) not in graphs.skipped]
    kept = valid if how.errors == "skip" else range(len(files))
    target = _classes([names[i] for i in kept], "point clouds", path, how)
    classes = tuple(sorted(set(target.tolist()))) if target.ndim == 1 else ()
    places = {"coordinates": stacked([clouds[i] for i in valid])}
    return Dataset(_name(path), graphs, target, classes, places)


def _name(path: Path) -> str:
    return path.name if path.is_dir() else path.stem


def _read_graph_files(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    suffixes = sorted({file.suffix.lower() for file in files})
    if len(suffixes) > 1:
        raise ValueError(f"{path} has files of several formats ({', '.join(suffixes)}): use one per folder")
    return read_graph_files(files, how, _name(path), path)


def _read_parquet_files(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    """Return the graphs of Parquet files, or the molecules of a Parquet table."""
    if path in files and not has_graphs(path):
        return _read_table(path, files, how)
    how.refuse_columns("Parquet files of graphs")
    parts = [read_parquet(file) for file in files]
    graphs = GraphDatabase.concat([part for part, _ in parts])
    targets = [target for _, target in parts if target is not None]
    if len(targets) not in (0, len(parts)):
        raise ValueError(f"{path}: some of its Parquet files have a target, and others have none")
    target = np.concatenate(targets) if targets else None
    return Dataset(_name(path), graphs, how.stored_target(target, len(graphs), path))


def read_points(path: Path) -> NDArray[np.float64]:
    """Return the coordinates of a cloud, (points, 2 or 3); raise ValueError if the file is invalid."""
    try:
        points = _read_npy(path)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as a point cloud: {reason_of(error)}") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3) or points.dtype.kind not in "fiu":
        raise ValueError(
            f"{path} has an array of {points.dtype} of shape {points.shape}: a point cloud has one row per "
            "point and two or three coordinates; save the coordinates alone"
        )
    return points.astype(np.float64)


def stacked(clouds: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the coordinates of several clouds below each other; those in the plane have z = 0 in space.

    Examples
    --------
    >>> stacked([np.ones((1, 3)), np.zeros((2, 2))]).shape
    (3, 3)
    """
    width = max((cloud.shape[1] for cloud in clouds), default=2)
    padded = [np.pad(cloud, ((0, 0), (0, width - cloud.shape[1]))) for cloud in clouds]
    return np.vstack([np.zeros((0, width)), *padded])


def _read_npy(path: Path) -> NDArray[Any]:
    """Return the array of a .npy file after checking that its announced size is in the file."""
    with open_regular(path) as stream:
        npy = np.lib.format
        try:
            is_first = npy.read_magic(stream) == (1, 0)
            shape, _, dtype = (npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0)(stream)
        except Exception:  # numpy raises errors of several kinds, such as those of Python's tokenizer
            raise ValueError("its header is damaged") from None
        if dtype.kind not in "fiu" or any(isinstance(n, bool) or n < 0 for n in shape):
            raise ValueError(f"it has an array of {dtype} of shape {shape}, and not one of numbers")
        size = path.stat().st_size
        if math.prod(max(n, 1) for n in shape) * dtype.itemsize > size:
            raise ValueError(f"it announces an array of shape {shape}, and has {size:,} bytes")
        stream.seek(0)
        return np.asarray(npy.read_array(stream, allow_pickle=False))


def _classes(names: Sequence[Path], what: str, path: Path, how: Reading) -> Any:
    """Return the subfolder of each file; raise ValueError if a target is required and there are none."""
    if how.target_columns:
        raise ValueError(
            f"--target (target_column=) does not apply to {what}: their subfolders are the target"
        )
    if all(name.parent != Path() for name in names):
        return np.array([name.parent.name for name in names])
    if how.target_required:
        raise ValueError(f"{path} has {what} but no subfolders, one per class, to learn from")
    return np.empty((len(names), 0))


IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
FOLDER_READERS: tuple[tuple[tuple[str, ...], Reader], ...] = (
    (IMAGES, _read_images),
    ((".npy",), read_clouds),
    (tuple(suffix for suffix in FORMATS if suffix != ".txt"), _read_graph_files),
    ((".parquet",), _read_parquet_files),
    ((".txt",), _read_graph_files),
)
FOLDERS = (
    "a folder holds a TU data set (NAME_A.txt), images, point clouds (.npy), graph files (.json, "
    ".edges) or Parquet files, with or without a subfolder per class"
)


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
        Number of processes that read SMILES; None: 1, -1: all cores.

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
    if not text.strip(" ,"):
        raise ValueError("the name of the data set is empty")
    if "," in text and not Path(text).exists():
        return read_edges([home_expanded(part.strip()) for part in text.split(",") if part.strip()], how)
    path = home_expanded(text)
    if path.is_dir():
        return read_folder(path, how)
    if path.is_file():
        if path.suffix.lower() not in READERS:
            raise ValueError(f"{path} has the unknown suffix {path.suffix!r}: supported are {SUPPORTED}")
        return READERS[path.suffix.lower()](path, [path], how)
    if path.exists():
        raise ValueError(f"{path} is neither a file nor a folder: a pipe or a device is not read")
    places = (data_folder(), cache_folder())
    is_there = PLAIN_NAME.fullmatch(text) and any(find_in(place, text) for place in places)
    if len(path.parts) <= 1 and (is_there or not path.suffix):
        how.refuse_columns("data sets by name")
        return _chosen(load(text, target_required=how.target_required), how)
    raise FileNotFoundError(f"the file or folder {path} does not exist")


def _chosen(data: Dataset, how: Reading) -> Dataset:
    """Return a data set with the chosen columns of its target."""
    if not how.target_columns:
        return data
    target = how.stored_target(data.target, len(data.graphs), data.name)
    names = data.target_names if target.ndim == data.target.ndim == 1 else ()
    return replace(data, target=target, target_names=names)


def _read_tu(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    how.refuse_columns("TU data sets")
    return _chosen(read_tu(path, target_required=how.target_required), how)


def _read_table(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
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
    return _of_molecules(path, table, how, smiles)


def _of_molecules(
    path: Path, table: dict[str, list[str]], how: Reading, smiles: str | None, mols: Sequence[Any] = ()
) -> Dataset:
    """Return the molecules of a column of SMILES, or of RDKit, with other columns as target and ids."""
    if how.edge_labels:
        raise ValueError(
            "--edge-labels (edge_labels=) does not apply to molecules: bond types are their labels"
        )
    names = list(table)
    columns = how.table_targets(names, path, smiles)
    items: Any = mols if smiles is None else [cell.strip() or None for cell in table[smiles]]
    options: dict[str, Any] = {**how.of_molecules, "errors": "skip" if how.errors == "raise" else how.errors}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if how.errors == "raise" else "default")  # an error is raised below
        graphs: Any = (
            from_rdkit(items, **options)
            if smiles is None
            else from_smiles(items, **options, n_jobs=how.n_jobs)
        )
    skipped = graphs.skipped
    if skipped and how.errors == "raise":
        named = [f"row {row} ({reason})" for row, reason in list(skipped.items())[:MOST_NAMED]]
        more = ", ..." if len(skipped) > MOST_NAMED else ""
        raise ValueError(
            f"{path}: {len(skipped)} of {len(items)} molecules cannot be read: {', '.join(named)}{more}; "
            'rows are counted from 0; --errors skip (errors="skip") leaves them out'
        )
    kept = [row for row in range(len(items)) if row not in skipped or how.errors == "empty"]
    cells = [read_cells(table[column], f"column {column!r} of {path}")[kept] for column in columns]
    target = how.checked_target(cells, len(graphs), path)
    named_by = find_column(names, how.id_column, () if smiles is None else ID_NAMES, path)
    if named_by is not None and (how.id_column or named_by not in columns):
        graphs = graphs.with_ids(row_names([table[named_by][row] for row in kept], kept))
    elif how.errors == "raise":
        graphs = graphs.with_ids(None)
    graphs.skipped = skipped
    extras = {"molecules" if smiles is None else "smiles": [items[row] for row in kept]}
    others = [name for name in names if name and name not in (smiles, *columns)][:MOST_COLUMNS]
    further = {name: read_cells(table[name])[kept] for name in others}
    return Dataset(path.stem, graphs, target, (), extras, columns=further)


def _companions(path: Path) -> list[Path]:
    """Return the file of edges and the existing files of its nodes and graphs."""
    base = path.stem.removesuffix("edges")
    others = [path.with_name(f"{base}{kind}{path.suffix}") for kind in ("nodes", "graphs")]
    return [path, *(other for other in others if path.stem.endswith("edges") and other.exists())]


def _read_smi(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    """Return the molecules of an SMI file, with an optional name after each SMILES."""
    lines = [words for _, record in iter_records(path, quoted=False) if (words := smiles_of(record, path))]
    if not lines:
        raise ValueError(f"{path} has no molecules")
    table = {"smiles": [line[0] for line in lines]}
    names = [line[1].strip() if len(line) > 1 else "" for line in lines]
    return _of_molecules(path, table | ({"name": names} if any(names) else {}), how, "smiles")


def _read_sdf(path: Path, files: Sequence[Path], how: Reading) -> Dataset:
    """Return the molecules of an SDF file, with properties as target and ids."""
    records = [record for _, record in iter_sdf_records(path)]
    mols, properties = list(map(sdf_molecule, records)), list(map(sdf_properties, records))
    if all(mol is None for mol in mols):
        raise ValueError(f"{path} has no molecules that can be read")
    names = sorted({name for one in properties for name in one})
    table = {name: [one.get(name, "") for one in properties] for name in names}
    return _of_molecules(path, table, how, None, mols)


READERS: dict[str, Reader] = {
    ".zip": _read_tu,
    ".parquet": _read_parquet_files,
    ".csv": _read_table,
    ".tsv": _read_table,
    ".sdf": _read_sdf,
    ".smi": _read_smi,
    ".smiles": _read_smi,
    **dict.fromkeys(FORMATS, _read_graph_files),
    ".npy": read_clouds,
}
SUPPORTED = (
    "tables (.csv, .tsv), Parquet (.parquet), molecules (.smi, .sdf), graph files (.json, .edges), "
    f"point clouds (.npy) and TU archives (.zip); {FOLDERS}"
)
