"""Positional statistics equal those of networkx."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.nodes.structure import (
    cores_of,
    frequent_relations,
    pagerank,
    simple_graph,
    structure_columns,
    triangles_of,
)


def random_graph(seed, n=40, p=0.15):
    return nx.gnp_random_graph(n, p, seed=seed)


@pytest.mark.parametrize("seed", range(4))
def test_triangles_and_cores_equal_networkx(seed):
    graph = random_graph(seed)
    wiring = simple_graph(pk.check_graphs([graph]))
    assert triangles_of(wiring).tolist() == list(nx.triangles(graph).values())
    assert cores_of(wiring).tolist() == list(nx.core_number(graph).values())


def test_clustering_equals_networkx():
    graph = random_graph(7)
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
