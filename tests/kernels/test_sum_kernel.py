"""SumKernel: values, and everything that follows from counting."""

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk
from propkernels.explain.rule import FoldedMember
from propkernels.kernels import LabelHistogram

DATA = pk.datasets.make_molecules(30, random_state=0, mean_nodes=12)
TRAIN, TEST = DATA.graphs[:20], DATA.graphs[20:]


def parts():
    return [pk.WeisfeilerLehman(t_max=2), pk.ShortestPath(), LabelHistogram(base_kernel="intersection")]


@pytest.mark.parametrize("normalize_parts", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
def test_the_sum_is_the_weighted_sum(normalize_parts, normalize):
    weights = [0.5, 2.0, 0.0]
    kernel = pk.SumKernel(parts(), weights=weights, normalize_parts=normalize_parts, normalize=normalize)
    matrices = [part.set_params(normalize=normalize_parts).fit_transform(DATA.graphs) for part in parts()]
    total = sum(weight * matrix for weight, matrix in zip(weights, matrices, strict=True))
    if normalize:
        own = np.sqrt(total.diagonal())
        total = total / own[:, None] / own
    whole = kernel.fit_transform(DATA.graphs)
    assert np.allclose(whole, total, atol=1e-12)
    assert np.allclose(kernel.fit(TRAIN).transform(DATA.graphs), total[:, :20], atol=1e-12)


@pytest.mark.parametrize("normalize", [True, False])
def test_shorter_parts_keep_their_last_iteration(normalize):
    def added(t):
        refined = pk.WeisfeilerLehman(t_max=min(t, 2))
        iterated = [refined, pk.PropagationKernel(t_max=t, random_state=0), parts()[2]]
        return pk.SumKernel(iterated, weights=[1.0, 0.5, 2.0], normalize=normalize)

    found = added(3).fit_transform_cumulative(DATA.graphs)
    assert np.allclose(found, [added(t).fit_transform(DATA.graphs) for t in range(4)], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("normalize_parts", [True, False])
@pytest.mark.parametrize("solver", ["ridge", "linear"])
def test_a_sum_of_counting_kernels_counts(normalize_parts, solver, tmp_path):
    kernel = pk.SumKernel(parts(), weights=[1.0, 0.5, 2.0], normalize_parts=normalize_parts)
    model = pk.PropagationClassifier(kernel=kernel, solver=solver, C=1, normalize=None, random_state=0)
    model.fit(TRAIN, DATA.target[:20])
    assert all(isinstance(member, FoldedMember) for member in model.rule_.members)
    decisions = model.decision_function(TEST)
    assert np.allclose(model.explain(TEST).decisions, decisions, atol=1e-9, rtol=0)
    pk.save_model(model, tmp_path / "model.pk")
    assert np.array_equal(pk.load_model(tmp_path / "model.pk").decision_function(TEST), decisions)
    index = pk.GraphIndex(kernel=kernel).fit(TRAIN).add(TEST)
    matrix = clone(kernel).set_params(normalize=True).fit_transform(DATA.graphs)
    similarities, ids = index.query(DATA.graphs, k=4)
    assert np.allclose(similarities, np.take_along_axis(matrix, ids, axis=1), atol=1e-12)
    kernel.fit(TRAIN)
    found = pk.similar_because(DATA.graphs[3], DATA.graphs[25], kernel=kernel)
    assert found.value == pytest.approx(kernel.transform(DATA.graphs[[25]])[0, 3], abs=1e-12)


def test_several_widths_are_a_sum():
    graphs = pk.datasets.make_molecules(12, random_state=0).graphs.with_labels(None)
    graphs = graphs.with_attributes(np.random.default_rng(0).normal(size=graphs.n_nodes))
    for combine in ("sum", "product", "joint"):
        kernel = pk.PropagationKernel(t_max=2, attributes=combine, attribute_bin_width=0.5, random_state=0)
        first = kernel.fit_transform(graphs)
        several = kernel.set_params(attribute_bin_width=(0.5, 2.0)).fit_transform(graphs)
        rest = several - first
        assert (rest.diagonal() >= first.diagonal()).mean() > 0.5, "wider bins hold more nodes"
        one = kernel.set_params(attribute_bin_width=[0.5]).fit_transform(graphs)
        assert np.array_equal(one, first)


GRAPHS = pk.datasets.make_molecules(12, random_state=0).graphs
PARTS = [pk.WeisfeilerLehman(t_max=2), pk.PropagationKernel(t_max=1, random_state=0), LabelHistogram()]


def summed(normalize):
    parts = [part.__class__(**part.get_params() | {"normalize": normalize}) for part in PARTS]
    return pk.SumKernel(parts, weights=[1.0, 0.5, 2.0], normalize_parts=False).fit(GRAPHS)


@pytest.mark.parametrize("normalize", [False, True])
def test_items_add_up_to_counts(normalize):
    counter = summed(normalize)._counter
    streams = counter.count(GRAPHS, None)
    for stream, items in zip(streams, counter.occurrences(GRAPHS), strict=True):
        assert (items.iteration, items.weight) == (stream.iteration, stream.weight)
        scales = np.ones(len(GRAPHS)) if items.scales is None else items.scales
        totals = np.bincount(items.graphs_of_items(GRAPHS), minlength=len(GRAPHS)) * scales
        np.testing.assert_allclose(np.asarray(stream.counts.sum(axis=1)).ravel(), totals, rtol=1e-12)
