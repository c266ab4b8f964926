"""Explanations of kernels that count pairs, places on paths, and subgraphs, beside naive twins."""

import itertools

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import GraphMatcher, categorical_node_match

import propkernels as pk
from propkernels.decisions.members import FoldedMember
from propkernels.decisions.rule import Rule, dual_members
from propkernels.explain.comparisons import explain_rule

SEED = 5


def small_graphs(n_graphs):
    rng = np.random.default_rng(SEED)
    graphs = []
    for _ in range(n_graphs):
        graph = nx.gnp_random_graph(int(rng.integers(3, 7)), 0.45, seed=int(rng.integers(1000)))
        nx.set_node_attributes(graph, {v: "CNO"[int(rng.integers(3))] for v in graph}, "label")
        graphs.append(graph)
    return graphs


def pairs(graph):
    """Ordered pairs of nodes: their nodes, and their triplet."""
    label, lengths = nx.get_node_attributes(graph, "label"), dict(nx.all_pairs_shortest_path_length(graph))
    return [((u, v), (label[u], d, label[v])) for u in graph for v, d in lengths[u].items() if u != v]


def places(graph):
    """Places on shortest paths: the node, and its label, position and path length."""
    label = nx.get_node_attributes(graph, "label")
    paths = [
        path for u in graph for v in nx.node_connected_component(graph, u)
        for path in nx.all_shortest_paths(graph, u, v)
    ]  # fmt: skip
    return [((v,), (label[v], i, len(path))) for path in paths for i, v in enumerate(path)]


def subgraphs(graph):
    """Connected induced subgraphs with at most three nodes."""
    sets = (nodes for size in (1, 2, 3) for nodes in itertools.combinations(graph, size))
    return [(nodes, graph.subgraph(nodes)) for nodes in sets if nx.is_connected(graph.subgraph(nodes))]


def equal(a, b):
    return float(a == b)


def isomorphisms(a, b):
    match = categorical_node_match("label", None)
    return float(sum(1 for _ in GraphMatcher(a, b, node_match=match).isomorphisms_iter()))


TWINS = [
    (pk.ShortestPath(), pairs, equal, 1),
    (pk.GraphHopper(), places, equal, 1),
    (pk.SubgraphMatching(k=3), subgraphs, isomorphisms, 3),
]
same_kernels = pytest.mark.parametrize(
    ("kernel", "things", "matches", "n_steps"), TWINS, ids=["paths", "hopper", "subgraphs"]
)


def naive_contributions(train, coefficients, graph, things, matches, n_steps):
    """What each node adds: its equal share of sum_i a_i (matches of the thing in training graph i)."""
    known = [(a, thing) for a, other in zip(coefficients, train, strict=True) for _, thing in things(other)]
    added = np.zeros((len(graph), n_steps))
    for nodes, thing in things(graph):
        value = sum(a * matches(thing, other) for a, other in known)
        step = len(nodes) - 1 if n_steps > 1 else 0
        added[list(nodes), step] += value / len(nodes)
    return added


@pytest.mark.slow
@same_kernels
def test_contributions_equal_the_naive_twin(kernel, things, matches, n_steps):
    graphs = small_graphs(7)
    train, test = graphs[:5], graphs[5:]
    coefficients = np.random.default_rng(SEED).normal(size=(5, 1))
    matrix = kernel.fit(train).transform(test)
    explanation = explain_rule(
        Rule.of(dual_members(kernel, coefficients)), pk.check_graphs(test), [1.0], [0.5], None
    )
    for position, graph in enumerate(test):
        expected = naive_contributions(train, coefficients[:, 0], graph, things, matches, n_steps)
        assert np.allclose(explanation.of_graph(position), expected, atol=1e-9, rtol=0)
    assert np.allclose(explanation.decisions, (matrix @ coefficients)[:, 0] + 0.5, atol=1e-9, rtol=0)


@pytest.mark.slow
@same_kernels
@pytest.mark.parametrize(("solver", "normalize"), [("kernel", True), ("linear", False), ("linear", True)])
def test_models_fold_train_linearly_and_explain(kernel, things, matches, n_steps, solver, normalize):
    data = pk.datasets.make_molecules(40, random_state=0, mean_nodes=12)
    model = pk.PropagationClassifier(kernel=kernel, solver=solver, C=1, normalize=normalize, random_state=0)
    model.fit(data.graphs[:30], data.target[:30])
    test = data.graphs[30:]
    assert isinstance(model.rule_.members[0], FoldedMember)
    explanation = model.explain(test)
    assert explanation.contributions.shape == (test.n_nodes, n_steps)
    assert np.allclose(explanation.decisions, model.decision_function(test), atol=1e-9, rtol=0)


def test_weights_of_sizes_and_kinds_of_edges_enter():
    data = pk.datasets.make_molecules(20, random_state=0, mean_nodes=10)
    kernel = pk.SubgraphMatching(k=3, lambdas=[0.5, 0.0, 3.0], labels="degree", normalize=True)
    coefficients = np.random.default_rng(0).normal(size=(12, 1))
    matrix = kernel.fit(data.graphs[:12]).transform(data.graphs)
    rule = Rule.of(dual_members(kernel, coefficients))
    assert np.allclose(rule.decisions(data.graphs, None), matrix @ coefficients, atol=1e-12, rtol=0)
    explanation = explain_rule(rule, data.graphs, [1.0], [0.0], None)
    assert np.allclose(explanation.decisions, (matrix @ coefficients)[:, 0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("kernel", [twin[0] for twin in TWINS], ids=lambda kernel: type(kernel).__name__)
def test_pairwise_kernels_can_be_searched_and_compared(kernel):
    data = pk.datasets.make_molecules(20, random_state=0, mean_nodes=10)
    index = pk.GraphIndex(kernel=kernel).fit(data.graphs[:15]).add(data.graphs[15:])
    matrix = kernel.set_params(normalize=True).fit_transform(data.graphs)
    similarities, ids = index.query(data.graphs, k=20)
    assert np.allclose(similarities, np.take_along_axis(matrix, ids, axis=1), atol=1e-12)
    for fitted in (index, kernel):
        found = pk.similar_because(fitted, data.graphs[2], data.graphs[3])
        assert found.value == pytest.approx(matrix[2, 3], abs=1e-12)


def test_kernels_on_attributes_are_not_dot_products():
    data = pk.datasets.make_synthetic(12, random_state=0)
    kernel = pk.ShortestPath(attributes="gaussian", labels=None)
    assert not kernel.is_dot_product
    assert kernel.fit(data.graphs).counter_ is None
    model = pk.PropagationClassifier(kernel=kernel, C=1, random_state=0).fit(data.graphs, data.target)
    with pytest.raises(TypeError, match="not a dot product"):
        model.explain(data.graphs)
    with pytest.raises(TypeError, match="needs kernels that are dot products"):
        pk.PropagationClassifier(kernel=kernel, solver="linear").fit(data.graphs, data.target)
