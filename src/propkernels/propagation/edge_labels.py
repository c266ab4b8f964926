"""Edge labels in propagation: values that cross an edge are multiplied by a factor of its label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import check_room
from propkernels._utils.randomness import label_keys, uniform
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.initial import UNKNOWN
from propkernels.propagation.schemes import AffineOperator, directed_adjacency

_FACTOR = 4  # separates these random numbers from others with the same seed


@dataclass(frozen=True)
class EdgeFactors:
    """Factors between 1/2 and 3/2, pure functions of (seed, purpose, stream, step, edge label).

    A walk contributes the product of the factors of its edges, times the projection of the label at its
    end. Sums over walks are polynomials in independent continuous variables, one per step and edge label:
    with probability 1 two sums are equal only if their coefficients are, that is, the probabilities of all
    sequences of edge labels with all end labels. With one factor for all steps, the order of edge labels
    would be lost. Positive factors around 1 do not cancel, and values neither grow nor vanish.

    Attributes
    ----------
    seed : int
    purpose : int
        Separates families with the same seed (labels, attributes).
    """

    seed: int
    purpose: int

    def draw(
        self, keys: NDArray[np.uint64], streams: NDArray[np.int64], steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the factors of steps, edge labels and streams, (steps, keys, streams).

        Step k of a stream is the k-th step of its values: the last edge of its walks is step 1. Factors do
        not depend on t_max, so the streams of a smaller t_max are a subset of those of a larger one.
        """
        check_room(len(steps) * len(keys), len(streams), 2, ways_out="take a smaller t_max")
        words = (streams[None, None, :], steps[:, None, None], keys[None, :, None])
        return 0.5 + uniform(self.seed, self.purpose, _FACTOR, *words)


@dataclass(frozen=True)
class CrossedEdges:
    """Edge labels along a walk: entry e of the adjacency has the label with key ``keys[kinds[e]]``."""

    kinds: NDArray[np.int32]
    keys: NDArray[np.uint64]


def crossed_edges(graphs: GraphDatabase, direction: str) -> CrossedEdges:
    """Return the labels of the entries of ``directed_adjacency``; missing labels form one further label.

    If a walk crosses edges in both directions and the labels of the two directions differ, the label of the
    heavier direction counts; for equal weights, the label of the direction of the walk.
    """
    column = graphs.edge_label_column
    if column is None:
        ids, keys = np.zeros(graphs.adjacency.nnz, dtype=np.int32), label_keys((UNKNOWN,))
    else:
        keys = label_keys((*column.values, UNKNOWN))
        ids = np.where(column.ids < 0, len(column.values), column.ids).astype(np.int32)
    return CrossedEdges(ids[_stored_entries(graphs.adjacency, direction)], keys)


def _stored_entries(adjacency: csr_array, direction: str) -> NDArray[np.int64]:
    """Return, for each entry of the directed adjacency, the number of its stored entry."""
    numbers = np.arange(adjacency.nnz)
    if direction == "follow":
        return numbers
    numbered = csr_array((numbers, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    reverse = csr_array(numbered.T)
    reverse.sort_indices()
    if direction == "reverse":
        return np.asarray(reverse.data)
    there, back = _places(adjacency), _places(reverse)
    either = np.union1d(there, back)
    weight = np.full((2, len(either)), -np.inf)
    entry = np.zeros((2, len(either)), dtype=np.int64)
    for way, (places, entries) in enumerate([(there, numbers), (back, reverse.data)]):
        at = np.searchsorted(either, places)
        entry[way, at] = entries
        weight[way, at] = adjacency.data[entry[way, at]]
    return np.where(weight[0] >= weight[1], entry[0], entry[1])


def _places(matrix: csr_array) -> NDArray[np.int64]:
    """Return ``row * n_columns + column`` of each entry, ascending."""
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices


def edges_of_operator(graphs: GraphDatabase, operator: AffineOperator, direction: str) -> CrossedEdges:
    """Return the edge labels of an operator's adjacency, which must have the edges of the graphs."""
    expected, actual = directed_adjacency(graphs, direction), operator.adjacency
    if not (
        np.array_equal(expected.indptr, actual.indptr) and np.array_equal(expected.indices, actual.indices)
    ):
        raise ValueError(
            "edge_labels=True needs a propagation scheme that walks along the edges of the graphs"
        )
    return crossed_edges(graphs, direction)
