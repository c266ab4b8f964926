"""Dataset: graphs with targets; the catalogue of data sets and the folders that contain them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from propkernels._utils.cells import as_classes, is_missing, typed_column
from propkernels._utils.text_tables import format_table
from propkernels._utils.typing import Array, LabelNames, Record
from propkernels.graphs import GraphDatabase, GridDatabase
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
        Names of the classes, in the order of their sorted labels; empty if unknown.
    extras : dict
        Other data of the set: "coordinates", "normals", "smiles", ...
    description : str
        Description from the files of the set.
    label_names : dict
        Names of node labels for display, such as ``{0: "C", 1: "N"}``; empty if unknown. The labels of
        ``graphs``, and hence all kernels, are those of the file.
    """

    name: str
    graphs: GraphDatabase | GridDatabase
    target: Array
    target_names: tuple[str, ...] = ()
    extras: Record = field(default_factory=dict)
    description: str = ""
    label_names: LabelNames = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.target) != len(self.graphs):
            raise ValueError(f"target has {len(self.target)} values for {len(self.graphs)} graphs")

    @property
    def n_classes(self) -> int | None:
        """Number of distinct class labels; None if the target is real-valued or has several columns."""
        is_class = self.target.ndim == 1 and self.target.dtype.kind in "iu"
        return len(np.unique(self.target)) if is_class else None

    def with_known_target(self) -> Dataset:
        """Return the graphs with a target, without extras; the data set itself if no target is missing.

        Targets become integers if all present values are whole numbers with few distinct values.
        """
        gaps = is_missing(self.target) if self.target.ndim == 1 else np.zeros(0, dtype=bool)
        if not gaps.any():
            return self
        known = np.flatnonzero(~gaps)
        target = as_classes(typed_column(self.target[known]))
        return replace(self, graphs=self.graphs[known], target=target, extras={})

    def __repr__(self) -> str:
        contents = repr(self.graphs).partition("(")[2].removesuffix(")")
        columns = count(self.target[:1].size, "target column")
        target = columns if self.n_classes is None else _classes(self.n_classes)
        return f"Dataset({self.name}: {contents}, {target})"

    def _repr_html_(self) -> str:
        from propkernels._pages.fragments import Drawings, Remark, Table, show_result

        about = self.description.strip().partition("\n")[0]
        parts: list[Any] = [Remark(about)] if about else []
        if self.n_classes is not None:
            classes, first, numbers = np.unique(self.target, return_index=True, return_counts=True)
            names = self.target_names if len(self.target_names) == len(classes) else classes.tolist()
            share = [f"{100 * number / len(self.target):.1f} %" for number in numbers]
            rows = [[str(name), int(k), s] for name, k, s in zip(names, numbers, share, strict=True)]
            parts.append(Table(["class", "graphs", "share"], rows[:MOST_CLASSES]))
        else:
            first, names = np.arange(min(len(self.graphs), MOST_DRAWN)), []
        if isinstance(self.graphs, GraphDatabase):
            parts.append(Drawings(self._drawings(first[:MOST_DRAWN], names)))
        return show_result(repr(self), *parts)

    def _drawings(self, chosen: Any, names: Any) -> list[Any]:
        """Return drawings of one graph per class, or of the first graphs."""
        from propkernels._pages.fragments import Drawing
        from propkernels.graphs.drawing import graph_svg

        texts = [f"graph {i}, class {name}" for i, name in zip(chosen, names, strict=False)]
        texts = texts or [f"graph {i}" for i in chosen]
        graphs = self.graphs
        assert isinstance(graphs, GraphDatabase)
        return [
            Drawing(graph_svg(graphs[int(i)], names=self.label_names), text)
            for i, text in zip(chosen, texts, strict=True)
        ]


def _classes(number: int) -> str:
    return "1 class" if number == 1 else f"{number} classes"


HEADER = ("name", "graphs", "classes", "node labels", "attributes", "in the paper", "where")


@dataclass(frozen=True)
class DatasetInfo:
    """A row of :func:`list_datasets`; None for numbers that do not apply or depend on parameters."""

    name: str
    graphs: int | None
    classes: int
    node_labels: int | None
    attributes: int | None
    in_paper: str | None
    where: str = "download"


class Catalogue(tuple[DatasetInfo, ...]):
    """A tuple of data sets, displayed as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [[_cell(value) for value in astuple(info)] for info in self]
        return format_table(HEADER, rows, left=("name", "in the paper", "where"))

    __str__ = __repr__


GENERATED = (
    DatasetInfo("make_synthetic", 300, 2, None, 1, "synthetic", "generated"),
    DatasetInfo("make_molecules", None, 2, 6, None, None, "generated"),
)
BUNDLED = (
    DatasetInfo("DIGITS", 1797, 10, 4, None, None, "bundled"),
    DatasetInfo("TEXTURES", 768, 3, 3, None, None, "bundled"),
)
IMAGES = (
    DatasetInfo("BRODATZ", 2048, 32, 3, None, "brodatz"),
    DatasetInfo("PLANTS", 146, 3, 5, None, "plants"),
    DatasetInfo("LEAVES", 2556, 28, 5, None, None),
)
IMAGE_FILES = {"BRODATZ": "brodatz32.zip", "PLANTS": "plants_demo.mat", "LEAVES": "plantdoc_75px.zip"}
FROM_FILES = (
    DatasetInfo("MUTAG", 188, 2, 7, None, "mutag"),
    DatasetInfo("NCI1", 4110, 2, 37, None, "nci1"),
    DatasetInfo("NCI109", 4127, 2, 38, None, "nci109"),
    DatasetInfo("DD", 1178, 2, 82, None, "d&d"),
    DatasetInfo("MSRC_9", 221, 8, 10, None, "msrc9"),
    DatasetInfo("MSRC_21", 563, 20, 22, None, "msrc21"),
    DatasetInfo("FIRSTMM_DB", 41, 11, 5, 1, "db"),
    DatasetInfo("SYNTHETIC", 300, 2, 8, 1, "synthetic"),
    DatasetInfo("ENZYMES", 600, 6, 3, 18, "enzymes"),
    DatasetInfo("PROTEINS", 1113, 2, 3, 1, "proteins"),
    DatasetInfo("PROTEINS_full", 1113, 2, 3, 29, "pro-full"),
    DatasetInfo("BZR", 405, 2, 10, 3, "bzr"),
    DatasetInfo("COX2", 467, 2, 8, 3, "cox2"),
    DatasetInfo("DHFR", 756, 2, 9, 3, "dhfr"),
    DatasetInfo("AIDS", 2000, 2, 38, 4, None),
    DatasetInfo("BBBP", 2039, 2, 13, None, None),
    DatasetInfo("HIV", 41127, 3, 55, None, None),
    DatasetInfo("REDDIT-BINARY", 2000, 2, None, None, None),
    DatasetInfo("IMDB-BINARY", 1000, 2, None, None, None),
)


def _numbered(names: str, start: int = 0) -> dict[int, str]:
    return dict(enumerate(names.split(), start))


ELEMENTS = _numbered(
    """H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr
    Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W
    Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U""",
    start=1,
)
# Names of node labels from the README of each set; the labels of BBBP and HIV are atomic numbers.
LABEL_NAMES: dict[str, dict[int, str]] = {
    "MUTAG": _numbered("C N O F I Cl Br"),
    "AIDS": _numbered(
        "C O N Cl F S Se P Na I Co Br Li Si Mg Cu As B Pt Ru K Pd Au Te W Rh Zn Bi Pb Ge Sb Sn Ga Hg Ho Tl "
        "Ni Tb"
    ),
    "BBBP": ELEMENTS,
    "HIV": ELEMENTS,
}


def label_names(name: str, labels: Iterable[Any]) -> dict[Any, str]:
    """Return names of the node labels of a set in the catalogue; empty if any label has no name.

    Examples
    --------
    >>> label_names("MUTAG", [0, 1, 5])
    {0: 'C', 1: 'N', 5: 'Cl'}
    >>> label_names("MUTAG", [0, 99])
    {}
    """
    known = LABEL_NAMES.get(name, {})
    names = {label: known.get(label, "") for label in labels}
    return names if all(names.values()) else {}


def check_name(name: Any) -> str:
    """Return a valid name of a data set; raise an error for anything else, such as a path."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a data set must be a string, got {type(name).__name__}")
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


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """Return the download folder: the argument, PROPKERNELS_CACHE, or the cache folder of the system."""
    value = cache or os.environ.get(CACHE_VARIABLE)
    if value:
        return home_expanded(value)
    import pooch

    return Path(pooch.os_cache("propkernels"))


def find_in(folder: Path | None, name: str) -> Path | None:
    """Return the zip or folder of a data set inside a folder, or None."""
    if folder is None:
        return None
    archive, directory = folder / f"{name}.zip", folder / name
    if archive.is_file():
        return archive
    found = [*directory.glob(f"{name}_A.txt"), *directory.glob(f"*/{name}_A.txt")]
    return directory if found else None


def list_datasets(cache: str | os.PathLike[str] | None = None) -> Catalogue:
    """Return descriptions of the data sets in the catalogue, without loading them.

    Any other set of the TUDataset collection can be loaded with ``load(name, allow_unverified=True)``.

    Parameters
    ----------
    cache : str or path, optional
        Download folder; by default ``PROPKERNELS_CACHE`` or the cache folder of the system.

    Returns
    -------
    Catalogue
        A tuple of :class:`DatasetInfo`, printed as a table. ``where`` is "data folder" (PROPKERNELS_DATA),
        "cache", "download", "needs FILE" (images that cannot be downloaded), "bundled" (with installed
        packages) or "generated" (by a function of that name).

    Examples
    --------
    >>> import propkernels as pk
    >>> [info.name for info in pk.datasets.list_datasets() if info.where == "bundled"]
    ['DIGITS', 'TEXTURES']
    """
    folders = {"data folder": data_folder(), "cache": cache_folder(cache)}
    located = (_located(info, folders) for info in FROM_FILES)
    images = (_image_located(info) for info in IMAGES)
    return Catalogue([*located, *images, *BUNDLED, *GENERATED])


def _located(info: DatasetInfo, folders: dict[str, Path | None]) -> DatasetInfo:
    found = (place for place, folder in folders.items() if find_in(folder, info.name))
    return replace(info, where=next(found, "download"))


def _image_located(info: DatasetInfo) -> DatasetInfo:
    """Return the info with the location of its images, or "needs FILE" if they are missing."""
    folder, file = data_folder(), IMAGE_FILES[info.name]
    here = folder is not None and (folder / file).is_file()
    return replace(info, where="data folder" if here else f"needs {file}")


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else str(value)
