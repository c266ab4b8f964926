"""Best of several repeats: timeit takes the times, pytest-benchmark the statistics."""

from __future__ import annotations

import timeit
from collections.abc import Sequence
from contextlib import AbstractContextManager
from time import process_time
from typing import Any

from benchmarks.case import Call, Settings

MOST_REPEATS = 100


def best_of(call: Call, settings: Settings) -> dict[str, Any]:
    """Time a call, after one warm-up call (compiled code loaded, caches filled); seconds, best in "min"."""
    return alternate([call], settings)[0]


def alternate(calls: list[Call], settings: Settings) -> list[dict[str, Any]]:
    """Time several calls in turn, so that noise on the machine meets all of them alike."""
    longest = max(_after_warm_up(call, settings) for call in calls)
    times = [[once(call) for call in calls] for _ in range(rounds(longest, settings))]
    return [statistics(*zip(*column, strict=True)) for column in zip(*times, strict=True)]


def _after_warm_up(call: Call, settings: Settings) -> float:
    """Call twice, since the first may have had to compile; once where that already took very long."""
    seconds = once(call)[0]
    return seconds if seconds > 2 * settings.patience else once(call)[0]


def once(call: Call) -> tuple[float, float]:
    """Seconds on the clock and of all processors together, of a single call."""
    before = process_time()
    seconds = timeit.timeit(call, number=1)
    return seconds, process_time() - before


def rounds(seconds: float, settings: Settings) -> int:
    """Number of repeats for a call that takes this long."""
    wanted = max(settings.repeats, settings.seconds / max(seconds, 1e-9))
    return int(max(1, min(wanted, settings.patience / max(seconds, 1e-9), MOST_REPEATS)))


def statistics(times: Sequence[float], processor: Sequence[float]) -> dict[str, Any]:
    """Smallest, median, spread and number of the times, and the smallest processor time."""
    from pytest_benchmark.stats import Stats

    stats = Stats()
    for seconds in times:
        stats.update(seconds)
    fields = ("min", "median", "mean", "stddev", "max", "rounds")
    return {name: getattr(stats, name) for name in fields} | {"processor": min(processor)}


def limit_threads(threads: int) -> AbstractContextManager[Any]:
    """Give the linear algebra library as many threads as ``n_jobs``."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=threads, user_api="blas")
