"""What is measured on: data sets on this machine, fresh processes, a description without names or paths."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from reproduction.engine.cells import processor, tree

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("propkernels", "numpy", "scipy", "scikit-learn", "grakel")
FILES = {"BRODATZ": "brodatz32", "PLANTS": "plants_demo.mat"}  # sets whose files have other names
Call = Callable[[], Any]


def is_present(name: str) -> bool:
    """Tell whether a data set can be loaded without a network."""
    from propkernels.datasets.dataset import cache_folder, data_folder, find_in

    file = FILES.get(name, name)
    folders = [folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return name == "MOLECULES" or any((at / file).is_file() or find_in(at, file) for at in folders)


@lru_cache(maxsize=4)
def load(name: str) -> Any:
    """Load a data set, or generate it ("MOLECULES")."""
    import propkernels as pk

    if name == "MOLECULES":
        return pk.datasets.make_molecules(200, random_state=0)
    if name in FILES:
        from reproduction.engine.data import load_source

        return load_source(name)
    return pk.datasets.load(name)


def fastest(call: Call, seconds: float, repeats: int = 3) -> tuple[float, float]:
    """Call for about ``seconds``, at least ``repeats`` times; the least clock and processor seconds."""
    clock: list[float] = []
    processor: list[float] = []
    while len(clock) < repeats or sum(clock) < seconds:
        start, used = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    return min(clock), min(processor)


def megabytes(field: str) -> float:
    """Resident memory of this process in 10^6 bytes: now ("VmRSS") or at its peak ("VmHWM")."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024 / 1e6


def child(module: str, *arguments: str, limit: float = 900.0) -> dict[str, Any]:
    """Run a module of the repository in a fresh process; its last line is JSON."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def describe() -> dict[str, Any]:
    """Date, tree, hardware and versions, in plain values."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "tree": tree(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB",
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "load": [round(value, 1) for value in os.getloadavg()],
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def table(columns: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a Markdown table; all columns but the first two are numbers."""
    rule = ["---" if i < 2 else "--:" for i in range(len(columns))]
    return ["| " + " | ".join(line) + " |" for line in [columns, rule, *rows]]


def number(value: float) -> str:
    """Three digits.

    Examples
    --------
    >>> number(0.01234), number(1234.5), number(7.0)
    ('0.0123', '1,230', '7.00')
    """
    rounded = float(f"{value:.3g}")
    digits = max(0, 2 - len(f"{abs(rounded):.0f}") + 1) if abs(rounded) >= 1 else None
    return f"{rounded:.3g}" if digits is None else f"{rounded:,.{digits}f}"
