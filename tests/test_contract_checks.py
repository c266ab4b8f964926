"""scikit-learn's own estimator checks, through an adapter that turns rows of arrays into small graphs.

An estimator that does not take 2-d arrays would run a single check and pass; with the adapter all of them
run, and how many did is asserted.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import propkernels as pk
from tests import test_contract_learners as learners
from tests.test_contract_discovery import describe, has, under_contract

LEAST_CHECKS, LEAST_WITHOUT_TARGET = 46, 40  # detectors and clusters have no target to be checked
EXPECTED_SKIPS = {"check_array_api_input"}  # array API dispatch is off unless SCIPY_ARRAY_API is set
# Checks that cannot hold, each with its reason.
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "NoveltyDetector": {
        "check_fit_score_takes_y": "fit_predict is given an array of numbers",
        "check_outliers_fit_predict": "no graph needs to lie below the fence of contamination='auto'",
        "check_outliers_train": "training graphs are judged by fit_predict, each without itself",
    },
    "SphereExclusion": {"check_clustering": "numbers become labels: close rows are not similar graphs"},
}
# Tried on the founding estimators; all others are checked with their default parameters.
FOUNDERS = ("PropagationKernel", "PropagationFeatures")
PARAMETERS = [{}, {"sparse_output": False}, {"normalize": True}, {"metric": "hellinger"}, {"n_features": 16}]
# The checks fit a model hundreds of times, and ask nothing of its choice among kernels.
NO_CHOICE = {**learners.QUICK, "kernel": pk.PropagationKernel(), "normalize": True}


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
    """A subclass that takes rows of numbers, as a native estimator does: columns, names and all."""

    def fit(self, X, y=None):
        if isinstance(X, pk.GraphDatabase):  # fit_transform calls fit
            return cls.fit(self, X, y)
        if not (is_classifier(self) or is_regressor(self)):
            return cls.fit(self, path_graphs(validate_data(self, X, dtype=np.float64)), y)
        takes_columns = self.__sklearn_tags__().target_tags.multi_output or cls is pk.PropagationClassifier
        shape = np.asarray(y).shape
        several = takes_columns and len(shape) == 2 and shape[1] > 1
        is_number = not is_classifier(self)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=is_number, multi_output=several)
        return cls.fit(self, path_graphs(X), y)

    def fit_transform(self, X, y=None):
        return cls.fit_transform(self, path_graphs(validate_data(self, X, dtype=np.float64)), y)

    def asked(name):
        def method(self, X):
            if isinstance(X, pk.GraphDatabase):
                return getattr(cls, name)(self, X)  # predict asks predict_proba
            check_is_fitted(self)
            rows = validate_data(self, X, reset=False, dtype=np.float64)
            return getattr(cls, name)(self, path_graphs(rows))

        return method

    def score(self, X, y, sample_weight=None):
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return cls.score(self, path_graphs(rows), y, sample_weight)

    def tags(self):
        tags = cls.__sklearn_tags__(self)
        tags.input_tags.two_d_array = True
        return tags

    asking = ("predict", "predict_proba", "decision_function", "score_samples", "transform")
    methods = {"fit": fit, "__sklearn_tags__": tags}
    methods |= {name: asked(name) for name in asking if hasattr(cls, name)}
    more = {"fit_transform": fit_transform, "score": score}
    methods |= {name: method for name, method in more.items() if hasattr(cls, name)}
    name = f"Rows{cls.__name__}"
    adapted = type(name, (cls,), {**methods, "__module__": __name__, "__qualname__": name})
    globals()[name] = adapted  # so that pickle finds it
    return adapted


def cases():
    for name, cls in (under_contract("kernel", "features") | learners.LEARNERS).items():
        adapted, is_learner = adapter(cls), name in learners.LEARNERS
        usual = {key: value for key, value in NO_CHOICE.items() if is_learner and has(cls, key)}
        for parameters in PARAMETERS:
            if not parameters or (name in FOUNDERS and has(cls, *parameters)):
                estimator = adapted(**usual, **parameters)
                yield pytest.param(name, estimator, id=f"{name}({describe(parameters)})")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::propkernels.models.ForeignGraphsWarning")  # new numbers are new labels
@pytest.mark.parametrize(("name", "estimator"), list(cases()))
def test_estimator_checks(name, estimator):
    expected = EXPECTED_FAILURES.get(name, {})
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = [(r["check_name"], repr(r["exception"])) for r in results if r["status"] == "failed"]
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    passed = [r["check_name"] for r in results if r["status"] == "passed"]
    assert failed == []
    assert skipped <= EXPECTED_SKIPS
    has_no_target = name in learners.LEARNERS and not (is_classifier(estimator) or is_regressor(estimator))
    assert len(passed) >= (LEAST_WITHOUT_TARGET if has_no_target else LEAST_CHECKS)
