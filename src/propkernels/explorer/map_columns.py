"""Columns by which the map can be colored: one value per graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.explorer.models import Explained
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.edges import edges_of_graphs

MOST_DISTINCT = 0.9  # distinct texts per graph, from which on a column is shown as text
MOST_NAMES = 40  # distinct words of a column with separate colors


@dataclass(frozen=True)
class Column:
    """A column of the map.

    Attributes
    ----------
    key : str
        Name of the array in the page.
    name : str
        Name shown to the user.
    names : list of str or None
        Names of the values 0, 1, ...; None: the values are numbers.
    low, high : float
        Color range of numbers.
    """

    key: str
    name: str
    names: list[str] | None = None
    low: float = 0.0
    high: float = 1.0

    def described(self) -> dict[str, Any]:
        """Return the description of the column that the page reads."""
        if self.names is not None:
            return {"key": self.key, "name": self.name, "kind": "class", "names": self.names}
        return {"key": self.key, "name": self.name, "kind": "number", "low": self.low, "high": self.high}


def map_columns(
    graphs: GraphDatabase,
    target: NDArray[Any] | None,
    names: list[str] | None,
    found: Explained | None,
    novelty: NDArray[np.float64],
    further: Mapping[str, Any] | None,
    words: Mapping[str, str],
) -> list[tuple[Column, NDArray[Any]]]:
    """Return all columns with their values, the target first; ``words`` name nodes and edges."""
    columns: list[tuple[Column, NDArray[Any]]] = []
    if target is not None and found is not None:
        if names is not None:
            wrong = np.where(found.predictions < 0, -1, found.predictions != target)
            columns = [
                (Column("target", "class", names), target),
                (Column("predicted", "prediction", names), found.predictions),
                (Column("wrong", "errors", ["correct", "wrong"]), wrong),
                column_of_numbers("margin", "margin of the true class", found.margins),
            ]
        else:
            columns = [
                column_of_numbers("target", "target", target),
                column_of_numbers("predicted", "prediction", found.predictions),
                column_of_numbers("margin", "error", found.margins),
            ]
    columns += [
        column_of_numbers("novelty", "novelty", novelty),
        column_of_numbers("nodes", f"number of {words['node']}s", graphs.graph_sizes),
        column_of_numbers("edges", f"number of {words['edge']}s", edges_of_graphs(graphs)),
    ]
    texts = detail_texts(further, len(graphs))
    for i, (name, values) in enumerate((further or {}).items()):
        if name in texts:
            continue
        columns.append(further_column(f"c{i}", str(name), values, len(graphs)))
    return columns


def detail_texts(columns: Mapping[str, Any] | None, n_graphs: int) -> dict[str, list[str]]:
    """Return the columns of texts, such as names and SMILES, which the page shows and searches."""
    found: dict[str, list[str]] = {}
    for name, values in (columns or {}).items():
        array = np.asarray(values)
        if array.shape == (n_graphs,) and array.dtype.kind not in "biuf" and n_graphs:
            texts = [str(value) for value in array.tolist()]
            if len(set(texts)) >= MOST_DISTINCT * n_graphs:
                found[str(name)] = texts
    return found


def named_classes(classes: NDArray[Any], names: Sequence[str] | None) -> list[str]:
    """Return the names of the classes, as given or as they are written."""
    texts = [str(name) for name in (classes.tolist() if names is None else names)]
    if len(texts) != len(classes):
        raise ValueError(f"class_names must name {len(classes)} classes, got {len(texts)} names")
    return texts


def checked_ids(ids: Sequence[Any], n: int, noun: str) -> list[str]:
    """Return ids as texts, one per graph or node."""
    if len(ids) != n:
        raise ValueError(f"there are {len(ids)} ids for {n} {noun}")
    return [str(name) for name in ids]


def column_of_numbers(key: str, name: str, values: Any) -> tuple[Column, NDArray[Any]]:
    """Return a column of numbers, with colors that saturate at the 1 % and 99 % quantiles."""
    array = np.asarray(values)
    known = array[np.isfinite(array)].astype(np.float64)
    low, high = np.quantile(known, [0.01, 0.99]).tolist() if len(known) else (0.0, 1.0)
    kept = array if array.dtype.kind in "iu" else array.astype(np.float32 if key != "target" else np.float64)
    return Column(key, name, None, low, high if high > low else low + 1.0), kept


def further_column(key: str, name: str, values: Any, n_graphs: int) -> tuple[Column, NDArray[Any]]:
    """Return a column of numbers or words given by the user."""
    array = np.asarray(values)
    if array.shape != (n_graphs,):
        raise ValueError(f"column {name!r} must hold {n_graphs} values, got shape {array.shape}")
    if array.dtype.kind in "biuf" and (array.dtype.kind == "f" or len(np.unique(array)) > MOST_NAMES):
        return column_of_numbers(key, name, array.astype(np.float64))
    words, numbers, counts = np.unique(array.astype(str), return_inverse=True, return_counts=True)
    if len(words) <= MOST_NAMES:
        return Column(key, name, [str(word) for word in words]), numbers
    # the most frequent words get separate colors, all others share one
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_NAMES - 1])
    place = np.full(len(words), len(kept))
    place[kept] = np.arange(len(kept))
    return Column(key, name, [*(str(words[i]) for i in kept), "all others"]), place[numbers]
