"""Positions of nodes: close to the numbers of edges between them, and the same every time."""

import networkx
import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

import propkernels as pk
from propkernels.graphs.layout import MOST_EXACT, n_faults, node_positions


def graph_of(graph):
    return pk.from_networkx([graph])[0]


def drawn_distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@pytest.mark.parametrize(
    "graph", [networkx.cycle_graph(6), networkx.path_graph(9), networkx.grid_2d_graph(4, 5)], ids=str
)
def test_drawn_distances_follow_the_graph(graph):
    graph = graph_of(graph)
    assert np.array_equal(node_positions(graph), node_positions(graph))
    hops = shortest_path(graph.adjacency, unweighted=True)
    drawn = drawn_distances(node_positions(graph))
    off = ~np.eye(len(hops), dtype=bool)
    assert np.corrcoef(hops[off], drawn[off])[0, 1] > 0.9
    assert drawn[off].min() > 0.5


def test_a_ring_is_round_and_leaves_of_a_star_do_not_meet():
    points = node_positions(graph_of(networkx.cycle_graph(12)))
    radii = np.linalg.norm(points - points.mean(axis=0), axis=1)
    assert radii.std() / radii.mean() < 0.02
    drawn = drawn_distances(node_positions(graph_of(networkx.star_graph(6))))
    assert drawn[~np.eye(7, dtype=bool)].min() > 0.3


def test_components_do_not_overlap():
    graph = networkx.disjoint_union_all([networkx.cycle_graph(5), networkx.path_graph(4), networkx.Graph()])
    graph.add_nodes_from(range(9, 14))
    points = node_positions(graph_of(graph))
    parts = [points[list(part)] for part in networkx.connected_components(graph)]
    for i, first in enumerate(parts):
        for second in parts[:i]:
            apart = np.linalg.norm(first[:, None] - second[None], axis=2)
            assert apart.min() > 0.4


@pytest.mark.slow
def test_large_graphs_are_drawn_from_pivots():
    side = int(np.sqrt(MOST_EXACT)) + 5
    graph = graph_of(networkx.grid_2d_graph(side, side))
    points = node_positions(graph)
    assert points.shape == (side**2, 2)
    rng = np.random.default_rng(0)
    some = rng.choice(side**2, 50, replace=False)
    hops = shortest_path(graph.adjacency, unweighted=True, indices=some)[:, some]
    drawn = drawn_distances(points[some])
    assert np.corrcoef(hops.ravel(), drawn.ravel())[0, 1] > 0.9


def test_layouts_of_networkx_and_coordinates():
    graph = graph_of(networkx.cycle_graph(5))
    assert np.array_equal(node_positions(graph, "spring"), node_positions(graph, "spring"))
    assert node_positions(graph, "circular").shape == (5, 2)
    flat = np.random.default_rng(0).normal(size=(5, 2))
    assert np.array_equal(node_positions(graph, flat), flat)


def test_coordinates_in_space_are_seen_from_where_they_spread_most():
    rng = np.random.default_rng(0)
    space = np.column_stack([rng.normal(size=50) * 0.01, rng.normal(size=50), 5 * rng.normal(size=50)])
    graph = pk.check_graphs([np.zeros((50, 50))])[0]
    points = node_positions(graph, space)
    assert np.abs(np.corrcoef(points[:, 0], space[:, 2])[0, 1]) > 0.99
    assert np.abs(np.corrcoef(points[:, 1], space[:, 1])[0, 1]) > 0.99


def test_crossings_are_undone_by_other_starts_and_nodes_never_overlap():
    rings = ["1 7", "2 3", "2 7", "0 4", "0 6", "4 5", "4 7", "6 8", "6 9", "8 10", "9 11", "10 12", "11 12"]
    rings, petersen = networkx.parse_edgelist(rings, nodetype=int), networkx.petersen_graph()
    for graph, n_crossings in ((rings, 0), (petersen, 3), (networkx.complete_bipartite_graph(3, 3), 3)):
        graph = networkx.relabel_nodes(graph, {node: i for i, node in enumerate(graph)})
        points, edges = node_positions(graph_of(graph)), np.array(graph.edges)
        unit = np.median(np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1))
        assert n_faults(points / unit, edges) <= n_crossings
        assert (drawn_distances(points / unit) + np.eye(len(points))).min() > 0.3
