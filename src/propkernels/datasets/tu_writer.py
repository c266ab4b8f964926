"""Writer of the text layout of the TU Dortmund collection."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import is_missing
from propkernels._utils.checks import shown
from propkernels._utils.safe_files import atomic_write, zip_writer
from propkernels._utils.typing import Target
from propkernels.convert.check import check_graphs
from propkernels.datasets.dataset import Dataset, check_name
from propkernels.datasets.tu_reader import KNOWN
from propkernels.graphs import GraphDatabase, GridDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.graphs.labels import UNOBSERVED, LabelColumn

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
