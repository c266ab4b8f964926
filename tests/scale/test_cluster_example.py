"""examples/cluster: what its files say runs, with this machine in the place of containers."""

import json
import os
import shlex
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import propkernels as pk
from propkernels.convert.atoms import VIEWS

from .conftest import contents

CLUSTER = Path(__file__).parents[2] / "examples" / "cluster"


@pytest.fixture(scope="module")
def services():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((CLUSTER / "compose.yaml").read_text(encoding="utf-8"))["services"]


def end(processes):
    """End processes, all at the same time."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(60)


def started(processes, service, changes, *options):
    """A process that runs the command of a service, listed among the others."""
    words = [changes.get(word, word) for word in shlex.split(service["command"])]
    assert words[0] == "dask"
    words[:1] = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*words, *options], env=os.environ | service.get("environment", {}), **quiet)
    processes.append(process)
    return process


def wait_for_address(path, process):
    """The address that a scheduler writes once it listens."""
    while process.poll() is None:
        if path.exists():
            try:
                return json.loads(path.read_text())["address"]
            except ValueError:  # not yet whole
                pass
        time.sleep(0.05)
    raise AssertionError("the scheduler ended")


def test_services_share_an_image_and_a_folder(services):
    assert set(services) == {"scheduler", "worker", "driver"}
    assert len({service["image"] for service in services.values()}) == 1
    assert {tuple(service["volumes"]) for service in services.values()} == {("./data:/data",)}
    assert "build" in services["scheduler"]
    assert (CLUSTER / "Dockerfile").exists()


@pytest.mark.processes
@pytest.mark.slow
def test_the_commands_of_the_services_featurize(services, database, tmp_path):
    pytest.importorskip("distributed")
    listening = tmp_path / "scheduler.json"
    processes = []
    with ExitStack() as stack:
        stack.callback(end, processes)
        local = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(listening)]
        scheduler = started(processes, services["scheduler"], {"8786": "0"}, *local)
        address = wait_for_address(listening, scheduler)
        for _ in range(2):
            started(processes, services["worker"], {"tcp://scheduler:8786": address}, "--no-dashboard")
        command = [sys.executable, "-m", "propkernels.cli", "featurize", str(database)]
        command += ["-o", str(tmp_path / "out"), "--nodes-per-part", "500", "--n-features", "1024"]
        command += ["--t-max", "2", "--scheduler", address]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
    assert "Wrote" in done.stdout
    features = pk.PropagationFeatures(n_features=1024, t_max=2, random_state=0)
    plan = pk.scale.partition(database, 500, node_labels=",".join(VIEWS))  # as commands do
    pk.featurize(plan, features, tmp_path / "expected")
    assert contents(tmp_path / "out") == contents(tmp_path / "expected")
