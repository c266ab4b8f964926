"""Linear models of scikit-learn on count features, explained by node."""

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge

import propkernels as pk
from propkernels.explain import explain_columns
from propkernels.kernels import LabelHistogramFeatures, ShortestPathFeatures

DATA = pk.datasets.make_molecules(60, random_state=0, mean_nodes=8)
TRAIN, NEW = DATA.graphs[:40], DATA.graphs[40:]


OPTIONS = product(("linear", "intersection"), (None, 64), (False, True))


@pytest.mark.parametrize(
    "features",
    [
        *(
            pk.PropagationFeatures(
                t_max=2,
                n_hashes=2,
                base_kernel=base_kernel,
                n_features=n,
                normalize=normalize,
                random_state=0,
            )
            for base_kernel, n, normalize in OPTIONS
        ),
        pk.WeisfeilerLehmanFeatures(t_max=2, normalize=True),
        ShortestPathFeatures(),
        LabelHistogramFeatures(),
    ],
    ids=lambda features: type(features).__name__,
)
def test_contributions_add_up_to_products_with_coefficients(features):
    n_columns = features.fit_transform(TRAIN).shape[1]
    coef = np.random.default_rng(0).normal(size=n_columns)
    explanation = explain_columns(features, coef, NEW, intercept=0.5)
    assert explanation.contributions.shape == (NEW.n_nodes, 1 + getattr(features, "t_max", 0))
    sums = np.add.reduceat(explanation.contributions.sum(axis=1), NEW.graph_ptr[:-1])
    np.testing.assert_allclose(sums, features.transform(NEW) @ coef, rtol=0, atol=1e-12)
    np.testing.assert_allclose(explanation.decisions, features.transform(NEW) @ coef + 0.5, rtol=0, atol=1e-9)


def test_numbers_and_single_classes_are_explained():
    features = pk.PropagationFeatures(t_max=2, n_features=2**10, random_state=0)
    X, sizes = features.fit_transform(TRAIN), TRAIN.graph_sizes
    ridge = Ridge().fit(X, sizes.astype(float))
    explanation = explain_columns(features, ridge.coef_, NEW, ridge.intercept_)
    np.testing.assert_allclose(explanation.decisions, ridge.predict(features.transform(NEW)), atol=1e-9)
    model = LogisticRegression(max_iter=1000).fit(X, sizes % 3)
    explanation = explain_columns(features, model.coef_[2], NEW, model.intercept_[2], speaks_for=2)
    decisions = model.decision_function(features.transform(NEW))[:, 2]
    np.testing.assert_allclose(explanation.decisions, decisions, rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match=r"got shape \(3, 1024\): of several classes, explain one"):
        explain_columns(features, model.coef_, NEW, model.intercept_[2])
    with pytest.raises(ValueError, match="intercept must be one number"):
        explain_columns(features, model.coef_[2], NEW, model.intercept_)


def test_features_must_be_known():
    with pytest.raises(NotFittedError):
        explain_columns(pk.PropagationFeatures(), np.ones(8), NEW)
    with pytest.raises(NotFittedError):  # the hash functions are not known without a seed
        explain_columns(pk.PropagationFeatures(n_features=8), np.ones(8), NEW)
    features = pk.PropagationFeatures(t_max=1, n_features=8, random_state=0)
    with pytest.raises(ValueError, match=r"must have shape \(8,\), one coefficient per column"):
        explain_columns(features, np.ones(7), NEW)
    with pytest.raises(TypeError, match="features must be like PropagationFeatures"):
        explain_columns(pk.PropagationKernel(), np.ones(8), NEW)
