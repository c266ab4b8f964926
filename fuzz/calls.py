"""Fail the n-th call of the system, for n = 1, 2, ... until a whole run passes: ``python -m fuzz.calls``.

In each run one ``os.write``, ``os.fsync``, ``os.replace``, ``os.open``, ``os.mkdir``, ``mmap`` or ``open``
fails, with a full disk, an input/output error, too many open files or no memory. The run must end with
success or one sentence; what was there before is whole, nothing unfinished is left, and the next run gives
the same bytes.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import errno
import io
import json
import mmap
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import propkernels as pk
from fuzz.cases import INTERNAL, SCRATCH
from fuzz.counts import keep

ERRORS = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.ENOMEM, errno.EACCES)
CALLS: dict[str, tuple[Any, str]] = {
    "os.write": (os, "write"),
    "os.fsync": (os, "fsync"),
    "os.replace": (os, "replace"),
    "os.open": (os, "open"),
    "os.mkdir": (os, "mkdir"),
    "os.fdopen": (os, "fdopen"),
    "mmap.mmap": (mmap, "mmap"),
    "open": (builtins, "open"),
    "io.open": (io, "open"),
}
MOST_CALLS = 400


@dataclass(frozen=True)
class Job:
    """What is done in a folder, and what it leaves there, which is None where nothing is there yet."""

    name: str
    run: Callable[[Path], object]
    read: Callable[[Path], Any]


@cache
def graphs() -> pk.GraphDatabase:
    return pk.datasets.make_molecules(12, random_state=0, mean_nodes=6).graphs


@cache
def model() -> Any:
    return pk.PropagationKernel(t_max=1, random_state=0).fit(graphs())


def features(folder: Path) -> None:
    rows = pk.PropagationFeatures(n_features=64, t_max=1, random_state=0)
    pk.featurize(pk.partition(folder.parent / "graphs.parquet", nodes_per_part=30), rows, folder / "features")


def index(folder: Path) -> None:
    plan = pk.partition(folder.parent / "graphs.parquet", nodes_per_part=30)
    pk.GraphIndex.build(plan, folder / "index", kernel=pk.WeisfeilerLehman(t_max=1))


def query(folder: Path) -> Any:
    return pk.GraphIndex.open(folder.parent / "index").query(graphs()[:2], k=3).ids.tolist()


def whole_bytes(folder: Path) -> Any:
    """All files that are not hidden, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def checkpoint(folder: Path) -> None:
    data = graphs().with_attributes([[float(i)] for i in range(graphs().n_nodes)])
    pk.AttributeKernel(checkpoint=folder / "kernel.npz").fit_transform(data)


def page(folder: Path) -> None:
    pk.audit(graphs()[:8], t_max=0).save(folder / "audit.html")


def jobs() -> list[Job]:
    """What writes or maps files."""
    return [
        Job("save_model", lambda folder: pk.save_model(model(), folder / "model.pk"), read_model),
        Job("to_parquet", lambda folder: graphs().to_parquet(folder / "g.parquet"), read_parquet),
        Job("featurize", features, whole_bytes),
        Job("index", index, whole_bytes),
        Job("query", query, lambda folder: None),
        Job("checkpoint", checkpoint, lambda folder: None),
        Job("page", page, lambda folder: None),
    ]


def read_model(folder: Path) -> Any:
    path = folder / "model.pk"
    return pk.load_model(path).transform(graphs()[:3]).tolist() if path.exists() else None


def read_parquet(folder: Path) -> Any:
    path = folder / "g.parquet"
    return pk.GraphDatabase.from_parquet(path).n_nodes if path.exists() else None


class Failing:
    """A call of the system that fails the n-th time, and counts how often it was made."""

    def __init__(self, real: Any, n: int, number: int, root: Path) -> None:
        self.real, self.n, self.number, self.root, self.made = real, n, number, str(root), 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        target = os.fspath(args[0]) if args and isinstance(args[0], (str, os.PathLike)) else None
        inside = target is None or not os.path.isabs(target) or str(target).startswith(self.root)
        if inside:
            self.made += 1
            if self.made == self.n:
                raise OSError(self.number, os.strerror(self.number), target)
        return self.real(*args, **kwargs)


@contextmanager
def failing(call: str, n: int, number: int, root: Path) -> Iterator[Failing]:
    """Have the n-th of these calls fail that is about files of a folder."""
    module, name = CALLS[call]
    broken = Failing(getattr(module, name), n, number, root)
    with patch.object(module, name, broken):
        yield broken


class Loop:
    """All calls of all jobs, each failing once; what was wrong afterwards."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "work"
        self.counts: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        graphs().to_parquet(root / "graphs.parquet")
        pk.GraphIndex.build(root / "graphs.parquet", root / "index", kernel=pk.WeisfeilerLehman(t_max=1))

    def fresh(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def whole(self, job: Job) -> Any:
        """What an undisturbed run leaves."""
        self.fresh()
        job.run(self.folder)
        return job.read(self.folder)

    def every_call(self, job: Job, call: str, number: int, again: bool) -> None:
        """Fail the first, second, ... of these calls until none is left to fail."""
        expected = self.whole(job)
        for n in range(1, MOST_CALLS):
            if not again:
                self.fresh()
            before = whole_bytes(self.folder)
            with failing(call, n, number, self.root) as broken:
                said = self.outcome(job)
            if broken.made < n:
                return
            self.counts[job.name] += 1
            self.judge(job, f"{job.name}, {call} {n} ({errno.errorcode[number]})", said, before, expected)

    def outcome(self, job: Job) -> BaseException | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                job.run(self.folder)
        except Exception as error:
            return error
        return None

    def judge(self, job: Job, what: str, error: BaseException | None, before: Any, expected: Any) -> None:
        """A sentence or success; nothing half written; the next run is as if nothing had happened."""
        text = str(error)
        if error is not None and not isinstance(error, (OSError, ValueError, MemoryError, RuntimeError)):
            self.findings[f"{what}: {type(error).__name__}: {text}"[:160]] += 1
        elif error is not None and ("damaged" in text or "\n" in text or INTERNAL.search(text)):
            self.findings[f"{what}: {text}"[:200]] += 1
        left = [path.name for path in self.folder.rglob("*.part")]
        if left:
            self.findings[f"{what}: left {len(left)} unfinished files"] += 1
        after = whole_bytes(self.folder)
        if any(
            after.get(name) != data for name, data in before.items() if name in after and before == expected
        ):
            self.findings[f"{what}: changed a whole file"] += 1
        try:
            job.read(self.folder) if not (self.folder / "features").exists() else None
            job.run(self.folder)
            found = job.read(self.folder)
        except Exception as error:
            self.findings[f"{what}: the next run: {type(error).__name__}: {error}"[:200]] += 1
            self.fresh()
            return
        if found != expected:
            self.findings[f"{what}: another result afterwards"] += 1


def run(seconds: float, only: str | None = None) -> dict[str, Any]:
    """Fail every call of every job once with each error, for as long as there is time."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=SCRATCH) as root, contextlib.redirect_stderr(io.StringIO()):
        loop = Loop(Path(root))
        for number in ERRORS:
            for job in jobs():
                for call in CALLS:
                    if time.monotonic() < end and only in (None, job.name):
                        loop.every_call(job, call, number, again=number == errno.EIO)
    return {
        "cases": sum(loop.counts.values()),
        "counts": dict(sorted(loop.counts.items())),
        "findings": dict(loop.findings.most_common()),
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.calls", description=__doc__.split(":")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--only", help="the name of one job")
    options = parser.parse_args()
    counts = run(options.seconds, options.only)
    print(keep("calls", counts))
    print(json.dumps(counts, indent=1))
    sys.exit(int(bool(counts["findings"])))


if __name__ == "__main__":
    main()
