"""Time one of our estimators and a peer's in this process: ``TABLE NAME LIMIT REPEATS OURS``.

Every result is a JSON line, printed at once, so that what was measured before the limit is kept.
"""

from __future__ import annotations

import importlib
import signal
import sys
import warnings
from typing import Any

from benchmarks.case import Call, Settings
from benchmarks.data import load
from benchmarks.process import say
from benchmarks.timing import best_of, limit_threads, once


def main(table: str, name: str, limit: float, repeats: int, ours: int) -> None:
    """Time ours, the peer, and ours again, with so many repeats each."""
    warnings.simplefilter("ignore")  # the peer's: deprecations in numpy
    case = next(case for case in importlib.import_module(table).CASES if case.name == name)
    data = _Part(load(case.dataset).graphs[: case.first])
    settings = Settings(repeats=ours, seconds=1.0)
    peer = case.peer(data.graphs)
    time_ours(case, data, settings)
    theirs = time_peer(peer, limit, repeats)
    time_ours(case, data, settings)
    say(what="agreement", difference=difference(case.ours(data, 1)(), theirs))


class _Part:
    """The first graphs of a data set."""

    def __init__(self, graphs: Any) -> None:
        self.graphs = graphs


def time_ours(case: Any, data: Any, settings: Settings) -> None:
    for threads in settings.threads:
        with limit_threads(threads):
            say(what="ours", threads=threads, **best_of(case.ours(data, threads), settings))


def time_peer(call: Call, limit: float, repeats: int) -> Any:
    """Repeat the peer's call while that fits the limit; each call by itself is ended at the limit."""
    results: list[Any] = []
    spent, last = 0.0, 0.0
    for _ in range(repeats):
        if spent + last > limit:
            break
        _alarm(limit)
        last, processor = once(lambda: results.append(call()))
        _alarm(0)
        spent += last
        say(what="peer", seconds=last, processor=processor)
    return results[-1]


def _alarm(seconds: float) -> None:
    """End this process after so many seconds, whatever it does; without an alarm, the parent does."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def difference(ours: Any, theirs: Any) -> float:
    """Relative difference of two kernel matrices, in Frobenius norm."""
    import numpy as np

    return float(np.linalg.norm(ours - theirs) / np.linalg.norm(theirs))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
