"""LinearModel: scikit-learn's contract, rows in memory and in files, streams, explanations, predictions."""

import hashlib
import json
import os
import warnings
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array, csr_matrix
from scipy.special import expit
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_estimator

import propkernels as pk
from propkernels.models import rows as rows_module
from propkernels.models.exact_sums import LOSSES

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


# scikit-learn's contract


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


# against others


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


# the same model to the bit


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


def test_threads_take_runs_of_rows(monkeypatch):
    monkeypatch.setattr(rows_module, "ENTRIES_PER_THREAD", 100)
    reference = pk.LinearModel().fit(rows(), molecules().target)
    assert len(rows_module.ArrayRows(rows(), 3)._runs) == 3
    same(pk.LinearModel(n_jobs=3).fit(rows(), molecules().target), reference)


def test_entries_that_are_given_twice_add_up():
    X, y = csr_array(np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])), [0, 1, 1]
    twice = csr_array(
        (np.array([1.0, 1, 3, 1, 1]), np.array([0, 0, 1, 1, 0]), np.array([0, 2, 3, 5])), shape=(3, 2)
    )
    same(pk.LinearModel().fit(twice, y), pk.LinearModel().fit(X, y))
    assert twice.nnz == 5, "the caller's array is left as it was"


# classes, weights


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
        ({"loss": "squared", "class_weight": "balanced"}, "class_weight is for models of classes"),
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
    with pytest.warns(ConvergenceWarning, match="before it converged: increase max_iter"):
        pk.LinearModel(max_iter=2).fit(rows(), molecules().target)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_unit_of_numbers_does_not_matter(fit_intercept):
    X = rows()
    y = molecules().target + np.linspace(0, 1, 120)

    def fitted(unit):
        return pk.LinearModel(loss="squared", fit_intercept=fit_intercept).fit(X, unit * y)

    expected = fitted(1.0).predict(X)
    assert np.ptp(expected) > 0.1
    for power in (-1000, -40, 40, 1000):
        assert np.array_equal(fitted(2.0**power).predict(X), 2.0**power * expected)
    for unit in (1e-12, 1e-7, 1e7, 1e16):
        assert np.allclose(fitted(unit).predict(X) / unit, expected, rtol=1e-4, atol=1e-4)


def test_numbers_far_from_zero_are_learned():
    X, y = rows(), molecules().target
    expected = pk.LinearModel(loss="squared").fit(X, y).predict(X)
    found = pk.LinearModel(loss="squared").fit(X, y + 1e4).predict(X) - 1e4
    assert np.allclose(found, expected, atol=1e-3)


@pytest.mark.parametrize(("status", "said"), [(1, "before it converged:"), (2, r"converged \(ABNORMAL\)")])
def test_every_unusual_end_of_learning_is_said(status, said, monkeypatch):
    X, y = rows(), molecules().target
    usual = rows_module.minimize

    def ended(*arguments, **options):
        found = usual(*arguments, **options)
        found.status, found.message = status, "ABNORMAL"
        return found

    monkeypatch.setattr(rows_module, "minimize", ended)
    with pytest.warns(ConvergenceWarning, match=said):
        pk.LinearModel().fit(X, y)


def test_one_class_is_not_enough():
    with pytest.raises(ValueError, match="y has 1 class only"):
        pk.LinearModel().fit(rows(), np.zeros(120))


# streams


@pytest.mark.parametrize("loss", LOSSES)
def test_how_a_stream_is_cut_makes_no_difference(loss):
    X, y = rows(), molecules().target
    whole = pk.LinearModel(loss=loss).partial_fit(X, y, classes=[0, 1])
    parts = pk.LinearModel(loss=loss)
    for run in np.array_split(np.arange(120), 7):
        parts.partial_fit(X[run], y[run], classes=[0, 1])
    same(parts, whole)


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


# features in files


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, data = tmp_path_factory.mktemp("features"), molecules()
    data.graphs.to_parquet(place / "graphs.parquet", target=data.target, row_group_size=20)
    plan = pk.partition(place / "graphs.parquet", nodes_per_part=150)
    opened = pk.featurize(plan, clone(FEATURES), place / "features")
    assert opened.n_parts >= 4
    return opened


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_parts_give_the_model_of_memory(folder, loss):
    reference = pk.LinearModel(loss=loss).fit(rows(), molecules().target)
    same(pk.LinearModel(loss=loss).fit_parts(folder), reference)
    same(pk.LinearModel(loss=loss).fit(folder), reference)
    same(pk.LinearModel(loss=loss, n_jobs=3).fit_parts(folder, molecules().target), reference)


@pytest.mark.slow
def test_parts_that_do_not_fit_into_memory_are_read_again(folder, monkeypatch):
    reference = pk.LinearModel().fit(rows(), molecules().target)
    monkeypatch.setattr(rows_module, "available_memory", lambda: 0)
    read, reader = [], rows_module.read_block
    monkeypatch.setattr(rows_module, "read_block", lambda *a: read.append(1) or reader(*a))
    model = pk.LinearModel().fit_parts(folder)
    same(model, reference)
    assert len(read) > folder.n_parts * model.n_iter_
    monkeypatch.undo()
    monkeypatch.setattr(rows_module, "read_block", lambda *a: read.append(1) or reader(*a))
    read.clear()
    pk.LinearModel().fit_parts(folder)
    assert len(read) == folder.n_parts
    assert not rows_module.CACHE._parts


@pytest.mark.slow
def test_processes_give_the_same_model(folder):
    reference = pk.LinearModel(tol=0.05).fit(rows(), molecules().target)
    with ProcessPoolExecutor(2) as pool:
        same(pk.LinearModel(tol=0.05).fit_parts(folder, executor=pool), reference)


class Unreliable:
    """An executor whose worker dies at some calls."""

    _max_workers = 2

    def __init__(self, deaths):
        self.calls, self.deaths = 0, deaths

    def submit(self, function, *arguments):
        self.calls += 1
        future = Future()
        if self.calls in self.deaths:
            future.set_exception(BrokenProcessPool("killed"))
        else:
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)
        return future


def test_lost_workers_change_nothing(folder, monkeypatch):
    reference = pk.LinearModel().fit(rows(), molecules().target)
    executor = Unreliable({2, 3, 9, 30, 31})
    monkeypatch.setattr("propkernels.scale.executors.PoolEngine.renew", lambda self: None)
    same(pk.LinearModel().fit_parts(folder, executor=executor), reference)
    assert executor.calls > 31
    with pytest.raises(RuntimeError, match="workers were lost 5 times"):
        pk.LinearModel().fit_parts(folder, executor=Unreliable(set(range(100))))


def test_bad_targets_of_folders_are_named(folder, tmp_path):
    y = molecules().target
    with pytest.raises(ValueError, match="one value for each of 120 graphs"):
        pk.LinearModel().fit_parts(folder, y[:-1])
    with pytest.raises(ValueError, match="2 targets: give y, one of the columns"):
        pk.LinearModel().fit_parts(folder, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="that of graph 3 is not"):
        pk.LinearModel(loss="squared").fit_parts(folder, np.where(np.arange(120) == 3, np.inf, y))
    with pytest.raises(ValueError, match="holds texts"):
        pk.LinearModel(loss="squared").fit_parts(folder, np.array(["a"] * 120))
    with pytest.raises(ValueError, match="sample_weight must be 120 numbers"):
        pk.LinearModel().fit_parts(folder, sample_weight=-np.ones(120))
    with pytest.raises(TypeError, match="what open_features gives"):
        pk.LinearModel().fit_parts(rows(), y)
    molecules().graphs[:20].to_parquet(tmp_path / "graphs.parquet")
    plain = pk.featurize(tmp_path / "graphs.parquet", FEATURES, tmp_path / "features")
    with pytest.raises(ValueError, match="the files hold no target: give y"):
        pk.LinearModel().fit_parts(plain)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_a_folder_without_a_target_are_left_out(folder, loss):
    target, known = molecules().target.astype(object), np.flatnonzero(np.arange(120) % 4)
    target[::4] = None
    with pytest.warns(UserWarning, match="30 of 120 graphs have no target and are left out"):
        model = pk.LinearModel(loss=loss).fit_parts(folder, target)
    weights = np.isin(np.arange(120), known).astype(float)
    same(model, pk.LinearModel(loss=loss).fit(rows(), weights * molecules().target, weights))
    if loss != "squared":
        assert model.classes_.tolist() == [0, 1]


# predictions in files


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_predictions_of_parts(folder, tmp_path, loss):
    pq = pytest.importorskip("pyarrow.parquet")
    model = pk.LinearModel(loss=loss).fit(folder)
    files = model.predict_parts(folder, tmp_path / "out")
    assert len(files) == folder.n_parts
    tables = [pq.read_table(file).to_pydict() for file in files]
    column = {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}
    assert np.array_equal(column["graph_id"], np.arange(120))
    assert np.array_equal(column["prediction"], model.predict(rows()))
    if loss == "logistic":
        assert np.array_equal(column["probability_1"], model.predict_proba(rows())[:, 1])
    if loss == "squared_hinge":
        assert np.array_equal(column["decision_1"], model.decision_function(rows()))


def test_verify_reads_every_number_of_predictions(folder, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file, *_ = pk.LinearModel().fit(folder).predict_parts(folder, tmp_path / "out")
    assert pk.verify(tmp_path / "out").n_graphs == 120
    table = pq.read_table(file)
    pq.write_table(table.set_column(0, "graph_id", pa.array(np.arange(table.num_rows) - 2**40)), file)
    manifest = tmp_path / "out" / "manifest.json"
    known = json.loads(manifest.read_text())
    data, n_before = file.read_bytes(), known["parts"][0]["n_bytes"]
    known["parts"][0] |= {"n_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    manifest.write_text(json.dumps(known | {"n_bytes": known["n_bytes"] + len(data) - n_before}))
    with pytest.raises(ValueError, match=r"graph_id of .* must be numbers from 0 to .*, got -1099511627776"):
        pk.verify(tmp_path / "out")


def test_predictions_are_resumed_and_those_of_another_model_refused(folder, tmp_path):
    model, out = pk.LinearModel().fit(folder), tmp_path / "out"
    files = model.predict_parts(folder, out)
    before = {file: file.read_bytes() for file in files}
    files[1].unlink()
    model.predict_parts(folder, out)
    assert {file: file.read_bytes() for file in files} == before
    with pytest.raises(ValueError, match="holds other results"):
        pk.LinearModel(C=2.0).fit(folder).predict_parts(folder, out)
    assert {file: file.read_bytes() for file in files} == before
    narrow = pk.LinearModel().fit(rows()[:, :5], molecules().target)
    with pytest.raises(ValueError, match="the model has 5 columns, the features 1024"):
        narrow.predict_parts(folder, tmp_path / "other")
    with pytest.raises(NotFittedError):
        pk.LinearModel().predict_parts(folder, tmp_path / "other")
    assert sorted(os.listdir(tmp_path)) == ["out"]


# explanations


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


# storage


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
        if hasattr(model, "gradients_"):
            same(again.partial_fit(X, y), model.partial_fit(X, y))
