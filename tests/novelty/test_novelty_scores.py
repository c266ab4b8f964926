"""Scores of normality against naive twins, one graph, one bin and one fold at a time."""

from collections import Counter as Bag
from fractions import Fraction
from math import log

import numpy as np
import pytest
from sklearn.svm import OneClassSVM

import propkernels as pk
from propkernels.novelty.neighbor_scores import NU, DensityScore, NeighborScore, OneClassScore
from propkernels.novelty.novelty_scores import SizeScore, Training, center_and_scale
from propkernels.novelty.rarity import RarityScore
from propkernels.search.index import GraphIndex

GRAPHS = pk.datasets.make_molecules(30, random_state=1, mean_nodes=9).graphs
TRAIN, NEW = GRAPHS[:22], GRAPHS[22:]
FOLDS = np.arange(22) % 4
KERNELS = {
    "default": pk.PropagationKernel(base_kernel="intersection", t_max=2, random_state=0),
    "linear": pk.PropagationKernel(t_max=2, n_hashes=2, random_state=0),
    "weisfeiler-lehman": pk.WeisfeilerLehman(n_iter=2),
    "shortest path": pk.ShortestPath(),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def training(kernel, k=3):
    return Training(TRAIN, GraphIndex(kernel=kernel).fit(TRAIN), FOLDS, k, None)


def similarities(kernel, graphs):
    """Normalized kernel by transform, (graphs, training graphs)."""
    return (
        kernel.__class__(**{**kernel.get_params(deep=False), "normalize": True}).fit(TRAIN).transform(graphs)
    )


def groups(i=None):
    """For each fold and at last for none, the training graphs that judge: not the fold, not graph i."""
    for fold in range(5):
        yield [j for j in range(22) if FOLDS[j] != fold and j != i]


@every_kernel
def test_neighbors_are_the_most_similar_of_all(kernel):
    score, own = NeighborScore.learn(training(kernel))
    new, known = similarities(kernel, NEW), similarities(kernel, TRAIN)
    reference = [[np.sort(row[members])[-3:].mean() for row in new] for members in groups()]
    np.testing.assert_allclose(score.of_new(NEW, training(kernel).index, True), reference, rtol=1e-12)
    reference = np.array([[np.sort(known[i, m])[-3:].mean() for m in groups(i)] for i in range(22)]).T
    np.testing.assert_allclose(own, reference, rtol=1e-12)


def test_more_neighbors_than_there_are():
    score, own = NeighborScore.learn(training(KERNELS["default"], 1000))
    assert score.k == 22 - 6 - 1
    assert np.isfinite(own).all()


def naive_outlier_factor(row, own, known, members, k=3):
    """Minus the local outlier factor by its definition; among equally near graphs the first are taken."""

    def nearest(distances, i):
        return sorted((j for j in members if j != i), key=lambda j: (distances[j], j))[:k]

    def density(distances, i):
        near = nearest(distances, i)
        reaches = [max(distances[j], known[j][nearest(known[j], j)[-1]]) for j in near]
        return 1 / (np.mean(reaches) + 1e-10)

    neighbors = nearest(row, own)
    return -np.mean([density(known[j], j) for j in neighbors]) / density(row, own)


def test_density_is_the_local_outlier_factor():
    kernel = KERNELS["default"]
    score, own = DensityScore.learn(training(kernel))
    known, new = (np.sqrt(np.maximum(2 - 2 * similarities(kernel, g), 0)).round(12) for g in (TRAIN, NEW))
    computed = score.of_new(NEW, training(kernel).index, True)
    for fold, members in enumerate(groups()):
        reference = [naive_outlier_factor(row, None, known, members) for row in new]
        np.testing.assert_allclose(computed[fold], reference, rtol=1e-6)
        reference = [naive_outlier_factor(known[i], i, known, members) for i in range(22)]
        np.testing.assert_allclose(own[fold], reference, rtol=1e-6)


def test_one_class_svm_is_that_of_the_kernel_matrix():
    kernel = KERNELS["default"]
    score, own = OneClassScore.learn(training(kernel))
    known, new = similarities(kernel, TRAIN), similarities(kernel, NEW)
    computed = score.of_new(NEW, training(kernel).index, True)
    for fold, members in enumerate(groups()):
        twin = OneClassSVM(kernel="precomputed", nu=NU).fit(known[np.ix_(members, members)])
        np.testing.assert_allclose(computed[fold], twin.decision_function(new[:, members]), atol=1e-9)
        held = np.flatnonzero(fold == FOLDS)
        if not len(held):
            continue
        np.testing.assert_allclose(
            own[fold, held], twin.decision_function(known[np.ix_(held, members)]), atol=1e-9
        )
        np.testing.assert_allclose(own[-1, held], own[fold, held], atol=1e-9)


def bags(counter, graphs):
    """For each graph and stream, how often each code occurs: counted in Python."""
    found = []
    for i in range(len(graphs)):
        one = graphs[[i]]
        found.append([Bag(o.codes.tolist()) for o in counter.occurrences(one, None)])
    return found


def naive_rarity(bag, others, n_nodes):
    """Nats per node and stream of one graph's bags, under the bags of other graphs."""
    total = 0.0
    for stream, counts in enumerate(bag):
        known = Bag()
        for other in others:
            known.update(other[stream])
        for code, number in counts.items():
            things = sum(known.values()) + Fraction(len(known) + 1, 2)
            total -= number * log((known[code] + Fraction(1, 2)) / things)
    return total / (n_nodes * len(bag))


@every_kernel
def test_rarity_is_the_information_of_the_bins(kernel):
    given = training(kernel)
    score, own = RarityScore.learn(given)
    known, new = bags(given.index.counter_, TRAIN), bags(given.index.counter_, NEW)
    sizes = [graph.n_nodes for graph in GRAPHS]
    for fold, members in enumerate(groups()):
        others = [known[j] for j in members]
        reference = [-naive_rarity(bag, others, sizes[22 + i]) for i, bag in enumerate(new)]
        np.testing.assert_allclose(score.of_new(NEW, given.index, True)[fold], reference, rtol=1e-9)
    for i in range(0, 22, 5):
        reference = [-naive_rarity(known[i], [known[j] for j in members], sizes[i]) for members in groups(i)]
        np.testing.assert_allclose(own[:, i], reference, rtol=1e-9)


def test_size_is_far_from_the_median_by_the_median_distance():
    given = training(KERNELS["default"])
    score, own = SizeScore.learn(given)
    features = [(np.log1p(g.n_nodes), np.log1p(2 * g.n_edges), 2 * g.n_edges / g.n_nodes) for g in GRAPHS]
    for fold, members in enumerate(groups()):
        known = [features[j] for j in members]
        centers = [np.median(column) for column in zip(*known, strict=True)]
        scales = [
            1.4826 * np.median([abs(value - center) for value in column])
            for column, center in zip(zip(*known, strict=True), centers, strict=True)
        ]
        reference = [
            -np.mean([abs(x - c) / s for x, c, s in zip(f, centers, scales, strict=True)]) for f in features
        ]
        np.testing.assert_allclose(own[fold], reference[:22], rtol=1e-9)
        np.testing.assert_allclose(score.of_new(NEW, None, True)[fold], reference[22:], rtol=1e-9)


def test_equal_values_have_a_scale():
    _, scale = center_and_scale(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 6.0]]))
    assert scale.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("cls", [NeighborScore, DensityScore, OneClassScore, RarityScore, SizeScore])
def test_the_last_row_is_the_score_without_folds(cls):
    given = training(KERNELS["default"])
    score, _ = cls.learn(given)
    one = score.of_new(NEW, given.index, False)
    assert one.shape == (1, 8)
    np.testing.assert_allclose(one[0], score.of_new(NEW, given.index, True)[-1], rtol=1e-12, atol=1e-15)
