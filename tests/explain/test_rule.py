"""Rules: sums of members, equal to kernel matrices times coefficients, in any batch."""

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.explain.rule import Counted, Rule, dual_members, merged_vocabularies, same_codes
from propkernels.kernels import LabelHistogram

DATA = pk.datasets.make_molecules(40, random_state=0, mean_nodes=9)
TRAIN, NEW = DATA.graphs[:25], DATA.graphs[25:]
COEFFICIENTS = np.random.default_rng(0).normal(size=(25, 2))
KERNELS = {
    "dot product": pk.PropagationKernel(t_max=2, random_state=0),
    "smaller counts": pk.WeisfeilerLehman(t_max=2, base_kernel="intersection", normalize=True),
    "jaccard": pk.WeisfeilerLehman(t_max=2, base_kernel="jaccard"),
    "tanimoto": pk.PropagationKernel(t_max=2, base_kernel="tanimoto", normalize=True, random_state=0),
    "rbf": pk.WeisfeilerLehman(t_max=1, base_kernel="rbf"),
    "paths": pk.ShortestPath(base_kernel="intersection"),
    "sum": pk.SumKernel([pk.WeisfeilerLehman(t_max=1), pk.ShortestPath()], weights=[2.0, 0.5]),
    "normalized sum": pk.SumKernel([pk.WeisfeilerLehman(t_max=1), LabelHistogram()], normalize=True),
    "normalized sum of a plain sum": pk.SumKernel(
        [
            pk.SumKernel([pk.WeisfeilerLehman(t_max=1), LabelHistogram()], weights=[2.0, 0.5]),
            pk.ShortestPath(),
        ],
        weights=[0.5, 3.0],
        normalize_parts=False,
        normalize=True,
    ),
    "sum with a ratio": pk.SumKernel(
        [pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard"), LabelHistogram()], normalize_parts=False
    ),
}


def mean_rule(rules):
    return Rule.of([member.scaled(1 / len(rules)) for rule in rules for member in rule.members])


def rule_of(kernel, coefficients=COEFFICIENTS):
    fitted = clone(kernel).fit(TRAIN)
    return fitted, Rule.of(dual_members(fitted, coefficients))


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_decisions_are_kernel_values_times_coefficients(kernel):
    fitted, rule = rule_of(kernel)
    expected = fitted.transform(NEW) @ COEFFICIENTS
    np.testing.assert_allclose(rule.decisions(NEW), expected, atol=1e-11, rtol=0)
    np.testing.assert_allclose(rule.scaled(3.0).decisions(NEW), 3 * expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_contributions_add_up_to_decisions(kernel):
    _, rule = rule_of(kernel)
    weights = np.array([[1.0, -0.5], [0.0, 1.0], [2.0, 0.0]])
    if not rule.compares_bins:
        with pytest.raises(TypeError, match="compares graphs without counting bins"):
            rule.terms(NEW, weights)
        return
    chosen = np.arange(len(NEW)) % 3
    for number, numbers in ((None, np.zeros(len(NEW), dtype=int)), (chosen, chosen)):
        found = rule.terms(NEW, weights, None if number is None else lambda decisions: chosen)
        sums = np.bincount(NEW.graph_ids, found.nodes.sum(axis=1), minlength=len(NEW))
        expected = (rule.decisions(NEW) @ weights.T)[np.arange(len(NEW)), numbers]
        np.testing.assert_allclose(sums, expected, atol=1e-9, rtol=0)
        assert np.array_equal(found.chosen, numbers)


def test_vocabularies_are_shared_where_hash_functions_are():
    kernels = [
        pk.PropagationKernel(t_max=4, random_state=0),
        pk.PropagationKernel(t_max=2, base_kernel="jaccard", random_state=0),
        pk.PropagationKernel(t_max=3, base_kernel="intersection", normalize=True, random_state=0),
        pk.PropagationKernel(t_max=2, random_state=1),
        pk.WeisfeilerLehman(t_max=2),
        pk.WeisfeilerLehman(t_max=1, edge_labels=False, base_kernel="jaccard"),
    ]
    rule = mean_rule([rule_of(kernel)[1] for kernel in kernels])
    assert [len(one.codes) for one in rule.vocabularies] == [5, 3, 3]
    counted = Counted(NEW)
    for member in rule.members:
        member.decide(counted)
    assert len(counted._entries) == 3


def test_other_hash_functions_and_other_bins_are_not_merged():
    first, second = (rule_of(pk.WeisfeilerLehman(t_max=n))[1].vocabularies[0] for n in (1, 2))
    other = pk.WeisfeilerLehman(t_max=1).fit(NEW)
    assert same_codes(first.counter, second.counter)
    assert same_codes(first.counter, LabelHistogram().fit(TRAIN)._coder)  # labels are where refining starts
    assert not same_codes(first.counter, LabelHistogram(labels="degree").fit(TRAIN)._coder)
    foreign = Rule.of(dual_members(other, np.ones((len(NEW), 1)))).vocabularies[0]
    merged = merged_vocabularies([first, second, foreign])
    assert merged[first] is second
    assert merged[foreign] is foreign


def test_bins_of_several_members_are_listed_once():
    kernels = [
        pk.WeisfeilerLehman(t_max=2, base_kernel="intersection"),
        pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard"),
        pk.WeisfeilerLehman(t_max=2),
    ]
    rules = [rule_of(kernel)[1] for kernel in kernels]
    share = np.array([1.0, -1.0])
    merged = Rule.of([member for rule in rules for member in rule.members]).bin_weights(Counted(NEW), share)
    assert len(merged) == 2  # levels of bins, and bins
    alone = [rule.bin_weights(Counted(NEW), share)[0] for rule in rules]
    for bins, parts in zip(merged, (alone[:2], alone[2:]), strict=True):
        keys = list(zip(bins.stream.tolist(), bins.codes.tolist(), strict=True))
        assert len(keys) == len(set(keys))
        expected = dict.fromkeys(keys, 0.0)
        for part in parts:
            for s, code, weight in zip(part.stream, part.codes, part.weights, strict=True):
                expected[int(s), int(code)] += weight
        np.testing.assert_allclose(bins.weights, list(expected.values()), atol=1e-12)
