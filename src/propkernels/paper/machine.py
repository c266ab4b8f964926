"""What a result was computed on."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any

from joblib import effective_n_jobs

from propkernels._version import __version__


def machine_of(n_jobs: int | None) -> dict[str, Any]:
    """Processor, threads and version."""
    return {
        "processor": processor(),
        "threads": int(effective_n_jobs(n_jobs)),
        "propkernels": __version__,
    }


@cache
def processor() -> str:
    """Name of the processor, as the system tells it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
