"""Several measurements of one graph: merged into one, with the spread of their targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.typing import Array, Target
from propkernels.convert.check import check_edges
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.container import count
from propkernels.graphs.database import GraphDatabase
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
        Means of numbers, without gaps; of classes the most frequent one, the first in order among equals.
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


def merge_duplicates(graphs: Graphs, target: Target, *, n_jobs: int | None = None) -> Merged:
    """Return the distinct graphs of a collection, with one target each.

    Graphs are equal if they are isomorphic, with labels, attributes and weights; see :func:`unique`.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs
    target : array-like of shape (graphs,) or (graphs, columns)
        Floating-point numbers, possibly with gaps (NaN), are averaged; anything else is a class.
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
    >>> merged = pk.sets.merge_duplicates(pk.from_smiles(["CCO", "OCC", "CCN"]), [1.0, 2.0, 5.0])
    >>> merged.target, merged.sizes
    (array([1.5, 5. ]), array([2, 1]))
    >>> merged.sentence
    '1 graph with several measurements (2 rows); those of 1 differ, by up to 1.'
    """
    database, values = check_edges(graphs), np.asarray(target)
    if values.ndim not in (1, 2) or len(values) != len(database):
        raise ValueError(f"target must hold one entry for each of {len(database)} graphs, got {values.shape}")
    distinct, _, inverse = unique(database, return_inverse=True, n_jobs=n_jobs)
    sizes = np.bincount(inverse, minlength=len(distinct)).astype(np.int64)
    if values.dtype.kind == "f":
        means, spreads = _means(values, inverse, len(distinct))
        return Merged(distinct, means, sizes, spreads, inverse)
    if values.ndim == 2:
        raise ValueError("several columns must be floating-point numbers, possibly with gaps (NaN)")
    modes, differ = _modes(values, inverse, len(distinct))
    return Merged(distinct, modes, sizes, differ, inverse)


def _means(values: NDArray[Any], inverse: Groups, n: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return means and the largest differences of numbers, by group."""
    columns = values.reshape(len(values), -1)
    known = ~np.isnan(columns)
    shape = (n, columns.shape[1])
    sums, counts = np.zeros(shape), np.zeros(shape)
    least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.add.at(sums, inverse, np.where(known, columns, 0.0))
    np.add.at(counts, inverse, known)
    np.minimum.at(least, inverse, np.where(known, columns, np.inf))
    np.maximum.at(most, inverse, np.where(known, columns, -np.inf))
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    spreads = np.where(counts > 0, most - least, 0.0).max(axis=1, initial=0.0)
    return means.reshape((n, *values.shape[1:])), spreads


def _modes(values: NDArray[Any], inverse: Groups, n: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the most frequent classes, and whether classes differ, by group."""
    classes, numbers = np.unique(values, return_inverse=True)
    votes = np.zeros((n, len(classes)), dtype=np.int64)
    np.add.at(votes, (inverse, numbers), 1)
    differ = np.count_nonzero(votes, axis=1) > 1
    return classes[np.argmax(votes, axis=1)], differ.astype(np.float64)
