"""Features of one node from the walks that begin at it: no column of the whole graph is propagated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from propkernels.nodes.spreading import RARE
from propkernels.nodes.views import Block, Sheet
from propkernels.propagation.schemes import AffineOperator, reciprocal

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class KnownTargets:
    """Nodes of a graph with a target, and the columns of targets that are propagated, (nodes, columns)."""

    nodes: Indices
    spread: Matrix

    def marked(self, n: int) -> Matrix:
        """Return targets of all nodes, 0 where unknown, with a last column that marks known nodes."""
        found = np.zeros((n, self.spread.shape[1] + 1))
        found[self.nodes, :-1], found[self.nodes, -1] = self.spread, 1.0
        return found


class WalksFrom:
    """Rows e_v T^t of walks that begin at single nodes, and the features that they give.

    The features equal those of :class:`Rows`, which propagates the columns of all nodes, up to rounding.

    Parameters
    ----------
    sheet : Sheet
    known : KnownTargets or None
    """

    def __init__(self, sheet: Sheet, known: KnownTargets | None) -> None:
        self.sheet, self.known = sheet, known
        self._steps: dict[str, csr_array] = {}

    def matrix(self, walk: str) -> csr_array:
        """Return the matrix of one step."""
        if walk not in self._steps:
            self._steps[walk] = as_matrix(self.sheet.walks.operator(walk))
        return self._steps[walk]

    def rows(self, walk: str, node: int, last: int) -> list[csr_array]:
        """Return e_v T^t for t = 0..last, sparse."""
        rows = [csr_array((np.ones(1), ([0], [node])), shape=(1, self.sheet.graphs.n_nodes))]
        for _ in range(last):
            rows.append(csr_array(rows[-1] @ self.matrix(walk)))
        return rows

    def block(self, block: Block, node: int) -> Matrix:
        """Return the features of a block at one node, (1, columns)."""
        if block.source == "codes":
            found = np.zeros((1, self.sheet.inputs.n_codes))
            np.add.at(found[0], self.sheet.code_columns(node)[0], self.sheet.code_value)
            return found
        if block.source == "targets":
            return self._targets(block, node)
        if block.source == "crossed":
            return self._crossed(node)
        if block.summed:
            total = self.summed(block, node)
            return total * reciprocal(np.linalg.norm(total, axis=1))[:, None]
        columns = self.sheet.columns(block.source)
        return np.hstack([_dense(row @ columns) for row in self.rows(block.walk, node, block.last)])

    def summed(self, block: Block, node: int) -> Matrix:
        """Return the sum of steps at one node, before it is divided by its norm."""
        rows = self.rows(block.walk, node, block.last)
        return _dense(sum(rows[1:], rows[0]) @ self.sheet.columns(block.source))

    def scale(self, block: Block, node: int) -> float:
        """Return the factor of the row of a summed block, 1 / norm; 1 for steps side by side."""
        if not block.summed:
            return 1.0
        return float(reciprocal(np.linalg.norm(self.summed(block, node), axis=1))[0])

    def _targets(self, block: Block, node: int) -> Matrix:
        """Return shares and masses of known targets at t = 1, 2, ...; see :func:`target_hops`."""
        assert self.known is not None
        marked, middle = self.known.marked(self.sheet.graphs.n_nodes), self.known.spread.mean(axis=0)
        parts = []
        for row in self.rows("row", node, block.last)[1:]:
            found = np.asarray(row @ marked)[0] - row[0, node] * marked[node]
            mass = max(found[-1], 0.0)
            parts.append(np.append((found[:-1] + RARE * middle) / (mass + RARE), mass))
        return np.concatenate(parts)[None]

    def _crossed(self, node: int) -> Matrix:
        """Return targets two steps away times attributes in between; see :func:`crossed_targets`."""
        assert self.known is not None
        between = self.sheet.between([Block("crossed")])
        assert between is not None
        marked = self.known.marked(len(between))
        marked[node] = 0.0  # the way back brings nothing
        step = self.rows("row", node, 1)[1]
        around = np.asarray(self.matrix("row")[step.indices] @ marked)
        return ((step.data[:, None] * between[step.indices]).T @ around).reshape(1, -1)


def _dense(row: object) -> Matrix:
    return np.asarray(row.toarray() if hasattr(row, "toarray") else row)


def as_matrix(operator: AffineOperator) -> csr_array:
    """Return the matrix of a step, spread * A + keep."""
    scaled = diags_array(operator.spread) @ operator.adjacency
    return csr_array(scaled + diags_array(operator.keep))
