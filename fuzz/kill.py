"""Processes that are ended at random moments of writing: ``python -m fuzz.kill --kills 500``.

Each job runs in a fork and is ended by SIGKILL, SIGTERM or SIGINT. Then what it wrote is read: a file is the
one before, or the new one, never half of one. The job runs once more, whole: its results are those of a run
that nobody disturbed, and no temporary file is left.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

import propkernels as pk
from fuzz.counts import keep
from fuzz.files import TU, tu_zip
from propkernels.kernels import tiles

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PROMPT = 1.0  # seconds within which Ctrl-C must end a program


@dataclass(frozen=True)
class Job:
    """What runs in the fork, and what can be read of it afterwards: None where there is nothing yet."""

    name: str
    run: Callable[[Path], object]
    read: Callable[[Path], Any]


@cache
def graphs(seed: int) -> Any:
    return pk.datasets.make_molecules(60, random_state=seed, mean_nodes=12).graphs


def save_model(folder: Path) -> None:
    for seed in range(6):
        kernel = pk.PropagationKernel(t_max=4, random_state=seed % 2).fit(graphs(0))
        pk.save_model(kernel, folder / "model.pk")


def read_model(folder: Path) -> Any:
    path = folder / "model.pk"
    return pk.load_model(path).transform(graphs(1)[:4]).tolist() if path.exists() else None


def save_index(folder: Path) -> None:
    index = pk.GraphIndex(random_state=0).fit(graphs(0)[:30])
    for i in range(30, 40):
        index.add(graphs(0)[[i]])
        pk.save_model(index, folder / "index.pk")


def read_index(folder: Path) -> Any:
    path = folder / "index.pk"
    return len(pk.load_model(path).query(graphs(0)[:3], k=40).ids[0]) if path.exists() else None


def checkpoint(folder: Path) -> Any:
    data = graphs(0)
    data = data.with_attributes(np.linspace(0, 1, data.n_nodes))
    tiles.SAVE_EVERY, tiles.NODES_IN_TILE = 0.0, 60
    kernel = pk.GraphHopper(attributes="gaussian", checkpoint=folder / "kernel.npz").fit_transform(data)
    np.save(folder / "result.npy", kernel)


def read_checkpoint(folder: Path) -> Any:
    """A checkpoint is never believed where it is not whole: it opens, or is not there."""
    path = folder / "kernel.npz"
    if path.exists():
        with np.load(path) as file:
            assert set(file.files) == {"format", "values", "done", "fingerprint"}
            assert file["values"].ndim == 3
    try:
        return np.load(folder / "result.npy").tolist()
    except (OSError, ValueError, EOFError):  # this file is the harness's own, and written without care
        return None


def command(*words: str) -> Callable[[Path], object]:
    """A command line, with {} for the folder."""

    def run(folder: Path) -> object:
        from propkernels.cli.app import app

        sys.argv = ["propkernels", *(word.format(folder) for word in words)]
        return app(prog_name="propkernels")

    return run


def read_archive(folder: Path) -> Any:
    path = folder / "K.npz"
    if not path.exists():
        return None
    with np.load(path) as file:
        return {name: file[name].tolist() for name in file.files}


def read_fitted(folder: Path) -> Any:
    path = folder / "fitted.pk"
    if not path.exists():
        return None
    with ZipFile(path) as archive:
        assert archive.testzip() is None
    return pk.load_model(path).predict(graphs(1)[:5]).tolist()


def reproduce(folder: Path) -> None:
    from reproduction.__main__ import reproduce

    reproduce(["datasets"], dataset=["MUTAG"], output=folder / "results", jobs=1)


def read_reproduction(folder: Path) -> Any:
    """Values and tables; the seconds that a cell took are those of the run that computed it, and differ."""
    values = {p.name: json.loads(p.read_text())["value"] for p in sorted(folder.rglob("results/*/*.json"))}
    values = {name: {k: v for k, v in value.items() if k != "seconds"} for name, value in values.items()}
    tables = {p.name: p.read_text() for p in sorted(folder.rglob("results/*.csv"))}
    return {"values": values, "tables": tables} if tables else None


def jobs(data: Path) -> list[Job]:
    zipped = str(data)
    common = ("--t-max", "3", "--jobs", "1")
    found = [
        Job("save a model", save_model, read_model),
        Job("save an index", save_index, read_index),
        Job("checkpoint", checkpoint, read_checkpoint),
        Job("kernel -o", command("kernel", zipped, "-o", "{}/K.npz", "--force", *common), read_archive),
        Job("fit", command("fit", zipped, "-o", "{}/fitted.pk", "--force", "--jobs", "1"), read_fitted),
        Job(
            "evaluate",
            command("evaluate", zipped, "--kernel", "weisfeiler-lehman", "--folds", "3", *common),
            lambda folder: "nothing",
        ),
    ]
    if os.environ.get("PROPKERNELS_DATA"):
        found.append(Job("python -m reproduction", reproduce, read_reproduction))
    return found


def data_set(path: Path, copies: int = 20) -> None:
    """Write a small data set in the TU layout: the tiny one many times, and a target that can be learned."""
    sizes, tables = 6, dict.fromkeys(("A", "graph_indicator", "graph_labels", "node_labels"), "")
    for i in range(copies):
        for line in TU["A"].splitlines():
            tables["A"] += ", ".join(str(int(word) + i * sizes) for word in line.split(",")) + "\n"
        tables["graph_indicator"] += "".join(f"{int(w) + 2 * i}\n" for w in TU["graph_indicator"].split())
        tables["graph_labels"] += TU["graph_labels"]
        tables["node_labels"] += TU["node_labels"]
    path.write_bytes(tu_zip({kind: text.encode() for kind, text in tables.items()}))


def ending(run: Callable[[], object]) -> int:
    """Run something and return the exit code that a program would end with."""
    try:
        run()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def warm_up(job: Job, folder: Path) -> None:
    """Run a job here, so that forks need not load modules nor compile; a command may end as it likes."""
    folder.mkdir()
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        ending(lambda: job.run(folder))
    job.read(folder)
    shutil.rmtree(folder)


def start(job: Job, folder: Path) -> int:
    """Run a job in a fork, with its output in files; return the number of the process."""
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 1
    try:
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(folder.parent / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        with open(1, "w", closefd=False) as sys.stdout, open(2, "w", closefd=False) as sys.stderr:
            code = ending(lambda: job.run(folder))
    finally:
        os._exit(code)


def wait(child: int, limit: float) -> tuple[int, float]:
    """Wait for a process, or end it when the time is up; return its exit code and the time it took."""
    begin = time.monotonic()
    while time.monotonic() - begin < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), time.monotonic() - begin
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -99, limit


def temporary(folder: Path) -> list[str]:
    """Files that are there only while another one is written."""
    return [
        path.name for path in folder.rglob("*") if path.name.endswith((".part", ".tmp")) or "tmp" in path.name
    ]


class Harness:
    """Runs jobs and kills them; counts what was right and writes down what was not."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.generator = root, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.slowest = 0.0

    def whole(self, job: Job) -> tuple[Any, float]:
        """What an undisturbed run gives, and how long it takes the second time."""
        warm_up(job, self.root / "warm")
        folder = self.fresh()
        for _ in range(2):
            code, seconds = wait(start(job, folder), 300.0)
            if code:
                raise SystemExit(f"{job.name} fails undisturbed: {(self.root / 'stderr').read_text()}")
        return job.read(folder), seconds

    def fresh(self) -> Path:
        folder = self.root / "work"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def kill(self, job: Job, expected: Any, seconds: float) -> None:
        """One kill, and all that must hold afterwards."""
        folder = self.fresh()
        if self.generator.random() < 0.5:  # over the results of an earlier run, or in an empty folder
            wait(start(job, folder), 120.0)
        which = self.generator.choice(SIGNALS)
        child = start(job, folder)
        time.sleep(self.generator.uniform(0, 1.1 * seconds))
        if os.waitpid(child, os.WNOHANG)[0]:
            self.counts["ended before"] += 1
        else:
            os.kill(child, which)
            code, took = wait(child, 20.0)
            self.counts[f"{job.name} {which.name}"] += 1
            if which == signal.SIGINT:
                self.slowest = max(self.slowest, took)
                self.after_interrupt(job, code, took)
        self.readable(job, folder, expected)
        code, _ = wait(start(job, folder), 120.0)
        if code:
            self.findings[f"{job.name}: the next run after {which.name} ends with {code}"] += 1
        elif job.read(folder) != expected:
            self.findings[f"{job.name}: another result after {which.name}"] += 1
        if temporary(folder):
            self.findings[f"{job.name}: temporary files are left after the next run"] += 1

    def after_interrupt(self, job: Job, code: int, took: float) -> None:
        said = (self.root / "stderr").read_text()
        if "Traceback" in said:
            self.findings[f"{job.name}: Ctrl-C shows a traceback: {said.splitlines()[-1][:80]}"] += 1
        if took > PROMPT:
            self.findings[f"{job.name}: Ctrl-C takes more than {PROMPT:.0f} s"] += 1

    def readable(self, job: Job, folder: Path, expected: Any) -> None:
        try:
            job.read(folder)
        except Exception as error:
            self.findings[f"{job.name}: a broken file is left: {type(error).__name__}: {error}"[:160]] += 1


def run(kills: int, seed: int, only: str | None, seconds: float) -> dict[str, Any]:
    """Kill so many processes, or as many as there is time for, and return what was counted."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as root:
        data_set(Path(root) / "SMALL.zip")
        harness = Harness(Path(root), seed)
        chosen = [job for job in jobs(Path(root) / "SMALL.zip") if only in (None, job.name)]
        expected = {job.name: harness.whole(job) for job in chosen}
        for number in range(10 * kills):
            job = chosen[number % len(chosen)]
            harness.kill(job, *expected[job.name])
            n_kills = sum(harness.counts.values()) - harness.counts["ended before"]
            if n_kills >= kills or time.monotonic() > end:
                break
    return {
        "kills": n_kills,
        "counts": dict(sorted(harness.counts.items())),
        "findings": dict(harness.findings.most_common()),
        "slowest_interrupt_seconds": round(harness.slowest, 2),
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.kill", description=__doc__.split(":")[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the name of one job")
    options = parser.parse_args()
    counts = run(options.kills, options.seed, options.only, options.seconds)
    print(keep("kill", counts))
    print(json.dumps(counts, indent=1))
    sys.exit(int(bool(counts["findings"])))


if __name__ == "__main__":
    main()
