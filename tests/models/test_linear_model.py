"""LinearModel: scikit-learn's contract, streams and explanations."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_estimator

import propkernels as pk
from propkernels.models.exact_sums import LOSSES
from tests.models.feature_rows import FEATURES, molecules, rows, same


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_scikit_learn_checks(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(pk.LinearModel(loss=loss), on_fail=None)
    bad = {r["check_name"]: r["exception"] for r in results if r["status"] not in ("passed", "skipped")}
    assert bad == {}
    assert [r["check_name"] for r in results if r["status"] == "skipped"] == ["check_array_api_input"]
    assert len(results) >= 60


def test_it_says_what_it_is():
    assert is_classifier(pk.LinearModel())
    assert is_regressor(pk.LinearModel(loss="squared"))
    assert hasattr(pk.LinearModel(), "predict_proba")
    assert not hasattr(pk.LinearModel(loss="squared_hinge"), "predict_proba")
    assert not hasattr(pk.LinearModel(loss="squared"), "decision_function")


@pytest.mark.slow
def test_logistic_regression_is_scikit_learns():
    model = pk.LinearModel(C=0.3, tol=1e-9).fit(rows(), molecules().target)
    other = LogisticRegression(C=0.3, tol=1e-10, max_iter=10_000).fit(rows(), molecules().target)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(rows()), other.predict_proba(rows()), atol=1e-5)


def test_the_squared_loss_is_ridge_regression():
    target = molecules().graphs.graph_sizes.astype(float)
    model = pk.LinearModel(loss="squared", C=0.1, tol=1e-9).fit(rows(), target)
    other = Ridge(alpha=10, tol=1e-12).fit(rows(), target)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-5)
    assert model.score(rows(), target) == pytest.approx(other.score(rows(), target), abs=1e-6)


def objective(coefficients, X, y, loss, C):
    """The definition: C * (sum of losses) + |w|^2 / 2."""
    z = X @ coefficients[:-1] + coefficients[-1]
    losses = {
        "logistic": lambda: np.logaddexp(0, -y * z),
        "squared_hinge": lambda: np.maximum(0, 1 - y * z) ** 2,
        "squared": lambda: (z - y) ** 2 / 2,
    }[loss]()
    return C * losses.sum() + coefficients[:-1] @ coefficients[:-1] / 2


@pytest.mark.parametrize("loss", LOSSES)
def test_no_other_coefficients_are_better(loss):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), rng.choice([-1.0, 1.0], 60)
    model = pk.LinearModel(loss=loss, C=0.7, tol=1e-10).fit(X, y if loss == "squared" else y > 0)
    found = np.concatenate([np.ravel(model.coef_), model.intercept_])
    best = minimize(objective, np.zeros(5), args=(X, y, loss, 0.7), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found, best.x, atol=1e-5)
    assert objective(found, X, y, loss, 0.7) <= best.fun * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_neither_order_nor_threads_nor_kinds_of_arrays_matter(loss):
    X, y = rows(), molecules().target
    reference = pk.LinearModel(loss=loss).fit(X, y)
    order = np.random.default_rng(1).permutation(len(y))
    same(pk.LinearModel(loss=loss).fit(X[order], y[order]), reference)
    same(pk.LinearModel(loss=loss, n_jobs=2).fit(X, y), reference)
    for other in (csr_matrix(X), X.tocsc(), X.toarray()):
        same(pk.LinearModel(loss=loss).fit(other, y), reference)


def test_entries_that_are_given_twice_add_up():
    X, y = csr_array(np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])), [0, 1, 1]
    twice = csr_array(
        (np.array([1.0, 1, 3, 1, 1]), np.array([0, 0, 1, 1, 0]), np.array([0, 2, 3, 5])), shape=(3, 2)
    )
    same(pk.LinearModel().fit(twice, y), pk.LinearModel().fit(X, y))
    assert twice.nnz == 5, "the caller's array is left as it was"


def test_several_classes_are_learned_one_against_the_rest():
    X, y = rows(), np.array(["a", "b", "c"])[molecules().graphs.graph_sizes % 3]
    model = pk.LinearModel().fit(X, y)
    assert model.coef_.shape == (3, 2**10)
    for number, name in enumerate(model.classes_):
        alone = pk.LinearModel().fit(X, y == name)
        assert np.array_equal(alone.coef_[0], model.coef_[number])
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    positive = expit(model.decision_function(X))
    np.testing.assert_allclose(probabilities, positive / positive.sum(axis=1, keepdims=True))


def test_weights_are_repetitions():
    X, y = rows(40), molecules(40).target
    weights = np.random.default_rng(0).integers(0, 4, 40)
    repeated = np.repeat(np.arange(40), weights)
    weighted = pk.LinearModel(tol=1e-9).fit(X, y, weights)
    plain = pk.LinearModel(tol=1e-9).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-6)


def test_balanced_classes():
    X, y = rows(), np.r_[np.ones(10), np.zeros(110)]
    weights = np.where(y == 1, 120 / 20, 120 / 220)
    same(pk.LinearModel(class_weight="balanced").fit(X, y), pk.LinearModel().fit(X, y, weights))
    same(
        pk.LinearModel(class_weight={0: 1.0, 1: 3.0}).fit(X, y),
        pk.LinearModel().fit(X, y, np.where(y == 1, 3.0, 1.0)),
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss must be"),
        ({"C": 0}, "C must be"),
        ({"tol": -1}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
        ({"loss": "squared", "class_weight": "balanced"}, "class_weight needs a classifier"),
    ],
)
def test_bad_parameters_are_refused_in_fit(parameters, message):
    model = pk.LinearModel(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(rows(), molecules().target)


def test_no_intercept():
    for model in (
        pk.LinearModel(fit_intercept=False).fit(rows(), molecules().target),
        pk.LinearModel(fit_intercept=False).partial_fit(rows(), molecules().target, [0, 1]),
    ):
        assert model.intercept_ == 0.0


def test_stopping_too_early_is_said():
    with pytest.warns(ConvergenceWarning, match="without convergence: increase max_iter"):
        pk.LinearModel(max_iter=2).fit(rows(), molecules().target)


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="y has 1 class only"):
        pk.LinearModel().fit(rows(), np.zeros(120))


@pytest.mark.parametrize("loss", LOSSES)
def test_how_a_stream_is_cut_makes_no_difference(loss):
    X, y = rows(), molecules().target
    whole = pk.LinearModel(loss=loss).partial_fit(X, y, classes=[0, 1])
    parts = pk.LinearModel(loss=loss)
    for run in np.array_split(np.arange(120), 7):
        parts.partial_fit(X[run], y[run], classes=[0, 1])
    same(parts, whole)


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_the_unit_of_the_target_makes_no_difference_to_a_stream(factor):
    X = rows()
    y = 5 + X @ np.random.default_rng(0).normal(size=X.shape[1])
    reference = pk.LinearModel(loss="squared").partial_fit(X, y)
    computed = pk.LinearModel(loss="squared").partial_fit(X[:50], factor * y[:50])
    computed.partial_fit(X[50:], factor * y[50:])
    assert np.array_equal(computed.coef_, factor * reference.coef_)
    assert np.array_equal(computed.intercept_, factor * reference.intercept_)
    assert np.abs(reference.predict(X) - y).mean() < 2 * y.std()


def test_a_stream_of_zeros():
    model = pk.LinearModel(loss="squared").partial_fit(rows(), np.zeros(rows().shape[0]))
    assert not model.coef_.any()
    assert not model.intercept_.any()


def test_a_stream_learns():
    X, y = rows(), molecules().target
    model = pk.LinearModel(C=10)
    for _ in range(20):
        model.partial_fit(X, y, classes=[0, 1])
    assert model.score(X, y) > 0.8


def test_a_stream_needs_its_classes_and_keeps_them():
    X, y = rows(), molecules().target
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        pk.LinearModel().partial_fit(X, y)
    model = pk.LinearModel().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes must be the same"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="7 is not one of the classes"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :5], y)
    with pytest.raises(ValueError, match="needs all rows at once"):
        pk.LinearModel(class_weight="balanced").partial_fit(X, y, [0, 1])
    begun = clone(model).partial_fit(X, y, [0, 1])
    same(pk.LinearModel().fit(X, y).partial_fit(X, y), begun)  # after fit it begins anew


@pytest.mark.slow
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("n_features", [None, 50, 2**12])
@pytest.mark.parametrize(
    "make", [pk.PropagationFeatures, pk.WeisfeilerLehmanFeatures, pk.ShortestPathFeatures]
)
def test_contributions_add_up(make, n_features, normalize):
    graphs, y = molecules().graphs, molecules().target
    features = make(n_features=n_features, normalize=normalize)
    if "n_hashes" in features.get_params():
        features.set_params(random_state=0, n_hashes=2)
    model = pk.LinearModel().fit(features.fit_transform(graphs[:80]), y[:80])
    explanation = model.explain(graphs[80:], features)
    decisions = model.decision_function(features.transform(graphs[80:]))
    np.testing.assert_allclose(explanation.decisions, decisions, rtol=0, atol=1e-9)
    other = model.explain(graphs[80:], features, classes=0)
    np.testing.assert_allclose(other.decisions, -decisions, rtol=0, atol=1e-9)
    assert (explanation.speaks_for, explanation.against) == (1, 0)


def test_numbers_and_several_classes_are_explained():
    graphs, sizes = molecules().graphs, molecules().graphs.graph_sizes
    model = pk.LinearModel(loss="squared").fit(rows(), sizes.astype(float))
    explanation = model.explain(graphs[:9], FEATURES)
    np.testing.assert_allclose(explanation.decisions, model.predict(rows()[:9]), atol=1e-9)
    model = pk.LinearModel().fit(rows(), sizes % 3)
    explanation = model.explain(graphs[:9], FEATURES, classes=2)
    np.testing.assert_allclose(explanation.decisions, model.decision_function(rows()[:9])[:, 2], atol=1e-9)
    with pytest.raises(ValueError, match="name the class to explain"):
        model.explain(graphs[:9], FEATURES)
    with pytest.raises(ValueError, match="classes must be one of"):
        model.explain(graphs[:9], FEATURES, classes=5)


def test_a_model_of_a_folder_knows_its_features(folder):
    model = pk.LinearModel().fit(folder)
    explanation = model.explain(molecules().graphs[:5])
    np.testing.assert_allclose(explanation.decisions, model.decision_function(rows()[:5]), atol=1e-9)
    with pytest.raises(ValueError, match="needs the features"):
        pk.LinearModel().fit(rows(), molecules().target).explain(molecules().graphs[:5])
    with pytest.raises(ValueError, match=r"must have shape \(7,\), one per column, got shape \(1024,\)"):
        model.explain(molecules().graphs, pk.PropagationFeatures(n_features=7, random_state=0))
    with pytest.raises(TypeError, match="features must be like PropagationFeatures"):
        model.explain(molecules().graphs, pk.PropagationKernel())


def test_models_are_saved(folder, tmp_path):
    X, y = rows(), molecules().target
    for model in (
        pk.LinearModel().fit(folder),
        pk.LinearModel(loss="squared").fit(X, y),
        pk.LinearModel(class_weight={0: 1.0, 1: 2.0}).partial_fit(X, y, [0, 1]),
    ):
        pk.save_model(model, tmp_path / "model.pk")
        again = pk.load_model(tmp_path / "model.pk")
        same(again, model)
        assert np.array_equal(again.predict(X), model.predict(X))
        if hasattr(model, "_gradients"):
            same(again.partial_fit(X, y), model.partial_fit(X, y))
