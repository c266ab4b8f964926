"""Propagated columns at chosen nodes: hops of attributes, and of targets without that of the node itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from propkernels import _core
from propkernels._utils.locks import cached_property
from propkernels._utils.parallel import stage_pieces, threads_for
from propkernels._utils.typing import Indices, Matrix
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.initial import constant_column, initial_distributions, learn_prior
from propkernels.propagation.schemes import AffineOperator, Diffusion, transition_matrix

WALKS = ("row", "renormalized")
COLUMNS_AT_ONCE = 64  # per block: rows of eight cache lines, and blocks of small graphs stay in the cache
NUMBERS_AT_ONCE = 2**25  # per block: 256 MB
LABEL_STEPS = 4
MOST_RETURNS = 2_000_000_000  # pairs of steps for the chances of return; beyond, targets take two steps only


class Walks:
    """Operators of one graph, made on first use.

    Parameters
    ----------
    graphs : GraphDatabase
    direction : {"follow", "reverse", "both"}
    """

    def __init__(self, graphs: GraphDatabase, direction: str) -> None:
        self.graphs, self.direction = graphs, direction
        self._operators: dict[str, AffineOperator] = {}

    def operator(self, walk: str) -> AffineOperator:
        """Return the operator of a walk, by its normalization."""
        if walk not in self._operators:
            column = constant_column(self.graphs)
            initial = initial_distributions(column, learn_prior(column, "uniform"))
            scheme = Diffusion(normalization=walk, direction=self.direction)
            self._operators[walk] = scheme.prepare(self.graphs, initial)
        return self._operators[walk]

    def step(self, walk: str, columns: Matrix, rows: Indices | None = None) -> Matrix:
        """Return columns after one step; at some rows only, if they are given."""
        return self.operator(walk).step(columns, columns, rows)

    def rows_before(self, rows: Indices | None) -> Indices | None:
        """Return the nodes whose values one step of the walk "row" to some nodes uses; None: all nodes."""
        if rows is None:
            return None
        used = np.zeros(self.graphs.n_nodes, dtype=bool)
        used[rows] = True
        used[self.operator("row").adjacency[rows].indices] = True
        return None if used.all() else np.flatnonzero(used)

    @cached_property
    def transition(self) -> csr_array:
        """The matrix T of the walk "row"."""
        return transition_matrix(self.graphs, self.direction)

    def label_steps(self, nodes: Indices) -> int:
        """Return the number of steps of targets: four, or two if chances of return would take too long."""
        degrees = np.diff(self.transition.indptr).astype(np.float64)
        ends = csr_array((np.ones(self.transition.nnz), self.transition.indices, self.transition.indptr))
        work = (ends @ degrees)[nodes].sum() if len(nodes) else 0.0
        return LABEL_STEPS if work <= MOST_RETURNS else 2


@dataclass(frozen=True)
class Hops:
    """Propagated columns at some nodes, (nodes, columns) each.

    Attributes
    ----------
    steps : dict
        t -> T^t C.
    sums : dict
        t -> ``sum_(s<=t) T^s C``.
    norms : dict
        t -> norms of the rows of that sum, for all nodes of the graph, (N,).
    """

    steps: dict[int, Matrix]
    sums: dict[int, Matrix]
    norms: dict[int, Matrix]

    def at(self, places: Indices) -> Hops:
        """Return some of the nodes."""
        steps, sums = ({t: part[places] for t, part in parts.items()} for parts in (self.steps, self.sums))
        return Hops(steps, sums, self.norms)


def hops_at(
    walks: Walks, columns: Any, walk: str, nodes: Indices, last: int, summed: Collection[int] = ()
) -> Hops:
    """Propagate columns, in blocks, and keep their rows at some nodes: no (N, columns) matrix is kept.

    Parameters
    ----------
    walks : Walks
    columns : ndarray or sparse matrix, (N, columns)
        C.
    walk : str
        Normalization of T.
    nodes : ndarray of int64
    last : int
        Steps 0..last are kept; -1: none.
    summed : collection of int
        Steps whose sums, and norms of sums, are kept.
    """
    shape, n = (len(nodes), columns.shape[1]), columns.shape[0]
    found = Hops(
        {t: np.empty(shape) for t in range(last + 1)},
        {t: np.empty(shape) for t in summed},
        {t: np.zeros(n) for t in summed},
    )
    for first, stop, block in _blocks(columns):
        total = block.copy() if summed else block
        for t in range(max(last, *summed, 0) + 1):
            if t:
                block = walks.step(walk, block)
            if t and summed:
                total += block
            if t <= last:
                found.steps[t][:, first:stop] = block[nodes]
            if t in found.sums:
                found.sums[t][:, first:stop] = total[nodes]
                found.norms[t][:] += np.einsum("ij,ij->i", total, total)
    for norms in found.norms.values():
        np.sqrt(norms, out=norms)
    return found


def _blocks(columns: Any) -> Iterator[tuple[int, int, Matrix]]:
    """Yield blocks of columns with their bounds."""
    ready, width = csc_array(columns) if issparse(columns) else columns, columns_at_once(columns.shape[0])
    for first in range(0, columns.shape[1], width):
        stop = min(first + width, columns.shape[1])
        part = ready[:, first:stop]
        yield first, stop, np.ascontiguousarray(part.toarray() if issparse(part) else part)


def columns_at_once(n_nodes: int) -> int:
    """Return the number of columns per block: whole cache lines of eight numbers, or fewer columns."""
    most = min(COLUMNS_AT_ONCE, NUMBERS_AT_ONCE // max(n_nodes, 1))
    return max(1, most - most % 8 if most > 8 else most)


def spread_back(walks: Walks, walk: str, weighted: Sequence[Matrix]) -> Matrix:
    """Return ``sum_t T^t V_t``, by Horner's rule: one step on each partial sum.

    Project first, then propagate: V_t = C W_t has one column per decision.
    """
    total = weighted[-1]
    for values in reversed(weighted[:-1]):
        total = walks.step(walk, total)
        total += values
    return total


@dataclass(frozen=True)
class TargetHops:
    """Propagated targets of the known nodes, at some nodes.

    Attributes
    ----------
    shares : list of ndarray, (nodes, columns)
        For t = 1, 2, ...: the mean target over walks of t steps that end at a known node other than the one
        where they began, drawn towards the mean of all known targets where such walks are rare.
    masses : list of ndarray, (nodes,)
        Share of those walks.
    crossed : ndarray, (nodes, attributes * (columns + 1)), or None
        For walks of two steps, the sum of targets (and their number, last) times each attribute of the node
        in between, see :func:`crossed_targets`.
    """

    shares: list[Matrix]
    masses: list[Matrix]
    crossed: Matrix | None = None

    def at(self, places: Indices) -> TargetHops:
        """Return some of the nodes."""
        crossed = None if self.crossed is None else self.crossed[places]
        return TargetHops([s[places] for s in self.shares], [m[places] for m in self.masses], crossed)

    def columns(self, source: str, places: Indices | slice) -> Matrix:
        """Return "targets", shares and masses side by side, or "crossed", for some of the nodes."""
        if source == "crossed":
            assert self.crossed is not None
            return self.crossed[places]
        pairs = zip(self.shares, self.masses, strict=True)
        return np.hstack([part for s, m in pairs for part in (s[places], m[places, None])])

    def project(self, source: str, weights: Matrix) -> Matrix:
        """Return the columns of all nodes times weights, part by part."""
        n = len(self.crossed) if source == "crossed" and self.crossed is not None else len(self.masses[0])
        parts = [slice(first, first + ROWS_AT_ONCE) for first in range(0, n, ROWS_AT_ONCE)]
        return np.vstack([self.columns(source, part) @ weights for part in parts or [slice(0)]])


ROWS_AT_ONCE = 2**16  # nodes whose columns of targets are formed
RARE = 0.05  # mass of known targets at which their mean and that of all known targets count alike


@dataclass(frozen=True)
class Known:
    """Targets of known nodes.

    Attributes
    ----------
    targets : ndarray, (known, columns)
    nodes : ndarray of int64
        Nodes with a target.
    returns : ndarray, (known, steps)
        Chances of return, see :func:`return_chances_of`; none by default.
    """

    targets: Matrix
    nodes: Indices
    returns: Matrix = field(default_factory=lambda: np.zeros((0, 0)))

    def marked(self, n_nodes: int) -> Matrix:
        """Return targets of known nodes and zeros, (N, columns + 1); the last column marks known nodes."""
        marked = np.zeros((n_nodes, self.targets.shape[1] + 1))
        marked[self.nodes, :-1], marked[self.nodes, -1] = self.targets, 1.0
        return marked


def target_hops(
    walks: Walks, known: Known, between: Matrix | None = None, nodes: Indices | None = None
) -> TargetHops:
    """Return propagated targets of one set of known nodes; see :func:`several_target_hops`."""
    (found,) = several_target_hops(walks, [known], between, nodes)
    return found


def several_target_hops(
    walks: Walks, sets: Sequence[Known], between: Matrix | None = None, nodes: Indices | None = None
) -> list[TargetHops]:
    """Return propagated targets without a node's own target, for several sets of known nodes side by side.

    A walk from v that returns to v would bring v's own target: its chance (T^t)_vv is subtracted, so that
    features of a known node look like those of an unknown one.

    Parameters
    ----------
    walks : Walks
    sets : sequence of Known
        With the same numbers of columns and steps.
    between : ndarray, (N, attributes), optional
        Attributes of nodes in between, for crossed targets.
    nodes : ndarray of int64, optional
        Nodes where targets arrive; by default all.
    """
    n = walks.graphs.n_nodes
    at = np.arange(n) if nodes is None else nodes
    width = sets[0].targets.shape[1] + 1
    n_together = max(1, columns_at_once(n) // width)
    # nodes where the values of each step are used, the last step first; None: all nodes
    used: list[Indices | None] = [None if nodes is None else np.unique(nodes)]
    steps = sets[0].returns.shape[1]
    for _ in range(steps - 1):
        used.append(walks.rows_before(used[-1]))
    found = []
    for first in range(0, len(sets), n_together):
        together = sets[first : first + n_together]
        current = np.hstack([known.marked(n) for known in together])
        arrived: list[list[tuple[Matrix, Matrix]]] = [[] for _ in together]
        for t, rows in enumerate(used[:steps][::-1]):
            current = walks.step("row", current, rows)
            for i, known in enumerate(together):
                part = current[:, i * width : (i + 1) * width][at]
                arrived[i].append(_without_own(known, t, part, at))
        for known, parts in zip(together, arrived, strict=True):
            crossed = None if between is None else crossed_targets(walks, known.marked(n), between)[at]
            found.append(TargetHops([s for s, _ in parts], [m for _, m in parts], crossed))
    return found


def _without_own(known: Known, t: int, arrived: Matrix, at: Indices) -> tuple[Matrix, Matrix]:
    """Return shares and masses of targets that arrived at some nodes, without their own."""
    own = np.full(int(max(at.max(initial=-1), known.nodes.max(initial=-1))) + 1, -1)
    own[known.nodes] = np.arange(len(known.nodes))
    place = own[at]
    mine = np.flatnonzero(place >= 0)
    targets = known.targets[place[mine]]
    back = known.returns[place[mine], t, None]
    arrived[mine] -= back * np.hstack([targets, np.ones((len(mine), 1))])
    middle = known.targets.mean(axis=0) if len(known.targets) else np.zeros(known.targets.shape[1])
    mass = np.maximum(arrived[:, -1], 0.0)
    return (arrived[:, :-1] + RARE * middle) / (mass + RARE)[:, None], mass


def crossed_targets(walks: Walks, marked: Matrix, between: Matrix) -> Matrix:
    """Return ``sum_w T_vw X_wj sum_(u != v) T_wu Y_uc`` for all nodes v, attributes j and columns c.

    The targets around a neighbor w count in proportion to w's attributes: a neighbor that says "two of my
    neighbors are mines" says less about v if two of them are known. The way back to v is subtracted,
    ``T_vw X_wj T_wv Y_vc``.

    Parameters
    ----------
    walks : Walks
    marked : ndarray, (N, columns)
        Y: targets of known nodes, and zeros.
    between : ndarray, (N, attributes)
        X.

    Returns
    -------
    ndarray, (N, attributes * columns)
    """
    around = walks.step("row", marked)
    there_and_back = csr_array(walks.transition.multiply(walks.transition.T))
    back = np.asarray(there_and_back @ between)
    parts = []
    for j in range(between.shape[1]):
        forward = walks.step("row", between[:, [j]] * around)
        parts.append(forward - back[:, [j]] * marked)
    return np.hstack(parts)


def return_chances_of(walks: Walks, nodes: Indices, steps: int) -> Matrix:
    """Return the chances (T^t)_vv for t = 1..steps (2 or 4) at some nodes, (nodes, steps)."""
    forward, backward = walks.transition, csr_array(walks.transition.T)
    matrices = [(m.indptr, m.indices, m.data) for m in (forward, backward)]
    chances = np.empty((len(nodes), steps))
    threads = threads_for(len(nodes) * 1000)
    bounds = np.linspace(0, len(nodes), stage_pieces(threads) + 1).astype(np.int64)
    _core.return_chances(*matrices, np.ascontiguousarray(nodes), bounds, chances, threads)
    return chances
