"""Kernels with attributes a second time: loops, dense matrices and T^t formed explicitly, from the equations.

Random vectors, offsets and sample points are the library's; everything that is done with them is not. Label
distributions are exact fractions (``tests.naive``), so that two nodes have one label bin exactly when their
distributions are equal.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal

from propkernels._utils.randomness import mix
from tests import naive

Draws = tuple[np.ndarray, np.ndarray, float]


def standardized(attributes: np.ndarray) -> np.ndarray:
    """(x - mean) / deviation of each dimension over all nodes, ddof = 1; for dimensions that vary."""
    columns = [(x - np.nanmean(x)) / np.nanstd(x, ddof=1) for x in attributes.T]
    return np.array(columns).T


def transition(graphs: Any, laziness: float = 0.0) -> np.ndarray:
    """(1 - l) D^{-1} A + l I; a node that cannot move stays."""
    rows = []
    for i, row in enumerate(graphs.adjacency.toarray()):
        stay = np.eye(graphs.n_nodes)[i]
        rows.append(stay if row.sum() == 0 else (1 - laziness) * row / row.sum() + laziness * stay)
    return np.array(rows).reshape(graphs.n_nodes, graphs.n_nodes)


def mixtures(attributes: np.ndarray, points: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """N(y; x_u, Sigma) for each node u and point y: the sample covariance, plus ridge times mean variance."""
    covariance = np.atleast_2d(np.cov(attributes, rowvar=False, ddof=1))
    covariance = covariance + ridge * np.mean(np.diag(covariance)) * np.eye(len(covariance))
    rows = [multivariate_normal(x, covariance, allow_singular=True).pdf(points) for x in attributes]
    return np.array(rows).reshape(len(attributes), len(points))


def spread(start: np.ndarray, walk: np.ndarray, t_max: int) -> list[np.ndarray]:
    """Q_t = T^t Q_0, the power formed explicitly."""
    return [np.linalg.matrix_power(walk, t) @ start for t in range(t_max + 1)]


def draws(lsh: Any, t: int, h: int, dimensions: int) -> Draws:
    """The library's v and b of one iteration and repetition: b of each dimension, and b of all together."""
    stream, keys = (t << 32) + h, mix(np.arange(dimensions))
    vectors = lsh.vectors(keys, np.array([stream]))[:, 0] * lsh.bin_width
    own = lsh.own_offsets(keys, stream) * lsh.bin_width
    return vectors, own, float(lsh.offsets(np.array([stream]))[0]) * lsh.bin_width


def attribute_bins(x: np.ndarray, drawn: Draws, width: float, combine: str) -> list[list[Hashable]]:
    """For each kernel contribution, the attribute bin of each node; a missing value has a bin of its own."""
    vectors, own, together = drawn
    if combine == "joint":
        return [[_bin(row @ vectors + together, width) for row in x]]
    columns = [
        [_bin(value * v + b, width) for value in column]
        for column, v, b in zip(x.T, vectors, own, strict=True)
    ]
    return columns if combine == "sum" else [list(zip(*columns, strict=True))]


def _bin(value: float, width: float) -> Hashable:
    return "missing" if np.isnan(value) else float(np.floor(value / width))


def label_bins(graphs: Any, t_max: int) -> list[list[Hashable]]:
    """For each t, each node's exact label distribution (constant where the graphs have no labels)."""
    history: list[list[Hashable]] = [[] for _ in range(t_max + 1)]
    for graph in graphs:
        labels = [0] * graph.n_nodes if graph.database.label_column is None else naive.labels_of(graph)
        steps = naive.diffusion(naive.walk(graph.adjacency), naive.initial_distributions(labels), t_max)
        for t, distributions in enumerate(steps):
            history[t] += [frozenset(p.items()) for p in distributions]
    return history


def kernels(
    graphs: Any, matrices: Sequence[np.ndarray], lsh: Any, combine: str, n_hashes: int = 1
) -> np.ndarray:
    """Cumulative kernels (Algorithm 4): nodes agree where both their label and their attribute bins do."""
    t_max = len(matrices) - 1
    labels, steps = label_bins(graphs, t_max), []
    for t, x in enumerate(matrices):
        x = np.sqrt(np.maximum(x, 0)) if lsh.metric == "hellinger" else x
        total = np.zeros((len(graphs), len(graphs)))
        for h in range(n_hashes):
            drawn = draws(lsh, t, h, x.shape[1])
            for bins in attribute_bins(x, drawn, lsh.bin_width, combine):
                total += contribution(list(zip(labels[t], bins, strict=True)), graphs.graph_ptr) / n_hashes
        steps.append(total)
    return np.cumsum(steps, axis=0)


def contribution(codes: list[Hashable], graph_ptr: np.ndarray) -> np.ndarray:
    """Number of pairs of nodes with equal codes, for every pair of graphs."""
    counters = [Counter(codes[i:j]) for i, j in pairwise(graph_ptr)]
    return np.array(
        [[sum(n * b[code] for code, n in a.items()) for b in counters] for a in counters], dtype=float
    )
