"""Molecules and their features that tests of linear models share."""

from functools import cache

import numpy as np

import propkernels as pk

FEATURES = pk.PropagationFeatures(n_features=2**10, t_max=2, random_state=0)


@cache
def molecules(n=120):
    return pk.datasets.make_molecules(n, random_state=0, mean_nodes=8)


@cache
def rows(n=120):
    return FEATURES.fit_transform(molecules(n).graphs)


def same(left, right):
    assert np.array_equal(left.coef_, right.coef_)
    assert np.array_equal(left.intercept_, right.intercept_)
