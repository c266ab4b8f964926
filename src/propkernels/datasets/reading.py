"""Reading: options of all readers of data sets, and the target columns that they choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import as_classes, check_measurements, typed_column
from propkernels._utils.checks import check_choice
from propkernels.convert.atoms import VIEWS
from propkernels.convert.build import ERRORS
from propkernels.convert.descriptors import ALL
from propkernels.datasets.tables import TARGET_NAMES, find_column, listed_names

KEYS = ("graph", "node", "source", "target", "weight")  # of tables of edges, nodes and graphs


@dataclass(frozen=True)
class Reading:
    """Options for reading a data set, the same for every format and command.

    Attributes
    ----------
    smiles_column : str or None
        Column of SMILES in a table; None: a column with a usual name.
    target_columns : tuple of str
        Columns of the target: names in tables, properties in SDF files, numbers from 0 in files of graphs
        with several targets. Empty: a column with a usual name, or all columns of a file of graphs.
    id_column : str or None
        Column of a table whose values become the ids of the graphs.
    node_labels : tuple of str
        Labels of nodes: recipes for atoms (see :func:`propkernels.from_smiles`), or columns of a table of
        nodes or names of node data in a graph file. Empty: ``atom_labels`` for molecules, and a column with a
        usual name.
    edge_labels : str or None
        Column of a table of edges, or name of edge data, that is the label of edges.
    key_columns : mapping of str to str
        Columns of tables by what they hold: "graph", "node", "source", "target" or "weight"; others have
        usual names.
    atom_labels : tuple of str
        Recipes for atoms if ``node_labels`` is empty.
    standardize, descriptors : tuple of str
        Steps of standardization, and descriptors of whole molecules; see :func:`propkernels.from_smiles`.
    target_required : bool
        Whether a missing target is an error.
    errors : {"raise", "skip", "empty"}
        Treatment of invalid molecules and graphs: an error, left out, or a graph without nodes.
    n_jobs : int or None
        Processes that read molecules, and threads that read TU and Parquet files.
    """

    smiles_column: str | None = None
    target_columns: tuple[str, ...] = ()
    id_column: str | None = None
    node_labels: tuple[str, ...] = ()
    edge_labels: str | None = None
    key_columns: Mapping[str, str] = field(default_factory=dict)
    atom_labels: tuple[str, ...] = VIEWS
    standardize: tuple[str, ...] = ()
    descriptors: tuple[str, ...] = ()
    target_required: bool = True
    errors: str = "raise"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.errors, ERRORS, "errors")
        for key in self.key_columns:
            check_choice(key, KEYS, "the key of --column (key_columns=)")

    @property
    def recipe(self) -> str | tuple[str, ...]:
        """Labels of atoms."""
        labels = self.node_labels or self.atom_labels
        return labels[0] if len(labels) == 1 else labels

    @property
    def of_molecules(self) -> dict[str, Any]:
        """Options for the conversion of molecules to graphs."""
        wanted = self.descriptors[0] if self.descriptors == (ALL,) else self.descriptors
        return {"node_labels": self.recipe, "standardize": self.standardize, "descriptors": wanted or None}

    def refuse_columns(self, kind: str) -> None:
        """Raise ValueError for options that name columns of tables, for a format without columns."""
        options = {
            "--smiles (smiles_column)": self.smiles_column,
            "--id-column (id_column)": self.id_column,
            "--node-labels (node_labels)": self.node_labels,
            "--edge-labels (edge_labels)": self.edge_labels,
            "--column (key_columns)": self.key_columns,
        }
        for option, value in options.items():
            if value:
                raise ValueError(f"{option} does not apply to {kind}: leave it out")

    def table_targets(self, names: Sequence[str], place: Any, without: str | None = None) -> list[str]:
        """Return the names of the target columns of a table; raise ValueError if there is none."""
        if self.target_columns:
            return [str(find_column(names, column, (), place)) for column in self.target_columns]
        found = find_column(names, None, TARGET_NAMES, place)
        if found is None and self.target_required:
            left = listed_names([name for name in names if name != without])
            raise ValueError(
                f"{place} has no column with a usual name for the target: choose one by --target "
                f"(target_column=), of {left}"
            )
        return [] if found is None else [found]

    def stored_target(self, target: Any, n_graphs: int, place: Any) -> NDArray[Any]:
        """Return the target of a file of graphs: all its columns, or those chosen by number."""
        if target is None or np.shape(target) == (n_graphs, 0):
            return self.checked_target([], n_graphs, place)
        columns = target.reshape(n_graphs, -1).T
        if not self.target_columns:
            return self.checked_target(list(columns), n_graphs, place)
        numbers = [_number(column, len(columns), place) for column in self.target_columns]
        return self.checked_target([columns[number] for number in numbers], n_graphs, place)

    def checked_target(self, columns: Sequence[NDArray[Any]], n_graphs: int, place: Any) -> NDArray[Any]:
        """Return one typed column, several columns of numbers (n, columns), or (n, 0) without a target."""
        if not columns:
            if self.target_required:
                raise ValueError(f"{place} has no target: name its column by --target (target_column=)")
            return np.empty((n_graphs, 0))
        for number, column in enumerate(columns):
            known = f" {self.target_columns[number]!r}" if self.target_columns else ""
            check_measurements(np.asarray(column), f"{place}: the target{known}")
        typed = [as_classes(typed_column(column)) for column in columns]
        if len(typed) == 1:
            return typed[0]
        for number, column in enumerate(typed):
            if column.dtype.kind not in "biuf":
                name = self.target_columns[number] if self.target_columns else number
                raise ValueError(f"{place}: the target {name} is not numeric; of several targets all must be")
        return np.column_stack([column.astype(np.float64) for column in typed])


def _number(column: str, n_columns: int, place: Any) -> int:
    """Return the number of a target column."""
    if not column.isdecimal() or int(column) >= n_columns:
        if n_columns == 1:
            raise ValueError(f"{place} has one target column: leave --target (target_column=) out")
        raise ValueError(
            f"{place} has {n_columns} target columns without names: choose by number, --target 0 to "
            f"{n_columns - 1}"
        )
    return int(column)
