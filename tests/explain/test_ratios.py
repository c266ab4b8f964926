"""Explanations of ratios of counts, against a plain sum over training graphs, bins and nodes."""

from collections import Counter

import numpy as np
import pytest

import propkernels as pk
from propkernels.decisions.members import RatioMember
from propkernels.decisions.rule import Rule, dual_members
from propkernels.explain import comparisons as explain

DATA = pk.datasets.make_molecules(40, random_state=0)
TRAIN, TEST = DATA.graphs[:30], DATA.graphs[30:]
KERNELS = [
    pk.PropagationKernel(t_max=2, n_hashes=2, random_state=0),
    pk.WeisfeilerLehman(t_max=2),
    pk.LabelHistogram(),
]


def bins_of(kernel, graphs):
    """For each stream: iteration, weight, and for each graph the codes of its nodes."""
    found = []
    for items in kernel.coder_.occurrences(graphs, None):
        parts = [items.codes[graphs.graph_ptr[i] : graphs.graph_ptr[i + 1]] for i in range(len(graphs))]
        found.append((items.iteration, items.weight, [part.tolist() for part in parts]))
    return found


def naive_contributions(kernel, coefficients, train, test):
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
    monkeypatch.setattr("propkernels.decisions.rule.CODES_AT_ONCE", 300)
    kernel = kernel.set_params(base_kernel=base_kernel, normalize=normalize).fit(TRAIN)
    coefficients = np.random.default_rng(0).normal(size=(30, 2))
    coefficients[::3] = 0
    rule, share = Rule.of(dual_members(kernel, coefficients)), np.array([0.5, -2.0])
    assert isinstance(rule.members[0], RatioMember)
    found = explain.explain_rule(rule, TEST, share, [1.0, 3.0], None)
    expected = naive_contributions(kernel, coefficients @ share, TRAIN, TEST)
    np.testing.assert_allclose(found.contributions, expected, rtol=0, atol=1e-12)
    decisions = rule.decisions(TEST, None) @ share + [0.5 * 1.0 - 2.0 * 3.0]
    np.testing.assert_allclose(found.decisions, decisions, rtol=0, atol=1e-9)


@pytest.mark.parametrize("base_kernel", ["tanimoto", "jaccard"])
def test_models_with_ratios_are_explained(base_kernel):
    kernel = pk.WeisfeilerLehman(t_max=2, base_kernel=base_kernel)
    model = pk.PropagationRegressor(kernel=kernel, C=10, random_state=0)
    model.fit(TRAIN, TRAIN.graph_sizes.astype(float))
    explanation = model.explain(TEST)
    np.testing.assert_allclose(explanation.decisions, model.predict(TEST), rtol=0, atol=1e-9)
    bins = model.top_bins(TEST, n=3)
    (weighted,) = model.rule_.bin_weights(TEST, np.ones(1), None)
    largest = np.sort(np.abs(weighted.weights))[::-1][:3]
    np.testing.assert_allclose([abs(one.weight) for one in bins], largest)


@pytest.mark.parametrize("base_kernel", ["tanimoto", "jaccard"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_weights_of_bins_decide_about_one_graph_and_are_means_over_several(kernel, base_kernel):
    kernel = kernel.set_params(base_kernel=base_kernel, normalize=False).fit(TRAIN)
    rule, share = (
        Rule.of(dual_members(kernel, np.random.default_rng(1).normal(size=(30, 2)))),
        np.array([1.0, 3.0]),
    )
    alone = [rule.bin_weights(TEST[[i]], share, None)[0] for i in range(len(TEST))]
    for i, bins in enumerate(alone):
        streams = bins.counter.count(TEST[[i]], None, None)
        keys = zip(bins.stream.tolist(), bins.codes.tolist(), strict=True)
        weight = dict(zip(keys, bins.weights.tolist(), strict=True))
        total = sum(
            weight.get((s, int(stream.codes[b])), 0.0) * n
            for s, stream in enumerate(streams)
            for b, n in zip(stream.counts.indices, stream.counts.data, strict=True)
        )
        assert total == pytest.approx(rule.decisions(TEST[[i]], None)[0] @ share, abs=1e-12)
    (together,) = rule.bin_weights(TEST, share, None)
    mean = np.mean([one.weights for one in alone], axis=0)
    np.testing.assert_allclose(together.weights, mean, rtol=0, atol=1e-12)


def test_graphs_without_nodes_add_nothing():
    graphs = pk.check_graphs([(np.zeros((0, 0)), []), (np.zeros((2, 2)), ["C", "O"])])
    kernel = pk.LabelHistogram(base_kernel="jaccard").fit(graphs)
    found = explain.explain_rule(Rule.of(dual_members(kernel, np.ones((2, 1)))), graphs, [1.0], [0.0], None)
    assert found.contributions.tolist() == [[0.5], [0.5]]
    empty = explain.explain_rule(
        Rule.of(dual_members(kernel, np.ones((2, 1)))), graphs[:0], [1.0], [0.0], None
    )
    assert empty.contributions.shape == (0, 1)
