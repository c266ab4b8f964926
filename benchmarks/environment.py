"""What was measured on: hardware, versions, threads, load and date; no names or paths of the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.process import ROOT

PACKAGES = (
    "propkernels",
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "grakel",
    "graphkit-learn",
    "pytest-benchmark",
)
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def describe() -> dict[str, Any]:
    """All of it, in plain values for the JSON."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory": memory(),
        "system": f"{platform.system()} {platform.machine()}, {platform.python_implementation()} "
        f"{platform.python_version()}",
        "packages": {name: installed(name) for name in PACKAGES},
        "revision": revision(),
        "thread variables": {name: os.environ.get(name, "not set") for name in VARIABLES},
        "linear algebra": linear_algebra(),
        "load average": load_average(),
    }


def processor() -> str:
    """Name of the processor, by pytest-benchmark's own means."""
    from pytest_benchmark.plugin import get_cpu_info

    return str(get_cpu_info().get("brand_raw") or platform.processor() or "unknown")


def memory() -> str:
    import psutil

    return f"{psutil.virtual_memory().total / 1e9:.0f} GB"


def installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def revision() -> str:
    """Commit that was measured, and whether files of the package differ from it."""
    try:
        commit, changed = _git("rev-parse", "--short", "HEAD"), _git("status", "--porcelain", "src")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + (" and uncommitted changes" if changed else "")


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def linear_algebra() -> list[str]:
    """Libraries behind numpy and scipy, with their own number of threads."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    return [f"{e['internal_api']} {e['version']}, {e['num_threads']} threads" for e in threadpool_info()]


def load_average() -> list[float]:
    """Over 1, 5 and 15 minutes; empty where the system has none."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else []
