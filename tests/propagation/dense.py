"""Propagation schemes a second time: dense matrices and loops, written from the formulas of the papers.

Each scheme is a function of the adjacency matrix A of a whole database, of P_0 and of which nodes were
observed; it returns one step, a function P_t -> P_{t+1}. Belief propagation, whose steps remember messages,
returns all beliefs.
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import propkernels as pk
from propkernels.propagation.initial import initial_distributions, label_column, learn_prior
from tests.zoo import hide_labels, labelled_zoo, zoo

Step = Callable[[np.ndarray], np.ndarray]


# what the schemes are given


class Start(NamedTuple):
    """A, P_0, which nodes are observed, and the label of each column of P_0."""

    adjacency: np.ndarray
    distributions: np.ndarray
    observed: np.ndarray
    values: list[Any]


def start(graphs: Any, prior: np.ndarray | None = None) -> Start:
    """P_0 of partially labelled graphs: deltas, and the prior (uniform) where a label is unobserved."""
    column = graphs.label_column
    values = [value for i, value in enumerate(column.values) if i in column.ids]
    rest = np.full(len(values), 1 / len(values)) if prior is None else prior
    deltas = {value: np.eye(len(values))[i] for i, value in enumerate(values)}
    rows = [rest if i < 0 else deltas[column.values[i]] for i in column.ids]
    return Start(graphs.adjacency.toarray(), np.array(rows), column.ids >= 0, values)


@cache
def partial_zoo() -> Any:
    """The zoo with some of its labels hidden, and a graph of which no label is observed."""
    hidden = hide_labels(labelled_zoo(), 0.4, random_state=0)
    return pk.GraphDatabase.concat([hidden, zoo()["partially observed labels"], zoo()["unobserved labels"]])


@cache
def moderate_zoo() -> Any:
    """The partial zoo without extreme weights, for formulas that raise to the power of a weight."""
    extreme = [graph.adjacency.nnz and not 1e-6 < graph.adjacency.data.max() < 1e6 for graph in partial_zoo()]
    return partial_zoo()[~np.array(extreme, dtype=bool)]


# what the library makes of it


def library_history(graphs: Any, scheme: Any, t_max: int, prior: Any = "uniform") -> np.ndarray:
    """P_0, ..., P_{t_max} by the scheme's own two methods; columns in the order of the labels that occur."""
    column = label_column(graphs, "node")
    initial = initial_distributions(column, learn_prior(column, prior))
    prepared, first = scheme.prepare(graphs, initial), initial.to_dense()
    steps = [first]
    for _ in range(t_max):
        steps.append(scheme.step(prepared, steps[-1], first))
    order = [initial.values.index(value) for value in column.present]
    return np.stack(steps)[:, :, order]


def dense_history(step: Step, first: np.ndarray, t_max: int) -> np.ndarray:
    """P_0, ..., P_{t_max} by a dense step."""
    steps = [first]
    for _ in range(t_max):
        steps.append(step(steps[-1]))
    return np.stack(steps)


# the schemes


def directed(adjacency: np.ndarray, direction: str) -> np.ndarray:
    ways = {"follow": adjacency, "reverse": adjacency.T, "both": np.maximum(adjacency, adjacency.T)}
    return ways[direction]


def walk(adjacency: np.ndarray) -> np.ndarray:
    """T = D^{-1} A; a walk that cannot move stays."""
    rows = [
        row / row.sum() if row.any() else unit
        for row, unit in zip(adjacency, np.eye(len(adjacency)), strict=True)
    ]
    return np.array(rows).reshape(adjacency.shape)


def diffusion(
    given: Start, laziness: float = 0.0, normalization: str = "row", direction: str = "follow"
) -> Step:
    """Eq. (diff), lazily: P' = (1 - l) T P + l P; or with other weights than those of T."""
    adjacency = directed(given.adjacency, direction)
    out, into, unit = adjacency.sum(axis=1), adjacency.sum(axis=0), np.eye(len(adjacency))
    scale = np.sqrt(np.outer(out, into)) if normalization == "symmetric" else np.outer(out, np.ones_like(out))
    matrix = np.divide(adjacency, scale, out=np.zeros_like(adjacency), where=scale > 0)
    matrix = (1 - laziness) * matrix + laziness * unit
    if normalization == "none":
        matrix = (adjacency + laziness * unit) / 2
    matrix[out == 0] = unit[out == 0]
    return lambda current: matrix @ current


def absorbing_walk(given: Start, held: np.ndarray, direction: str = "follow") -> Step:
    """Eqs. (trans) and (lp): P' = T^ P, where the rows of T^ at held nodes are those of the identity."""
    transition = walk(directed(given.adjacency, direction))
    matrix = np.where(held[:, None], np.eye(len(held)), transition)
    return lambda current: matrix @ current


def label_propagation(given: Start, clamp: str = "after", direction: str = "follow") -> Step:
    """Eq. (lp) for "after"; Eq. (LP) for "before": observed labels are pushed back, then P' = T P."""
    if clamp == "after":
        return absorbing_walk(given, given.observed, direction)
    transition = walk(directed(given.adjacency, direction))
    return lambda current: transition @ np.where(given.observed[:, None], given.distributions, current)


def partial_absorption(
    given: Start, alpha: float | np.ndarray = 0.2, rate: float | None = None, direction: str = "follow"
) -> Step:
    """Wu et al. 2012: a walk ends at node i with probability lambda / (lambda + d_i), or alpha."""
    adjacency = directed(given.adjacency, direction)
    degrees = adjacency.sum(axis=1)
    absorbed = np.full(len(degrees), alpha) if rate is None else rate / (rate + degrees)
    ends, moves = np.diag(absorbed), np.diag(1 - absorbed) @ walk(adjacency)
    return lambda current: ends @ given.distributions + moves @ current


def label_spreading(given: Start, alpha: float = 0.8, direction: str = "follow") -> Step:
    """Zhou et al. 2004: P' = alpha S P + (1 - alpha) P_0, S = D^{-1/2} A D^{-1/2}; who cannot move stays."""
    adjacency = directed(given.adjacency, direction)
    out, into = adjacency.sum(axis=1), adjacency.sum(axis=0)
    spread = adjacency / np.sqrt(np.where(out > 0, out, 1))[:, None] / np.sqrt(np.where(into > 0, into, 1))

    def step(current: np.ndarray) -> np.ndarray:
        following = alpha * spread @ current + (1 - alpha) * given.distributions
        return np.where(out[:, None] > 0, following, given.distributions)

    return step


def beliefs(given: Start, couplings: np.ndarray, damping: float, t_max: int) -> np.ndarray:
    """Sum-product messages, edge by edge; the beliefs after 0, ..., t_max rounds."""
    weights = np.maximum(given.adjacency, given.adjacency.T)
    np.fill_diagonal(weights, 0)
    n, k = given.distributions.shape
    neighbours = [np.flatnonzero(row).tolist() for row in weights]
    messages = {(i, j): np.full(k, 1 / k) for i in range(n) for j in neighbours[i]}

    def belief(i: int, without: int | None = None) -> np.ndarray:
        value = given.distributions[i].copy()
        for j in neighbours[i]:
            if j != without:
                value *= messages[j, i]
                value /= value.sum()
        return value

    history = [given.distributions]
    for _ in range(t_max):
        fresh = {(i, j): (couplings ** weights[i, j]).T @ belief(i, without=j) for i, j in messages}
        for edge, message in fresh.items():
            fresh[edge] = (1 - damping) * message / message.sum() + damping * messages[edge]
        messages = fresh
        history.append(np.array([belief(i) for i in range(n)]).reshape(n, k))
    return np.stack(history)


def marginals(given: Start, couplings: np.ndarray) -> np.ndarray:
    """Marginals of the pairwise Markov random field, by adding up all assignments of labels."""
    n, k = given.distributions.shape
    edges = np.argwhere(np.triu(given.adjacency))
    total = np.zeros((n, k))
    for assignment in product(range(k), repeat=n):
        weight = np.prod([given.distributions[i, a] for i, a in enumerate(assignment)])
        weight *= np.prod(
            [couplings[assignment[i], assignment[j]] ** given.adjacency[i, j] for i, j in edges]
        )
        total[np.arange(n), assignment] += weight
    return total / total.sum(axis=1, keepdims=True)
