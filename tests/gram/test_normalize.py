"""Normalised kernels."""

from __future__ import annotations

import numpy as np

import propkernels as pk
from propkernels.gram.normalize import inverse_length, normalized
from tests.zoo import labelled_zoo, one


def test_formula_and_symmetry():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 9, size=(30, 12)).astype(float)
    kernel = factors @ factors.T
    diagonal = kernel.diagonal().copy()
    reference = kernel / np.sqrt(np.outer(diagonal, diagonal))
    computed = normalized(kernel.copy(), diagonal, diagonal)
    assert np.allclose(computed, reference, rtol=1e-14)
    assert np.array_equal(computed, computed.T)


def test_rectangles():
    kernel = np.array([[4.0, 6.0, 0.0]])
    computed = normalized(kernel, np.array([4.0]), np.array([4.0, 9.0, 0.0]))
    assert computed.tolist() == [[1.0, 1.0, 0.0]]
    assert computed is kernel


def test_nothing_has_no_length():
    assert inverse_length(np.array([0.0, 4.0])).tolist() == [0.0, 0.5]


def test_the_diagonal_is_exactly_one_but_for_graphs_without_nodes():
    graphs = labelled_zoo()
    kernel = pk.PropagationKernel(normalize=True, random_state=0)
    reference = (graphs.graph_sizes > 0).astype(float)
    assert np.array_equal(kernel.fit_transform(graphs).diagonal(), reference)
    assert all(np.array_equal(k.diagonal(), reference) for k in kernel.fit_transform_cumulative(graphs))


def test_new_graphs_are_as_long_as_all_of_their_bins():
    train = one(2, [(0, 1)], ["a", "b"])
    new = one(4, [(0, 1), (2, 3)], ["a", "b", "x", "y"])  # half of it is known
    kernel = pk.PropagationKernel(normalize=True, t_max=2, random_state=0).fit(train)
    assert np.allclose(kernel.transform(new), 1 / np.sqrt(2))
    features = pk.PropagationFeatures(normalize=True, t_max=2, random_state=0).fit(train)
    assert np.allclose((features.transform(new) ** 2).sum(), 1 / 2)


def test_empty_graphs_have_similarity_zero():
    graphs = pk.GraphDatabase.concat([one(0), one(1), one(0)])
    for base_kernel in ("linear", "intersection", "tanimoto", "jaccard"):
        kernel = pk.PropagationKernel(normalize=True, base_kernel=base_kernel, random_state=0)
        assert kernel.fit_transform(graphs).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
        assert kernel.transform(graphs).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    features = pk.PropagationFeatures(normalize=True, random_state=0).fit_transform(graphs)
    assert np.isfinite(features.toarray()).all()
