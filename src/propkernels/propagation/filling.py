"""Missing labels, filled inside their own graph: five steps of Eq. 3, then the most probable label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels._utils.arrays import offsets
from propkernels._utils.randomness import label_keys
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase
from propkernels.graphs.label_distributions import LabelDistributions
from propkernels.graphs.labels import LabelColumn
from propkernels.propagation.convolution import Convolution, GridOperator
from propkernels.propagation.schemes import AffineOperator
from propkernels.propagation.walks import absorbing_operator

STEPS = 5  # of Eq. 3; more of them change few labels
VALUES_IN_MEMORY = 2**22  # probabilities at a time
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
