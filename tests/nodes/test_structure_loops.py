"""The loops over edges against definitions that try every subset, subgraph or walk."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from propkernels import _core
from propkernels.nodes.spreading import return_chances_of
from propkernels.nodes.structure import cores_of


def adjacencies():
    """Empty, complete, star, ring, and random graphs, as symmetric matrices of 0 and 1."""
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    ring = np.roll(np.eye(7), 1, axis=1)
    found = [np.zeros((1, 1)), np.zeros((4, 4)), 1 - np.eye(5), star, ring + ring.T]
    for seed, p in ((0, 0.2), (1, 0.5)):
        upper = np.triu(np.random.default_rng(seed).random((14, 14)) < p, 1).astype(float)
        found.append(upper + upper.T)
    return found


def transition(adjacency):
    degrees = adjacency.sum(axis=1)
    stays = np.diag((degrees == 0).astype(float))
    return adjacency / np.maximum(degrees, np.finfo(float).tiny)[:, None] + stays


@pytest.mark.parametrize("adjacency", adjacencies())
@pytest.mark.parametrize("reverse", [False, True])
def test_every_triangle_counts_once_at_each_of_its_nodes(adjacency, reverse):
    n, wiring = len(adjacency), csr_array(adjacency)
    expected = np.zeros(n, dtype=np.int64)
    for three in combinations(range(n), 3):
        expected[list(three)] += all(adjacency[i, j] for i, j in combinations(three, 2))
    rank = np.arange(n)[::-1].copy() if reverse else np.arange(n)  # any distinct ranks find all triangles
    counts = np.zeros(n, dtype=np.int64)
    _core.triangle_counts(wiring.indptr, wiring.indices, rank, counts)
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("adjacency", adjacencies())
def test_core_numbers_are_those_of_peeled_graphs(adjacency):
    n, wiring = len(adjacency), csr_array(adjacency)
    expected = np.zeros(n, dtype=np.int64)
    for k in range(n):
        inside = np.ones(n, dtype=bool)
        while (weak := inside & (adjacency @ inside < k)).any():
            inside &= ~weak
        expected[inside] = k
    np.testing.assert_array_equal(cores_of(wiring), expected)


def chances_of(step, nodes, steps):
    return return_chances_of(SimpleNamespace(transition=csr_array(step), n_jobs=None), nodes, steps)


@pytest.mark.parametrize("adjacency", adjacencies())
@pytest.mark.parametrize("steps", [2, 4])
def test_return_chances_are_sums_over_closed_walks(adjacency, steps):
    weighted = adjacency * np.random.default_rng(2).random(adjacency.shape)  # not symmetric
    step, nodes = transition(weighted), np.arange(len(adjacency))[::2]
    chances = chances_of(step, nodes, steps)
    for t in range(steps):
        expected = np.diag(np.linalg.matrix_power(step, t + 1))[nodes]
        np.testing.assert_allclose(chances[:, t], expected, atol=1e-15)


def test_chances_too_small_for_a_float_are_zero():
    n = 8
    pairs = np.kron(np.eye(n // 2), [[0, 1], [1, 0]])
    step = transition(np.where(pairs == 1, 1.0, 1e-200) * (1 - np.eye(n)))
    chances = chances_of(step, np.arange(n), 4)
    np.testing.assert_allclose(chances, np.tile([0.0, 1.0, 0.0, 1.0], (n, 1)), atol=1e-15)
