"""Four threads at once, for as long as is asked: fit, predict, explain, query, add, remove, save and load.

    python -m fuzz.soak --minutes 60

Every answer is compared with that of a single thread before the start; memory and open files are written down
all the while. An index that all threads change is compared in the end with one that was built by one thread.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
import psutil

import propkernels as pk
from fuzz.counts import keep

N_THREADS, N_TASKS, N_GRAPHS = 4, 12, 160
WARM_UP = 0.25  # share of the time after which memory must be flat


def digest(*things: Any) -> str:
    """A fingerprint of arrays, to the bit."""
    summary = hashlib.sha256()
    for thing in things:
        array = np.ascontiguousarray(thing.toarray() if hasattr(thing, "toarray") else thing)
        summary.update(repr((array.dtype.str, array.shape)).encode() + array.tobytes())
    return summary.hexdigest()


class Soak:
    """The shared estimators, the tasks with their expected answers, and what was counted."""

    def __init__(self, folder: str, pause: float) -> None:
        data = pk.datasets.make_molecules(N_GRAPHS, random_state=0, mean_nodes=9)
        self.graphs, self.target, self.folder, self.pause = data.graphs, data.target, Path(folder), pause
        self.kernel = pk.PropagationKernel(t_max=3, random_state=0).fit(self.graphs[:40])
        self.model = pk.PropagationClassifier(t_max=1, C=1.0, random_state=0).fit(
            self.graphs[:40], self.target[:40]
        )
        self.index = pk.GraphIndex(random_state=0).fit(self.graphs[:40])
        whole = pk.PropagationKernel(t_max=5, random_state=0, normalize=True)
        self.similarity = whole.fit_transform(self.graphs)
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.lock, self.stop = Lock(), Event()
        self.expected = {(name, n): task(n) for name, task in self.tasks().items() for n in range(N_TASKS)}

    def tasks(self) -> dict[str, Callable[[int], str]]:
        """Tasks whose answer is a function of a small number."""
        return {
            "fit": self.fit,
            "fit baseline": self.fit_baseline,
            "transform": lambda n: digest(self.kernel.transform(self.some(n))),
            "predict": lambda n: digest(self.model.predict(self.some(n))),
            "explain": lambda n: digest(self.model.explain(self.some(n)[:2]).contributions),
            "save and load": self.save_and_load,
        }

    def some(self, n: int) -> pk.GraphDatabase:
        return self.graphs[n * 9 : n * 9 + 9]

    def fit(self, n: int) -> str:
        features = pk.PropagationFeatures(t_max=2, metric=("tv", "hellinger")[n % 2], random_state=n)
        return digest(features.fit_transform(self.some(n)))

    def fit_baseline(self, n: int) -> str:
        several = (pk.WeisfeilerLehman(t_max=2), pk.ShortestPath(), pk.GraphHopper())
        return digest(several[n % len(several)].fit_transform(self.some(n)))

    def save_and_load(self, n: int) -> str:
        path = self.folder / f"{random.getrandbits(64):x}.pk"
        kernel = pk.PropagationKernel(t_max=1, random_state=n).fit(self.some(n))
        pk.save_model(kernel, path)
        values = pk.load_model(path).transform(self.some(n))
        path.unlink()
        return digest(values)

    def change_index(self, thread: int, generator: random.Random, present: set[int]) -> None:
        """Add or take out a graph of this thread's own, or ask."""
        own = range(40 + thread * 30, 70 + thread * 30)
        number = generator.choice(own)
        if generator.random() < 0.5:
            query = generator.randrange(N_GRAPHS)
            similarities, ids = self.index.query(self.graphs[query], k=5)
            right = np.allclose(similarities, self.similarity[query, ids.astype(int)], rtol=1e-9, atol=1e-12)
            self.check(bool(right and (np.diff(similarities) <= 0).all()), f"query {query}")
            self.count("query")
        elif number in present:
            self.index.remove([number])
            present.discard(number)
            self.count("remove")
        else:
            self.index.add(self.graphs[[number]], ids=[number])
            present.add(number)
            self.count("add")

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def check(self, right: bool, what: str) -> None:
        if not right:
            with self.lock:
                self.wrong.append(what)

    def work(self, thread: int, present: set[int]) -> None:
        """One thread, until it is told to stop."""
        generator, tasks = random.Random(thread), self.tasks()
        while not self.stop.is_set():
            try:
                if generator.random() < 0.5:
                    self.change_index(thread, generator, present)
                else:
                    name, n = generator.choice(list(tasks)), generator.randrange(N_TASKS)
                    self.check(tasks[name](n) == self.expected[name, n], f"{name} {n}")
                    self.count(name)
            except Exception as error:
                self.check(False, f"{type(error).__name__}: {error}")
            time.sleep(self.pause)

    def replay(self, present: list[set[int]]) -> None:
        """The index is that of one thread that added the same graphs."""
        ids = sorted(set(range(40)).union(*present))
        self.check(sorted(self.index.ids_.tolist()) == ids, "ids of the index")
        single = pk.GraphIndex(random_state=0).fit(self.graphs[:40])
        single.add(self.graphs[ids[40:]], ids=ids[40:]) if len(ids) > 40 else None
        found, expected = (index.query(self.graphs, k=len(ids)) for index in (self.index, single))
        self.check(np.array_equal(found.similarities, expected.similarities), "similarities after replay")
        order = [sorted(zip(-s, i, strict=True)) for s, i in zip(*found, strict=True)]
        again = [sorted(zip(-s, i, strict=True)) for s, i in zip(*expected, strict=True)]
        self.check(order == again, "answers after replay")


def run(minutes: float, pause: float) -> dict[str, Any]:
    """Soak, and return what was counted."""
    process, samples = psutil.Process(), []
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(folder, pause)
        present: list[set[int]] = [set() for _ in range(N_THREADS)]
        threads = [Thread(target=soak.work, args=(i, present[i])) for i in range(N_THREADS)]
        begin, files = time.monotonic(), process.num_fds()
        for thread in threads:
            thread.start()
        while time.monotonic() - begin < 60 * minutes:
            time.sleep(min(5.0, minutes * 6))
            memory = process.memory_info().rss / 2**20
            samples.append((time.monotonic() - begin, memory, process.num_fds()))
        soak.stop.set()
        for thread in threads:
            thread.join()
        files_after, left = process.num_fds(), len(os.listdir(folder))
        soak.replay(present)
    steady = [memory for moment, memory, _ in samples if moment > WARM_UP * 60 * minutes]
    third = max(len(steady) // 3, 1)
    before, after = (float(np.median(part)) for part in (steady[:third], steady[-third:]))
    return {
        "minutes": round(minutes, 2),
        "operations": dict(sorted(soak.counts.items())),
        "wrong": soak.wrong[:20],
        "n_wrong": len(soak.wrong),
        "memory_mib": {"first third": round(before, 1), "last third": round(after, 1)},
        "memory_growth_percent": round(100 * (after / before - 1), 2),
        "descriptors": {"before": files, "after": files_after, "most": max(n for *_, n in samples)},
        "files_left": left,
    }


def main() -> None:
    """Run a soak from the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.soak", description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that a thread rests between tasks")
    options = parser.parse_args()
    counts = run(options.minutes, options.pause)
    print(keep("soak", counts))
    for name, value in counts.items():
        print(f"{name}: {value}")
    flat = abs(counts["memory_growth_percent"]) <= 5
    leaks = counts["descriptors"]["after"] > counts["descriptors"]["before"] or counts["files_left"]
    sys.exit(int(bool(counts["n_wrong"] or leaks or not flat)))


if __name__ == "__main__":
    main()
