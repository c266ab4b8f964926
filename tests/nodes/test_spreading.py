"""Propagated columns equal powers of the transition matrix; a node's own target is left out exactly."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.nodes.spreading import (
    RARE,
    Known,
    Walks,
    hops_at,
    return_chances_of,
    several_target_hops,
    spread_back,
    target_hops,
)

DIRECTED = nx.DiGraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 1), (4, 2)])
DIRECTED.add_node(5)
GRAPHS = [nx.gnp_random_graph(25, 0.2, seed=1), nx.star_graph(6), DIRECTED, nx.empty_graph(3)]


def walks_of(graph, direction="follow"):
    return Walks(pk.check_graphs([graph]), direction)


def dense(walks):
    return walks.transition.toarray()


@pytest.mark.parametrize("walk", ["row", "renormalized"])
@pytest.mark.parametrize("sparse", [False, True])
def test_hops_and_norms_equal_dense_steps(walk, sparse, monkeypatch):
    monkeypatch.setattr("propkernels.nodes.spreading.NUMBERS_AT_ONCE", 50)  # two columns per block
    walks = walks_of(GRAPHS[0])
    columns = np.random.default_rng(0).random((25, 5))
    nodes = np.array([3, 1])
    found = hops_at(walks, csr_array(columns) if sparse else columns, walk, nodes, 1, [3])
    current, total = columns, np.zeros_like(columns)
    for t in range(4):
        if t <= 1:
            np.testing.assert_allclose(found.steps[t], current[nodes], atol=1e-13)
        total = total + current
        current = walks.step(walk, current)
    np.testing.assert_allclose(found.sums[3], total[nodes], atol=1e-13)
    np.testing.assert_allclose(found.norms[3], np.linalg.norm(total, axis=1), atol=1e-12)


def test_the_renormalized_step_has_a_loop_at_each_node():
    graph = GRAPHS[0]
    adjacency = nx.to_numpy_array(graph) + np.eye(25)
    scale = adjacency.sum(axis=1) ** -0.5
    columns = np.random.default_rng(0).random((25, 2))
    expected = (scale[:, None] * adjacency * scale) @ columns
    np.testing.assert_allclose(walks_of(graph).step("renormalized", columns), expected, atol=1e-13)


def test_horner_equals_the_sum_of_powers():
    walks, rng = walks_of(GRAPHS[0]), np.random.default_rng(0)
    step, values = dense(walks), [rng.random((25, 2)) for _ in range(3)]
    expected = sum(np.linalg.matrix_power(step, t) @ v for t, v in enumerate(values))
    np.testing.assert_allclose(spread_back(walks, "row", values), expected, atol=1e-13)


@pytest.mark.parametrize("graph", GRAPHS[:3])
def test_target_hops_equal_walks_without_returns(graph):
    """Naive: for each node, its own target is removed, and the others are propagated."""
    walks, n = walks_of(graph), len(graph)
    known = np.arange(0, n, 2)
    targets = np.random.default_rng(0).random((len(known), 2))
    hops = target_hops(walks, Known(targets, known, return_chances_of(walks, known, 4)))
    step = dense(walks)
    for t in range(4):
        power = np.linalg.matrix_power(step, t + 1)
        for v in range(n):
            others = known != v
            mass = power[v, known[others]].sum()
            total = power[v, known[others]] @ targets[others]
            expected = (total + RARE * targets.mean(axis=0)) / (mass + RARE)
            np.testing.assert_allclose(hops.shares[t][v], expected, atol=1e-12)
            assert abs(hops.masses[t][v] - mass) < 1e-12


@pytest.mark.parametrize("at_once", [1, 2**25])  # one set at once, and all side by side
def test_several_sets_at_some_nodes_have_the_bits_of_one_set_at_all_nodes(at_once, monkeypatch):
    monkeypatch.setattr("propkernels.nodes.spreading.NUMBERS_AT_ONCE", at_once)
    walks, rng = walks_of(nx.path_graph(40)), np.random.default_rng(0)
    between, nodes, sets = rng.random((40, 2)), np.array([7, 3, 12]), []
    for first in range(3):
        known = np.arange(first, 40, 3)
        sets.append(Known(rng.random((len(known), 2)), known, return_chances_of(walks, known, 4)))
    assert len(walks.rows_before(nodes)) == 9
    for one, found in zip(sets, several_target_hops(walks, sets, between, nodes), strict=True):
        expected = target_hops(walks, one, between)
        for source in ("targets", "crossed"):
            here = expected.columns(source, nodes)
            assert (found.columns(source, slice(None)) == here).all()
            assert (expected.at(nodes).columns(source, np.arange(3)) == here).all()


def test_crossed_targets_leave_the_own_target_out():
    """Naive: a loop over neighbors w of v, and neighbors u of w other than v."""
    walks, rng = walks_of(GRAPHS[0]), np.random.default_rng(0)
    known, between = np.arange(0, 25, 2), rng.random((25, 3))
    targets = rng.random((len(known), 2))
    hops = target_hops(walks, Known(targets, known, return_chances_of(walks, known, 2)), between)
    marked = np.zeros((25, 3))
    marked[known] = np.column_stack([targets, np.ones(len(known))])
    step = dense(walks)
    for v in range(25):
        expected = np.zeros((3, 3))
        for w in range(25):
            for u in set(range(25)) - {v}:
                expected += step[v, w] * step[w, u] * np.outer(between[w], marked[u])
        np.testing.assert_allclose(hops.crossed[v], expected.ravel(), atol=1e-13)
