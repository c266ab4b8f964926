"""Executors: the same files from threads, processes and Dask."""

import errno
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

import propkernels as pk
from propkernels.scale.executors import MMAP_THRESHOLD, is_worker_loss, worker_timeout

from .conftest import contents


def test_every_executor_writes_the_same_bytes(plan, features, tmp_path):
    loky = pytest.importorskip("joblib.externals.loky")
    pk.featurize(plan, features, tmp_path / "one")
    expected = contents(tmp_path / "one")
    with ThreadPoolExecutor(3) as pool:
        pk.featurize(plan, features, tmp_path / "threads", pool)
    features.set_params(n_jobs=2)
    pk.featurize(plan, features, tmp_path / "jobs")
    for name in ("threads", "jobs"):
        assert contents(tmp_path / name) == expected
    assert loky is not None


@pytest.mark.processes
@pytest.mark.slow
def test_process_pools_write_the_same_bytes(plan, features, tmp_path):
    from joblib.externals.loky import get_reusable_executor

    pk.featurize(plan, features, tmp_path / "one")
    expected = contents(tmp_path / "one")
    with ProcessPoolExecutor(2) as pool:
        pk.featurize(plan, features, tmp_path / "pool", pool)
    loky = get_reusable_executor(max_workers=2)
    pk.featurize(plan, features, tmp_path / "loky", loky)
    loky.shutdown()
    pk.featurize(plan, features, tmp_path / "number", 2)
    for name in ("pool", "loky", "number"):
        assert contents(tmp_path / name) == expected


@pytest.mark.slow
def test_dask_writes_the_same_bytes(plan, features, tmp_path):
    distributed = pytest.importorskip("distributed")
    pk.featurize(plan, features, tmp_path / "one")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster:
        with distributed.Client(cluster) as client:
            pk.featurize(plan, features, tmp_path / "client", client)
            pk.featurize(plan, features, tmp_path / "executor", client.get_executor())
            assert client.status == "running"
        pk.featurize(plan, features, tmp_path / "cluster", cluster)
        pk.featurize(plan, features, tmp_path / "address", cluster.scheduler_address)
    for name in ("client", "executor", "cluster", "address"):
        assert contents(tmp_path / name) == contents(tmp_path / "one")


@pytest.mark.skipif(sys.platform != "linux", reason="malloc of glibc")
def test_workers_that_map_every_array_anew_are_told_of(plan, features, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    monkeypatch.delenv(MMAP_THRESHOLD, raising=False)
    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0") as client:
        with pytest.warns(UserWarning, match="start them with MALLOC_MMAP_THRESHOLD_=33554432"):
            pk.featurize(plan, features, tmp_path / "slow", client)
        monkeypatch.setenv(MMAP_THRESHOLD, str(2**25))
        pk.featurize(plan, features, tmp_path / "fast", client)  # warnings are errors
    assert contents(tmp_path / "slow") == contents(tmp_path / "fast")


def test_executors_that_are_none_are_refused(plan, features, tmp_path):
    for executor in (True, 2.5, object()):
        with pytest.raises(TypeError, match="executor must be None, a number of processes"):
            pk.featurize(plan, features, tmp_path / "out", executor)


def test_errors_that_mean_a_lost_worker():
    distributed = pytest.importorskip("distributed")
    assert is_worker_loss(distributed.scheduler.KilledWorker("task", None, 3))
    assert is_worker_loss(BrokenProcessPool())
    assert not is_worker_loss(ValueError())
    assert not is_worker_loss(OSError(errno.ENOSPC, ""))


@pytest.mark.parametrize("text", ["soon", "-1", "0", "nan"])
def test_a_timeout_that_is_no_number(monkeypatch, text):
    monkeypatch.setenv("PROPKERNELS_WORKER_TIMEOUT", text)
    with pytest.raises(ValueError, match="PROPKERNELS_WORKER_TIMEOUT in the environment must be seconds"):
        worker_timeout()
