"""edge_contributions: what nodes add, shared out among the edges of their neighborhoods."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, diags_array

from propkernels.explain import explanation as edges
from propkernels.explain.explanation import edge_contributions


def naive(adjacency, contributions):
    """The definition: at t, a node's contribution goes in equal parts to edges with an end within t - 1."""
    n = len(adjacency)
    edges = [(i, j) for i in range(n) for j in range(i, n) if adjacency[i][j]]
    shares = {edge: [Fraction(0)] * len(contributions[0]) for edge in edges}
    for v in range(n):
        near = {v}
        for t in range(1, len(contributions[0])):
            seen = [edge for edge in edges if edge[0] in near or edge[1] in near]
            for edge in seen:
                shares[edge][t] += Fraction(contributions[v][t]) / len(seen)
            near |= {w for u in near for w in range(n) if adjacency[u][w]}
    return shares


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 6))
    upper = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    matrix = np.triu(np.array(upper).reshape(n, n), 1)
    values = draw(st.lists(st.integers(-9, 9), min_size=3 * n, max_size=3 * n))
    return (matrix | matrix.T).astype(int), np.array(values, dtype=float).reshape(n, 3)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.sampled_from([1, 7, 2**22]))
def test_equals_the_definition(case, in_memory):
    """Nodes in batches of any size."""
    adjacency, contributions = case
    expected = naive(adjacency.tolist(), contributions.astype(int).tolist())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "VALUES_IN_MEMORY", in_memory)
        ends, found = edge_contributions(csr_array(adjacency), contributions)
    assert [tuple(pair) for pair in ends.tolist()] == sorted(expected)
    for pair, row in zip(ends.tolist(), found, strict=True):
        np.testing.assert_allclose(row, [float(part) for part in expected[tuple(pair)]], atol=1e-12)
    has_neighbors = adjacency.sum(axis=1) > 0
    expected_sums = contributions[has_neighbors, 1:].sum(axis=0)
    np.testing.assert_allclose(found[:, 1:].sum(axis=0), expected_sums, atol=1e-12)


def test_a_long_path_takes_memory_by_its_length(monkeypatch):
    """Nodes times edges would be 3 GB."""
    n = 20_000
    path = diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1]).tocsr()
    tracemalloc.start()
    _, shares = edge_contributions(path, np.ones((n, 3)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shares[:, 1:].sum() == pytest.approx(2 * n)
    assert peak < 2**27
