"""Uncertain labels: one distribution over labels per node."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from propkernels._utils.arrays import check_sparse, freeze, offsets
from propkernels._utils.typing import Array, Column, Rows
from propkernels.graphs.labels import LabelColumn, canonical_label


class LabelDistributions:
    """Label distributions of N nodes over k labels, to be passed as ``node_labels``.

    Parameters
    ----------
    probabilities : array, masked array or sparse matrix of shape (N, k)
        One distribution per node; rows are divided by their sums. A fully masked row of a masked array is
        an unknown distribution.
    values : sequence of length k, optional
        Labels of the columns; 0, ..., k - 1 by default.
    known : sequence of bool, length N, optional
        False for unknown distributions: the row is ignored, and the node starts from the kernel's prior.
    observed : sequence of bool, length N, optional
        True for distributions that label propagation keeps fixed, by default those with a probability of 1;
        other nodes start from their distributions.

    Attributes
    ----------
    probabilities : csr_array of shape (N, k)
        Rows that sum to 1; unknown rows are empty.

    See Also
    --------
    GraphDatabase : Accepts them as ``node_labels``.
    propkernels.propagation.LabelImputer : Assigns one label to each node.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.2.

    Examples
    --------
    A node with a certain, one with an uncertain, and one with an unknown label:

    >>> import numpy as np, propkernels as pk
    >>> rows = np.ma.array([[1.0, 0.0], [0.3, 0.7], [0.0, 0.0]], mask=[[0, 0], [0, 0], [1, 1]])
    >>> labels = pk.LabelDistributions(rows, values=["C", "O"])
    >>> labels.observed
    array([ True, False, False])
    >>> pk.GraphDatabase(np.ones((3, 3)) - np.eye(3), [0, 3], node_labels=labels)
    GraphDatabase(1 graph, 3 nodes, 3 edges, 2 node labels, 2 unobserved)
    """

    probabilities: csr_array
    values: tuple[Hashable, ...]
    known: NDArray[np.bool_]
    observed: NDArray[np.bool_]

    def __init__(
        self,
        probabilities: Rows,
        values: Column | None = None,
        known: Sequence[bool] | NDArray[np.bool_] | None = None,
        observed: Sequence[bool] | NDArray[np.bool_] | None = None,
    ) -> None:
        matrix, masked = _as_matrix(probabilities)
        n, k = matrix.shape
        self.values = tuple(range(k)) if values is None else distinct_labels(values, "values")
        if len(self.values) != k:
            raise ValueError(f"label distributions have {k} columns but {len(self.values)} values name them")
        self.known = ~masked if known is None else _mask(known, n, "known")
        self.probabilities = _normalized(matrix, self.known)
        certain = np.bincount(_rows(self.probabilities), self.probabilities.data == 1.0, n) > 0
        self.observed = self.known & (certain if observed is None else _mask(observed, n, "observed"))
        freeze(self.probabilities, self.known, self.observed)

    @classmethod
    def _assemble(cls, *parts: Any) -> LabelDistributions:
        """Return distributions of valid parts, without validation."""
        distributions = cls.__new__(cls)
        distributions.probabilities, distributions.values = parts[:2]
        distributions.known, distributions.observed = parts[2:]
        freeze(distributions.probabilities, *parts[2:])
        return distributions

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the unpickled arrays read-only again."""
        self.__dict__.update(state)
        freeze(self.probabilities, self.known, self.observed)

    @classmethod
    def from_column(cls, column: LabelColumn) -> LabelDistributions:
        """Return delta distributions at the observed labels."""
        observed = column.observed
        indptr = offsets(observed)
        arrays = (np.ones(int(indptr[-1])), column.ids[observed], indptr)
        matrix = csr_array(arrays, shape=(len(column), len(column.values)))
        return cls._assemble(matrix, column.values, observed, observed)

    def __len__(self) -> int:
        return len(self.known)

    @property
    def present(self) -> tuple[Hashable, ...]:
        """Labels with a positive probability at any node."""
        counts = np.bincount(self.probabilities.indices, minlength=len(self.values))
        return tuple(self.values[i] for i in np.flatnonzero(counts))

    def take(self, index: Array | slice) -> LabelDistributions:
        """Return the distributions at the given positions."""
        rows = csr_array(self.probabilities[index])
        return LabelDistributions._assemble(rows, self.values, self.known[index], self.observed[index])

    def to_array(self) -> Array:
        """Return an (N, k) array, with unknown rows masked."""
        dense = self.probabilities.toarray()
        if self.known.all():
            return np.asarray(dense)
        return np.ma.array(dense, mask=np.repeat(~self.known[:, None], dense.shape[1], axis=1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelDistributions):
            return NotImplemented
        if len(self) != len(other):
            return False
        stacked = concat_distributions([self, other]).probabilities
        return bool(
            np.array_equal(self.observed, other.observed)
            and np.array_equal(self.known, other.known)
            and (stacked[: len(self)] != stacked[len(self) :]).nnz == 0
        )

    __hash__ = None  # type: ignore[assignment]


Labeling: TypeAlias = Column | LabelColumn | LabelDistributions  # of nodes or edges


def concat_labels(columns: Sequence[LabelColumn | LabelDistributions]) -> LabelColumn | LabelDistributions:
    """Concatenate labels; if any are distributions, plain labels become delta distributions."""
    plain = [column for column in columns if isinstance(column, LabelColumn)]
    if len(plain) == len(columns):
        return LabelColumn.concat(plain)
    return concat_distributions(
        [c if isinstance(c, LabelDistributions) else LabelDistributions.from_column(c) for c in columns]
    )


def concat_distributions(parts: Sequence[LabelDistributions]) -> LabelDistributions:
    """Concatenate distributions; values are merged in order of first appearance."""
    position: dict[Hashable, int] = {}
    tables = [np.array([position.setdefault(v, len(position)) for v in p.values], dtype=int) for p in parts]
    columns = [table[p.probabilities.indices] for table, p in zip(tables, parts, strict=True)]
    lengths = np.concatenate([np.diff(p.probabilities.indptr) for p in parts])
    data = np.concatenate([p.probabilities.data for p in parts])
    indptr = offsets(lengths)
    matrix = csr_array((data, np.concatenate(columns), indptr), shape=(len(lengths), len(position)))
    matrix.sort_indices()
    known, observed = (np.concatenate([getattr(p, name) for p in parts]) for name in ("known", "observed"))
    return LabelDistributions._assemble(matrix, tuple(position), known, observed)


def _as_matrix(probabilities: Any) -> tuple[csr_array, NDArray[np.bool_]]:
    """Return the rows as CSR and a mask of the fully masked rows."""
    plain = probabilities.filled(0.0) if isinstance(probabilities, np.ma.MaskedArray) else probabilities
    if issparse(plain) and plain.ndim == 2:
        plain = check_sparse(plain, "the matrix of label distributions")
    try:
        shape = plain.shape if issparse(plain) else np.shape(plain)
        matrix = csr_array(plain, dtype=np.float64, copy=True) if len(shape) == 2 else None
    except (TypeError, ValueError):
        raise TypeError("label distributions must be a matrix of numbers, one row per node") from None
    if matrix is None:  # before SciPy 1.15, csr_array cannot have one dimension
        raise ValueError(f"label distributions must be of shape (nodes, labels), got {shape}")
    matrix.sum_duplicates()
    if not isinstance(probabilities, np.ma.MaskedArray):
        return matrix, np.zeros(matrix.shape[0], dtype=bool)
    return matrix, np.asarray(np.ma.getmaskarray(probabilities).all(axis=1))


def distinct_labels(labels: Any, name: str) -> tuple[Hashable, ...]:
    """Return canonical, distinct labels in the given order; here -1 is an ordinary label."""
    values = tuple(canonical_label(label) for label in labels)
    if any(value is None for value in values) or len(set(values)) < len(values):
        raise ValueError(f"{name} must be distinct labels, got {list(labels)}")
    return values


def _mask(mask: Any, n: int, name: str) -> NDArray[np.bool_]:
    array = np.asarray(mask)
    if array.dtype != bool or array.shape != (n,):
        raise ValueError(f"{name} must hold one True or False for each of the {n} nodes")
    return array.copy()


def _rows(matrix: csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def _normalized(matrix: csr_array, known: NDArray[np.bool_]) -> csr_array:
    """Return a matrix with unknown rows emptied and other rows divided by their sums."""
    matrix.data[~known[_rows(matrix)]] = 0.0
    matrix.eliminate_zeros()
    wrong = ~((matrix.data >= 0) & (matrix.data < np.inf))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"the label distribution of node {_rows(matrix)[at]} holds {matrix.data[at]}: "
            "probabilities must be finite and not negative"
        )
    with np.errstate(over="ignore"):
        sums = np.asarray(matrix.sum(axis=1)).ravel()
    empty = np.flatnonzero(known & (sums == 0))
    if empty.size:
        raise ValueError(
            f"the label distribution of node {empty[0]} is zero throughout: "
            "if it is unknown, mask the row or set known to False there"
        )
    odd = np.flatnonzero(known & ~((sums >= 2.0**-1000) & (sums <= 2.0**1000)))
    if odd.size:
        raise ValueError(
            f"the label distribution of node {odd[0]} adds up to {sums[odd[0]]:g}: "
            "probabilities add up to 1, or to a number of usual size"
        )
    already = np.abs(sums - 1.0) < 1e-12
    matrix.data /= np.where(already, 1.0, sums)[_rows(matrix)]
    return matrix
