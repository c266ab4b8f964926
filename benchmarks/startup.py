"""Start-up: fresh processes, files in the page cache; seconds, best of several."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.case import Result, Settings
from benchmarks.process import Outcome, run_process, succeeded
from benchmarks.timing import statistics

TITLE = "Start-up"
LIMIT = 120.0


@dataclass(frozen=True)
class StartCase:
    """A command to start; ``inside`` takes the seconds that it prints itself instead of its wall time."""

    name: str
    command: tuple[str, ...]
    seconds: float | None = None
    issue: int | None = None
    dataset: str | None = None
    inside: bool = False
    cold: bool = False  # with an empty cache of compiled code
    needs: str | None = None
    slow: bool = False


PYTHON = sys.executable
FIRST_CALL = (PYTHON, "-m", "benchmarks.first_call", "MUTAG")


def script() -> str:
    """The installed command ``propkernels`` of this interpreter."""
    beside = Path(sysconfig.get_path("scripts")) / "propkernels"
    return str(beside) if beside.exists() else shutil.which("propkernels") or "propkernels"


CASES = (
    StartCase("interpreter", (PYTHON, "-c", "pass")),
    StartCase("import", (PYTHON, "-c", "import propkernels"), issue=9),
    StartCase("help", (script(), "--help"), 0.3, 2),
    StartCase("version", (script(), "--version"), 0.3, 2),
    StartCase("first-call", FIRST_CALL, 1.0, 2, "MUTAG", inside=True),
    StartCase("first-call-process", FIRST_CALL, 1.0, 2, "MUTAG"),
    StartCase("first-call-cold", FIRST_CALL, 10.0, 9, "MUTAG", inside=True, cold=True),
)


def measure(case: StartCase, settings: Settings) -> Iterator[Result]:
    """Start the command several times, once more before (the warm-up) unless it is to be cold."""
    repeats = (1 if settings.quick else 2) if case.cold else 1 + max(settings.repeats, 5)
    outcomes = [_start(case) for _ in range(repeats)][0 if case.cold else 1 :]
    times = statistics([_seconds(case, each) for each in outcomes], [each.processor for each in outcomes])
    yield Result(
        case.name,
        "startup",
        case.dataset,
        None,
        "s",
        times["min"],
        case.seconds,
        processor=times["processor"],
        details=times,
    )


def _start(case: StartCase) -> Outcome:
    if not case.cold:
        return succeeded(run_process(list(case.command), LIMIT))
    with TemporaryDirectory() as empty:
        return succeeded(run_process(list(case.command), LIMIT, {"NUMBA_CACHE_DIR": empty}))


def _seconds(case: StartCase, outcome: Outcome) -> float:
    return outcome.lines[-1]["seconds"] if case.inside else outcome.seconds
