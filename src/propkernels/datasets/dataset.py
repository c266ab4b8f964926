"""Dataset: graphs with targets; the catalogue of data sets and the folders that contain them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import as_classes, is_missing, typed_column
from propkernels._utils.checks import format_table, kind_of
from propkernels._utils.safe_files import packaged_text
from propkernels._utils.typing import Array, Record
from propkernels.graphs import GraphDatabase
from propkernels.graphs.container import count

MOST_CLASSES, MOST_DRAWN = 20, 6
DATA_VARIABLE = "PROPKERNELS_DATA"
CACHE_VARIABLE = "PROPKERNELS_CACHE"
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Graphs together with one target value (or row) per graph.

    Attributes
    ----------
    name : str
        Name of the data set.
    graphs : GraphDatabase or GridDatabase
        The graphs.
    target : ndarray of shape (n,) or (n, columns)
        Class labels, integers as in the file; floats for regression.
    target_names : tuple of str
        Names of the classes, in the order of their sorted labels; empty if unknown. ``graphs.names.classes``
        has them too.
    extras : dict
        Other data of the set: "coordinates", "normals", "smiles", ...
    description : str
        Description from the files of the set.
    columns : dict
        Further values, one per graph, by name: other columns of a table, or names of molecules.
    """

    name: str
    graphs: GraphDatabase  # or a GridDatabase, which has the same interface except for edges
    target: Array
    target_names: tuple[str, ...] = ()
    extras: Record = field(default_factory=dict)
    description: str = ""
    columns: Record = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.target) != len(self.graphs):
            raise ValueError(f"target has {len(self.target)} values for {len(self.graphs)} graphs")
        for name, values in self.columns.items():
            if len(values) != len(self.graphs):
                raise ValueError(f"column {name!r} has {len(values)} values for {len(self.graphs)} graphs")
        classes = self._class_names()
        if classes and dict(self.graphs.names.classes) != classes:
            object.__setattr__(self, "graphs", self.graphs.with_names(classes=classes))

    def _class_names(self) -> dict[Any, str]:
        """Return the name of each class; empty if the names are unknown."""
        if not self.target_names or self.n_classes != len(self.target_names):
            return {}
        classes = np.unique(self.target[~is_missing(self.target)]).tolist()
        return dict(zip(classes, map(str, self.target_names), strict=True))

    @property
    def n_classes(self) -> int | None:
        """Number of distinct class labels; None if the target is real-valued or has several columns."""
        if self.target.ndim != 1 or self.target.dtype.kind == "f":
            return None
        return len(set(self.target[~is_missing(self.target)].tolist()))

    def take(self, positions: Sequence[int] | Array) -> Dataset:
        """Return some graphs with their targets, columns, and those extras that have one entry per graph.

        Parameters
        ----------
        positions : sequence of int

        Examples
        --------
        >>> from propkernels.datasets import make_molecules
        >>> make_molecules(10, random_state=0).take([0, 3]).target.shape
        (2,)
        """
        chosen = np.asarray(positions, dtype=np.int64)
        extras = {name: self._part(name, values, chosen) for name, values in self.extras.items()}
        columns = {name: _at(values, chosen) for name, values in self.columns.items()}
        target, names = self.target[chosen], self.target_names
        if names and self.n_classes == len(names):
            present = np.isin(np.unique(self.target[~is_missing(self.target)]), target[~is_missing(target)])
            names = tuple(name for name, is_there in zip(names, present, strict=True) if is_there)
        return replace(
            self,
            graphs=self.graphs[chosen],
            target=target,
            target_names=names,
            extras=extras,
            columns=columns,
        )

    def _part(self, name: str, values: Any, chosen: NDArray[np.int64]) -> Any:
        """Return the entries of an extra for some graphs; one entry per graph, or one row per node."""
        if not hasattr(values, "__len__") or isinstance(values, (str, dict)):
            return values
        if len(values) == len(self.graphs):
            return _at(values, chosen)
        if len(values) == self.graphs.n_nodes:
            ptr = self.graphs.graph_ptr
            return np.concatenate([np.asarray(values)[ptr[i] : ptr[i + 1]] for i in chosen.tolist()])
        return values

    def sample(self, n: int, random_state: int = 0) -> Dataset:
        """Return n graphs drawn at random, each class with its share; the order of the graphs is kept.

        The extra ``"numbers"`` has their numbers in the whole data set.

        Parameters
        ----------
        n : int
            Number of graphs; the whole data set if it has no more.
        random_state : int, default=0

        Examples
        --------
        >>> import numpy as np
        >>> from propkernels.datasets import make_molecules
        >>> np.bincount(make_molecules(100, random_state=0).sample(20).target)
        array([10, 10])
        """
        if n >= len(self.graphs):
            return self
        order = np.random.default_rng(random_state).permutation(len(self.graphs))
        if self.n_classes is not None:
            order = order[_by_turns(np.unique(self.target, return_inverse=True)[1][order])]
        chosen = np.sort(order[:n])
        taken = self.take(chosen)
        return replace(taken, extras={"numbers": chosen} | taken.extras)

    def with_known_target(self) -> Dataset:
        """Return the graphs with a target, as :meth:`take`; the data set itself if no target is missing.

        Targets become integers if all present values are whole numbers with few distinct values.
        """
        gaps = is_missing(self.target) if self.target.ndim == 1 else np.zeros(0, dtype=bool)
        if not gaps.any():
            return self
        known = np.flatnonzero(~gaps)
        taken = self.take(known)
        return replace(taken, target=as_classes(typed_column(taken.target)))

    def __repr__(self) -> str:
        contents = repr(self.graphs).partition("(")[2].removesuffix(")")
        columns = count(self.target[:1].size, "target column")
        target = f"{self.n_classes} class{'' if self.n_classes == 1 else 'es'}"
        target = columns if self.n_classes is None else target
        return f"Dataset({self.name}: {contents}, {target})"

    def _repr_html_(self) -> str:
        from propkernels.plotting.pages.fragments import Drawings, Table, show_result

        parts: list[Any] = []
        if self.n_classes is not None and not is_missing(self.target).any():
            classes, first, numbers = np.unique(self.target, return_index=True, return_counts=True)
            names = self.target_names if len(self.target_names) == len(classes) else classes.tolist()
            share = [f"{100 * number / len(self.target):.1f} %" for number in numbers]
            rows = [[str(name), int(k), s] for name, k, s in zip(names, numbers, share, strict=True)]
            what = "graphs" if isinstance(self.graphs, GraphDatabase) else "images"
            parts.append(Table(["class", what, "share"], rows[:MOST_CLASSES]))
        else:
            first, names = np.arange(min(len(self.graphs), MOST_DRAWN)), []
        parts.append(Drawings(self._drawings(first[:MOST_DRAWN], names)))
        return show_result(repr(self), *parts)

    def _drawings(self, chosen: Any, names: Any) -> list[Any]:
        """Return drawings of one graph per class, or of the first graphs."""
        from propkernels.graphs.drawing import plain_drawing
        from propkernels.plotting.pages.fragments import Drawing

        ids = getattr(self.graphs, "ids", None)
        texts = [str(i if ids is None else ids[i]) for i in chosen.tolist()]
        classes = [f"class {name}" if str(name).isdigit() else str(name) for name in names]
        texts = [f"{text}: {name}" for text, name in zip(texts, classes, strict=False)] or texts
        pictures = [plain_drawing(self.graphs, i) for i in chosen.tolist()]
        return [Drawing(picture, text) for picture, text in zip(pictures, texts, strict=True)]


def _at(values: Any, chosen: NDArray[np.int64]) -> Any:
    if isinstance(values, np.ndarray):
        return values[chosen]
    return [values[i] for i in chosen.tolist()]


def _by_turns(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an order in which every beginning has the classes in about their shares."""
    sizes = np.bincount(classes)
    rank = np.empty(len(classes))
    for c in range(len(sizes)):
        members = np.flatnonzero(classes == c)
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(rank, kind="stable")


HEADER = ("name", "graphs", "classes", "node labels", "attributes", "where")


@dataclass(frozen=True)
class DatasetInfo:
    """A row of :func:`list_datasets`; None for numbers that do not apply or depend on parameters."""

    name: str
    graphs: int | None
    classes: int
    node_labels: int | None
    attributes: int | None
    where: str = "download"


class Catalogue(tuple[DatasetInfo, ...]):
    """A tuple of data sets, displayed as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        cells = [
            ["-" if value is None else f"{value:,}" if isinstance(value, int) else value for value in row]
            for row in map(astuple, self)
        ]
        return format_table(HEADER, cells, left=("name", "where"))

    __str__ = __repr__


GENERATED = (DatasetInfo("make_molecules", None, 2, 6, None, "generated"),)
BUNDLED = (
    DatasetInfo("FAMILIES", 317, 14, 7, None, "bundled"),
    DatasetInfo("DIGITS", 1797, 10, 4, None, "bundled"),
)


def _with_numbers(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    return {int(key) if key.lstrip("-").isdecimal() else key: value for key, value in pairs}


# Data sets of the TUDataset site: numbers, size and SHA-256 of their zip, names of labels, edge labels and
# classes from their READMEs. The checksums are of copies in the layout of the site: it could not be verified
# that it serves the same bytes today, and else downloads are refused unless ``allow_unverified=True``.
CATALOGUE: dict[str, dict[str, Any]] = json.loads(
    packaged_text("datasets", "static", "catalogue.json"), object_pairs_hook=_with_numbers
)
ELEMENTS: dict[int, str] = CATALOGUE.pop("ELEMENTS")  # type: ignore[assignment]


def named(data: Dataset, name: str) -> Dataset:
    """Return a data set of the catalogue with the names of its labels, edge labels and classes.

    Labels keep their numbers where the catalogue has no name for them.
    """
    graphs: Any = data.graphs
    if not isinstance(graphs, GraphDatabase):
        return data
    row = CATALOGUE.get(name, {})
    names = ELEMENTS if row.get("labels") == "atomic numbers" else row.get("labels", {})
    labels = _known(names, graphs.label_column)
    edge_labels = _known(row.get("edges", {}), graphs.edge_label_column)
    classes = row.get("targets", {})
    present = [] if data.n_classes is None else np.unique(data.target).tolist()
    has_all = not data.target_names and set(present) <= set(classes)
    target_names = tuple(classes[value] for value in present) if has_all else data.target_names
    return replace(data, graphs=graphs.with_names(labels, edge_labels), target_names=target_names)


def _known(names: dict[int, str], column: Any) -> dict[Any, str]:
    """Return the names of the labels that occur in a column."""
    return {value: names[value] for value in getattr(column, "present", ()) if value in names}


def check_name(name: Any) -> str:
    """Return a valid name of a data set; raise an error for anything else, such as a path."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a data set must be a string, got {kind_of(name)}")
    if not PLAIN_NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be the name of a data set: letters, digits, '.', '_', '+' and '-' only "
            "(read_tu reads a folder or a zip by its path)"
        )
    return name


def home_expanded(path: Any) -> Path:
    """Return a path with ~ and ~user expanded; raise FileNotFoundError for an unknown user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise FileNotFoundError(f"the home folder in {path} is not known: write the whole path") from None


def data_folder() -> Path | None:
    """Return the folder PROPKERNELS_DATA, or None if it is not set."""
    value = os.environ.get(DATA_VARIABLE)
    return home_expanded(value) if value else None


def cache_folder() -> Path:
    """Return the download folder: PROPKERNELS_CACHE, or the cache folder of the system."""
    value = os.environ.get(CACHE_VARIABLE)
    return home_expanded(value) if value else system_cache(sys.platform)


def system_cache(platform: str) -> Path:
    """Return the cache folder of this package on a platform."""
    if platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or home_expanded("~/AppData/Local")
        return Path(local) / "propkernels" / "propkernels" / "Cache"
    if platform == "darwin":
        return home_expanded("~/Library/Caches/propkernels")
    return home_expanded(os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache") / "propkernels"


def find_in(folder: Path | None, name: str) -> Path | None:
    """Return the zip or folder of a data set inside a folder, or None."""
    if folder is None:
        return None
    archive, directory = folder / f"{name}.zip", folder / name
    if archive.is_file():
        return archive
    found = [*directory.glob(f"{name}_A.txt"), *directory.glob(f"*/{name}_A.txt")]
    return directory if found else None


def list_datasets() -> Catalogue:
    """Return descriptions of the data sets in the catalogue, without loading them.

    Any other set of the TUDataset collection can be loaded with ``load(name, allow_unverified=True)``.

    Returns
    -------
    Catalogue
        A tuple of :class:`DatasetInfo`, printed as a table. ``where`` is "data folder" (PROPKERNELS_DATA),
        "cache", "download", "bundled" (with installed packages) or "generated" (by a function of that name).

    Examples
    --------
    >>> import propkernels as pk
    >>> [info.name for info in pk.datasets.list_datasets() if info.where == "bundled"]
    ['FAMILIES', 'DIGITS']
    """
    folders = {"data folder": data_folder(), "cache": cache_folder()}
    located = []
    for name, row in CATALOGUE.items():
        found = (place for place, folder in folders.items() if find_in(folder, name))
        numbers = row["graphs"], row["classes"], row["node_labels"], row["attributes"]
        located.append(DatasetInfo(name, *numbers, next(found, "download")))
    return Catalogue([*located, *BUNDLED, *GENERATED])
