"""Slices of kernels and of features are the same numbers."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.counting.counts import sort_bins
from propkernels.learn.selection.sources import AlignedSource, GramSource, feature_sources

GRAPHS = pk.datasets.make_molecules(30, random_state=0).graphs
TRAIN, TEST = np.arange(0, 30, 2), np.arange(1, 30, 2)
KERNEL = pk.PropagationKernel(t_max=3, n_hashes=2, random_state=0)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
def test_slices_of_a_kernel(normalize, scaled):
    gram = KERNEL.fit_transform(GRAPHS)
    full = pk.PropagationKernel(t_max=3, n_hashes=2, normalize=normalize, random_state=0).fit_transform(
        GRAPHS
    )
    part = GramSource(gram, normalize).slice(TRAIN, TEST, scaled)
    unit = full[np.ix_(TRAIN, TRAIN)].diagonal().mean() if scaled else 1.0
    assert part.unit == unit
    np.testing.assert_array_equal(part.known, full[np.ix_(TRAIN, TRAIN)] / unit)
    np.testing.assert_array_equal(part.unknown, full[np.ix_(TEST, TRAIN)] / unit)
    np.testing.assert_array_equal(gram, KERNEL.fit_transform(GRAPHS))


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("t", range(4))
def test_features_multiply_to_the_slices(t, normalize):
    streams = [sort_bins(stream) for stream in KERNEL.fit(GRAPHS).counts_]
    features = feature_sources(streams, [normalize])[t, normalize].slice(TRAIN, TEST, True)
    gram = KERNEL.fit_transform_cumulative(GRAPHS)[t]
    reference = GramSource(gram, normalize).slice(TRAIN, TEST, True)
    np.testing.assert_allclose((features.known @ features.known.T).toarray(), reference.known, rtol=1e-12)
    np.testing.assert_allclose((features.unknown @ features.known.T).toarray(), reference.unknown, rtol=1e-12)
    assert features.unit**2 == pytest.approx(reference.unit)


def test_graphs_without_nodes_have_zeros():
    empty = pk.GraphDatabase.concat([GRAPHS[:4], pk.check_graphs([(np.zeros((0, 0)), [])])])
    gram = KERNEL.fit_transform(empty)
    everyone = np.arange(5)
    part = GramSource(gram, True).slice(everyone, everyone, True)
    assert (part.known[4] == 0).all()
    assert np.isfinite(part.known).all()


def test_learned_weights_see_only_the_training_graphs_of_a_slice():
    target = np.arange(30) // 2 % 2
    parts = [pk.LabelHistogram(), pk.WeisfeilerLehman(n_iter=2)]
    matrices = pk.SumKernel(parts, weights="alignment").part_matrices(GRAPHS)
    found = AlignedSource(matrices, target, False).slice(TRAIN, TEST, False)
    alone = pk.SumKernel(parts, weights="alignment")
    np.testing.assert_allclose(found.known, alone.fit_transform(GRAPHS[TRAIN], target[TRAIN]), atol=1e-14)
    np.testing.assert_allclose(found.unknown, alone.transform(GRAPHS[TEST]), atol=1e-14)
    changed = target.copy()
    changed[TEST] = 1 - changed[TEST]
    again = AlignedSource(matrices, changed, False).slice(TRAIN, TEST, False)
    np.testing.assert_array_equal(found.known, again.known)
