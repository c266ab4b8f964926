"""Runs in which things fail: parts, workers, disks."""

import errno
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

import propkernels as pk
from propkernels.convert.atoms import VIEWS
from propkernels.scale import run_parts as run
from propkernels.scale.executors import DaskEngine, Engine
from propkernels.scale.run_parts import run_parts
from propkernels.scale.verifying import DamagedFolderError

from .conftest import contents


class Inline:
    """An executor that computes at once, and loses what ``fault`` says: an error for (part, try) or None."""

    def __init__(self, fault=lambda first, attempt: None):
        self.fault, self.tries, self.most_waiting = fault, {}, 0

    def submit(self, function, work, part, folder, name):
        attempt = self.tries[part.first] = self.tries.get(part.first, 0) + 1
        future = Future()
        try:
            error = self.fault(part.first, attempt)
            if error is not None:
                raise error
            future.set_result(function(work, part, folder, name))
        except BaseException as error:
            future.set_exception(error)
        return future


@pytest.fixture
def inline(monkeypatch):
    """Executors of this test are engines whose workers are replaced."""

    def make(fault, loses_all=False):
        executor = Inline(fault)
        engine = Engine(executor, False)
        engine.loses_all = loses_all
        monkeypatch.setattr(run, "resolve_executor", lambda given, n_jobs: engine)
        return executor

    return make


@pytest.fixture
def expected(plan, features, tmp_path):
    pk.featurize(plan, features, tmp_path / "expected")
    return contents(tmp_path / "expected")


def test_a_part_that_fails_twice_is_computed(plan, features, expected, inline, tmp_path):
    executor = inline(lambda first, attempt: ValueError("flaky") if attempt < 3 else None)
    pk.featurize(plan, features, tmp_path / "out", executor)
    assert contents(tmp_path / "out") == expected
    assert set(executor.tries.values()) == {3}


def test_a_part_that_fails_three_times_is_named_and_all_others_are_complete(
    plan, features, expected, inline, tmp_path
):
    bad = plan.parts[1]
    executor = inline(lambda first, attempt: ValueError("no such\nluck") if first == bad.first else None)
    with pytest.raises(pk.scale.PartsFailedError) as caught:
        pk.featurize(plan, features, tmp_path / "out", executor)
    assert f"1 of {len(plan)} parts failed" in str(caught.value)
    assert f"part 1 ({bad.path}, rows {bad.first} to {bad.last - 1}): no such luck" in str(caught.value)
    assert caught.value.failures == {1: (bad, "no such luck")}
    assert len(contents(tmp_path / "out")) == len(expected) - 1
    with pytest.raises(ValueError, match=f"1 of {len(plan)} parts .* are missing: run featurize again"):
        pk.open_features(tmp_path / "out")
    pk.featurize(plan, features, tmp_path / "out", inline(lambda first, attempt: None))
    assert contents(tmp_path / "out") == expected


@pytest.mark.slow
@pytest.mark.parametrize("loses_all", [False, True])
@pytest.mark.parametrize("error", [BrokenProcessPool("gone"), CancelledError()])
def test_lost_workers_are_replaced(plan, features, expected, inline, tmp_path, error, loses_all):
    executor = inline(lambda first, attempt: error if attempt < 6 and first < 20 else None, loses_all)
    pk.featurize(plan, features, tmp_path / "out", executor)
    assert contents(tmp_path / "out") == expected


def test_a_part_that_kills_workers_alone_is_given_up(plan, features, inline, tmp_path):
    bad = plan.parts[0]
    executor = inline(lambda first, attempt: BrokenProcessPool() if first == bad.first else None, True)
    with pytest.raises(
        pk.scale.PartsFailedError, match="its worker died 8 times, perhaps out of memory"
    ) as caught:
        pk.featurize(plan, features, tmp_path / "out", executor)
    assert list(caught.value.failures) == [0]
    assert executor.tries[bad.first] == run.MOST_LOSSES + run.MOST_FAILURES


def test_workers_that_never_do_anything_end_the_run(plan, features, inline, tmp_path):
    with pytest.raises(RuntimeError, match='if __name__ == "__main__"'):
        pk.featurize(
            plan, features, tmp_path / "out", inline(lambda first, attempt: BrokenProcessPool(), True)
        )


def test_a_full_disk_ends_the_run_and_resuming_completes_it(plan, features, expected, inline, tmp_path):
    full = OSError(errno.ENOSPC, "No space left on device")
    executor = inline(lambda first, attempt: full if first >= 20 else None)
    with pytest.raises(OSError, match=r"is full \(No space left on device\): .* run again to resume"):
        pk.featurize(plan, features, tmp_path / "out", executor)
    assert 0 < len(contents(tmp_path / "out")) < len(expected)
    assert {name: expected[name] for name in contents(tmp_path / "out") if "json" not in name}.items() <= (
        expected.items()
    )
    pk.featurize(plan, features, tmp_path / "out", inline(lambda first, attempt: None))
    assert contents(tmp_path / "out") == expected


def test_a_full_disk_under_the_manifest_is_an_error_that_names_it(
    plan, features, expected, tmp_path, monkeypatch
):
    real = os.replace

    def replace(source, target, **folders):
        if os.path.basename(target) == "manifest.json":
            raise OSError(errno.ENOSPC, "No space left on device", source)
        real(source, target, **folders)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OSError, match=r"No space left.*manifest\.json"):
        pk.featurize(plan, features, tmp_path / "out")
    monkeypatch.undo()
    pk.featurize(plan, features, tmp_path / "out")
    assert contents(tmp_path / "out") == expected


def test_a_file_that_is_too_large_for_the_disk(plan, features, expected, tmp_path):
    """A real limit on the size of files, in another process."""
    resource = pytest.importorskip("resource")
    pid = os.fork()
    if pid == 0:  # pragma: no cover
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
            pk.featurize(plan, features, tmp_path / "out")
        except OSError as error:
            status = 0 if "run again to resume" in str(error) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert not [path for path in (tmp_path / "out").iterdir() if path.suffix == ".part"]
    pk.featurize(plan, features, tmp_path / "out")
    assert contents(tmp_path / "out") == expected


@pytest.mark.slow
def test_only_a_bounded_number_of_parts_is_in_flight(molecules, features, tmp_path):
    molecules.graphs.to_parquet(tmp_path / "graphs.parquet", row_group_size=1)
    plan = pk.partition(tmp_path / "graphs.parquet", nodes_per_part=1)
    waiting, most = [], []

    class Slow:
        _max_workers = 3

        def submit(self, function, *arguments):
            future = Future()
            waiting.append((future, function, arguments))
            most.append(len(waiting))
            if len(waiting) == 6:
                for one, work, rest in waiting:
                    one.set_result(work(*rest))
                waiting.clear()
            return future

    assert len(plan) == 60
    pk.featurize(plan, features, tmp_path / "out", Slow())
    assert max(most) == 6


class KillsOnce:
    """Work that kills its process the first time it meets the first part."""

    n_jobs = None
    suffix = ".txt"

    def __init__(self, folder):
        self.folder = folder

    def describe(self):
        return {"work": "text"}

    def write(self, part, name, stream):
        mark = os.path.join(self.folder, f"{part.first}")
        if part.first == 0 and not os.path.exists(mark):
            open(mark, "w").close()
            time.sleep(0.05)
            os.kill(os.getpid(), 9)
        stream.write(f"{part.first} {part.last}\n".encode())

    def inspect(self, part, name, path):
        return {"n_graphs": len(part)}


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.parametrize("ours", [True, False])
def test_pools_survive_workers_that_are_killed(plan, tmp_path, ours):
    (tmp_path / "marks").mkdir()
    work = KillsOnce(str(tmp_path / "marks"))
    if ours:
        manifest = run_parts(plan, work, tmp_path / "out", 2)
    else:
        with ProcessPoolExecutor(2) as pool:
            manifest = run_parts(plan, work, tmp_path / "out", pool)
    assert manifest.is_complete
    assert manifest.total("n_graphs") == 60
    texts = [(tmp_path / "out" / receipt.name).read_text() for receipt in manifest.receipts]
    assert texts == [f"{part.first} {part.last}\n" for part in plan]
    assert pk.verify(tmp_path / "out").n_parts == len(plan)


def test_verify_checks_the_bytes_of_any_work(plan, tmp_path):
    (tmp_path / "0").touch()  # the mark of a process that was killed: none is
    manifest = run_parts(plan, KillsOnce(str(tmp_path)), tmp_path / "out")
    assert pk.verify(tmp_path / "out").n_graphs == 60
    path = tmp_path / "out" / manifest.receipts[1].name
    path.write_bytes(path.read_bytes().swapcase()[::-1])
    with pytest.raises(DamagedFolderError, match="has changed since it was written: remove it and run again"):
        pk.verify(tmp_path / "out")


@pytest.mark.slow
def test_dask_survives_workers_that_are_killed(plan, tmp_path, dask_cluster):
    (tmp_path / "marks").mkdir()
    work = KillsOnce(str(tmp_path / "marks"))
    manifest = run_parts(plan, work, tmp_path / "out", dask_cluster)
    assert manifest.is_complete


def children_of(pid):
    """Processes that a process started, and theirs."""
    psutil = pytest.importorskip("psutil")
    return psutil.Process(pid).children(recursive=True)


@pytest.mark.slow
def test_a_killed_driver_takes_its_workers_along_and_is_resumed(database, tmp_path):
    psutil = pytest.importorskip("psutil")
    command = [
        sys.executable,
        "-m",
        "propkernels.cli",
        "featurize",
        str(database),
        "-o",
        str(tmp_path / "out"),
    ]
    command += ["--nodes-per-part", "1", "--workers", "2", "--n-features", "1024", "--t-max", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
        while not list((tmp_path / "out").glob("*.parquet")) and driver.poll() is None:
            time.sleep(0.02)
        workers = children_of(driver.pid)
        driver.kill()
    assert workers
    assert not psutil.wait_procs(workers, timeout=60)[1]
    plan = pk.partition(database, nodes_per_part=1, node_labels=",".join(VIEWS))  # as commands do
    features = pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0)
    pk.featurize(plan, features, tmp_path / "out")
    pk.featurize(plan, features, tmp_path / "expected")
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")
    assert not list((tmp_path / "out").glob(".*.part"))


def test_a_scheduler_that_goes_away_ends_the_run(plan, features, tmp_path):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0", silence_logs=50)
    client = distributed.Client(cluster)
    client.close()
    cluster.close()
    with pytest.raises(ConnectionError, match="the connection to the Dask scheduler was lost: run again"):
        pk.featurize(plan, features, tmp_path / "out", client)
    pk.featurize(plan, features, tmp_path / "out")
    pk.verify(tmp_path / "out")


class NoWorkers:
    """A Dask client whose scheduler has lost all workers, or is closed."""

    def __init__(self, status="running", threads=None):
        self.status, self.threads = status, threads or {}

    def get_executor(self):
        return self

    def submit(self, function, *arguments, pure):
        return Future()

    def nthreads(self):
        return self.threads

    def run(self, *arguments, **options):
        return {}

    def shutdown(self, wait):
        raise ValueError("Client is closed. Can't send cancel-keys message.")


class Uncancellable(Future):
    def cancel(self):
        raise ValueError("Client is closed. Can't send cancel-keys message.")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setenv("PROPKERNELS_WORKER_TIMEOUT", "0.05")


def test_a_cluster_without_workers_is_not_waited_for_forever(plan, features, tmp_path, impatient):
    with pytest.raises(ConnectionError, match=r"no workers for 0\.05 seconds: start some and run again"):
        pk.featurize(plan, features, tmp_path / "out", NoWorkers())


def test_workers_that_compute_are_waited_for(impatient):
    engine = DaskEngine(NoWorkers(threads={"one": 1}), False)
    slow = Future()
    threading.Timer(0.3, slow.set_result, [1]).start()
    assert engine.wait([slow]) == {slow}


@pytest.mark.parametrize("status", ["closed", "closing"])
def test_a_scheduler_that_closes_is_one_sentence(plan, features, tmp_path, impatient, status):
    class Closes(NoWorkers):
        def submit(self, function, *arguments, pure):
            self.status = status
            return Uncancellable()

    with pytest.raises(ConnectionError, match="the connection to the Dask scheduler was lost: run again"):
        pk.featurize(plan, features, tmp_path / "out", Closes())


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["workers", "scheduler"])
def test_a_real_cluster_that_goes_away_meanwhile(plan, tmp_path, loss, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PROPKERNELS_WORKER_TIMEOUT", "1")
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)  # workers of other tests may have left it
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    cluster = distributed.LocalCluster(processes=False, **options)
    client = distributed.Client(cluster)
    work = Leaves(str(tmp_path / "begun"))
    end = {"workers": lambda: cluster.scale(0), "scheduler": cluster.close}[loss]
    watcher = threading.Thread(target=when_there, args=(tmp_path / "begun", end))
    watcher.start()
    with pytest.raises(ConnectionError, match="run again"):
        run_parts(plan, work, tmp_path / "out", client)
    watcher.join()
    client.close()
    cluster.close()


def when_there(path, then):
    while not path.exists():
        time.sleep(0.01)
    then()


class Leaves(KillsOnce):
    """Work that says when it has begun, and takes some time."""

    def write(self, part, name, stream):
        open(self.folder, "w").close()
        time.sleep(0.2)
        stream.write(name.encode())
