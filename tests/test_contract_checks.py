"""scikit-learn's own estimator checks, through an adapter that turns rows of arrays into small graphs.

An estimator that does not take 2-d arrays would run a single check and pass; with the adapter all of them
run, and how many did is asserted.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import propkernels as pk
from tests.test_contract_discovery import describe, has, under_contract

LEAST_CHECKS = 46
FOUNDERS = ("PropagationKernel", "PropagationFeatures")
EXPECTED_SKIPS = {"check_array_api_input"}  # array API dispatch is off unless SCIPY_ARRAY_API is set
# Tried on the founding estimators; all others are checked with their default parameters.
PARAMETERS = [{}, {"sparse_output": False}, {"normalize": True}, {"metric": "hellinger"}, {"n_features": 16}]


def path_graphs(rows):
    """A path with one node per feature; a label is the feature's number and its value in steps of a half."""
    n, d = rows.shape
    first = np.array([i * d + j for i in range(n) for j in range(d - 1)], dtype=np.int64)
    ends = np.concatenate([first, first + 1]), np.concatenate([first + 1, first])
    adjacency = csr_array((np.ones(2 * len(first)), ends), shape=(n * d, n * d))
    steps = np.clip(np.round(2 * rows), -1e6, 1e6).astype(np.int64) + 10**7
    labels = steps * d + np.arange(d)
    return pk.GraphDatabase(adjacency, np.arange(n + 1) * d, labels.ravel(), steps.ravel() / 2)


def adapter(cls):
    """A subclass that takes rows of numbers, as a native transformer does: columns, names and all."""

    def to_graphs(self, X, reset):
        if isinstance(X, pk.GraphDatabase):
            return X  # fit_transform calls fit
        return path_graphs(validate_data(self, X, reset=reset, dtype=np.float64))

    def fit(self, X, y=None):
        return cls.fit(self, to_graphs(self, X, True), y)

    def fit_transform(self, X, y=None):
        return cls.fit_transform(self, to_graphs(self, X, True), y)

    def transform(self, X):
        check_is_fitted(self)
        return cls.transform(self, to_graphs(self, X, False))

    def tags(self):
        tags = cls.__sklearn_tags__(self)
        tags.input_tags.two_d_array = True
        return tags

    methods = {"fit": fit, "fit_transform": fit_transform, "transform": transform, "__sklearn_tags__": tags}
    name = f"Rows{cls.__name__}"
    adapted = type(name, (cls,), {**methods, "__module__": __name__, "__qualname__": name})
    globals()[name] = adapted  # so that pickle finds it
    return adapted


ADAPTED = {name: adapter(cls) for name, cls in under_contract("kernel", "features").items()}


def cases():
    return [
        pytest.param(adapted, parameters, id=f"{name}({describe(parameters)})")
        for name, adapted in ADAPTED.items()
        for parameters in PARAMETERS
        if not parameters or (name in FOUNDERS and has(adapted, *parameters))
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("adapted", "parameters"), cases())
def test_estimator_checks(adapted, parameters):
    results = check_estimator(adapted(**parameters), on_fail=None, on_skip=None)
    failed = [(r["check_name"], repr(r["exception"])) for r in results if r["status"] == "failed"]
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    passed = [r["check_name"] for r in results if r["status"] == "passed"]
    assert failed == []
    assert skipped <= EXPECTED_SKIPS
    assert len(passed) >= LEAST_CHECKS
