"""Start-up: fresh processes, files in the page cache; seconds, best of several.

"plain" is without pandas, which the development set installs and scikit-learn then imports.
"""

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
    """A command to start; with ``inside``, the seconds that it prints itself are judged as well."""

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
    StartCase("import-scikit-learn", (PYTHON, "-c", "import sklearn.base"), issue=9),
    StartCase("first-call", FIRST_CALL, 1.0, 2, "MUTAG", inside=True),
    StartCase("first-call-plain", (*FIRST_CALL, "plain"), 1.0, 2, "MUTAG", inside=True),
    StartCase("first-call-cold", FIRST_CALL, 10.0, 9, "MUTAG", inside=True, cold=True),
)


def measure(case: StartCase, settings: Settings) -> Iterator[Result]:
    """Start the command several times, once more before (the warm-up) unless it is to be cold."""
    repeats = (1 if settings.quick else 2) if case.cold else 1 + settings.repeats
    outcomes = [_start(case) for _ in range(repeats)][0 if case.cold else 1 :]
    if case.inside:
        yield _result(
            case, "from import to result", [each.lines[-1]["seconds"] for each in outcomes], outcomes
        )
    yield _result(case, "whole process", [each.seconds for each in outcomes], outcomes)


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
