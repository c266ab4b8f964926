"""Scores from similarities against naive twins, one graph and one fold at a time."""

import numpy as np
from sklearn.svm import OneClassSVM

from propkernels.novelty.neighbor_scores import NU, DensityScore, NeighborScore, OneClassScore
from tests.novelty.naive import FOLDS, KERNELS, NEW, TRAIN, every_kernel, groups, similarities, training


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
