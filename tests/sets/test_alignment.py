"""Alignments and edit distances: bounds of networkx's exact distances, equal where asked, with a path."""

from importlib import import_module
from itertools import combinations, permutations, product

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.sets.alignment import aligned
from tests.sets.test_isomorphism import carrying, shuffled

COSTS = [
    None,
    {"node": 2.0, "edge": 0.5},
    {"relabel_node": 5.0, "relabel_edge": 0.25},
    {"relabel_edge": 7.0, "node": 0.5, "relabel_node": 0.75},
]


def random_pair(seed, directed, most=4):
    """Two small graphs with labels of nodes and edges; every third pair with a loop."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0 if seed % 5 == 0 else 1, most + 1, 2).tolist()
    graphs = [nx.gnp_random_graph(n, 0.5, seed=2 * seed + i, directed=directed) for i, n in enumerate(sizes)]
    graphs = [carrying(graph, seed, 2) for graph in graphs]
    if seed % 3 == 0 and sizes[0]:
        graphs[0].add_edge(0, 0, label=1)
    return graphs


def naive(g, h, costs):
    """The smallest cost of all partial maps of nodes; edges get a new label if that is cheapest."""
    relabels = (costs or {}).get("relabel_edge", 1.0) <= 2 * (costs or {}).get("edge", 1.0)
    least = np.inf
    for k in range(min(len(g), len(h)) + 1):
        for some, others in product(combinations(g, k), permutations(h, k)):
            image = dict(zip(some, others, strict=True))
            nodes = [(u, image.get(u)) for u in g] + [(None, v) for v in h if v not in others]
            kept = {(u, v): _ends(h)((image.get(u, -1), image.get(v, -1))) for u, v in map(_ends(g), g.edges)}
            kept = {ends: twin for ends, twin in kept.items() if h.has_edge(*twin)}
            if not relabels:
                kept = {a: b for a, b in kept.items() if g.edges[a]["label"] == h.edges[b]["label"]}
            edges = [(ends, kept.get(ends)) for ends in map(_ends(g), g.edges)]
            edges += [(None, ends) for ends in map(_ends(h), h.edges) if ends not in kept.values()]
            least = min(least, cost_of(g, h, nodes, edges, costs))
    return least


def of_networkx(g, h, costs):
    """The exact distance, by networkx."""
    price = {"node": 1.0, "edge": 1.0, "relabel_node": 1.0, "relabel_edge": 1.0} | (costs or {})

    def relabel(what):
        return lambda a, b: 0.0 if a.get("label") == b.get("label") else price[f"relabel_{what}"]

    def flat(what):
        return lambda data: price[what]

    return nx.graph_edit_distance(
        g,
        h,
        node_subst_cost=relabel("node"),
        node_del_cost=flat("node"),
        node_ins_cost=flat("node"),
        edge_subst_cost=relabel("edge"),
        edge_del_cost=flat("edge"),
        edge_ins_cost=flat("edge"),
    )


def cost_of(g, h, nodes, edges, costs):
    """Cost of a path, and whether it turns one graph into the other."""
    price = {"node": 1.0, "edge": 1.0, "relabel_node": 1.0, "relabel_edge": 1.0} | (costs or {})
    image = {u: v for u, v in nodes if u is not None and v is not None}
    assert sorted(u for u, _ in nodes if u is not None) == sorted(g)
    assert sorted(v for _, v in nodes if v is not None) == sorted(h)
    assert sorted(a for a, _ in edges if a) == sorted(map(tuple, map(_ends(g), g.edges)))
    assert sorted(b for _, b in edges if b) == sorted(map(tuple, map(_ends(h), h.edges)))
    cost = 0.0
    for what, pairs, left, right in (("node", nodes, g.nodes, h.nodes), ("edge", edges, g.edges, h.edges)):
        for a, b in pairs:
            if a is None or b is None:
                cost += price[what]
                continue
            if what == "edge":
                assert _ends(h)((image[a[0]], image[a[1]])) == b
            if left[a].get("label") != right[b].get("label"):
                cost += price[f"relabel_{what}"]
    return cost


def _ends(graph):
    return tuple if graph.is_directed() else lambda ends: tuple(sorted(ends))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("costs", COSTS, ids=repr)
def test_exact_distances_are_the_smallest_and_bounds_are_not_below(directed, costs):
    excess = []
    for seed in range(16):
        g, h = random_pair(seed, directed, 3)
        expected = naive(g, h, costs)
        if not list(nx.selfloop_edges(g)):  # networkx may turn a loop into any other edge
            assert of_networkx(g, h, costs) == pytest.approx(expected)
        for exact in (True, False):
            value, *path = pk.edit_distance(g, h, costs=costs, exact=exact, return_path=True)
            assert isinstance(value, int if costs is None else float)
            assert value == pytest.approx(cost_of(g, h, *path, costs))
            excess += [] if exact else [value - expected]
            assert value == pytest.approx(expected) if exact else value >= expected - 1e-9
    assert np.mean(excess) < 0.1


def test_what_is_deleted_and_inserted_is_no_pair():
    """Where a new label costs more than a deletion and an insertion, the path has these two."""
    g, h = (nx.Graph([(0, 1, {"label": label})]) for label in "ab")
    found = pk.edit_distance(g, h, costs={"relabel_edge": 3}, return_path=True)
    assert found == (2, [(0, 0), (1, 1)], [((0, 1), None), (None, (0, 1))])
    for graph, label in ((g, "A"), (h, "B")):
        nx.set_node_attributes(graph, label, "label")
    graphs = pk.from_networkx([g, h])
    pairs, _, cost = aligned(graphs, costs=(5.0, 1.0, 1.0, 1.0), limit=1000)  # by the exact search alone
    assert (cost, pairs.tolist()) == (6, [])


def test_parallel_edges_are_compared_one_by_one():
    def bonds(*labels):
        graph = nx.MultiGraph()
        graph.add_nodes_from([0, 1])
        for label in labels:
            graph.add_edge(0, 1, label=label)
        return graph

    for a, b, distance in (("ab", "a", 1), ("ab", "bc", 1), ("ab", "ba", 0), ("", "ab", 2), ("ab", "cde", 3)):
        for exact in (False, True):
            found = pk.edit_distance(bonds(*a), bonds(*b), exact=exact, return_path=True)
            assert found[0] == distance
            assert len(found[2]) == max(len(a), len(b))


def test_few_edits_of_symmetric_graphs_are_found():
    for n in (4, 7, 12):
        grid = nx.grid_2d_graph(n, n)
        holes = grid.copy()
        holes.remove_edges_from([((0, 0), (0, 1)), ((n // 2, n // 2), (n // 2, n // 2 + 1))])
        assert pk.edit_distance(grid, holes) == 2


def test_swaps_save_edits_of_graphs_too_large_for_gradients():
    g, h = (nx.random_labeled_tree(90, seed=seed) for seed in (0, 1))
    _, _, before = aligned(pk.from_networkx([g, h]), trials=1)
    assert pk.edit_distance(g, h) < 0.9 * before


def test_large_graphs_and_none():
    path, cycle = nx.path_graph(3000), nx.cycle_graph(3000)
    assert pk.edit_distance(path, cycle) == 1
    assert (
        pk.edit_distance(nx.Graph(), nx.path_graph(3)) == pk.edit_distance(nx.path_graph(3), nx.Graph()) == 5
    )
    assert str(pk.align(nx.Graph(), nx.path_graph(3))) == "0 pairs of nodes, 0 with equal labels; 5 edits"
    assert (
        str(pk.align(nx.path_graph(1), nx.path_graph(1))) == "1 pair of nodes, 1 with equal labels; 0 edits"
    )
    assert pk.edit_distance(nx.Graph(), nx.Graph(), exact=True, return_path=True) == (0, [], [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": {"nodes": 1}}, "costs"),
        ({"costs": 2}, "costs must be a mapping such as"),
        ({"costs": {"node": -1}}, "the cost of node must be a number from 0 on, got -1"),
        ({"exact": True}, "graphs of 20 and 20 nodes takes more than 1,000 steps: exact=False"),
    ],
)
def test_what_cannot_be_is_said(options, message, monkeypatch):
    monkeypatch.setattr(import_module("propkernels.sets.alignment"), "MOST_STEPS", 1000)
    g, h = (nx.gnp_random_graph(20, 0.4, seed=seed) for seed in (0, 1))
    with pytest.raises((TypeError, ValueError), match=message):
        pk.edit_distance(g, h, **options)


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


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_cost_bounds_the_edit_distance_and_is_that_of_the_pairs(directed):
    gaps = []
    for seed in range(25):
        g, h = random_pair(seed, directed, 5)
        found = pk.align(g, h)
        assert found.cost == naive_cost(g, h, found.pairs)
        gaps.append(found.cost - of_networkx(g, h, None))
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
    if graph.name != "Petersen Graph":  # of others, any choice among nodes of one color is right
        assert found.cost == 0


def test_matches_are_an_optimal_assignment():
    """The numbers of equal codes, summed over t, are those of the histogram intersection."""
    graphs = pk.datasets.make_molecules(12, random_state=2).graphs
    kernel = pk.WeisfeilerLehman(t_max=4, base_kernel="intersection")
    matrix = kernel.fit_transform(graphs)
    for i in range(0, 12, 2):
        found = pk.align(graphs[i], graphs[i + 1], t_max=4)
        assert (found.steps + 1).sum() == matrix[i, i + 1]
