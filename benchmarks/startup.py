"""Start-up: fresh processes, files in the page cache; seconds, best of several.

"plain" is without pandas, which the development set installs and scikit-learn then imports. An answer is
judged when it is there; the rest of the process is Python taking itself down.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.case import Result, Settings
from benchmarks.process import Outcome, run_process, succeeded
from benchmarks.timing import statistics

TITLE = "Start-up"
LIMIT = 120.0


@dataclass(frozen=True)
class StartCase:
    """A command to start; with ``answers`` it prints when it has its answer, and that is judged."""

    name: str
    command: tuple[str, ...]
    seconds: float | None = None
    dataset: str | None = None
    answers: bool = False
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
    StartCase("import", (PYTHON, "-c", "import propkernels")),
    StartCase("help", (script(), "--help"), 0.3),
    StartCase("version", (script(), "--version"), 0.3),
    StartCase("import-scikit-learn", (PYTHON, "-c", "import sklearn.base")),
    StartCase("first-call", FIRST_CALL, 1.0, "MUTAG", answers=True),
    StartCase("first-call-plain", (*FIRST_CALL, "plain"), 1.0, "MUTAG", answers=True),
    StartCase("first-call-cold", FIRST_CALL, 10.0, "MUTAG", answers=True, cold=True),
)


def measure(case: StartCase, settings: Settings) -> Iterator[Result]:
    """Start the command several times, once more before (the warm-up) unless it is to be cold."""
    repeats = (1 if settings.quick else 2) if case.cold else 1 + settings.repeats
    outcomes = [_start(case) for _ in range(repeats)][0 if case.cold else 1 :]
    if case.answers:
        seconds = [each.lines[-1]["answered"] - each.started for each in outcomes]
        yield _result(case, "from start to answer", seconds, outcomes)
    whole = _result(case, "whole process", [each.seconds for each in outcomes], outcomes)
    yield replace(whole, target=None) if case.answers else whole


def _result(case: StartCase, part: str, seconds: list[float], outcomes: list[Outcome]) -> Result:
    times = statistics(seconds, [each.processor for each in outcomes])
    result = Result(case.name, "startup", case.dataset, None, "s", times["min"], case.seconds, part=part)
    result.processor, result.details = times["processor"], times
    return result


def _start(case: StartCase) -> Outcome:
    if not case.cold:
        return succeeded(run_process(list(case.command), LIMIT))
    with TemporaryDirectory() as empty:
        return succeeded(run_process(list(case.command), LIMIT, {"NUMBA_CACHE_DIR": empty}))
