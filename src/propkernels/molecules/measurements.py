"""Several measurements of one graph: merged into one, with the spread of their targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.cells import is_missing
from propkernels._utils.checks import check_choice
from propkernels._utils.typing import Array, Target
from propkernels.convert.check import check_edges
from propkernels.graphs.container import count
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs
from propkernels.models.targets import check_kinds, check_size
from propkernels.sets.hashes import unique

Groups = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Merged:
    """Distinct graphs, each with one target.

    Attributes
    ----------
    graphs : GraphDatabase
        In order of first appearance.
    target : ndarray of shape (distinct graphs,) or (distinct graphs, columns)
        Means of numbers, or the most frequent classes, the first in order among equals; gaps do not count.
    sizes : ndarray of int64, (distinct graphs,)
        Number of measurements of each graph.
    spreads : ndarray of float64, (distinct graphs,)
        Largest difference within the measurements of a graph; of classes 1 if they differ, else 0.
    inverse : ndarray of int64
        For each measurement, the position of its graph.
    """

    graphs: GraphDatabase
    target: Array
    sizes: Groups
    spreads: NDArray[np.float64]
    inverse: Groups

    @property
    def sentence(self) -> str:
        """The number of graphs with several measurements, and how far these differ; "" without any."""
        repeated = self.sizes > 1
        if not repeated.any():
            return ""
        n_rows = int(self.sizes[repeated].sum())
        differ = int(np.count_nonzero(self.spreads > 0))
        largest = f", by up to {self.spreads.max():.3g}" if differ and self.target.dtype.kind == "f" else ""
        graphs = f"{count(int(repeated.sum()), 'graph')} with several measurements ({n_rows:,} rows)"
        return f"{graphs}; those of {differ:,} differ{largest}."


def merge_duplicates(
    graphs: Graphs,
    target: Target,
    *,
    task: Literal["auto", "classes", "numbers"] = "auto",
    n_jobs: int | None = None,
) -> Merged:
    """Return the distinct graphs of a collection, with one target each.

    Graphs are equal if they are isomorphic, with labels, attributes and weights; see :func:`unique`.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
    target : array-like of shape (graphs,) or (graphs, columns)
        Numbers or classes; None and NaN are gaps.
    task : {"auto", "classes", "numbers"}, default="auto"
        Whether to average numbers or to take the most frequent class, in each column. "auto": numbers if the
        type is a floating-point type.
    n_jobs : int or None, default=None

    Returns
    -------
    Merged

    See Also
    --------
    unique : The distinct graphs without targets.

    Examples
    --------
    >>> import propkernels as pk
    >>> merged = pk.molecules.merge_duplicates(pk.from_smiles(["CCO", "OCC", "CCN"]), [1.0, 2.0, 5.0])
    >>> merged.target, merged.sizes
    (array([1.5, 5. ]), array([2, 1]))
    >>> merged.sentence
    '1 graph with several measurements (2 rows); those of 1 differ, by up to 1.'
    """
    check_choice(task, ("auto", "classes", "numbers"), "task")
    database, values = check_edges(graphs), np.asarray(target)
    if values.ndim not in (1, 2) or len(values) != len(database) or not all(values.shape[1:]):
        raise ValueError(f"target must hold one entry for each of {len(database)} graphs, got {values.shape}")
    distinct, _, inverse = unique(database, return_inverse=True, n_jobs=n_jobs)
    sizes = np.bincount(inverse, minlength=len(distinct)).astype(np.int64)
    are_numbers = values.dtype.kind == "f" if task == "auto" else task == "numbers"
    if are_numbers and values.dtype.kind not in "biuf":
        raise ValueError(f"target must hold numbers, got an array of {values.dtype}")
    columns = values.reshape(len(values), -1).T
    merge = _means if are_numbers else _modes
    merged = [merge(column, inverse, len(distinct)) for column in columns]
    spreads = np.max(np.array([spread for _, spread in merged], dtype=np.float64), axis=0, initial=0.0)
    targets = np.stack([one for one, _ in merged], axis=1)
    return Merged(distinct, targets.reshape(-1, *values.shape[1:]), sizes, spreads, inverse)


def _means(column: Array, inverse: Groups, n: int) -> tuple[Array, NDArray[np.float64]]:
    """Return means and the largest differences of numbers, by group."""
    values = column.astype(np.float64)
    check_size(values)
    known = np.flatnonzero(~np.isnan(values))
    group, values = inverse[known], values[known]
    counts = np.bincount(group, minlength=n)
    least, most = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(least, group, values)
    np.maximum.at(most, group, values)
    means = np.bincount(group, values, minlength=n) / np.maximum(counts, 1)
    return np.where(counts > 0, means, np.nan), np.where(counts > 0, most - least, 0.0)


def _modes(column: Array, inverse: Groups, n: int) -> tuple[Array, NDArray[np.float64]]:
    """Return the most frequent classes, and whether classes differ, by group."""
    known = np.flatnonzero(~is_missing(column))
    check_kinds(column[known])
    classes, numbers = np.unique(column[known], return_inverse=True)
    pairs, votes = np.unique(inverse[known] * max(len(classes), 1) + numbers, return_counts=True)
    group, number = np.divmod(pairs, max(len(classes), 1))
    order = np.lexsort((number, -votes, group))  # the first of a group has most votes
    merged, first = np.unique(group[order], return_index=True)
    modes = _gaps(column.dtype, n) if len(merged) < n else np.empty(n, dtype=classes.dtype)
    modes[merged] = classes[number[order][first]]
    return modes, (np.bincount(group, minlength=n) > 1).astype(np.float64)


def _gaps(dtype: np.dtype[Any], n: int) -> Array:
    """Return missing values: NaN among floats, else None."""
    return np.full(n, np.nan) if dtype.kind == "f" else np.full(n, None, dtype=object)
