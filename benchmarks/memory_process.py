"""Run one case of benchmarks.kernels and print the process's peak memory: ``memory_process NAME THREADS``."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.process import say

STATUS = Path("/proc/self/status")


def peak_megabytes() -> float:
    """Largest resident set so far.

    VmHWM, where there is one: the peak that getrusage reports on Linux starts with that of the parent.
    """
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def main(name: str, threads: int) -> None:
    """Import, load, compute; print the peak after each."""
    from benchmarks.data import load
    from benchmarks.kernels import CASES
    from benchmarks.timing import limit_threads

    case = next(case for case in CASES if case.name == name)
    import propkernels.kernels  # noqa: F401

    imported = peak_megabytes()
    data = load(case.dataset)
    loaded = peak_megabytes()
    with limit_threads(threads):
        result = case.prepare(data, threads)()
    say(imported=imported, loaded=loaded, peak=peak_megabytes(), shape=list(result.shape))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
