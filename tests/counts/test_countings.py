"""Sums of graphs with themselves, and lengths, against kernel matrices."""

import numpy as np
import pytest

import propkernels as pk

GRAPHS = pk.datasets.make_molecules(10, random_state=0).graphs


@pytest.mark.parametrize("base_kernel", ["linear", "intersection", "tanimoto", "jaccard"])
@pytest.mark.parametrize("normalize", [False, True])
def test_inverse_lengths_are_those_of_the_diagonal(base_kernel, normalize):
    kernel = pk.WeisfeilerLehman(t_max=2, base_kernel=base_kernel, normalize=normalize).fit(GRAPHS)
    counting = kernel._counting
    assert counting.ratio == (base_kernel in ("tanimoto", "jaccard"))
    assert counting.assigned == (base_kernel in ("intersection", "jaccard"))
    expected = 1 / np.sqrt(kernel.self_similarities(GRAPHS)) if normalize else np.ones(len(GRAPHS))
    np.testing.assert_allclose(counting.inverse_lengths(), expected, rtol=1e-12)
    assert counting.stream_weights.tolist() == [1.0, 1.0, 1.0]


def test_kernels_that_compare_no_bins_have_no_counting():
    assert pk.WeisfeilerLehman(t_max=1, base_kernel="rbf").fit(GRAPHS)._counting is None
