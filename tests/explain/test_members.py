"""Members: the same decisions and lengths as the kernel, and validation of their parts."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.explain.rule import Counted, FoldedMember, KernelMember, RatioMember, Rule, dual_members
from propkernels.kernels import LabelHistogram

DATA = pk.datasets.make_molecules(30, random_state=0, mean_nodes=8)
TRAIN, NEW = DATA.graphs[:20], DATA.graphs[20:]
COEFFICIENTS = np.random.default_rng(0).normal(size=(20, 2))
KERNELS = {
    FoldedMember: LabelHistogram(),
    RatioMember: LabelHistogram(base_kernel="jaccard"),
    KernelMember: LabelHistogram(base_kernel="rbf"),
    Rule: pk.SumKernel([LabelHistogram(), LabelHistogram(labels="degree")], normalize=True),
}


def member_of(cls, **parameters):
    kernel = clone(KERNELS[cls]).set_params(**parameters).fit(TRAIN)
    (member,) = dual_members(kernel, COEFFICIENTS)
    assert isinstance(member, cls)
    return kernel, member


def test_kernels_without_bins_have_no_contributions():
    _, member = member_of(KernelMember)
    counted, share = Counted(NEW), np.ones(2)
    for ask in (member.contributions, member.bin_weights):
        with pytest.raises(TypeError, match="LabelHistogram compares graphs without counting bins"):
            ask(counted, share)


def test_parts_that_do_not_match_are_refused():
    _, folded = member_of(FoldedMember)
    _, ratio = member_of(RatioMember)
    _, joint = member_of(Rule)
    _, kernel = member_of(KernelMember)
    for member, message in (
        (replace(folded, weights=folded.weights[1:]), "row of weights"),
        (replace(folded, stream_weights=np.array([-1.0])), "finite and nonnegative"),
        (replace(ratio, coefficients=ratio.coefficients[1:]), "row of coefficients"),
        (replace(ratio, own_sums=-ratio.own_sums), "sum with itself"),
        (replace(ratio, kept=0.5 * ratio.kept), "positive integers"),
        (replace(joint, weights=joint.weights[1:]), "every member needs"),
        (replace(kernel, coefficients=kernel.coefficients[1:]), "every training graph"),
    ):
        with pytest.raises(ValueError, match=message):
            member._check_parts()
    for member in (folded, ratio, joint, kernel):
        member._check_parts()


def test_members_of_a_sum_have_equally_many_decisions():
    _, member = member_of(FoldedMember)
    other = replace(member, weights=member.weights[:, :1])
    for members, message in (([], "at least one member"), ([member, other], "different numbers")):
        with pytest.raises(ValueError, match=message):
            Rule(members)._check_parts()


class Fixed:
    """A member with these decisions and lengths, for all graphs, all at the first or the last iteration."""

    def __init__(self, decisions, lengths, n_iterations):
        self.decisions, self.squares = np.array(decisions), np.array(lengths)
        self.n_iterations = n_iterations

    def decide(self, counted):
        return self.decisions[:, None].copy()  # sums are made in place

    def lengths(self, counted):
        return self.squares.copy()

    def contributions(self, counted, sums):
        nodes = np.zeros((3, self.n_iterations))
        nodes[:, -1] = self.decisions
        return nodes, self.decisions.copy()


def test_sums_are_divided_by_the_length_of_the_graph():
    """The squared length is 2 * 0.125 + 1 * 0 = 0.25, then 2 * 4 + 1 * 8 = 16; an empty graph has none."""
    parts = Fixed([1.0, 2.0, 0.0], [0.125, 4.0, 0.0], 1), Fixed([0.0, 6.0, 0.0], [0.0, 8.0, 0.0], 3)
    counted = Counted(pk.check_graphs([np.zeros((1, 1))] * 3))
    joint, plain = Rule(list(parts), np.array([2.0, 1.0])), Rule(list(parts))
    assert joint.decide(counted)[:, 0].tolist() == [2.0, 2.0, 0.0]
    assert joint.lengths(counted).tolist() == [1.0, 1.0, 0.0]
    assert plain.lengths(counted).tolist() == [0.125, 12.0, 0.0]
    nodes, descriptors = joint.contributions(counted, None)
    assert descriptors.tolist() == [2.0, 2.0, 0.0]
    assert nodes.tolist() == [[2.0, 0.0, 0.0], [0.5, 0.0, 1.5], [0.0, 0.0, 0.0]]


def test_bins_that_no_kept_graph_has_count_no_level():
    """All counts are 1, and the last graph, the only one with its label, is not kept."""
    edge, labels = np.array([[0, 1], [1, 0]]), [["a", "b"], ["b", "c"], ["c", "d"]]
    graphs = pk.check_graphs([(edge, both) for both in labels])
    kernel = pk.WeisfeilerLehman(t_max=1, base_kernel="jaccard").fit(graphs)
    (member,) = dual_members(kernel, np.array([[1.0], [-1.0], [0.0]]))
    (bins,) = member.bin_weights(Counted(graphs), np.ones(1))
    assert len(bins.weights) == len(bins.codes) == len(bins.stream)
