"""Edge labels in propagation: what crosses an edge is multiplied by a factor of the edge's label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.randomness import label_keys, uniform
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.initial import UNKNOWN
from propkernels.propagation.schemes import AffineOperator, directed_adjacency

_FACTOR = 4  # tells these numbers apart from the others that are drawn from one seed


@dataclass(frozen=True)
class EdgeFactors:
    """Factors between 1/2 and 3/2, pure functions of (seed, purpose, stream, step, edge label).

    A walk from a node then contributes the product of the factors of its edges, times the projection of the
    label at its end. Sums over walks are polynomials in independent continuous variables, one for each step
    and edge label: with probability 1 they are equal only if their coefficients are, the probabilities
    of each sequence of edge labels with each label at the end. With the same factor in every step the order
    of the edge labels would be lost. Positive factors around 1 neither cancel nor let values grow or vanish.

    Attributes
    ----------
    seed : int
    purpose : int
        Tells apart the families drawn from one seed (labels, attributes).
    """

    seed: int
    purpose: int

    def draw(
        self, keys: NDArray[np.uint64], streams: NDArray[np.int64], steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the factors of some steps, edge labels and streams, (steps, keys, streams).

        Step k of a stream is the k-th that its values make: the last edge of its walks is step 1. It does not
        depend on t_max, so a smaller t_max is a part of a larger one.
        """
        words = (streams[None, None, :], steps[:, None, None], keys[None, :, None])
        return 0.5 + uniform(self.seed, self.purpose, _FACTOR, *words)


@dataclass(frozen=True)
class CrossedEdges:
    """The edge labels that a walk meets: entry e of its adjacency has the label with key keys[kinds[e]]."""

    kinds: NDArray[np.int32]
    keys: NDArray[np.uint64]


def crossed_edges(graphs: GraphDatabase, direction: str) -> CrossedEdges:
    """Labels of the entries of ``directed_adjacency``; a missing label is a label of its own.

    Where a walk goes both ways along an edge and the two ways differ in their labels, it meets that of the
    heavier one; of two that are equally heavy, that of the way it goes.
    """
    column = graphs.edge_label_column
    if column is None:
        ids, keys = np.zeros(graphs.adjacency.nnz, dtype=np.int32), label_keys((UNKNOWN,))
    else:
        keys = label_keys((*column.values, UNKNOWN))
        ids = np.where(column.ids < 0, len(column.values), column.ids).astype(np.int32)
    return CrossedEdges(ids[_stored_entries(graphs.adjacency, direction)], keys)


def _stored_entries(adjacency: csr_array, direction: str) -> NDArray[np.int64]:
    """For each entry of the directed adjacency, the stored entry that it stands for."""
    numbers = np.arange(adjacency.nnz)
    if direction == "follow":
        return numbers
    numbered = csr_array((numbers, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    reverse = csr_array(numbered.T)
    reverse.sort_indices()
    if direction == "reverse":
        return np.asarray(reverse.data)
    there, back = _places(adjacency), _places(reverse)
    wanted = np.union1d(there, back)
    weight = np.full((2, len(wanted)), -np.inf)
    entry = np.zeros((2, len(wanted)), dtype=np.int64)
    for way, (places, entries) in enumerate([(there, numbers), (back, reverse.data)]):
        at = np.searchsorted(wanted, places)
        entry[way, at] = entries
        weight[way, at] = adjacency.data[entry[way, at]]
    return np.where(weight[0] >= weight[1], entry[0], entry[1])


def _places(matrix: csr_array) -> NDArray[np.int64]:
    """Row and column of each entry in one number, ascending."""
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices


def edges_of_operator(graphs: GraphDatabase, operator: AffineOperator, direction: str) -> CrossedEdges:
    """Edge labels of the entries of an operator's adjacency, which must be that of the graphs."""
    expected, found = directed_adjacency(graphs, direction), operator.adjacency
    if not (
        np.array_equal(expected.indptr, found.indptr) and np.array_equal(expected.indices, found.indices)
    ):
        raise ValueError(
            "edge_labels=True needs a propagation scheme that walks along the edges of the graphs"
        )
    return crossed_edges(graphs, direction)
