"""Columns of attributes and labels as they were learned; positional statistics against definitions."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array

import propkernels as pk
from propkernels import _core
from propkernels.nodes.inputs import (
    AttributeInputs,
    StructureInputs,
    cores_of,
    frequent_relations,
    pagerank,
    simple_graph,
    structure_columns,
    triangles_of,
)
from propkernels.nodes.spreading import return_chances_of

PATH = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)


def graph(attributes=None, labels=None):
    return pk.GraphDatabase(PATH, [0, 4], labels, attributes)


def test_numbers_are_standardized_and_gaps_are_means():
    values = np.array([[1.0, -5], [3.0, -5], [np.nan, -5], [5.0, -5]])
    inputs = AttributeInputs.learn(graph(values), 0)
    columns = np.asarray(inputs.columns(graph(values)))
    middle, spread = np.nanmean(values[:, 0]), np.nanstd(values[:, 0])
    np.testing.assert_allclose(columns[:, 0], (np.array([1, 3, middle, 5]) - middle) / spread)
    assert (columns[:, 1] == 0).all()


def test_counts_of_words_are_divided_by_their_norm():
    words = csr_array(np.array([[3.0, 4, 0], [0, 0, 0], [0, 0, 2], [1, 0, 0]]))
    inputs = AttributeInputs.learn(graph(words), 0)
    rows = csr_array(inputs.columns(graph(words))).toarray()
    np.testing.assert_allclose(rows, [[0.6, 0.8, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]])


def test_labels_have_a_column_each_the_most_frequent_first():
    inputs = AttributeInputs.learn(graph(labels=["b", "a", "a", None]), 0)
    assert inputs.labels == ("a", "b")
    assert inputs.names() == ["label a", "label b"]
    rows = csr_array(inputs.columns(graph(labels=["a", "c", None, "b"]))).toarray()
    assert (rows != 0).tolist() == [[True, False], [False, False], [False, False], [False, True]]


def test_positions_are_standardized():
    club = pk.convert.check_graph(nx.karate_club_graph())
    inputs, columns = StructureInputs.learn(club)
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_array_equal(columns, inputs.columns(club))


def test_parts_of_different_widths_are_refused():
    with pytest.raises(ValueError, match="every attribute needs mean and unit"):
        AttributeInputs(2, (), False, np.zeros(1), np.ones(2))._check_parts()


def test_columns_that_overflow_in_the_units_of_fit_are_refused():
    values = np.array([[1.0], [1.0 + 1e-15], [1.0], [1.0]])
    inputs = replace(AttributeInputs.learn(graph(values), 0), unit=np.array([1e-300]))
    with pytest.raises(ValueError, match="too large for the units"):
        inputs.columns(graph(1e100 * values))
    structure, _ = StructureInputs.learn(graph())
    small = replace(structure, unit=np.full_like(structure.unit, 1e-320))
    with pytest.raises(ValueError, match="too large for the units"):
        small.columns(graph())


def test_clustering_equals_networkx():
    graph = nx.gnp_random_graph(40, 0.15, seed=7)
    columns = structure_columns(pk.check_graphs([graph]))
    np.testing.assert_allclose(columns["clustering"], list(nx.clustering(graph).values()), atol=1e-12)


def test_pagerank_equals_networkx_if_every_node_has_edges():
    graph = nx.barabasi_albert_graph(30, 2, seed=0)
    expected = nx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(pagerank(pk.check_graphs([graph])), list(expected.values()), atol=0.85**30)


def test_loops_and_directions_do_not_count_as_triangles():
    graph = nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 0), (1, 0)])
    assert triangles_of(simple_graph(pk.check_graphs([graph]))).tolist() == [1, 1, 1]


def test_relations_are_counted_by_direction():
    facts = nx.DiGraph()
    facts.add_edges_from([("a", "b"), ("a", "c")], label="knows")
    facts.add_edge("b", "a", label="likes")
    graph = pk.from_networkx([facts])
    relations = frequent_relations(graph)
    columns = structure_columns(graph, True, relations)
    assert relations == ("knows", "likes")
    np.testing.assert_allclose(np.expm1(columns["knows, outgoing"]), [2, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.expm1(columns["knows, incoming"]), [0, 1, 1], atol=1e-12)
    np.testing.assert_allclose(np.expm1(columns["likes, outgoing"]), [0, 1, 0], atol=1e-12)


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
    return return_chances_of(SimpleNamespace(transition=csr_array(step)), nodes, steps)


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
