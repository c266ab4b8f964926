"""Missing labels: LabelImputer, which runs a scheme to convergence, and what "auto" of kernels fills in.

Kernels fill labels inside their own graph: five steps of Eq. 3, then the most probable label.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from propkernels._utils.arrays import offsets
from propkernels._utils.checks import GraphInput, check_integer, check_positive
from propkernels._utils.parallel import whole_runs
from propkernels._utils.randomness import label_keys
from propkernels._utils.typing import PriorLike
from propkernels.convert.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import Graphs, GridDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation.convolution import Convolution, GridOperator
from propkernels.propagation.initial import (
    InitialDistributions,
    Prior,
    initial_distributions,
    label_column,
    label_frequencies,
    learn_prior,
)
from propkernels.propagation.schemes import (
    AffineOperator,
    PropagationScheme,
    SchemeLike,
    check_step,
    resolve_scheme,
)
from propkernels.propagation.walks import absorbing_operator


def run_to_convergence(
    graphs: GraphDatabase,
    scheme: PropagationScheme,
    initial: InitialDistributions,
    tolerance: float,
    max_steps: int,
) -> NDArray[np.float64]:
    """Return the distributions of each graph at its first step with no change above the tolerance.

    Each graph stops separately, so that its result does not depend on the other graphs. A graph that still
    changes after ``max_steps`` steps gets its last distributions, with a ConvergenceWarning.
    """
    prepared = scheme.prepare(graphs, initial)
    start = initial.to_dense()
    current, settled = start.copy(), start.copy()
    moving = np.ones(len(graphs), dtype=bool)
    for t in range(1, max_steps + 1):
        following = np.asarray(scheme.step(prepared, current, start), dtype=np.float64)
        check_step(following, t, scheme)
        changes = np.abs(following - current).max(axis=1, initial=0.0)
        active = moving[graphs.graph_ids]
        settled[active] = following[active]
        largest = np.zeros(len(graphs))
        np.maximum.at(largest, graphs.graph_ids, changes)
        moving &= largest > tolerance
        if not moving.any():
            return settled
        current = following
    number = int(moving.sum())
    subject = f"{number} graph" if number == 1 else f"{number} graphs"
    warnings.warn(
        f"{subject} still changed by more than {tolerance} after {max_steps} steps: "
        "raise max_steps or the tolerance",
        ConvergenceWarning,
        stacklevel=2,
    )
    return settled


VALUES_IN_MEMORY = 2**22  # probabilities at a time


@dataclass(kw_only=True, eq=False, repr=False)
class ImputerParameters:
    """Parameters of :class:`LabelImputer`."""

    propagation: SchemeLike = "label_propagation"
    prior: PriorLike = "uniform"
    tolerance: float = 1e-6
    max_steps: int = 1000


class LabelImputer(ImputerParameters, GraphInput, TransformerMixin, BaseEstimator):
    """Predict missing node labels: the most probable label after label propagation has converged.

    Observed labels are kept. Among equally probable labels (up to the tolerance), as in components
    without an observed label, the label most frequent in fit is chosen.

    Parameters
    ----------
    propagation : str or PropagationScheme, default="label_propagation"
        The propagation scheme.
    prior : {"uniform", "frequency"}, mapping or sequence, default="uniform"
        Initial distribution of unobserved nodes; see :class:`PropagationKernel`.
    tolerance : float, default=1e-6
        A graph has converged when no probability changes by more than this in a step.
    max_steps : int, default=1000
        Largest number of steps; graphs that have not converged by then cause a warning.

    Attributes
    ----------
    frequencies_ : dict
        Share of each label among the observed labels of the training graphs.

    See Also
    --------
    propkernels.propagation.LabelPropagation : The default scheme.

    References
    ----------
    .. [1] X. Zhu, Z. Ghahramani and J. Lafferty (2003). Semi-supervised learning using Gaussian fields and
       harmonic functions. International Conference on Machine Learning, 912-919.
    .. [2] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 6.2.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    >>> pk.propagation.LabelImputer().fit_transform([(path, ["C", None, None, "O", None])]).node_labels
    array(['C', 'C', 'O', 'O', 'O'], dtype=object)
    """

    frequencies_: dict[Hashable, float]
    _prior: Prior
    _scheme: PropagationScheme

    def fit(self, X: Graphs, y: object = None) -> Self:
        """Learn the labels and their frequencies."""
        check_positive(self.tolerance, "tolerance")
        check_integer(self.max_steps, "max_steps", 1)
        database = check_graphs(X)
        column = label_column(database, "node")
        if not column.present:
            raise ValueError("no node label is observed in the graphs: give at least one node a label")
        scheme, prior = resolve_scheme(self.propagation), learn_prior(column, self.prior)
        sample = database[:1]
        scheme.prepare(sample, initial_distributions(label_column(sample, "node"), prior))  # validates it
        frequencies = dict(zip(column.present, label_frequencies(column).tolist(), strict=True))
        self._scheme, self._prior, self.frequencies_ = scheme, prior, frequencies
        return self

    def fit_transform(self, X: Graphs, y: object = None, **fit_params: object) -> GraphDatabase:
        """Fit, and return the training graphs with every node labeled."""
        database = check_graphs(X)  # only once, since X may be an iterator
        return self.fit(database).transform(database)

    def transform(self, X: Graphs) -> GraphDatabase:
        """Return the graphs with every node labeled."""
        check_is_fitted(self, "_scheme")
        database = check_graphs(X)
        width = len(self.frequencies_) + len(label_column(database, "node").values)
        runs = whole_runs(database.graph_ptr, VALUES_IN_MEMORY / width)
        sample = initial_distributions(label_column(database[:1], "node"), self._prior)
        is_affine = isinstance(self._scheme.prepare(database[:1], sample), AffineOperator)
        parts = [self._labels(database[a:b], is_affine) for a, b in pairwise(runs)]
        return database.with_labels(LabelColumn.concat(parts))

    def _labels(self, graphs: GraphDatabase, is_affine: bool) -> LabelColumn:
        """Return the observed and predicted labels of all nodes."""
        initial = initial_distributions(label_column(graphs, "node"), self._prior)
        initial = _columns_of(initial, self._preferred(initial.values))
        if is_affine:  # such a step treats all columns alike
            initial = _columns_of(initial, _distinct_columns(initial))
        final = run_to_convergence(graphs, self._scheme, initial, self.tolerance, self.max_steps)
        final[initial.observed] = initial.to_dense()[initial.observed]
        near_best = final >= final.max(axis=1, keepdims=True, initial=0.0) - self.tolerance
        return LabelColumn(near_best.argmax(axis=1).astype(np.int32), initial.values)

    def _preferred(self, values: tuple[Hashable, ...]) -> NDArray[np.int64]:
        """Return the order of labels among equals: the most frequent first, then by repr."""
        frequency = [self.frequencies_.get(value, 0.0) for value in values]
        order = sorted(range(len(values)), key=lambda i: (-frequency[i], repr(values[i])))
        return np.array(order, dtype=np.int64)


def _columns_of(initial: InitialDistributions, columns: NDArray[np.int64]) -> InitialDistributions:
    """Return some columns of initial distributions."""
    values = tuple(initial.values[i] for i in columns)
    return replace(initial, table=csr_array(initial.table[:, columns]), values=values)


def _distinct_columns(initial: InitialDistributions) -> NDArray[np.int64]:
    """Return the first of all columns that only the prior fills, with the same weight; and all others.

    Labels that no node has observed differ by their prior only: equal columns stay equal in every step, and
    the first of them is preferred, so that a few columns stand for thousands of labels.
    """
    table = csc_array(initial.table[np.unique(initial.rows)])
    n_entries = np.diff(table.indptr)
    alike = np.flatnonzero(n_entries == 1)
    entries = table.indptr[alike]
    _, first = np.unique(np.stack([table.indices[entries], table.data[entries]]), axis=1, return_index=True)
    kept = [np.flatnonzero(n_entries > 1), alike[first], np.flatnonzero(n_entries == 0)[:1]]
    return np.sort(np.concatenate(kept))


STEPS = 5  # of Eq. 3; more of them change few labels
SHARES = 2.0**30  # probabilities are compared in units of 1 over this, so that rounding errors break no tie


def fill_labels(
    graphs: GraphDatabase | GridDatabase, column: LabelColumn | LabelDistributions
) -> LabelColumn | LabelDistributions:
    """Return the labels, with missing ones filled from the observed labels of the same graph.

    Walks start at a node without a label and are absorbed at observed labels (Eq. 3; on grids, the same by
    convolution); after five steps, the node takes the label that absorbed most. The uniform prior adds the
    same to all labels, so it decides nothing, and no other graph has a say. Equals: the label that
    more nodes of the graph have, then the one with the smaller key. A graph without any label stays as it is.
    """
    if (column.observed if isinstance(column, LabelColumn) else column.known).all():
        return column
    given = column if isinstance(column, LabelDistributions) else LabelDistributions.from_column(column)
    n_known = np.bincount(graphs.graph_ids, given.known, len(graphs))
    partial = (n_known > 0) & (n_known < graphs.graph_sizes)
    nodes = np.flatnonzero(partial[graphs.graph_ids])
    if not len(nodes):
        return column
    empty = ~given.known[nodes]
    places = nodes[empty]
    labels = _most_absorbed(graphs[np.flatnonzero(partial)], given.take(nodes))[empty]
    if isinstance(column, LabelColumn):
        ids = column.ids.copy()
        ids[places] = labels
        return LabelColumn(ids, column.values)
    known, observed = given.known.copy(), given.observed.copy()
    known[places] = observed[places] = True
    certain = csr_array((np.ones(len(places)), (places, labels)), shape=given.probabilities.shape)
    return LabelDistributions._assemble(
        csr_array(given.probabilities + certain), given.values, known, observed
    )


def _most_absorbed(graphs: GraphDatabase | GridDatabase, given: LabelDistributions) -> NDArray[np.int64]:
    """Return the number of the label that each node takes; all graphs have some label.

    The labels of each graph are numbered by themselves, in the order of their keys, so that there are as
    many columns as one graph has labels, however many all graphs have.
    """
    table, n_labels = given.probabilities, len(given.values)
    by_key = np.argsort(label_keys(given.values))
    rank = np.argsort(by_key)
    rows = np.repeat(np.arange(len(given)), np.diff(table.indptr))
    pairs, pair, counts = np.unique(
        graphs.graph_ids[rows].astype(np.int64) * n_labels + rank[table.indices],
        return_inverse=True,
        return_counts=True,
    )
    graph_of = pairs // n_labels
    per_graph = np.bincount(graph_of, minlength=len(graphs))
    first = offsets(per_graph)[:-1]
    number = np.arange(len(pairs)) - first[graph_of]  # of the label in its graph
    operator: AffineOperator | GridOperator
    if isinstance(graphs, GridDatabase):
        operator = Convolution(clamp="after").operator(graphs, given.observed)
    else:
        operator = absorbing_operator(graphs, given.observed, "follow")
    best, chosen = np.zeros(len(given), dtype=np.int64), np.zeros(len(given), dtype=np.int64)
    width, most = max(VALUES_IN_MEMORY // len(given), 1), int(per_graph.max())
    for start in range(0, most, width):
        columns = min(width, most - start)
        here = (number >= start) & (number < start + columns)
        entries = here[pair]
        initial = np.zeros((len(given), columns))
        initial[rows[entries], number[pair[entries]] - start] = table.data[entries]
        current = initial
        for _ in range(STEPS):
            current = operator.step(current, initial)
        frequent = np.zeros((len(graphs), columns), dtype=np.int64)
        frequent[graph_of[here], number[here] - start] = counts[here]
        score = (np.rint(current * SHARES).astype(np.int64) << 31) + frequent[graphs.graph_ids]
        place = score.argmax(axis=1)
        score = score[np.arange(len(score)), place]
        better = score > best
        best[better], chosen[better] = score[better], start + place[better]
    return np.asarray(by_key[pairs[first[graphs.graph_ids] + chosen] % n_labels])
