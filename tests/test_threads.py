"""Fitted estimators never change, and may be used from any number of threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.test_contract_discovery import classes, dense, fitted, the_zoo


@pytest.mark.slow
@classes("kernel", "features")
def test_threads_share_a_fitted_estimator(cls):
    estimator, _ = fitted(cls, {}, the_zoo())
    parts = [the_zoo()[i : i + 4] for i in range(0, 12, 2)]
    expected = [dense(estimator.transform(part)) for part in parts]
    with ThreadPoolExecutor(6) as pool:
        computed = list(pool.map(estimator.transform, parts * 3))
    for found, right in zip(computed, expected * 3, strict=True):
        assert np.array_equal(dense(found), right)
