"""Peak memory of a fresh process that imports, loads and computes once: megabytes of 10^6 bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks import kernels
from benchmarks.case import Case, Result, Settings
from benchmarks.process import run_module, succeeded

TITLE = "Peak memory"
LIMIT = 600.0
CASES = tuple(
    replace(case, name=f"memory-{case.name}", slow=case.slow or not case.megabytes) for case in kernels.CASES
)


def measure(case: Case, settings: Settings) -> Iterator[Result]:
    """Take the smaller of two runs: the first may have had to compile."""
    for threads in settings.threads:
        runs = [_run(case, threads) for _ in range(2)]
        best = min(runs, key=lambda run: run["peak"])
        note = f"{best['loaded']:.0f} MB after loading, {best['imported']:.0f} MB after import"
        yield Result(
            case.name,
            "memory",
            case.dataset,
            threads,
            "MB",
            best["peak"],
            case.megabytes,
            note=note,
            details=best,
        )


def _run(case: Case, threads: int) -> dict[str, float]:
    name = case.name.removeprefix("memory-")
    return succeeded(run_module("benchmarks.memory_process", name, str(threads), limit=LIMIT)).lines[-1]
