"""How well workers are used: one process, two, and two workers of Dask, on parts of two million nodes."""

from __future__ import annotations

import os
import shutil
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.scale_tools import Row, cluster, estimator, generate, load, row

THEIRS = "with malloc as Dask sets it"
ROUNDS = 3  # of the efficiency of workers, of which the best counts


def efficiency(folder: Path, n_graphs: int) -> Iterator[Row]:
    """Two processes and one, warm."""
    plan = plan_of(folder, n_graphs)
    with ExitStack() as stack:
        engines = {f"{n} processes": warm_pool(n, plan, folder, stack) for n in (1, 2)}
        taken = rounds_of(engines, plan, folder)
    yield from described(taken, plan)
    one, two = map(least, taken.values())
    quiet = f"{one.clock / two.clock:.2f} by the clock ({load()}), "
    quiet += f"{2 * one.processor / two.processor:.2f} by processor time"
    yield row("2 processes over 1", ">= 1.8 on quiet cores", quiet, one.clock / two.clock >= 1.8)


def dask(folder: Path, n_graphs: int) -> Iterator[Row]:
    """Two workers of Dask, set as advised and as they come, and a pool of two processes, all warm."""
    plan = plan_of(folder, n_graphs)
    with ExitStack() as stack:
        # The pool comes first: Dask leaves its settings of malloc in this process, for all that start later.
        pool = warm_pool(2, plan, folder, stack)
        plain, advised = (warm_dask(set_so, plan, folder, stack) for set_so in (False, True))
        engines = {"a pool of 2 processes": pool, "Dask, 2 workers": advised, f"the same, {THEIRS}": plain}
        taken = rounds_of(engines, plan, folder)
        idle = idle_share(advised[1])
    yield from described(taken, plan)
    pool_best, dask_best, plain_best = map(least, taken.values())
    over = f"{dask_best.over(pool_best)} ({load()})"
    yield row("Dask over a pool", "<= 10 %", over, dask_best.clock <= 1.1 * pool_best.clock)
    busy = min(used.processor - idle * used.clock for used in taken["Dask, 2 workers"])
    over = f"{100 * (busy / pool_best.processor - 1):+.0f} % by processor time; an idle worker takes "
    over += f"{500 * idle:.0f} ms per second of the clock"
    yield row("the same without what idle workers of Dask take", "", over)
    yield row(f"Dask {THEIRS}, over a pool", "", plain_best.over(pool_best))


def plan_of(folder: Path, n_graphs: int) -> Any:
    """Four parts of two million nodes."""
    import propkernels as pk

    return pk.scale.partition(generate(folder / "efficiency", min(n_graphs, 320_000), 80_000), 2_100_000)


def rounds_of(engines: dict[str, Any], plan: Any, folder: Path) -> dict[str, list[Usage]]:
    """What the engines take, in turn."""
    taken: dict[str, list[Usage]] = {name: [] for name in engines}
    for _ in range(ROUNDS):
        for name, (executor, pids) in engines.items():
            taken[name].append(timed(plan, folder / "timed", executor, pids))
    return taken


def described(taken: dict[str, list[Usage]], plan: Any) -> Iterator[Row]:
    """A line for each engine."""
    for name, rounds in taken.items():
        yield row(name, "", least(rounds).words(plan.n_nodes))


class Usage(NamedTuple):
    """What a run took: seconds on the clock, seconds of the workers' processors, and their page faults."""

    clock: float
    processor: float
    faults: float

    def words(self, n_nodes: int) -> str:
        """For the table."""
        return (
            f"{self.clock:.1f} s, {self.processor:.1f} s of processors; {n_nodes / self.clock / 1e6:.2f} M "
            f"nodes/s; {self.faults / 1000:,.0f} thousand page faults"
        )

    def over(self, other: Usage) -> str:
        """How much more than another."""
        clock, processor = 100 * (self.clock / other.clock - 1), 100 * (self.processor / other.processor - 1)
        return f"{clock:+.0f} % by the clock, {processor:+.0f} % by processor time"


def least(rounds: list[Usage]) -> Usage:
    """The best of several rounds, each figure for itself."""
    return Usage(*map(min, zip(*rounds, strict=True)))


def warm_dask(advised: bool, plan: Any, folder: Path, stack: ExitStack) -> tuple[Any, list[int]]:
    """A client of two workers that have imported and compiled everything."""
    client = stack.enter_context(stack.enter_context(cluster(2, advised=advised)).get_client())
    timed(plan, folder / "warm", client, [])
    return client, list(client.run(os.getpid).values())


def warm_pool(n_workers: int, plan: Any, folder: Path, stack: ExitStack) -> tuple[Any, list[int]]:
    """A pool all of whose workers have imported and compiled everything."""
    pool = stack.enter_context(ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")))
    timed(plan, folder / "warm", pool, [])
    futures = [pool.submit(pid_of_worker) for _ in range(4 * n_workers)]
    wait(futures)
    return pool, sorted({future.result() for future in futures})


def idle_share(pids: list[int], seconds: float = 10.0) -> float:
    """Processor time that idle workers take per second of the clock, all together."""
    before, start = used_by(pids)[0], time.perf_counter()
    time.sleep(seconds)
    return (used_by(pids)[0] - before) / (time.perf_counter() - start)


def pid_of_worker() -> int:
    time.sleep(0.2)
    return os.getpid()


def timed(plan: Any, out: Path, executor: Any, workers: list[int]) -> Usage:
    """What a run takes on the clock, and its workers."""
    import propkernels as pk

    before, start = used_by(workers), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of workers that are slow on purpose
        pk.featurize(plan, estimator(), out, executor)
    seconds, after = time.perf_counter() - start, used_by(workers)
    shutil.rmtree(out)
    return Usage(seconds, after[0] - before[0], after[1] - before[1])


def used_by(pids: list[int]) -> tuple[float, int]:
    """Processor time and page faults of processes so far."""
    import psutil

    times = [sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids]
    stats = [Path(f"/proc/{pid}/stat") for pid in pids]
    faults = [int(path.read_text().rpartition(")")[2].split()[7]) for path in stats if path.exists()]
    return sum(times), sum(faults)
