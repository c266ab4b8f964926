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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from propkernels._utils.typing import Indices, Matrix
from propkernels.nodes.members import LinearMember, NodeRule, RadialMember, radial
from propkernels.nodes.spreading import RARE, Known
from propkernels.nodes.views import Block, Sheet
from propkernels.propagation.schemes import reciprocal

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


class Piece(NamedTuple):
    """What some nodes bring to columns of a block, seen from one node, after a number of steps.

    Attributes
    ----------
    step : int
    nodes : ndarray of int64
    values : ndarray or sparse array, (nodes, names)
        Their sum over nodes is the part of the features.
    columns : slice
        The columns of the block.
    lift : ndarray, (names, columns), or None
        Projection of attributes on directions; None: names are columns.
    constant : ndarray, (columns,)
        What no node brings.
    """

    step: int
    nodes: Indices
    values: Any
    columns: slice
    lift: Matrix | None = None
    constant: Any = 0.0


class Tallies:
    """Contributions to decisions about nodes of one graph, from rows e_v T^t of walks that begin at a node.

    Features of one node are sums of pieces, and equal those of :class:`Rows`, which propagates the columns of
    all nodes, up to rounding.

    Parameters
    ----------
    sheet : Sheet
    known : Known
    """

    def __init__(self, sheet: Sheet, known: Known) -> None:
        self.sheet, self.known = sheet, known
        self._steps: dict[str, csr_array] = {}

    def of(self, node: int, rule: NodeRule, weights: Matrix) -> Tally:
        """Return the contributions to a rule's decisions times weights."""
        tally = Tally(intercept=float(rule.intercepts @ weights))
        for member in rule.members:
            found = [list(self.pieces(block, node)) for block in member.blocks]
            if isinstance(member, LinearMember):
                own = [w @ weights for w in member.weights]
            else:
                assert isinstance(member, RadialMember)
                both = zip(member.blocks, found, strict=True)
                own, start = weights_along(member, [self.features(*pair) for pair in both], weights)
                tally.intercept += start
            for block, pieces, part in zip(member.blocks, found, own, strict=True):
                for piece in pieces:
                    share = part[piece.columns]
                    tally.intercept += float(np.sum(piece.constant * share))
                    share = share if piece.lift is None else piece.lift @ share
                    values, columns = np.asarray(piece.values @ share), _total(piece) * share
                    columns = columns.sum(keepdims=True) if block.source == "codes" else columns
                    tally.add(block.source, piece.step, piece.nodes, values, columns, self._n_nodes)
        return tally

    def features(self, block: Block, pieces: Iterable[Piece]) -> Matrix:
        """Return the features of a block at one node, (1, columns), from its pieces."""
        found = np.zeros((1, block.width(self.sheet.inputs, self.known.targets.shape[1])))
        for piece in pieces:
            total = _total(piece)
            found[0, piece.columns] += (total if piece.lift is None else total @ piece.lift) + piece.constant
        return found

    @property
    def _n_nodes(self) -> int:
        return self.sheet.graphs.n_nodes

    def _matrix(self, walk: str) -> csr_array:
        """Return the matrix of one step."""
        if walk not in self._steps:
            operator = self.sheet.walks.operator(walk)
            scaled = diags_array(operator.spread) @ operator.adjacency
            self._steps[walk] = csr_array(scaled + diags_array(operator.keep))
        return self._steps[walk]

    def pieces(self, block: Block, node: int) -> Iterator[Piece]:
        """Yield what nodes bring to the features of a block at one node."""
        if block.source == "codes":
            columns, steps = self.sheet.code_columns(node)
            for t in np.unique(steps).tolist():
                values = np.zeros((1, self.sheet.inputs.n_codes))
                np.add.at(values[0], columns[steps == t], self.sheet.code_value)
                yield Piece(t, np.array([node]), values, slice(None))
            return
        rows = [csr_array((np.ones(1), ([0], [node])), shape=(1, self._n_nodes))]
        for _ in range(1 if block.source == "crossed" else block.last):
            rows.append(csr_array(rows[-1] @ self._matrix(block.walk)))
        if block.source == "crossed":
            yield from self._crossed(node, rows[1])
        elif block.source == "targets":
            for t, row in enumerate(rows[1:]):
                yield self._targets(node, t, row)
        else:
            yield from self._moved(block, rows)

    def _moved(self, block: Block, rows: Sequence[csr_array]) -> Iterator[Piece]:
        """Yield what nodes bring to propagated attributes or positional statistics."""
        sheet, inputs, scale = self.sheet, self.sheet.inputs.attributes, 1.0
        columns, lift = sheet.columns(block.source), None
        width = columns.shape[1]
        if block.summed:  # rows are divided by their norm
            total = sum(rows[1:], rows[0]) @ columns
            scale = reciprocal(np.linalg.norm(total.toarray() if issparse(total) else total, axis=1))[0]
        if block.source == "attributes" and inputs is not None and inputs.directions is not None:
            columns, lift = sheet.full_attributes, inputs.directions
        for t, row in enumerate(rows):
            first = 0 if block.summed else t * width
            values = diags_array(scale * row.data) @ columns[row.indices]
            yield Piece(t, row.indices, values, slice(first, first + width), lift)

    def _targets(self, node: int, t: int, row: csr_array) -> Piece:
        """Return shares and masses of known targets but the node's own; see :func:`target_hops`."""
        known, width = self.known, self.known.targets.shape[1] + 1
        place = np.full(self._n_nodes, -1)
        place[known.nodes] = np.arange(len(known.nodes))
        others = (place[row.indices] >= 0) & (row.indices != node)
        nodes, chances = row.indices[others], row.data[others, None]
        total = chances.sum() + RARE
        values = np.hstack([known.targets[place[nodes]] * chances / total, chances])
        constant = np.append(RARE * known.targets.mean(axis=0) / total, 0.0)
        return Piece(t + 1, nodes, values, slice(t * width, (t + 1) * width), None, constant)

    def _crossed(self, node: int, step: csr_array) -> Iterator[Piece]:
        """Yield targets two steps away times an attribute in between; see :func:`crossed_targets`."""
        between, marked = self.sheet.between([Block("crossed")]), self.known.marked(self._n_nodes)
        assert between is not None
        marked[node], width = 0.0, marked.shape[1]  # the way back brings nothing
        for j, attribute in enumerate(between.T):
            passed = csr_array((step.data * attribute[step.indices], step.indices, step.indptr), step.shape)
            row = csr_array(passed @ self._matrix("row"))
            values = row.data[:, None] * marked[row.indices]
            yield Piece(2, row.indices, values, slice(j * width, (j + 1) * width))


def _total(piece: Piece) -> Matrix:
    return np.asarray(piece.values.sum(axis=0)).ravel()


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
    both = radial(np.stack([start, end]), member.landmarks, member.gamma) @ combined
    first, last = both.tolist()
    pieces, slopes = 1, _mean_gradient(member, start, end, combined, 1)
    while (
        abs(slopes @ (end - start) - (last - first)) > CLOSE * max(abs(last - first), 1.0)
        and pieces < MOST_PIECES
    ):
        pieces *= 2
        slopes = _mean_gradient(member, start, end, combined, pieces)
    cuts = np.cumsum([part.shape[1] for part in parts])[:-1]
    return np.split(slopes / scaling.unit, cuts), first


def _mean_gradient(member: RadialMember, start: Matrix, end: Matrix, weights: Matrix, pieces: int) -> Matrix:
    """Return the mean gradient of the weighted decision along the path, by quadrature."""
    nodes, shares = np.polynomial.legendre.leggauss(POINTS)
    places = ((nodes + 1) / 2 + np.arange(pieces)[:, None]).ravel() / pieces
    heights = np.tile(shares / 2, pieces) / pieces
    rows = start + places[:, None] * (end - start)
    pull = radial(rows, member.landmarks, member.gamma) * weights * heights[:, None]  # (points, landmarks)
    total = pull.sum(axis=0) @ member.landmarks - pull.sum(axis=1) @ rows
    return np.asarray(2 * member.gamma * total)
