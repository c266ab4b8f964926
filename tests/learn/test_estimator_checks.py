"""scikit-learn's own checks of classifiers and regressors, through an adapter that turns rows into graphs."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import propkernels as pk
from tests.test_contract_checks import EXPECTED_SKIPS, path_graphs

LEAST_CHECKS = 46
QUICK = {"t_max": [0, 1], "C": 0.5, "normalize": False, "n_folds": 2, "random_state": 0}
EXPECTED_FAILURES: dict[str, str] = {}


def adapter(cls):
    """A subclass that takes rows of numbers, as a native estimator does."""

    def to_graphs(self, X, reset):
        return path_graphs(validate_data(self, X, reset=reset, dtype=np.float64))

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=cls is pk.PropagationRegressor)
        return cls.fit(self, path_graphs(X), y)

    def method(name):
        def call(self, X, **options):
            check_is_fitted(self)
            graphs = X if isinstance(X, pk.GraphDatabase) else to_graphs(self, X, False)
            return getattr(cls, name)(self, graphs, **options)

        return call

    def tags(self):
        tags = cls.__sklearn_tags__(self)
        tags.input_tags.two_d_array = True
        return tags

    names = ("predict", "predict_proba", "decision_function")
    methods = {name: method(name) for name in names if hasattr(cls, name)}
    name = f"Rows{cls.__name__}"
    body = {**methods, "fit": fit, "__sklearn_tags__": tags, "__module__": __name__, "__qualname__": name}
    adapted = type(name, (cls,), body)
    globals()[name] = adapted  # so that pickle finds it
    return adapted


ADAPTED = [adapter(cls) for cls in (pk.PropagationClassifier, pk.PropagationRegressor)]


@pytest.mark.parametrize("adapted", ADAPTED)
def test_estimator_checks(adapted):
    results = check_estimator(
        adapted(**QUICK), expected_failed_checks=EXPECTED_FAILURES, on_fail=None, on_skip=None
    )
    failed = [(r["check_name"], repr(r["exception"])) for r in results if r["status"] == "failed"]
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    passed = [r["check_name"] for r in results if r["status"] == "passed"]
    assert failed == []
    assert skipped <= set(EXPECTED_SKIPS)
    assert len(passed) >= LEAST_CHECKS
