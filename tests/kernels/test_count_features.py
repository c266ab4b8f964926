"""Contributions of nodes to linear models of any library on count features."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import propkernels as pk

DATA = pk.datasets.make_molecules(30, random_state=0, mean_nodes=8)


@pytest.mark.parametrize("base_kernel", ["linear", "intersection"])
@pytest.mark.parametrize("n_features", [None, 64])
@pytest.mark.parametrize("normalize", [False, True])
def test_contributions_add_up_to_products_with_coefficients(base_kernel, n_features, normalize):
    features = pk.PropagationFeatures(
        t_max=2,
        n_hashes=2,
        base_kernel=base_kernel,
        n_features=n_features,
        normalize=normalize,
        random_state=0,
    )
    n_columns = features.fit_transform(DATA.graphs[:20]).shape[1]
    coefficients = np.random.default_rng(0).normal(size=n_columns)
    new = DATA.graphs[20:]
    contributions = features.contributions(new, coefficients)
    assert contributions.shape == (new.n_nodes, 3)
    sums = np.add.reduceat(contributions.sum(axis=1), new.graph_ptr[:-1])
    np.testing.assert_allclose(sums, features.transform(new) @ coefficients, rtol=0, atol=1e-12)


def test_contributions_need_fitted_features_and_one_coefficient_per_column():
    features = pk.PropagationFeatures(t_max=1, n_features=8, random_state=0)
    with pytest.raises(NotFittedError):
        features.contributions(DATA.graphs, np.ones(8))
    with pytest.raises(ValueError, match=r"must have shape \(8,\), one per column, got shape \(1, 8\)"):
        features.fit(DATA.graphs).contributions(DATA.graphs, np.ones((1, 8)))
