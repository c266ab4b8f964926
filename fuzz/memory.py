"""Processes that run out of memory at random points: ``python -m fuzz.memory --seconds 600``.

Each case is a fork with a little more address space than it has, which then fits, saves, loads, reads or
featurizes. It must succeed or say in one sentence that memory does not suffice: no signal, and no file that
is half written.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.cases import SCRATCH
from fuzz.counts import keep
from propkernels.scale.verifying import DamagedFolderError

PAGE = resource.getpagesize()
PATIENCE = 60.0
ALLOWED = (MemoryError, OSError, ValueError, RuntimeError)  # threads that cannot be started are RuntimeErrors


SIZE = [3000]  # graphs of a case; few while the process is warmed up, which leaves free memory behind


@cache
def made(n: int) -> Any:
    return pk.datasets.make_molecules(n, random_state=0)


def data() -> Any:
    return made(SIZE[0])


@cache
def kernel() -> Any:
    return pk.PropagationKernel(t_max=3, random_state=0).fit(made(3000).graphs)


def save(folder: Path) -> None:
    pk.save_model(kernel(), folder / "model.pk")


def load(folder: Path) -> None:
    pk.load_model(folder / "kept.pk")


def fit(folder: Path) -> None:
    pk.PropagationKernel(t_max=3, random_state=0).fit_transform(data().graphs)


def features(folder: Path) -> None:
    pk.WeisfeilerLehmanFeatures(n_features=2**12).fit_transform(data().graphs)


def parquet(folder: Path) -> None:
    pk.GraphDatabase.from_parquet(folder / "kept.parquet").to_parquet(folder / "g.parquet")


def index(folder: Path) -> None:
    pk.GraphIndex(random_state=0).fit(data().graphs).query(data().graphs[:20], k=5)


def featurize(folder: Path) -> None:
    rows = pk.PropagationFeatures(n_features=2**12, t_max=1, random_state=0)
    pk.featurize(folder / "kept.parquet", rows, folder / "out")


def learn(folder: Path) -> None:
    model = pk.PropagationClassifier(kernel=pk.LabelHistogram(), C=1.0, cv=2, random_state=0)
    model.fit(data().graphs, data().target).predict(data().graphs[:50])


JOBS: dict[str, Callable[[Path], None]] = {
    job.__name__: job for job in (save, load, fit, features, parquet, index, featurize, learn)
}


def virtual_bytes() -> int:
    """Address space of this process."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * PAGE


def attempt(job: str, folder: Path, more: int) -> tuple[str, str]:
    """Run a job in a fork with so many bytes more than it has; how it ended, and what it said."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        text = "?"
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (virtual_bytes() + more, resource.RLIM_INFINITY))
            signal.alarm(int(PATIENCE))
            text = _said(job, folder)
        finally:
            try:
                os.write(write, text.encode("utf-8", "replace")[:2000])
            finally:  # a child that cannot even write must not go on as a second parent
                os._exit(0)
    os.close(write)
    with os.fdopen(read, errors="replace") as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"signal {signal.Signals(os.WTERMSIG(status)).name}", text
    if not text:  # too little memory even to say so
        return "silent", text
    kind, _, text = text.partition("\n")
    return kind, text


def _said(job: str, folder: Path) -> str:
    """Run a job: "right", "refused" or "unclear", and the error on the next line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            JOBS[job](folder)
        return "right\n"
    except ALLOWED as error:
        text = f"{type(error).__name__}: {error}"
        return f"{'unclear' if 'damaged' in text else 'refused'}\n{text}"
    except BaseException as error:
        return f"unclear\n{type(error).__name__}: {error}"


def leftovers(folder: Path) -> str:
    """What is wrong with the files of a folder after a job; empty where nothing is, or parts are missing."""
    unfinished = [path.name for path in folder.rglob("*.part")]
    if unfinished:
        return f"{len(unfinished)} unfinished files are left"
    try:
        if (folder / "model.pk").exists():
            pk.load_model(folder / "model.pk")
        if (folder / "g.parquet").exists():
            pk.GraphDatabase.from_parquet(folder / "g.parquet")
        if (folder / "out/manifest.json").exists():
            pk.verify(folder / "out")
    except DamagedFolderError as error:
        if not all("missing: run again" in problem for problem in error.problems):
            return f"a broken folder is left: {error}"
    except Exception as error:
        return f"a broken file is left: {error}"
    return ""


def warm_up(folder: Path) -> None:
    """Load modules and compile loops on few graphs."""
    SIZE[0] = 40
    folder.mkdir()
    pk.save_model(pk.PropagationKernel(t_max=3, random_state=0).fit(data().graphs), folder / "kept.pk")
    data().graphs.to_parquet(folder / "kept.parquet", target=data().target)
    for job in (load, fit, features, parquet, index, featurize, learn):
        job(folder)
    SIZE[0] = 3000


def run(seconds: float, seed: int) -> dict[str, Any]:
    """Run jobs under random limits for as long as there is time."""
    rng, end = np.random.default_rng(seed), time.monotonic() + seconds
    counts, findings = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(dir=SCRATCH) as root:
        kept = Path(root) / "kept"
        kept.mkdir()
        warm_up(Path(root) / "warm")
        pk.save_model(kernel(), kept / "kept.pk")
        data().graphs.to_parquet(kept / "kept.parquet", target=data().target)
        while time.monotonic() < end:
            name = sorted(JOBS)[int(rng.integers(len(JOBS)))]
            folder = Path(root) / "work"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(kept, folder)
            more = int(2 ** rng.uniform(12, 27))
            kind, text = attempt(name, folder, more)
            counts[f"{name} {kind}"] += 1
            if kind not in ("right", "refused", "silent"):
                findings[f"{name}: {kind} {' '.join(text.split())}"[:160]] += 1
            wrong = leftovers(folder)
            if wrong and kind in ("right", "refused", "unclear"):
                findings[f"{name}: {wrong}"[:160]] += 1
    return {"cases": sum(counts.values()), "counts": dict(sorted(counts.items())), "findings": dict(findings)}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.memory", description=__doc__.split(":")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    counts = run(options.seconds, options.seed)
    print(keep("memory", counts))
    print(json.dumps(counts, indent=1))
    sys.exit(int(bool(counts["findings"])))


if __name__ == "__main__":
    main()
