"""Contributions to decisions about nodes: what each neighbor, column and step adds, exactly.

A decision is linear in propagated columns: with the row ``p_t = e_v T^t`` of walks from node v, the value of
column j at node u adds ``p_t[u] C[u, j] W_t[j]``. A radial member is made linear for one node at a time:
along the straight path from features of 0 to the node's, its change is the integral of the gradient
(integrated gradients [1]_), which gives each feature one weight; weights times features add up to the change.

References
----------
.. [1] M. Sundararajan, A. Taly and Q. Yan (2017). Axiomatic attribution for deep networks. International
   Conference on Machine Learning, 3319-3328.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, issparse

from propkernels.nodes.members import LinearMember, NodeRule, RadialMember, radial
from propkernels.nodes.spreading import RARE, Known
from propkernels.nodes.views import Block, Sheet
from propkernels.propagation.schemes import reciprocal

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]
POINTS = 16  # of Gauss-Legendre quadrature per piece of the path
MOST_PIECES = 256
CLOSE = 1e-12  # of the change along a path, relative to its size


@dataclass
class Tally:
    """Contributions to one decision, added up by neighbor and step, and by column and step.

    Attributes
    ----------
    by_neighbor : dict
        Step -> one value per node of the graph.
    by_column : dict
        (source, step) -> one value per column of the source.
    intercept : float
        Constant term of the decision.
    """

    by_neighbor: dict[int, Matrix] = field(default_factory=dict)
    by_column: dict[tuple[str, int], Matrix] = field(default_factory=dict)
    intercept: float = 0.0

    def add(self, source: str, step: int, nodes: Indices, values: Matrix, columns: Matrix, n: int) -> None:
        """Add contributions of some nodes, and the same ones by column."""
        self.by_neighbor.setdefault(step, np.zeros(n))[nodes] += values
        key = (source, step)
        self.by_column[key] = self.by_column.get(key, 0.0) + columns


class WalksFrom:
    """Rows e_v T^t of walks that begin at single nodes, and the features that they give.

    The features equal those of :class:`Rows`, which propagates the columns of all nodes, up to rounding.

    Parameters
    ----------
    sheet : Sheet
    known : Known or None
    """

    def __init__(self, sheet: Sheet, known: Known | None) -> None:
        self.sheet, self.known = sheet, known
        self._steps: dict[str, csr_array] = {}

    def matrix(self, walk: str) -> csr_array:
        """Return the matrix of one step."""
        if walk not in self._steps:
            operator = self.sheet.walks.operator(walk)
            scaled = diags_array(operator.spread) @ operator.adjacency
            self._steps[walk] = csr_array(scaled + diags_array(operator.keep))
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
        marked, middle = self.known.marked(self.sheet.graphs.n_nodes), self.known.targets.mean(axis=0)
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


class Tallies(WalksFrom):
    """Contributions to decisions about nodes of one graph."""

    def of(self, node: int, rule: NodeRule, weights: Matrix) -> Tally:
        """Return the contributions to a rule's decisions times weights."""
        tally = Tally(intercept=float(rule.intercepts @ weights))
        adders = {"targets": self._add_targets, "crossed": self._add_crossed, "codes": self._add_codes}
        for member in rule.members:
            if isinstance(member, LinearMember):
                own = [w @ weights for w in member.weights]
            else:
                assert isinstance(member, RadialMember)
                parts = [self.block(block, node) for block in member.blocks]
                own, start = weights_along(member, parts, weights)
                tally.intercept += start
            for block, part in zip(member.blocks, own, strict=True):
                adders.get(block.source, self._add_moved)(tally, node, block, part)
        return tally

    def _add_moved(self, tally: Tally, node: int, block: Block, weights: Matrix) -> None:
        """Add the contributions of propagated attributes or positional statistics."""
        sheet, source = self.sheet, block.source
        columns, n = sheet.columns(source), sheet.graphs.n_nodes
        per_step = [weights] * (block.last + 1) if block.summed else np.split(weights, block.last + 1)
        scale = self.scale(block, node)
        for t, walk in enumerate(self.rows(block.walk, node, block.last)):
            nodes, chances = walk.indices, scale * walk.data
            here = columns[nodes]
            values = chances * np.asarray(here @ per_step[t])
            tally.add(source, t, nodes, values, self._column_values(source, nodes, chances, per_step[t]), n)

    def _column_values(self, source: str, nodes: Indices, chances: Matrix, weights: Matrix) -> Matrix:
        """Return the contribution of each attribute or statistic, before any projection on directions."""
        inputs = self.sheet.inputs.attributes
        if source == "structure" or inputs is None or inputs.directions is None:
            return np.asarray(chances @ self.sheet.columns(source)[nodes]).ravel() * weights
        full = self.sheet.full_attributes[nodes]
        return np.asarray(chances @ full).ravel() * (inputs.directions @ weights)

    def _add_targets(self, tally: Tally, node: int, block: Block, weights: Matrix) -> None:
        """Add the contributions of known targets other than the node's own."""
        known, n = self.known, self.sheet.graphs.n_nodes
        assert known is not None
        width = known.targets.shape[1]
        place = np.full(n, -1)
        place[known.nodes] = np.arange(len(known.nodes))
        middle = known.targets.mean(axis=0)
        steps = self.rows("row", node, block.last)[1:]
        for t, (walk, piece) in enumerate(zip(steps, np.split(weights, len(steps)), strict=True)):
            others = (place[walk.indices] >= 0) & (walk.indices != node)
            nodes, chances = walk.indices[others], walk.data[others]
            total = chances.sum() + RARE
            shares = known.targets[place[nodes]] * chances[:, None] / total
            values = shares @ piece[:width] + chances * piece[width]
            columns = np.append(shares.sum(axis=0) * piece[:width], chances.sum() * piece[width])
            tally.add("targets", t + 1, nodes, values, columns, n)
            tally.intercept += float(RARE * middle @ piece[:width] / total)

    def _add_crossed(self, tally: Tally, node: int, block: Block, weights: Matrix) -> None:
        """Add the contributions of known targets two steps away, by the attribute of the node in between."""
        known, between = self.known, self.sheet.between([block])
        assert known is not None
        assert between is not None
        n, width = self.sheet.graphs.n_nodes, known.targets.shape[1]
        marked, step = known.marked(n), self.rows("row", node, 1)[1]
        totals = np.zeros(n)
        columns = np.zeros(width + 1)
        for j, piece in enumerate(np.split(weights, between.shape[1])):
            passed = csr_array(
                (step.data * between[step.indices, j], step.indices, step.indptr), shape=step.shape
            )
            chances = np.asarray((passed @ self.matrix("row")).toarray()).ravel()
            chances[node] = 0.0
            totals += chances * (marked @ piece)
            columns += (chances @ marked) * piece
        nodes = np.flatnonzero(totals)
        tally.add("crossed", 2, nodes, totals[nodes], columns, n)

    def _add_codes(self, tally: Tally, node: int, block: Block, weights: Matrix) -> None:
        """Add the contribution of the codes of a node's neighborhood, by step."""
        sheet = self.sheet
        columns, steps = sheet.code_columns(node)
        for t in np.unique(steps).tolist():
            value = np.array([weights[columns[steps == t]].sum() * sheet.code_value])
            tally.add("codes", t, np.array([node]), value, value, sheet.graphs.n_nodes)


def _dense(row: Any) -> Matrix:
    return np.asarray(row.toarray() if issparse(row) else row)


def weights_along(member: RadialMember, parts: list[Any], weights: Matrix) -> tuple[list[Matrix], float]:
    """Return weights of columns, block by block, that equal a radial member at one node, and its start.

    Parameters
    ----------
    member : RadialMember
    parts : list of ndarray, (1, columns)
        Features of the node, block by block.
    weights : ndarray, (decisions,)
        Decisions are combined with these weights.
    """
    combined, scaling = member.weights @ weights, member.scaling
    end = np.asarray(scaling.apply(parts))[0]
    start = -scaling.middle / scaling.unit
    first, last = (float(_values(member, point[None])[0] @ combined) for point in (start, end))
    pieces, slopes = 1, _mean_gradient(member, start, end, combined, 1)
    while (
        abs(slopes @ (end - start) - (last - first)) > CLOSE * max(abs(last - first), 1.0)
        and pieces < MOST_PIECES
    ):
        pieces *= 2
        slopes = _mean_gradient(member, start, end, combined, pieces)
    cuts = np.cumsum([part.shape[1] for part in parts])[:-1]
    return np.split(slopes / scaling.unit, cuts), first


def _values(member: RadialMember, rows: Matrix) -> Matrix:
    return radial(rows, member.landmarks, member.gamma)


def _mean_gradient(member: RadialMember, start: Matrix, end: Matrix, weights: Matrix, pieces: int) -> Matrix:
    """Return the mean gradient of the weighted decision along the path, by quadrature."""
    nodes, shares = np.polynomial.legendre.leggauss(POINTS)
    places = ((nodes + 1) / 2 + np.arange(pieces)[:, None]).ravel() / pieces
    heights = np.tile(shares / 2, pieces) / pieces
    rows = start + places[:, None] * (end - start)
    pull = _values(member, rows) * weights * heights[:, None]  # (points, landmarks)
    total = pull.sum(axis=0) @ member.landmarks - pull.sum(axis=1) @ rows
    return np.asarray(2 * member.gamma * total)
