"""Interrupts, kills and forks while models and features are written: ``python -m benchmarks.disturb``.

Work runs in a fork that is ended by SIGINT, SIGTERM or SIGKILL at a random moment. Then each file is the
one before or the new one, never half of one; the next run gives what an undisturbed run gives. Ctrl-C ends it
within a second, and leaves no unfinished file. Then calls are interrupted in this process, after which it
answers as before, from any thread, with the same limits of BLAS. Last, forks of a process whose threads
compute answer as their parent does. Needs fork; it takes minutes.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import propkernels as pk

PROMPT, PATIENCE = 1.0, 120.0  # seconds within which Ctrl-C must end a run, and any run must end


GRAPHS = pk.datasets.make_molecules(300, random_state=0, mean_nodes=12).graphs


def work(folder: Path) -> None:
    """Write a model several times, a Parquet file, and features part by part."""
    for seed in range(6):
        kernel = pk.PropagationKernel(t_max=4, random_state=seed % 2).fit(GRAPHS)
        pk.save_model(kernel, folder / "model.pk")
    GRAPHS.to_parquet(folder / "g.parquet", row_group_size=20)
    rows = pk.PropagationFeatures(n_features=256, t_max=4, random_state=0)
    pk.scale.featurize(pk.scale.partition(folder / "g.parquet", nodes_per_part=250), rows, folder / "out")


def read(folder: Path, all_parts: bool = True) -> list[Any]:
    """What can be read of that: nothing where there is no file yet; features once all parts are there."""
    found = []
    if (folder / "model.pk").exists():
        found.append(pk.load_model(folder / "model.pk").transform(GRAPHS[:4]).tolist())
    if (folder / "g.parquet").exists():
        found.append(pk.GraphDatabase.from_parquet(folder / "g.parquet").n_nodes)
    if all_parts:
        found.append(pk.scale.open_features(folder / "out").to_scipy().toarray().tolist())
    return found


def start(run: Callable[[], object]) -> int:
    """Run something in a fork, and return the number of the process: it ends with 0, or 130 after Ctrl-C."""
    if child := os.fork():
        return child
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def wait(child: int) -> tuple[int, float]:
    """Wait for a process, or end it when time is up; return how it ended and the seconds that it took."""
    begin, timer = time.monotonic(), threading.Timer(PATIENCE, os.kill, (child, signal.SIGKILL))
    timer.start()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    return os.waitstatus_to_exitcode(status), time.monotonic() - begin


def disturb(folder: Path, expected: list[Any], seconds: float, said: Counter[str]) -> None:
    """End one run, and look at what is left."""
    which = random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
    shutil.rmtree(folder)
    folder.mkdir()
    if random.random() < 0.5:  # over the files of an earlier run
        work(folder)
    child = start(lambda: work(folder))
    time.sleep(random.uniform(0, 1.1 * seconds))
    os.kill(child, which)
    _, took = wait(child)
    took /= max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))  # on a busy machine it only takes long
    if which == signal.SIGINT and took > PROMPT:
        said[f"Ctrl-C takes {took:.1f} s"] += 1
    try:
        read(folder, all_parts=False)
        work(folder)
        if read(folder) != expected:
            said[f"another result after {which.name}"] += 1
    except Exception as error:
        said[f"{type(error).__name__} after {which.name}: {error}"[:160]] += 1
    if which == signal.SIGINT and list(folder.rglob("*.part")):
        said["unfinished files are left after Ctrl-C"] += 1


def interrupt_calls(said: Counter[str], times: int) -> None:
    """Raise KeyboardInterrupt at random moments of calls with threads, by a timer as a terminal does."""
    index, y = pk.GraphIndex(random_state=0, n_jobs=3).fit(GRAPHS), [i % 2 for i in range(40)]
    few = GRAPHS[:40]

    def fit() -> Any:
        return pk.PropagationClassifier(random_state=0, n_jobs=3).fit(few, y).predict_proba(few).tolist()

    kernel = pk.PropagationKernel(t_max=4, random_state=0, n_jobs=3)
    jobs: dict[str, Callable[[], Any]] = {
        "kernel": lambda: kernel.fit_transform(few).tolist(),
        "query": lambda: index.query(few, k=3).ids.tolist(),
        "fit": fit,
    }
    expected = {name: job() for name, job in jobs.items()}
    limits, threads = threadpool_info(), threading.active_count()
    for number in range(times):
        name = random.choice(list(jobs))
        begin, found = time.monotonic(), []
        try:
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            signal.setitimer(signal.ITIMER_REAL, random.expovariate(20) + 1e-4)
            jobs[name]()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            said.update({f"{name} took {time.monotonic() - begin:.0f} s": int(time.monotonic() - begin > 20)})
        except Exception as error:  # numpy may raise another error while it handles an interrupt
            print(f"{name}: {type(error).__name__} instead of KeyboardInterrupt: {error}", flush=True)
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        other = threading.Thread(target=lambda: found.append(jobs[name]()), daemon=True)  # noqa: B023
        other.start()
        while other.is_alive():
            used = time.process_time()
            other.join(PATIENCE)
            if other.is_alive() and time.process_time() - used < 0.1:  # on a busy machine it only takes long
                faulthandler.dump_traceback()
                said[f"{name}: another thread waits for ever, after {number} calls"] += 1
                return
        said.update({f"another result of {name}": int(found != [expected[name]])})
        said.update({"the limit of BLAS stays": int(threadpool_info() != limits)})
    time.sleep(1)
    said.update({"threads are left": max(0, threading.active_count() - threads)})


def fork_while_threads_compute(said: Counter[str], times: int = 20) -> None:
    """A fork has one of its parent's threads, and locks that another held stay locked."""
    index, stop = pk.GraphIndex(random_state=0).fit(GRAPHS), threading.Event()
    expected = index.query(GRAPHS[:5], k=3).ids.tolist()

    def ask() -> None:
        while not stop.is_set():
            index.query(GRAPHS, k=3)

    def answer() -> None:
        if index.query(GRAPHS[:5], k=3).ids.tolist() != expected:
            os._exit(2)

    for _ in range(2):
        threading.Thread(target=ask).start()
    ends = Counter(wait(start(answer))[0] for _ in range(times))
    stop.set()
    said.update({f"a fork ended with {code}": n for code, n in ends.items() if code})


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=100, help="runs that are ended")
    parser.add_argument("--calls", type=int, default=1000, help="calls that are interrupted")
    first, given, said = time.monotonic(), parser.parse_args(), Counter[str]()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "work"
        folder.mkdir()
        work(folder)  # loads modules and compiles
        begin = time.monotonic()
        work(folder)
        expected, seconds = read(folder), time.monotonic() - begin
        for _ in range(given.times):
            disturb(folder, expected, seconds, said)
    print(f"{given.times} runs ended, {time.monotonic() - first:.0f} s: {dict(+said)}", flush=True)
    interrupt_calls(said, given.calls)
    fork_while_threads_compute(said)
    print(f"{given.calls} calls interrupted, 20 forks, {time.monotonic() - first:.0f} s: {dict(+said)}")
    sys.exit(int(bool(+said)))


if __name__ == "__main__":
    main()
