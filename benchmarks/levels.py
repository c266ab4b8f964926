"""The intersection's kernel matrix beside the linear one's: python -m benchmarks.levels.

Both are timed in turn in one process; the best of several is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any

from benchmarks.data import load

REPEATS = 5
AIM = 2.5


def best_in_turn(*calls: Callable[[], Any]) -> list[float]:
    """Processor seconds of the best of several runs of each call, one after the other."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(REPEATS):
        for own, call in zip(times, calls, strict=True):
            start = process_time()
            call()
            own.append(process_time() - start)
    return [min(own) for own in times]


def main(names: list[str]) -> None:
    """Print one line per data set."""
    from propkernels import PropagationKernel
    from propkernels.counts.base_kernels import Intersection, Linear

    for name in names:
        counts = PropagationKernel(random_state=0).fit(load(name).graphs)._counts
        linear, intersection = Linear(), Intersection()
        linear.square(counts, None), intersection.square(counts, None)  # compiled before they are timed
        times = best_in_turn(lambda: linear.square(counts, None), lambda: intersection.square(counts, None))  # noqa: B023
        ratio = times[1] / times[0]
        print(
            f"{name}: linear {times[0]:.3f} s, intersection {times[1]:.3f} s, ratio {ratio:.2f} (aim {AIM})"
        )


if __name__ == "__main__":
    main(sys.argv[1:] or ["NCI1", "DD"])
