"""A fitted kernel of counts, restricted to its first iterations."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

import propkernels as pk


@pytest.mark.parametrize(
    "kernel",
    [
        pk.PropagationKernel(t_max=4, n_hashes=2, random_state=0),
        pk.PropagationKernel(t_max=4, base_kernel="rbf", random_state=0),
        pk.WeisfeilerLehman(t_max=4),
    ],
    ids=repr,
)
def test_restricted_is_the_kernel_fitted_with_fewer_iterations(kernel):
    graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    whole = clone(kernel).fit(graphs[:20])
    for t, normalize in itertools.product((0, 2, 4), (False, True)):
        expected = clone(kernel).set_params(t_max=t, normalize=normalize).fit(graphs[:20])
        found = whole._restricted(t, normalize)
        assert found.get_params() == expected.get_params()
        assert np.array_equal(found.transform(graphs), expected.transform(graphs))
    assert whole.get_params() == kernel.get_params()
