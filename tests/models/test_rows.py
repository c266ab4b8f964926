"""Rows in memory and in files: targets, passes over parts, workers, and the end of L-BFGS."""

from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import propkernels as pk
from propkernels.models import rows as rows_module
from propkernels.models.exact_sums import LOSSES
from tests.models.feature_rows import FEATURES, molecules, rows, same


def test_threads_take_runs_of_rows(monkeypatch):
    monkeypatch.setattr(rows_module, "ENTRIES_PER_THREAD", 100)
    reference = pk.LinearModel().fit(rows(), molecules().target)
    assert len(rows_module.ArrayRows(rows(), 3)._runs) == 3
    same(pk.LinearModel(n_jobs=3).fit(rows(), molecules().target), reference)


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


@pytest.mark.parametrize(("status", "said"), [(1, "without convergence:"), (2, r"convergence \(ABNORMAL\)")])
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
    with pytest.raises(ValueError, match="2 targets: pass y, one of the columns"):
        pk.LinearModel().fit_parts(folder, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="that of graph 3 is not"):
        pk.LinearModel(loss="squared").fit_parts(folder, np.where(np.arange(120) == 3, np.inf, y))
    with pytest.raises(ValueError, match="has texts"):
        pk.LinearModel(loss="squared").fit_parts(folder, np.array(["a"] * 120))
    with pytest.raises(ValueError, match="sample_weight must be 120 numbers"):
        pk.LinearModel().fit_parts(folder, sample_weight=-np.ones(120))
    with pytest.raises(TypeError, match="a folder from open_features"):
        pk.LinearModel().fit_parts(rows(), y)
    molecules().graphs[:20].to_parquet(tmp_path / "graphs.parquet")
    plain = pk.featurize(tmp_path / "graphs.parquet", FEATURES, tmp_path / "features")
    with pytest.raises(ValueError, match="the files have no target: pass y"):
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
