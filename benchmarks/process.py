"""Fresh processes: their wall time, what they print as JSON lines, and a time limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Outcome:
    """What a process did: JSON lines, wall and processor time, exit code (None: ended at its limit).

    ``started`` is when, in seconds since the epoch.
    """

    lines: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    processor: float = 0.0
    returncode: int | None = None
    errors: str = ""
    started: float = 0.0


def run_process(command: list[str], limit: float, variables: dict[str, str] | None = None) -> Outcome:
    """Run a command in the repository's root; end it after ``limit`` seconds and keep what it printed."""
    environment = {**os.environ, **(variables or {})}
    began, started, before = time.time(), time.perf_counter(), _children()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=limit, check=False
        )
        printed, errors, returncode = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as expired:
        printed, errors, returncode = expired.stdout or b"", expired.stderr or b"", None
    seconds = time.perf_counter() - started
    processor = _children() - before
    said = errors.decode(errors="replace")
    return Outcome(json_lines(printed), seconds, processor, returncode, said, began)


def _children() -> float:
    """Processor seconds of all processes that were started from here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def run_module(
    module: str, *arguments: str, limit: float, variables: dict[str, str] | None = None
) -> Outcome:
    """Run a module of this package with the same interpreter."""
    return run_process([sys.executable, "-m", module, *arguments], limit, variables)


def succeeded(outcome: Outcome) -> Outcome:
    """Raise where a process failed, with the last line of what it said."""
    if outcome.returncode != 0:
        last = outcome.errors.strip().splitlines()[-1:] or ["no message"]
        raise RuntimeError(f"the process ended with code {outcome.returncode}: {last[0]}")
    return outcome


def json_lines(printed: bytes) -> list[dict[str, Any]]:
    """Read the whole lines that are JSON objects; whatever else was printed is left out."""
    lines = printed.decode(errors="replace").split("\n")[:-1]
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def say(**values: Any) -> None:
    """Print one JSON line, at once: it counts even if the process is ended later."""
    print(json.dumps(values), flush=True)
