"""Alignments: an upper bound of the graph edit distance, exact for isomorphic graphs of many kinds."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from tests.sets.test_isomorphism import carrying, shuffled


def edit_distance(g, h):
    def same(one, other):
        return one.get("label") == other.get("label")

    return nx.graph_edit_distance(g, h, node_match=same, edge_match=same)


def naive_cost(g, h, pairs):
    """Edits along given pairs, counted one by one."""
    image = dict(pairs.tolist())
    cost = len(g) + len(h) - 2 * len(image)
    cost += sum(g.nodes[u].get("label") != h.nodes[v].get("label") for u, v in image.items())
    kept = 0
    for u, v, data in g.edges(data=True):
        if u in image and v in image and h.has_edge(image[u], image[v]):
            kept += 1
            cost += data.get("label") != h.edges[image[u], image[v]].get("label")
    return cost + g.number_of_edges() + h.number_of_edges() - 2 * kept


def random_pair(seed, directed=False):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 2).tolist()
    graphs = [nx.gnp_random_graph(n, 0.5, seed=seed + i, directed=directed) for i, n in enumerate(sizes)]
    return [carrying(graph, seed, 2) for graph in graphs]


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_cost_bounds_the_edit_distance_and_is_that_of_the_pairs(directed):
    gaps = []
    for seed in range(25):
        g, h = random_pair(seed, directed)
        found = pk.align(g, h)
        assert found.cost == naive_cost(g, h, found.pairs)
        gaps.append(found.cost - edit_distance(g, h))
    assert min(gaps) >= 0
    assert np.median(gaps) <= 1


@pytest.mark.parametrize(
    "graph",
    [nx.cycle_graph(9), nx.petersen_graph(), nx.random_labeled_tree(30, seed=1), nx.path_graph(1)],
    ids=["cycle", "petersen", "tree", "node"],
)
def test_pairs_are_one_to_one_and_keep_codes(graph):
    other = shuffled(graph, 3)
    found = pk.align(graph, other)
    assert sorted(found.pairs[:, 0]) == sorted(found.pairs[:, 1]) == list(range(len(graph)))
    assert (found.steps == 10).all()


@pytest.mark.parametrize(
    "graph", [nx.cycle_graph(9), nx.random_labeled_tree(30, seed=1)], ids=["cycle", "tree"]
)
def test_equal_graphs_need_no_edits(graph):
    assert pk.align(graph, shuffled(graph, 3)).cost == 0


def test_matches_are_an_optimal_assignment():
    """The numbers of equal codes, summed over t, are those of the histogram intersection."""
    graphs = pk.datasets.make_molecules(12, random_state=2).graphs
    kernel = pk.WeisfeilerLehman(t_max=4, base_kernel="intersection")
    matrix = kernel.fit_transform(graphs)
    for i in range(0, 12, 2):
        found = pk.align(graphs[i], graphs[i + 1], t_max=4)
        assert (found.steps + 1).sum() == matrix[i, i + 1]


def test_a_graph_without_nodes():
    found = pk.align(nx.empty_graph(0), nx.path_graph(3))
    assert len(found.pairs) == 0
    assert found.cost == 5
    assert "5 edits" in str(found)
