"""From distributions to codes: the fused loop, the stepwise one, and the runs in which they work."""

from __future__ import annotations

import numpy as np
import pytest

import propkernels as pk
from propkernels.hashing import codes as module
from propkernels.hashing.lsh import NO_BIN
from tests.zoo import labelled_zoo, one, path_edges, zoo

OPERATORS = {
    "walk": pk.Diffusion(),
    "lazy": pk.Diffusion(laziness=0.25),
    "symmetric": pk.Diffusion(normalization="symmetric"),
    "summed": pk.Diffusion(normalization="none", laziness=0.5),
    "vanish": pk.Diffusion(isolated="vanish"),
    "reverse": pk.Diffusion(direction="reverse"),
    "clamp after": pk.LabelPropagation(),
    "clamp before": pk.LabelPropagation(clamp="before"),
}


class Stepwise(pk.PropagationScheme):
    """Any affine scheme, without telling the engine that its step is an AffineOperator."""

    affine = True

    def __init__(self, scheme):
        self.scheme = scheme

    def prepare(self, graphs, observed):
        return Hidden(self.scheme.prepare(graphs, observed))

    def step(self, prepared, current, initial):
        return self.scheme.step(prepared.operator, current, initial)


class Hidden:
    def __init__(self, operator):
        self.operator = operator
        self.vanished = operator.vanished


def all_codes(coder, graphs, n_jobs=None):
    (block,) = coder.codes(graphs, n_jobs)
    return block.codes


def codes_of(graphs, scheme, n_jobs=None, **parameters):
    kernel = pk.PropagationKernel(propagation=scheme, t_max=5, random_state=1, **parameters).fit(graphs)
    return all_codes(kernel.coder_, graphs, n_jobs)


def gentle_zoo():
    """Without weights of 1 : 10^24, which make values large enough for rounding to show in the codes."""
    parts = [db.with_attributes(None) for name, db in zoo().items() if "huge" not in name]
    return pk.GraphDatabase.concat(parts)


@pytest.mark.parametrize("n_hashes", [1, 3, 5])
@pytest.mark.parametrize("name", OPERATORS)
def test_fused_and_stepwise_loops_agree(name, n_hashes):
    graphs = gentle_zoo()
    reference = codes_of(graphs, Stepwise(OPERATORS[name]), n_hashes=n_hashes)
    computed = codes_of(graphs, OPERATORS[name], n_hashes=n_hashes)
    assert np.array_equal(computed, reference)
    assert computed.shape == (6 * n_hashes, graphs.n_nodes)


@pytest.mark.parametrize("metric", ["tv", "hellinger"])
@pytest.mark.parametrize("name", OPERATORS)
def test_the_length_of_runs_does_not_matter(name, metric, monkeypatch):
    graphs = labelled_zoo()
    reference = codes_of(graphs, OPERATORS[name], metric=metric)
    for nodes, n_jobs in ((1, None), (7, 2), (50, 3)):
        monkeypatch.setattr(module, "NODES_IN_CACHE", nodes)
        monkeypatch.setattr(module, "VALUES_IN_MEMORY", 20 * nodes)
        assert np.array_equal(codes_of(graphs, OPERATORS[name], n_jobs, metric=metric), reference)


@pytest.mark.parametrize("metric", ["tv", "hellinger"])
def test_nodes_that_vanish_have_no_bin_from_the_first_step_on(metric):
    graphs = pk.GraphDatabase.concat([one(3, [(0, 1)]), one(1)])
    computed = codes_of(graphs, pk.Diffusion(isolated="vanish"), metric=metric, n_hashes=2)
    assert (computed[:2] != NO_BIN).all()
    assert (computed[2:, [2, 3]] == NO_BIN).all()
    assert (computed[2:, [0, 1]] != NO_BIN).all()


def test_no_nodes_have_no_codes():
    graphs = pk.GraphDatabase.concat([one(0), one(0)])
    for metric in ("tv", "hellinger"):
        assert codes_of(graphs, "diffusion", metric=metric).shape == (6, 0)


def test_constant_labels_share_one_bin_forever():
    graphs = one(20, path_edges(20), [7] * 20)
    for metric in ("tv", "hellinger", "l1", "l2"):
        computed = codes_of(graphs, "diffusion", metric=metric)
        assert all(len(np.unique(row)) == 1 for row in computed)


def test_codes_do_not_depend_on_labels_that_were_met_before():
    graphs = labelled_zoo()
    for metric in ("tv", "hellinger"):
        kernel = pk.PropagationKernel(metric=metric, t_max=4, bin_width=1e-12, random_state=0).fit(graphs)
        reference = all_codes(kernel.coder_, graphs)
        parts = [all_codes(kernel.coder_, graphs[[i]]) for i in range(len(graphs))]
        assert np.array_equal(np.concatenate(parts, axis=1), reference)
