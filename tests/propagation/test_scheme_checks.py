"""check_scheme: every scheme satisfies the contract, and the contract catches faults."""

import numpy as np
import pytest

import propkernels as pk
from tests.propagation.test_schemes import SCHEMES, AffineDuck, DuckDiffusion, NotAffine, every_scheme


@pytest.mark.slow
@every_scheme
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_scheme_satisfies_the_contract(name, seed):
    pk.propagation.check_scheme(SCHEMES[name], random_state=seed)


class WrongShape(AffineDuck):
    def step(self, prepared, current, initial):
        return current[:, :1]


class NotFinite(AffineDuck):
    def step(self, prepared, current, initial):
        return np.full_like(current, np.nan)


class ChangesCurrent(AffineDuck):
    def step(self, prepared, current, initial):
        current *= 0.5
        return current


class ChangesInitial(AffineDuck):
    def step(self, prepared, current, initial):
        following = prepared @ current
        initial *= 0.5
        return following


class Random(AffineDuck):
    def step(self, prepared, current, initial):
        return current * np.random.default_rng().random()


class RemembersOnItself(DuckDiffusion):
    def prepare(self, graphs, initial):
        self.steps = 0

    def step(self, prepared, current, initial):
        self.steps += 1
        return current / (1 + self.steps)


class RemembersGraphs(AffineDuck):
    def prepare(self, graphs, initial):
        self.matrix = super().prepare(graphs, initial)

    def step(self, prepared, current, initial):
        return self.matrix @ current


class MixesGraphs(AffineDuck):
    def step(self, prepared, current, initial):
        return (current + current.mean(axis=0)) / 2


class DependsOnNodeOrder(AffineDuck):
    def prepare(self, graphs, initial):
        return np.minimum(np.arange(graphs.n_nodes), graphs.graph_ptr[graphs.graph_ids])

    def step(self, prepared, current, initial):
        return current[prepared]


class NeedsNodes(AffineDuck):
    def prepare(self, graphs, initial):
        assert graphs.graph_sizes.all(), "a graph has no nodes"
        return super().prepare(graphs, initial)


class NoStep:
    def prepare(self, graphs, initial):
        return None


class NoPrepare:
    step = DuckDiffusion.step


WRONG = {
    WrongShape: r"step returned shape \(\d+, 1\) for \(\d+, 3\)",
    NotFinite: "step returned numbers that are not finite",
    ChangesCurrent: "step changed the arrays that it was given",
    ChangesInitial: "step changed the arrays that it was given",
    Random: "two runs gave different results",
    RemembersOnItself: "another run changed the result: keep the state of the steps in the return value",
    RemembersGraphs: "another run changed the result: keep the state of the steps in the return value",
    MixesGraphs: r"graph \d has other distributions among other graphs than alone",
    DependsOnNodeOrder: r"graph \d has other distributions after its nodes are permuted",
    NotAffine: "the scheme declares itself affine, but a step does not commute with a projection",
    NeedsNodes: "a graph has no nodes",
    NoStep: "the scheme has no method step",
    NoPrepare: "the scheme has no method prepare",
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_the_contract_catches(wrong):
    with pytest.raises(AssertionError, match=f"^{WRONG[wrong]}"):
        pk.propagation.check_scheme(wrong())
