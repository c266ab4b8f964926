"""Comparisons of classes; explanations of rules on pairs, paths, subgraphs and ratios, beside naive twins."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import GraphMatcher, categorical_node_match
from sklearn.base import clone

import propkernels as pk
from propkernels.explain.decisions import DecisionLayout, compare_decisions, explain_rule
from propkernels.explain.rule import Counted, RatioMember, Rule, dual_members
from propkernels.kernels import GraphHopper, LabelHistogram, SubgraphMatching

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
    (GraphHopper(), places, equal, 1),
    (SubgraphMatching(k=3), subgraphs, isomorphisms, 3),
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
        Rule.of(dual_members(kernel, coefficients)), pk.check_graphs(test), [1.0], [0.5]
    )
    for position, graph in enumerate(test):
        expected = naive_contributions(train, coefficients[:, 0], graph, things, matches, n_steps)
        assert np.allclose(explanation.of_graph(position), expected, atol=1e-9, rtol=0)
    assert np.allclose(explanation.decisions, (matrix @ coefficients)[:, 0] + 0.5, atol=1e-9, rtol=0)


def test_weights_of_sizes_and_kinds_of_edges_enter():
    data = pk.datasets.make_molecules(20, random_state=0, mean_nodes=10)
    kernel = SubgraphMatching(k=3, lambdas=[0.5, 0.0, 3.0], labels="degree", normalize=True)
    coefficients = np.random.default_rng(0).normal(size=(12, 1))
    matrix = kernel.fit(data.graphs[:12]).transform(data.graphs)
    rule = Rule.of(dual_members(kernel, coefficients))
    assert np.allclose(rule.decisions(data.graphs), matrix @ coefficients, atol=1e-12, rtol=0)
    explanation = explain_rule(rule, data.graphs, [1.0], [0.0])
    assert np.allclose(explanation.decisions, (matrix @ coefficients)[:, 0], atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("names", "classes", "weights", "sides"),
    [
        (["a", "b"], None, [1], ("b", "a")),
        (["a", "b"], ("a", "b"), [-1], ("a", "b")),
        (["a", "b"], "a", [-1], ("a", "b")),
        ([0, 1, 2], (2, 0), [-1, 0, 1], (2, 0)),
        ([0, 1, 2], 1, [0, 1, 0], (1, None)),
    ],
)
def test_what_is_compared(names, classes, weights, sides):
    found, *compared = compare_decisions(DecisionLayout(len(names)), names, classes)
    assert (found.tolist(), tuple(compared)) == (weights, sides)


@pytest.mark.parametrize("classes", [7, (0, 0), (0, 1, 2), None])
def test_other_classes_are_refused(classes):
    with pytest.raises(ValueError, match="classes must be one, or two different ones"):
        compare_decisions(DecisionLayout(3), [0, 1, 2], classes)


# ratios of counts

DATA = pk.datasets.make_molecules(40, random_state=0)
TRAIN, TEST = DATA.graphs[:30], DATA.graphs[30:]
KERNELS = [
    pk.PropagationKernel(t_max=2, n_hashes=2, random_state=0),
    pk.WeisfeilerLehman(t_max=2),
    LabelHistogram(),
]


def bins_of(kernel, graphs):
    """For each stream: iteration, weight, and for each graph the codes of its nodes."""
    found = []
    for items in kernel._coder.occurrences(graphs):
        parts = [items.codes[graphs.graph_ptr[i] : graphs.graph_ptr[i + 1]] for i in range(len(graphs))]
        found.append((items.iteration, items.weight, [part.tolist() for part in parts]))
    return found


def naive_ratio_contributions(kernel, coefficients, train, test):
    """Each training graph's similarity, shared by the nodes whose bins it has too."""
    is_jaccard = kernel.base_kernel == "jaccard"
    new, known = bins_of(kernel, test), bins_of(kernel, train)
    total = np.zeros((test.n_nodes, 1 + new[-1][0]))
    for (t, weight, codes), (_, _, others) in zip(new, known, strict=True):
        for g, nodes in enumerate(codes):
            own = Counter(nodes)
            for i, other in enumerate(map(Counter, others)):
                both = {b: min(own[b], other[b]) if is_jaccard else own[b] * other[b] for b in own}
                sizes = [sum(c if is_jaccard else c * c for c in count.values()) for count in (own, other)]
                union = sum(sizes) - sum(both.values())
                if not union:
                    continue
                unit = coefficients[i] * weight / union
                if kernel.normalize:  # a graph with nodes has the ratio 1 to itself, in every stream
                    unit /= sum(w for _, w, _ in new)
                for v, b in enumerate(nodes):
                    total[test.graph_ptr[g] + v, t] += unit * both[b] / own[b]
    return total


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("base_kernel", ["tanimoto", "jaccard"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_contributions_are_those_of_the_definition(kernel, base_kernel, normalize, monkeypatch):
    monkeypatch.setattr("propkernels.explain.rule.CODES_AT_ONCE", 300)
    kernel = clone(kernel).set_params(base_kernel=base_kernel, normalize=normalize).fit(TRAIN)
    coefficients = np.random.default_rng(0).normal(size=(30, 2))
    coefficients[::3] = 0
    rule, share = Rule.of(dual_members(kernel, coefficients)), np.array([0.5, -2.0])
    assert isinstance(rule.members[0], RatioMember)
    found = explain_rule(rule, TEST, share, [1.0, 3.0])
    expected = naive_ratio_contributions(kernel, coefficients @ share, TRAIN, TEST)
    np.testing.assert_allclose(found.contributions, expected, rtol=0, atol=1e-12)
    decisions = rule.decisions(TEST) @ share + [0.5 * 1.0 - 2.0 * 3.0]
    np.testing.assert_allclose(found.decisions, decisions, rtol=0, atol=1e-9)


@pytest.mark.parametrize("base_kernel", ["tanimoto", "jaccard"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_weights_of_bins_decide_about_one_graph_and_are_means_over_several(kernel, base_kernel):
    kernel = clone(kernel).set_params(base_kernel=base_kernel, normalize=False).fit(TRAIN)
    rule, share = (
        Rule.of(dual_members(kernel, np.random.default_rng(1).normal(size=(30, 2)))),
        np.array([1.0, 3.0]),
    )
    alone = [rule.bin_weights(Counted(TEST[[i]]), share)[0] for i in range(len(TEST))]
    for i, bins in enumerate(alone):
        streams = bins.counter.count(TEST[[i]], None)
        keys = zip(bins.stream.tolist(), bins.codes.tolist(), strict=True)
        weight = dict(zip(keys, bins.weights.tolist(), strict=True))
        total = sum(
            weight.get((s, int(stream.codes[b])), 0.0) * n
            for s, stream in enumerate(streams)
            for b, n in zip(stream.counts.indices, stream.counts.data, strict=True)
        )
        assert total == pytest.approx(rule.decisions(TEST[[i]])[0] @ share, abs=1e-12)
    (together,) = rule.bin_weights(Counted(TEST), share)
    mean = np.mean([one.weights for one in alone], axis=0)
    np.testing.assert_allclose(together.weights, mean, rtol=0, atol=1e-12)


# decision columns

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_of_several_columns_the_largest_is_predicted(n_classes):
    decisions, layout = RNG.normal(size=(20, n_classes)), DecisionLayout(n_classes)
    assert np.array_equal(layout.predictions(decisions), decisions.argmax(axis=1))
    margins = layout.margins(decisions)
    for row, found in zip(decisions, margins, strict=True):
        np.testing.assert_allclose(found, [own - max(np.delete(row, c)) for c, own in enumerate(row)])
    assert np.array_equal(margins.argmax(axis=1), decisions.argmax(axis=1))
