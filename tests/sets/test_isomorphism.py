"""Canonical forms against networkx; hashes are equal for isomorphic graphs alone, and the same forever."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from propkernels.codes.contents import everything, groups_by_step
from propkernels.sets import isomorphism
from propkernels.sets.isomorphism import canonical_forms, isomorphism_classes


def shuffled(graph, seed):
    """The same graph, its nodes in another order."""
    order = np.random.default_rng(seed).permutation(graph.number_of_nodes()).tolist()
    other = nx.relabel_nodes(graph, dict(zip(graph, order, strict=True)))
    same = nx.Graph() if not graph.is_directed() else nx.DiGraph()
    same.add_nodes_from((node, other.nodes[node]) for node in sorted(other))
    same.add_edges_from(other.edges(data=True))
    return same


def database(graphs):
    return pk.from_networkx(graphs)


def carrying(graph, node_seed, n_labels):
    """Give nodes and edges random labels."""
    random = np.random.default_rng(node_seed)
    for node in graph:
        graph.nodes[node]["label"] = int(random.integers(n_labels))
    for edge in graph.edges:
        graph.edges[edge]["label"] = int(random.integers(n_labels))
    return graph


def classes_of(graphs):
    contents = everything(graphs)
    return isomorphism_classes(contents, groups_by_step(contents, 3)[-1])


def rook():
    """The 4 x 4 rook's graph: strongly regular, with the parameters of Shrikhande's."""
    return nx.line_graph(nx.complete_bipartite_graph(4, 4))


def shrikhande():
    steps = [(0, 1), (1, 0), (1, 1)]
    edges = [((x, y), ((x + a) % 4, (y + b) % 4)) for x in range(4) for y in range(4) for a, b in steps]
    return nx.Graph(edges)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 30)), min_size=2, max_size=5),
    st.integers(1, 2),
    st.booleans(),
)
def test_classes_are_those_of_networkx(drawn, n_labels, directed):
    originals = [
        carrying(nx.gnp_random_graph(n, 0.4, seed=seed, directed=directed), seed, n_labels)
        for n, seed in drawn
    ]
    graphs = [g for i, graph in enumerate(originals) for g in (graph, shuffled(graph, i))]
    classes, undecided = classes_of(database(graphs))
    match = {"node_match": lambda a, b: a == b, "edge_match": lambda a, b: a == b}
    for i, one in enumerate(graphs):
        for j, other in enumerate(graphs[:i]):
            assert (classes[i] == classes[j]) == nx.is_isomorphic(one, other, **match)
    assert undecided == 0


@pytest.mark.parametrize(
    "graph",
    [
        nx.star_graph(40),
        nx.complete_graph(20),
        nx.cycle_graph(12),
        nx.disjoint_union_all([nx.path_graph(3)] * 6),
        nx.hypercube_graph(4),
        nx.empty_graph(9),
        nx.balanced_tree(3, 3),
    ],
    ids=["star", "complete", "cycle", "paths", "cube", "isolated", "tree"],
)
def test_symmetric_graphs_are_themselves(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    graphs = pk.from_networkx([graph, *(shuffled(graph, seed) for seed in range(3))])
    classes, undecided = classes_of(graphs)
    assert classes.tolist() == [0, 0, 0, 0]
    assert undecided == 0


def test_strongly_regular_graphs_are_told_apart():
    one, other = (nx.convert_node_labels_to_integers(g) for g in (rook(), shrikhande()))
    graphs = pk.from_networkx([one, other, shuffled(one, 1), shuffled(other, 2)])
    contents = everything(graphs)
    assert len(set(groups_by_step(contents, 5)[-1].tolist())) == 1  # colors see no difference
    classes, undecided = classes_of(graphs)
    assert classes.tolist() == [0, 1, 0, 1]
    assert undecided == 0


def test_a_search_finds_what_a_bad_choice_misses():
    """Two pentagons and a cycle of ten: nodes of one color are not alike."""
    graph = nx.disjoint_union_all([nx.cycle_graph(5), nx.cycle_graph(5), nx.cycle_graph(10)])
    contents = everything(pk.from_networkx([graph, *(shuffled(graph, seed) for seed in range(6))]))
    assert len(set(canonical_forms(contents))) > 1  # choices differ, hence the search
    assert set(classes_of(contents.graphs)[0].tolist()) == {0}


def test_giving_up_is_said(monkeypatch):
    monkeypatch.setattr("propkernels.sets.isomorphism.MOST_REFINEMENTS", 1)
    one, other = (nx.convert_node_labels_to_integers(g) for g in (rook(), shrikhande()))
    classes, undecided = classes_of(pk.from_networkx([one, other]))
    assert len(set(classes.tolist())) == 2
    assert undecided == 1
    monkeypatch.setattr("propkernels.sets.isomorphism.MOST_CHOICES", 0)
    assert classes_of(pk.from_networkx([one, shuffled(one, 0)]))[1] == 2


def test_attributes_and_weights_belong_to_the_graph():
    path = np.array([[0, 1.0, 0], [1.0, 0, 1.0], [0, 1.0, 0]])
    graphs = pk.check_graphs([path, 2 * path, path, path]).with_attributes(
        np.array([[0.5], [1], [0.5], [0.5], [1], [0.5], [0.5], [1], [0.5], [0.5], [1], [0.25]])
    )
    assert classes_of(graphs)[0].tolist() == [0, 1, 0, 2]


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
