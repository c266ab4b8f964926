"""Features in files: equal to those in memory, whoever computes them."""

import errno
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import pytest

import propkernels as pk
from propkernels.kernels import LabelHistogramFeatures, ShortestPathFeatures
from propkernels.propagation import Diffusion
from propkernels.scale import featurizing
from tests.utils.test_safe_files import posix

from .conftest import contents

ESTIMATORS = [
    pk.PropagationFeatures(n_features=512, t_max=3, random_state=1),
    pk.PropagationFeatures(n_features=2**20, t_max=2, n_hashes=2, random_state=1),
    pk.PropagationFeatures(n_features=512, t_max=2, normalize=True, labels="degree", random_state=1),
    pk.PropagationFeatures(n_features=512, propagation=Diffusion(laziness=0.25), random_state=1),
    pk.PropagationFeatures(n_features=512, t_max=2, base_kernel="intersection", random_state=1),
    pk.WeisfeilerLehmanFeatures(n_features=512, t_max=3),
    ShortestPathFeatures(n_features=512),
    LabelHistogramFeatures(n_features=64, labels=None),
]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_features_are_those_in_memory(plan, molecules, estimator, tmp_path):
    opened = pk.featurize(plan, estimator, tmp_path / "out")
    expected = estimator.fit_transform(molecules.graphs)
    assert opened.shape == expected.shape
    found = opened.to_scipy()
    assert (found != expected).nnz == 0
    assert found.has_canonical_format
    assert opened.target.tolist() == molecules.target.tolist()
    assert opened.ids.tolist() == list(range(60))


def test_only_missing_files_are_computed(plan, features, tmp_path, monkeypatch):
    opened = pk.featurize(plan, features, tmp_path / "out")
    before = contents(tmp_path / "out")
    opened.path(1).unlink()
    computed, write = [], featurizing.write_part

    def watched(features, part, path):
        computed.append(part)
        write(features, part, path)

    monkeypatch.setattr(featurizing, "write_part", watched)
    pk.featurize(plan, features, tmp_path / "out")
    assert computed == [plan.parts[1]]
    (tmp_path / "out" / "features.json").unlink()
    pk.featurize(plan, features, tmp_path / "out")
    assert computed == [plan.parts[1]]
    assert contents(tmp_path / "out") == before


def test_a_part_may_lose_all_its_molecules(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "drugs.csv").write_text("smiles,y\nno,1\nCCO,2\nnot,3\nCCN,4\n")
    plan = pk.scale.partition(tmp_path / "drugs.csv", nodes_per_part=1, errors="skip")
    features = pk.WeisfeilerLehmanFeatures(n_features=64)
    with pytest.warns(UserWarning, match="skipped"):
        opened = pk.featurize(plan, features, tmp_path / "features")
    assert (opened.n_parts, opened.shape) == (4, (2, 64))
    assert opened.ids.tolist() == [1, 3]
    assert opened.target.tolist() == [2, 4]
    (tmp_path / "none.csv").write_text("smiles\nno\n")
    with pytest.raises(ValueError, match="no graph of the plan"), pytest.warns(UserWarning, match="skipped"):
        pk.featurize(pk.scale.partition(tmp_path / "none.csv", errors="skip"), features, tmp_path / "none")


# folders


def test_a_thread_that_starts_while_ctrl_c_is_pressed_is_waited_for(plan, features, tmp_path, monkeypatch):
    start, begun, ended = threading.Thread.start, [], []

    def interrupted(thread):
        start(thread)
        raise KeyboardInterrupt

    def slowly(*_):
        begun.append(1)
        time.sleep(0.3)
        ended.append(1)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    monkeypatch.setattr(featurizing, "write_part", slowly)
    with pytest.raises(KeyboardInterrupt):
        pk.featurize(plan, features, tmp_path / "out")
    assert len(begun) == len(ended)


def test_features_of_other_parameters_or_graphs_are_refused(plan, features, database, tmp_path):
    pk.featurize(plan, features, tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(ValueError, match=r"holds other features \(t_max is 2, not 3\): choose another"):
        pk.featurize(plan, features.set_params(t_max=3), tmp_path / "out")
    other = pk.scale.partition(database, nodes_per_part=800)
    with pytest.raises(ValueError, match=r"holds other features \(of other graphs\)"):
        pk.featurize(other, features.set_params(t_max=2), tmp_path / "out")
    assert contents(tmp_path / "out") == before


@posix
@pytest.mark.parametrize("name", ["features.json", "part"])
@pytest.mark.parametrize("target", ["existing", "missing"])
def test_nothing_is_written_through_a_link(plan, features, tmp_path, name, target):
    """A folder from a stranger may hold links of any name, to files that are there or not."""
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    out.mkdir()
    (outside / "existing").write_text("precious")
    part = pk.featurize(plan, features, tmp_path / "other").path(0).name
    (out / (part if name == "part" else name)).symlink_to(outside / target)
    with pytest.raises((OSError, ValueError), match=r"link|damaged|features\.json"):
        pk.featurize(plan, features, out)
    assert os.listdir(outside) == ["existing"]
    assert (outside / "existing").read_text() == "precious"


# executors


@pytest.fixture
def expected(plan, features, tmp_path):
    pk.featurize(plan, features, tmp_path / "expected")
    return contents(tmp_path / "expected")


def test_an_unreadable_first_part_is_left_to_the_others(molecules, features, tmp_path):
    molecules.graphs.to_parquet(tmp_path / "graphs.parquet", row_group_size=20)
    plan = pk.scale.partition(tmp_path / "graphs.parquet", nodes_per_part=1)
    broken = replace(plan, parts=(replace(plan.parts[0], path=str(tmp_path / "gone")), *plan.parts[1:]))
    with pytest.raises(pk.scale.PartsFailedError, match=f"1 of {len(plan)} parts failed"):
        pk.featurize(broken, features, tmp_path / "out")


@pytest.mark.processes
@pytest.mark.slow
def test_process_pools_write_the_same_bytes(plan, features, expected, tmp_path):
    with ProcessPoolExecutor(2) as pool:
        pk.featurize(plan, features, tmp_path / "pool", pool)
    pk.featurize(plan, features, tmp_path / "number", 2)
    for name in ("pool", "number"):
        assert contents(tmp_path / name) == expected


@pytest.mark.slow
def test_dask_writes_the_same_bytes(plan, features, expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster:
        with distributed.Client(cluster) as client:
            pk.featurize(plan, features, tmp_path / "client", executor=client)
            pk.featurize(plan, features, tmp_path / "executor", client.get_executor())
            assert client.status == "running"
        pk.featurize(plan, features, tmp_path / "cluster", cluster)
        pk.featurize(plan, features, tmp_path / "address", cluster.scheduler_address)
    for name in ("client", "executor", "cluster", "address"):
        assert contents(tmp_path / name) == expected


def test_a_closed_client_is_one_sentence(plan, features, expected, tmp_path):
    distributed = pytest.importorskip("distributed")
    client = distributed.Client(n_workers=1, processes=False, dashboard_address=":0", silence_logs=50)
    client.close()
    with pytest.raises(ConnectionError, match="the connection to the Dask scheduler was lost: run again"):
        pk.featurize(plan, features, tmp_path / "out", client)
    pk.featurize(plan, features, tmp_path / "out")
    assert contents(tmp_path / "out") == expected


def test_executors_that_are_none_are_refused(plan, features, tmp_path):
    for executor in (True, 2.5, object()):
        with pytest.raises(TypeError, match="executor must be None, a number of processes"):
            pk.featurize(plan, features, tmp_path / "out", executor)


# what fails


class Inline:
    """An executor that computes at once, and fails with the errors that ``fault(first, attempt)`` returns."""

    def __init__(self, fault=lambda first, attempt: None):
        self.fault, self.tries = fault, {}

    def submit(self, function, features, part, path):
        attempt = self.tries[part.first] = self.tries.get(part.first, 0) + 1
        future = Future()
        error = self.fault(part.first, attempt)
        if error is None:
            future.set_result(function(features, part, path))
        else:
            future.set_exception(error)
        return future


def test_a_part_that_fails_is_named_and_all_others_are_complete(plan, features, expected, tmp_path):
    bad = plan.parts[1]
    executor = Inline(lambda first, attempt: ValueError("no such\nluck") if first == bad.first else None)
    with pytest.raises(pk.scale.PartsFailedError) as caught:
        pk.featurize(plan, features, tmp_path / "out", executor)
    assert f"1 of {len(plan)} parts failed" in str(caught.value)
    assert f"part 1 ({bad.path}, rows {bad.first} to {bad.last - 1}): no such luck" in str(caught.value)
    assert caught.value.failures == {1: (bad, "no such luck")}
    assert pickle.loads(pickle.dumps(caught.value)).failures == caught.value.failures
    assert len(contents(tmp_path / "out")) == len(expected) - 1
    pk.featurize(plan, features, tmp_path / "out", Inline())
    assert contents(tmp_path / "out") == expected


@pytest.mark.parametrize("error", [BrokenProcessPool("gone"), CancelledError()])
def test_parts_of_lost_workers_are_submitted_again(plan, features, expected, tmp_path, error):
    executor = Inline(lambda first, attempt: error if attempt < 3 and first < 20 else None)
    pk.featurize(plan, features, tmp_path / "out", executor)
    assert contents(tmp_path / "out") == expected


def test_a_part_that_kills_its_workers_is_given_up(plan, features, tmp_path):
    distributed = pytest.importorskip("distributed")
    bad, error = plan.parts[0], distributed.scheduler.KilledWorker("task", None, 3)
    executor = Inline(lambda first, attempt: error if first == bad.first else None)
    with pytest.raises(pk.scale.PartsFailedError, match="its worker was lost again and again") as caught:
        pk.featurize(plan, features, tmp_path / "out", executor)
    assert list(caught.value.failures) == [0]
    assert executor.tries[bad.first] == 1 + featurizing.MOST_STALLS
    assert max(tries for first, tries in executor.tries.items() if first != bad.first) == 1


def test_a_full_disk_ends_the_run_and_resuming_completes_it(plan, features, expected, tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    executor = Inline(lambda first, attempt: full if first >= 20 else None)
    with pytest.raises(OSError, match="No space left on device"):
        pk.featurize(plan, features, tmp_path / "out", executor)
    found = contents(tmp_path / "out")
    assert 0 < len(found) < len(expected)
    assert found.items() <= expected.items()
    pk.featurize(plan, features, tmp_path / "out")
    assert contents(tmp_path / "out") == expected


# workers that are killed


class KillsOnce(pk.PropagationFeatures):
    """Features that kill the process of a worker the first time, in the middle of a part."""

    def __init__(self, *, mark="", driver=0, labels="auto", n_features=1024, random_state=0):
        super().__init__(labels=labels, n_features=n_features, t_max=2, random_state=random_state)
        self.mark, self.driver = mark, driver

    def transform(self, X):
        if os.getpid() != self.driver and not os.path.exists(self.mark):
            open(self.mark, "w").close()
            time.sleep(0.05)
            os.kill(os.getpid(), 9)
        return super().transform(X)


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_workers_that_are_killed_give_the_same_bytes(plan, tmp_path, kind, request):
    mark, driver = str(tmp_path / "mark"), os.getpid()
    features = KillsOnce(mark=mark, driver=driver)
    executor = 2 if kind == "processes" else request.getfixturevalue("dask_cluster")
    pk.featurize(plan, features, tmp_path / "out", executor)
    assert os.path.exists(mark), "a worker was killed"
    pk.featurize(plan, features, tmp_path / "expected")
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")


@pytest.mark.processes
@pytest.mark.slow
def test_a_killed_driver_takes_its_workers_along_and_is_resumed(molecules, tmp_path):
    psutil = pytest.importorskip("psutil")
    files = [tmp_path / f"{i}.parquet" for i in range(len(molecules.graphs))]
    for i, file in enumerate(files):
        molecules.graphs[[i]].to_parquet(file)
    command = [sys.executable, "-m", "propkernels.cli", "featurize", *map(str, files)]
    command += ["-o", str(tmp_path / "out"), "--workers", "2", "--n-features", "1024", "--t-max", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        while not list((tmp_path / "out").glob("*.parquet")) and driver.poll() is None:
            time.sleep(0.02)
        workers = psutil.Process(driver.pid).children(recursive=True)
        driver.kill()
    assert workers
    assert not psutil.wait_procs(workers, timeout=60)[1]
    assert 0 < len(contents(tmp_path / "out")) < len(files)
    plan = pk.scale.partition(files)
    features = pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0)
    pk.featurize(plan, features, tmp_path / "out")
    pk.featurize(plan, features, tmp_path / "expected")
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")
