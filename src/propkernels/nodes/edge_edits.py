"""Counterfactuals of nodes: edges around a node whose change gives it another prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.explain.counterfactuals import Counterfactual, Counterfactuals, Edit
from propkernels.explain.find_counterfactuals import Question
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn

Matrix = NDArray[np.float64]
Places = NDArray[np.int64]
Decide = Callable[[GraphDatabase, int], Matrix]  # decisions, (1, decisions), about a node of a graph
MOST_TRIED = 200  # edited graphs


def edge_edits(graphs: GraphDatabase, node: int, n_added: int) -> list[Edit]:
    """Return removals of edges at a node and between its neighbors, and new edges to nodes two steps away.

    New edges lead to the ``n_added`` nodes that share most neighbors with the node.
    """
    wiring = graphs.adjacency
    both = csr_array(wiring.maximum(wiring.T))
    near = np.setdiff1d(both[[node]].indices, [node])
    removals = [Edit("remove_edge", node, int(other)) for other in near]
    for u, v in combinations(near.tolist(), 2):
        if both[u, v]:
            removals.append(Edit("remove_edge", u, v))
    shared = _shared(both, node)
    shared[near] = shared[node] = 0
    order = np.argsort(-shared, kind="stable")[:n_added]
    return removals + [Edit("add_edge", node, int(other)) for other in order if shared[other] > 0]


def _shared(both: csr_array, node: int) -> Matrix:
    """Return the number of neighbors that each node shares with one node."""
    near = both[[node]].indices
    return np.bincount(both[near].indices, minlength=both.shape[0]).astype(np.float64)


def edited(graphs: GraphDatabase, edits: Sequence[Edit]) -> GraphDatabase:
    """Return the graph after edits of edges, in both directions; new edges have weight 1.

    A new edge gets the most frequent edge label.
    """
    ends = [(edit.node, edit.other) for edit in edits]
    rows, columns = np.array(ends + [(b, a) for a, b in ends]).T
    new = np.array([edit.kind == "add_edge" for edit in edits] * 2)
    wiring = _replaced(graphs.adjacency, rows, columns, new.astype(np.float64))
    labels = _edge_labels(graphs, rows, columns, new)
    changed = GraphDatabase(wiring, graphs.graph_ptr, graphs.label_column, graphs.attribute_matrix, labels)
    return changed.with_names(graphs.names.labels, graphs.names.edge_labels)


def _replaced(matrix: csr_array, rows: Places, columns: Places, values: Matrix) -> csr_array:
    """Return a sparse matrix with other values at some places; 0 removes an entry."""
    old = np.asarray([matrix[a, b] for a, b in zip(rows, columns, strict=True)])
    changed = csr_array(matrix + csr_array((values - old, (rows, columns)), shape=matrix.shape))
    changed.eliminate_zeros()
    return changed


def _edge_labels(
    graphs: GraphDatabase, rows: Places, columns: Places, new: NDArray[np.bool_]
) -> LabelColumn | None:
    """Return the labels of the edges after edits: entries of the changed matrix number the old edges."""
    column = graphs.edge_label_column
    if column is None:
        return None
    usual = int(np.bincount(column.ids + 1).argmax()) - 1
    template = int(np.flatnonzero(column.ids == usual)[0]) + 1
    wiring = graphs.adjacency
    numbers = csr_array((np.arange(1.0, wiring.nnz + 1), wiring.indices, wiring.indptr), shape=wiring.shape)
    entries = _replaced(numbers, rows, columns, np.where(new, template, 0.0))
    return column.take(entries.data.astype(np.int64) - 1)


def find_edge_edits(
    graphs: GraphDatabase,
    node: int,
    decide: Decide,
    question: Question,
    max_edits: int,
    n: int,
    n_added: int,
) -> Counterfactuals:
    """Return the smallest sets of edits that answer a question, each decided by the model."""
    before = decide(graphs, node)
    singles = edge_edits(graphs, node, n_added)[:MOST_TRIED]
    tried: list[tuple[tuple[Edit, ...], Matrix]] = []
    reached: list[tuple[tuple[Edit, ...], Matrix]] = []
    for size in range(1, max_edits + 1):
        for edits in _sets(singles, size, tried, question):
            decisions = decide(edited(graphs, edits), node)
            tried.append((edits, decisions))
        reached = [one for one in tried if question.judge(one[1])[1][0]]
        if reached:
            break
    best = sorted(reached or tried, key=lambda one: (len(one[0]), -float(question.judge(one[1])[0][0])))[:n]
    items = [_item(graphs, edits, decisions, before, question) for edits, decisions in best]
    summary = f"{len(tried)} edited graphs were decided by the model."
    graph = int(graphs.graph_ids[node])
    return Counterfactuals(
        items,
        graphs[graph],
        float(question.shown(before)[0]),
        question.predicted(before)[0],
        bool(reached),
        max_edits == 1 and len(singles) < MOST_TRIED,
        summary,
        len(tried),
    )


def _sets(
    singles: Sequence[Edit], size: int, tried: list[tuple[tuple[Edit, ...], Matrix]], question: Question
) -> Iterator[tuple[Edit, ...]]:
    """Yield all single edits, then extensions of the sets that came closest so far."""
    if size == 1:
        yield from ((edit,) for edit in singles)
        return
    last = [one for one in tried if len(one[0]) == size - 1]
    last.sort(key=lambda one: -float(question.judge(one[1])[0][0]))
    for edits, _ in last[:3]:
        yield from ((*edits, edit) for edit in singles if edit not in edits)


def _item(
    graphs: GraphDatabase, edits: tuple[Edit, ...], decisions: Matrix, before: Matrix, question: Question
) -> Counterfactual:
    graph = edited(graphs, edits)[int(graphs.graph_ids[edits[0].node])]
    value = float(question.shown(decisions)[0])
    change = value - float(question.shown(before)[0])
    return Counterfactual(edits, graph, value, change, question.predicted(decisions)[0])
