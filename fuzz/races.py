"""Several processes on one folder, with kills, links, forks and limits: ``python -m fuzz.races``.

A writer may be killed at any moment and others go on; a link in an output folder is never written through; a
fork of a process whose threads use an index answers; more files than a process may open are read; a closed
output ends a command with at most one sentence.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from fuzz.calls import whole_bytes
from fuzz.cases import SCRATCH
from fuzz.counts import keep

PATIENCE = 30
FEW_FILES = 40  # descriptors that a process may have where parts outnumber them
COMMANDS = (
    ["datasets"],
    ["info"],
    ["predict", "model.pk", "m.csv"],
    ["similar", "m.csv", "--to", "0", "--format", "csv"],
    ["kernel", "m.csv", "-o", "-"],
    ["audit", "m.csv"],
    ["novelty", "m.csv", "m.csv"],
    ["evaluate", "m.csv", "--kernel", "labels", "--folds", "2"],
)


@cache
def data() -> Any:
    return pk.datasets.make_molecules(60, random_state=0, mean_nodes=8)


def hashed() -> Any:
    return pk.PropagationFeatures(n_features=256, t_max=2, random_state=0)


def featurize(folder: Path) -> None:
    pk.featurize(pk.partition(folder.parent / "graphs.parquet", nodes_per_part=40), hashed(), folder / "out")


def build(folder: Path) -> None:
    plan = pk.partition(folder.parent / "graphs.parquet", nodes_per_part=40)
    pk.GraphIndex.build(plan, folder / "out", kernel=pk.WeisfeilerLehman(t_max=2))


def checkpoint(folder: Path) -> None:
    graphs = data().graphs[:30]
    graphs = graphs.with_attributes(np.linspace(0, 1, graphs.n_nodes))
    values = pk.GraphHopper(attributes="gaussian", checkpoint=folder / "kernel.npz").fit_transform(graphs)
    (folder / f"{os.getpid()}.own").write_bytes(values.tobytes())


def save(folder: Path) -> None:
    for seed in range(4):
        model = pk.PropagationKernel(t_max=2, random_state=seed % 2).fit(data().graphs)
        pk.save_model(model, folder / "model.pk")
        pk.load_model(folder / "model.pk")


JOBS: dict[str, Callable[[Path], None]] = {
    "featurize": featurize,
    "index": build,
    "checkpoint": checkpoint,
    "save_model": save,
}


def in_fork(run: Callable[[], object]) -> int:
    """Start something in a fork, quietly; return its process number. A busy folder ends it with 3."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.alarm(PATIENCE)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        run()
        code = 0
    except BlockingIOError:
        code = 3
    finally:
        os._exit(code)


def ending(child: int) -> int:
    """The exit code of a process, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Races:
    """Scenes with several processes, and what was wrong in them."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.random = root, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        data().graphs.to_parquet(root / "graphs.parquet", target=data().target)
        self.expected = {name: self._whole(name) for name in ("featurize", "index")}
        self._many = 0

    def _whole(self, name: str) -> dict[str, bytes]:
        folder = self.fresh()
        JOBS[name](folder)
        return whole_bytes(folder)

    def fresh(self) -> Path:
        folder = self.root / "work"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def expect(self, scene: str, right: bool, what: str) -> None:
        if not right:
            self.findings[f"{scene}: {what}"[:200]] += 1

    def together(self) -> None:
        """Two or three processes do the same in one folder, and some are killed."""
        name = self.random.choice(sorted(JOBS))
        folder = self.fresh()
        children = [in_fork(lambda: JOBS[name](folder)) for _ in range(self.random.choice((2, 3)))]
        for child in children[: self.random.randint(0, len(children) - 1)]:
            time.sleep(self.random.uniform(0, 0.15))
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        codes = [ending(child) for child in children]
        scene = f"{name} by {len(children)} processes"
        self.counts[f"together {name}"] += 1
        self.expect(scene, set(codes) <= {0, 3, -9}, f"ended with {codes}")
        code = ending(in_fork(lambda: JOBS[name](folder)))
        self.expect(scene, code == 0, f"the next run ends with {code}")
        if name in self.expected:
            self.expect(scene, whole_bytes(folder) == self.expected[name], "other files afterwards")
        if name == "checkpoint":
            results = {path.read_bytes() for path in folder.glob("*.own")}
            self.expect(scene, len(results) == 1, f"{len(results)} different results")
        self.expect(scene, not list(folder.rglob("*.part")), "unfinished files are left")

    def links(self) -> None:
        """Names in an output folder become links to a file outside while a run goes on."""
        name = self.random.choice(("featurize", "index"))
        folder, victim = self.fresh(), self.root / "victim.txt"
        victim.write_bytes(b"precious")
        names = sorted(self.expected[name])
        (folder / "out").mkdir()
        before = self.random.random() < 0.5
        chosen = [".lock", self.random.choice(names).removeprefix("out/")]
        link = folder / "out" / self.random.choice(chosen)
        target = victim if self.random.random() < 0.5 else self.root / "dangling.txt"
        link.parent.mkdir(parents=True, exist_ok=True)
        if before:
            link.symlink_to(target)
        child = in_fork(lambda: JOBS[name](folder))
        end = time.monotonic() + 0.3
        while not before and time.monotonic() < end:
            with suppress(OSError):
                link.symlink_to(target)
            time.sleep(0.001)
        ending(child)
        self.counts[f"links {name}"] += 1
        scene = f"{name} beside the link {link.name.split('.')[-1]}"
        self.expect(scene, victim.read_bytes() == b"precious", "wrote through the link")
        self.expect(scene, not (self.root / "dangling.txt").exists(), "made a file outside")
        with suppress(OSError):
            (self.root / "dangling.txt").unlink()

    def forks(self) -> None:
        """A fork while threads change an index: the child queries, adds and saves."""
        graphs = data().graphs
        index = pk.GraphIndex(random_state=0).fit(graphs[:20])
        for _ in range(3):  # numba's lock is not made for forks: all loops are compiled before
            index.add(graphs[20:22], ids=["x", "y"]).query(graphs[:3], k=3)
            index.remove(["x", "y"])
        stop = threading.Event()

        def change() -> None:
            while not stop.is_set():
                index.add(graphs[20:22], ids=["x", "y"])
                index.query(graphs[:2], k=3)
                index.remove(["x", "y"])

        threads = [threading.Thread(target=change) for _ in range(1)]
        for thread in threads:
            thread.start()
        folder = self.fresh()
        for number in range(6):
            time.sleep(self.random.uniform(0, 0.01))
            self.counts["forks"] += 1

            def use(number: int = number) -> None:
                index.query(graphs[:3], k=2)
                index.add(graphs[30:31], ids=["z"])
                pk.save_model(index, folder / f"{number}.pk")
                pk.load_model(folder / f"{number}.pk").query(graphs[:1], k=2)

            code = ending(in_fork(use))
            self.expect("fork beside threads", code == 0, f"the child ended with {code}")
        stop.set()
        for thread in threads:
            thread.join()

    def many_files(self) -> None:
        """More parts and shards than a process may open."""
        place = self.root / "many"
        plan = pk.partition(self.root / "graphs.parquet", nodes_per_part=4)
        if not place.exists():
            pk.featurize(plan, hashed(), place / "features")
            pk.GraphIndex.build(plan, place / "index", kernel=pk.WeisfeilerLehman(t_max=1))
        jobs: dict[str, Callable[[], object]] = {
            "target": lambda: pk.open_features(place / "features").target,
            "ids": lambda: pk.open_features(place / "features").ids,
            "to_scipy": lambda: pk.open_features(place / "features").to_scipy(),
            "verify": lambda: [
                pk.verify(own) for own in (place / "features", *(place / "index").glob("plan*"))
            ],
            "LinearModel": lambda: pk.LinearModel(max_iter=5).fit(pk.open_features(place / "features")),
            "query": lambda: pk.GraphIndex.open(place / "index").query(data().graphs[:3], k=4),
        }
        name = self.random.choice(sorted(jobs))

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, FEW_FILES))
            jobs[name]()

        self.counts["many files"] += 1
        code = ending(in_fork(limited))
        self.expect(
            "many files", code == 0, f"{name} of {len(plan)} parts with {FEW_FILES} descriptors: {code}"
        )

    def closed_output(self) -> None:
        """A command whose output, or errors, are closed, full or left by their reader."""
        words = self.random.choice(COMMANDS)
        redirect = self.random.choice((">&-", "> /dev/full", "2>&-", ">&- 2>&-", "| true", "<&-"))
        folder = self.fresh()
        lines = ["smiles,y", *(f"{'C' * (i % 4 + 1)}{'ON'[i % 2]},{i % 2}" for i in range(12))]
        (folder / "m.csv").write_text("\n".join(lines) + "\n")
        if "model.pk" in words:
            from fuzz.models import file_of

            (folder / "model.pk").write_bytes(file_of("classifier linear"))
        command = " ".join([sys.executable, "-m", "propkernels.cli", *words, redirect])
        environment = {**os.environ, "PROPKERNELS_DATA": "nothing-here"}
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=120,
            check=False,
        )
        said = run.stderr.decode(errors="replace")
        self.counts["closed output"] += 1
        scene = f"{words[0]} {redirect}"
        self.expect(scene, run.returncode in (0, 1, 120, 141), f"exit code {run.returncode}")
        self.expect(scene, "Traceback" not in said and len(said.splitlines()) <= 4, said[-120:])


def run(seconds: float, seed: int, only: str | None = None) -> dict[str, Any]:
    """Play scenes for as long as there is time."""
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=SCRATCH) as root:
        races = Races(Path(root), seed)
        scenes = {
            "together": races.together,
            "links": races.links,
            "forks": races.forks,
            "many_files": races.many_files,
            "closed_output": races.closed_output,
        }
        names = [only] if only else ["together", "together", "links", "forks", "many_files", "closed_output"]
        for name in JOBS:
            JOBS[name](races.fresh())
        number = 0
        while time.monotonic() < end:
            scenes[names[number % len(names)]]()
            number += 1
    return {
        "cases": sum(races.counts.values()),
        "counts": dict(sorted(races.counts.items())),
        "findings": dict(races.findings.most_common()),
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.races", description=__doc__.split(":")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", help="one scene: together, links, forks, many_files or closed_output")
    options = parser.parse_args()
    counts = run(options.seconds, options.seed, options.only)
    print(keep("races", counts))
    print(json.dumps(counts, indent=1))
    sys.exit(int(bool(counts["findings"])))


if __name__ == "__main__":
    main()
