"""A slow second implementation, written from the paper: exact rational arithmetic, dicts and loops.

A distribution is a dict from label to its probability, a Fraction, without zeros; one graph's P_t is a list
of them, one per node. Two nodes are alike exactly when their distributions are equal, so the exact kernel
counts the pairs of nodes with equal distributions: the limit of Algorithm 1 as the bins become narrow.

The transition matrix is a list of dicts as well: ``rows[i][j]`` is the weight of node j in node i's next
distribution. A new linear scheme is a new function that returns such rows.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

Distribution = dict[Hashable, Fraction]
Rows = list[dict[int, Fraction]]


# how a node's next distribution is made of the present ones


def weights(adjacency: Any) -> Rows:
    """The rows of A as fractions: every float is one."""
    matrix = adjacency.tocsr()
    ends = pairwise(matrix.indptr.tolist())
    columns, values = matrix.indices.tolist(), matrix.data.tolist()
    return [{columns[e]: Fraction(values[e]) for e in range(first, last)} for first, last in ends]


def walk(adjacency: Any, laziness: Fraction = Fraction(0)) -> Rows:
    """T = D^{-1} A; the lazy walk stays with probability ``laziness``, a node without edges always."""
    return [
        _with_self({j: (1 - laziness) * w / sum(row.values()) for j, w in row.items()}, i, laziness)
        if row
        else {i: Fraction(1)}
        for i, row in enumerate(weights(adjacency))
    ]


def summed(adjacency: Any, laziness: Fraction = Fraction(0)) -> Rows:
    """(A + l I) / 2: neighbours are added up; a node without edges stays as it is."""
    return [
        _with_self({j: w / 2 for j, w in row.items()}, i, laziness / 2) if row else {i: Fraction(1)}
        for i, row in enumerate(weights(adjacency))
    ]


def absorbing(rows: Rows, absorbed: Sequence[bool]) -> Rows:
    """Eq. (lp): a walk that reaches an absorbing node never leaves it."""
    return [{i: Fraction(1)} if absorbed[i] else row for i, row in enumerate(rows)]


def _with_self(row: dict[int, Fraction], i: int, extra: Fraction) -> dict[int, Fraction]:
    return {**row, i: row.get(i, Fraction(0)) + extra} if extra else row


# distributions


def initial_distributions(labels: Sequence[Any], known: Sequence[Hashable] = ()) -> list[Distribution]:
    """P_0: a delta where the label is observed; uniform over the known labels where it is None."""
    uniform = {value: Fraction(1, len(known)) for value in known}
    return [dict(uniform) if label is None else {label: Fraction(1)} for label in labels]


def step(rows: Rows, current: list[Distribution]) -> list[Distribution]:
    """P_{t+1} = T P_t."""
    following = []
    for row in rows:
        total: Distribution = {}
        for j, weight in row.items():
            for label, probability in current[j].items():
                total[label] = total.get(label, Fraction(0)) + weight * probability
        following.append(total)
    return following


def diffusion(rows: Rows, initial: list[Distribution], t_max: int) -> list[list[Distribution]]:
    """P_0, ..., P_{t_max} of label diffusion, Eq. (diff)."""
    history = [initial]
    for _ in range(t_max):
        history.append(step(rows, history[-1]))
    return history


def label_propagation(
    rows: Rows, initial: list[Distribution], observed: Sequence[bool], t_max: int, clamp: str
) -> list[list[Distribution]]:
    """P_0, ..., P_{t_max} of label propagation: Eq. (lp) clamps after the step, Eq. (LP) before it."""
    if clamp == "after":
        return diffusion(absorbing(rows, observed), initial, t_max)
    history = [initial]
    for _ in range(t_max):
        pushed = [p0 if o else p for p0, p, o in zip(initial, history[-1], observed, strict=True)]
        history.append(step(rows, pushed))
    return history


def filled(adjacency: Any, labels: Sequence[Any], rank: dict[Hashable, int]) -> list[Any]:
    """Labels with None replaced by the one that absorbs most of a walk of five steps, inside the graph.

    Equals: the label of more nodes, then the first by ``rank``. A graph without labels stays as it is.
    """
    observed = [label is not None for label in labels]
    counts = Counter(label for label in labels if label is not None)
    start: list[Distribution] = [{} if label is None else {label: Fraction(1)} for label in labels]
    last = label_propagation(walk(adjacency), start, observed, 5, "after")[-1]
    return [
        label
        if label is not None or not counts
        else min(counts, key=lambda v: (-p.get(v, 0), -counts[v], rank[v]))
        for label, p in zip(labels, last, strict=True)
    ]


# the kernel


def exact_kernels(histories: Sequence[list[list[Distribution]]]) -> np.ndarray:
    """Number of pairs of nodes with equal distributions, summed over t' = 0..t; shape (t_max + 1, n, n)."""
    contributions = [
        exact_contribution([history[t] for history in histories]) for t in range(len(histories[0]))
    ]
    return np.cumsum(contributions, axis=0)


def exact_contribution(distributions: Sequence[list[Distribution]]) -> np.ndarray:
    """Number of pairs of nodes with equal distributions, for every pair of graphs."""
    number: dict[frozenset[Any], int] = {}
    counts = [
        Counter(number.setdefault(frozenset(p.items()), len(number)) for p in graph)
        for graph in distributions
    ]
    features = np.zeros((len(counts), len(number)), dtype=np.int64)
    for row, counter in zip(features, counts, strict=True):
        row[list(counter.keys())] = list(counter.values())
    return features @ features.T


def labels_of(graph: Any) -> list[Any]:
    """Node labels of one graph, None where unobserved."""
    column = graph.database.label_column
    return [None if i < 0 else column.values[i] for i in column.ids]


def propagation_kernels(
    graphs: Any, t_max: int, *, rows: Any = walk, laziness: Fraction = Fraction(0), clamp: str | None = None
) -> np.ndarray:
    """Exact cumulative propagation kernels of a database: diffusion, or label propagation with a clamp."""
    known = list(graphs.label_column.present) if graphs.label_column else []
    histories = []
    for graph in graphs:
        labels = labels_of(graph)
        initial = initial_distributions(labels, known)
        matrix = rows(graph.adjacency, laziness)
        if clamp is None:
            histories.append(diffusion(matrix, initial, t_max))
        else:
            observed = [label is not None for label in labels]
            histories.append(label_propagation(matrix, initial, observed, t_max, clamp))
    return exact_kernels(histories)


# the hash


def calculate_lsh(x: np.ndarray, v: np.ndarray, b: float, w: float, metric: str) -> np.ndarray:
    """Algorithm 2 with the random draws given: floor((X v + b) / w), on square roots for hellinger."""
    points = np.sqrt(x) if metric == "hellinger" else x
    return np.floor((points @ v + b) / w)
