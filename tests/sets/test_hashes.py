"""Hashes of graphs: equal for isomorphic graphs, different for others, and the same forever."""

import networkx as nx
import pytest

import propkernels as pk
from propkernels.sets import isomorphism
from tests.sets.test_isomorphism import carrying, rook, shrikhande, shuffled


def molecule(seed=0):
    return pk.convert.to_networkx(pk.datasets.make_molecules(3, random_state=seed).graphs)[0]


@pytest.mark.slow
def test_all_graphs_of_the_atlas_have_different_exact_hashes():
    graphs = nx.graph_atlas_g()
    assert len(set(pk.graph_hash(graphs, exact=True))) == len(graphs) == 1253


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_nodes_does_not_matter(exact, seed):
    graphs = [
        carrying(nx.gnp_random_graph(9, 0.3, seed=seed), seed, 2),
        carrying(nx.gnp_random_graph(8, 0.3, seed=seed, directed=True), seed, 2),
        nx.random_regular_graph(3, 10, seed=seed),
        nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5)),
        nx.random_labeled_tree(20, seed=seed),
        rook(),
    ]
    others = [shuffled(nx.convert_node_labels_to_integers(graph), seed + 1) for graph in graphs]
    hashes = pk.graph_hash(graphs, exact=exact)
    assert hashes == pk.graph_hash(others, exact=exact)
    assert len(set(hashes)) == len(graphs)


def test_exact_hashes_separate_what_colors_cannot():
    hashes = pk.graph_hash([rook(), shrikhande()]), pk.graph_hash([rook(), shrikhande()], exact=True)
    assert len(set(hashes[0])) == 1
    assert len(set(hashes[1])) == 2


@pytest.mark.parametrize("exact", [False, True])
def test_a_change_anywhere_changes_the_hash(exact):
    path = [[0, 2.0, 0], [2.0, 0, 1.0], [0, 1.0, 0]]
    plain = ([[0, 1, 0], [1, 0, 1], [0, 1, 0]], ["a", "b", "c"])
    changed = [
        plain,
        ([[0, 1, 1], [1, 0, 0], [1, 0, 0]], ["a", "b", "c"]),  # other edges between distinct nodes
        ([[0, 1, 0], [1, 0, 1], [0, 1, 0]], ["a", "b", "d"]),
        (path, ["a", "b", "c"]),
        ([[0, 1, 0], [0, 0, 1], [0, 1, 0]], ["a", "b", "c"]),
        (plain[0], plain[1], [[0.0], [0.0], [1.0]]),
    ]
    assert len({pk.graph_hash(graph, exact=exact) for graph in changed}) == len(changed)


GOLDEN = {
    "petersen": ("1112c6a8cb5709a0c05cf0417b87aec3", "0512a3f09f23491bd9acb996b968a3e0"),
    "square": ("a63e347baf11763ecc24fd6cf044b8f0", "07d5e679174d7e1431c29dd1e1609462"),
    "arc": ("be33d66286823ccc03db0d3851612c0a", "153ae16ef847bf8a3292c5d901efe974"),
    "weights and attributes": ("56f168f2f5c5622c0f6dfe977501a95a", "22f32a6c5b3c1c09834aaf558166e860"),
}


def golden_graphs():
    """Graphs whose hashes never change."""
    square = nx.cycle_graph(4)
    nx.set_node_attributes(square, {0: "C", 1: "O", 2: "C", 3: "N"}, "label")
    nx.set_edge_attributes(square, {(0, 1): 1, (1, 2): 2, (2, 3): 1, (0, 3): 1}, "label")
    return {
        "petersen": nx.petersen_graph(),
        "square": square,
        "arc": nx.DiGraph([(0, 1), (1, 2), (0, 2)]),
        "weights and attributes": ([[0, 0.5], [0.5, 0]], [1, None], [[0.25], [-1.0]]),
    }


@pytest.mark.parametrize("name", golden_graphs())
def test_hashes_never_change(name):
    graph = golden_graphs()[name]
    assert (pk.graph_hash(graph), pk.graph_hash(graph, exact=True)) == GOLDEN[name]


def test_a_search_that_is_too_long_is_a_sentence(monkeypatch):
    monkeypatch.setattr(isomorphism, "MOST_REFINEMENTS", 3)
    with pytest.raises(ValueError, match="too symmetric for an exact hash"):
        pk.graph_hash(rook(), exact=True)


def test_unique_graphs_are_the_first_of_each_class():
    graphs = [rook(), nx.path_graph(3), shrikhande(), shuffled(nx.path_graph(3), 1)]
    graphs = [nx.convert_node_labels_to_integers(graph) for graph in graphs]
    distinct, index, inverse = pk.unique(graphs, return_inverse=True)
    assert index.tolist() == [0, 1, 2]
    assert inverse.tolist() == [0, 1, 2, 1]
    assert len(pk.unique(graphs)) == len(distinct) == 3
    assert pk.graph_hash(distinct, exact=True) == pk.graph_hash(graphs[:3], exact=True)
