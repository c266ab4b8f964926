"""Start-up: fresh processes, files in the page cache; seconds, best of several.

"plain" is without pandas, which the development set installs and scikit-learn then imports. An answer is
judged when it is there; the rest of the process is Python taking itself down.

``python -m benchmarks.startup WHEEL ...`` installs wheels into fresh environments and prints packages, size
on disk, and processor seconds of the import and of the first kernel; it needs an index of packages.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.case import Result, Settings
from benchmarks.process import Outcome, run_process, succeeded
from benchmarks.timing import statistics

LIMIT, REPEATS = 120.0, 3
PYTHON = sys.executable
FIRST_CALL = """
from time import time
import propkernels as pk
graphs = pk.datasets.load("MUTAG").graphs
kernel = pk.PropagationKernel(t_max=10, random_state=0).fit_transform(graphs)
print(f'{{"answered": {time()}, "graphs": {len(kernel)}}}')
"""
PLAIN = "import sys\nsys.modules['pandas'] = None\n" + FIRST_CALL
SMALL_CALL = """
import propkernels as pk
graphs = pk.datasets.make_molecules(10, random_state=0).graphs
pk.PropagationKernel(random_state=0).fit_transform(graphs)
"""


@dataclass(frozen=True)
class StartCase:
    """A command to start; with ``answers`` it prints when it has its answer, and that is judged."""

    name: str
    command: tuple[str, ...]
    seconds: float | None = None
    dataset: str | None = None
    answers: bool = False
    slow: bool = False


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
    StartCase("first-call", (PYTHON, "-c", FIRST_CALL), 1.0, "MUTAG", answers=True),
    StartCase("first-call-plain", (PYTHON, "-c", PLAIN), 1.0, "MUTAG", answers=True),
)


def measure(case: StartCase, settings: Settings) -> Iterator[Result]:
    """Start the command several times, once more before (the warm-up)."""
    outcomes = [_start(case) for _ in range(1 + settings.repeats)][1:]
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


def _start(case: StartCase, variables: dict[str, str] | None = None) -> Outcome:
    return succeeded(run_process(list(case.command), LIMIT, variables))


def installed(wheel: Path, folder: Path) -> dict[str, Any]:
    """Install a wheel into a fresh environment, and measure it."""
    python = str(folder / "bin" / "python")
    venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel.resolve())], check=True)
    listed = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True)
    packages = [row["name"] for row in json.loads(listed.stdout) if row["name"] not in ("pip", "setuptools")]
    (library,) = folder.glob("lib/python*/site-packages")
    files = [path for path in library.rglob("*") if path.is_file() and "/pip" not in str(path)]
    return {
        "packages": len(packages),
        "megabytes": round(sum(path.stat().st_size for path in files) / 1e6),
        "import, s": _processor([python, "-c", "import propkernels"]),
        "first kernel, s": _processor([python, "-c", SMALL_CALL]),
    }


def _processor(command: list[str]) -> float:
    """Return the least processor seconds of several processes."""
    case = StartCase("", tuple(command))
    return round(min(_start(case, {"PYTHONPATH": ""}).processor for _ in range(REPEATS)), 3)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with TemporaryDirectory() as place:
            print(name, installed(Path(name), Path(place) / "environment"))
