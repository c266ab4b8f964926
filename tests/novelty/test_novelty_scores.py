"""The score from sizes against a naive twin; rows of scores."""

import numpy as np
import pytest

from propkernels.novelty.neighbor_scores import DensityScore, NeighborScore, OneClassScore
from propkernels.novelty.novelty_scores import SizeScore, center_and_scale
from propkernels.novelty.rarity import RarityScore
from tests.novelty.naive import GRAPHS, KERNELS, NEW, groups, training


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
