"""Runtimes beside a peer: GraKeL's kernels and ours on the same graphs, in one process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from reproduction.engine.cells import Cell, Value
from reproduction.engine.jobs import Context, Job, Scope
from reproduction.engine.sections import Section, State

NAME = "peers"
PEER = "grakel"
TIME_LIMIT = 75.0
DATASETS = ("MUTAG", "ENZYMES", "BZR", "PROTEINS", "NCI1")
METHODS = ("PK", "WL", "SP", "GH", "CSM")
NOT_INSTALLED = "GraKeL is not installed: pip install grakel"
COLUMNS = ("data", "method", "ours, s", "GraKeL, s", "GraKeL / ours", "note")


def jobs(scope: Scope) -> list[Job]:
    """One cell per method and data set; each runs in a process of its own, with a time limit."""
    skipped = "" if find_spec(PEER) else NOT_INSTALLED
    return [
        Job((cell(method, dataset),), dataset, work, skipped) for dataset in DATASETS for method in METHODS
    ]


def cell(method: str, dataset: str) -> Cell:
    """Return the cell of a method on a data set."""
    return Cell.of(NAME, method, dataset, peer=PEER)


def work(data: Any, cells: Sequence[Cell], context: Context) -> Iterator[tuple[Cell, Value]]:
    """Yield the seconds of ours and, within the limit, of the peer's, in another process."""
    for one in cells:
        command = [sys.executable, "-m", "benchmarks.grakel_peer", one.row, one.column]
        yield one, {**run_limited(command, TIME_LIMIT), "limit": TIME_LIMIT}


def run_limited(command: list[str], limit: float) -> Value:
    r"""Return what a process prints as JSON lines, until it ends or the limit comes.

    Examples
    --------
    >>> run_limited([sys.executable, "-c", "print('{\"ours\": 1.5}')"], 60)
    {'ours': 1.5}
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        text, fault = done.stdout, done.stderr.strip().splitlines()[-1:] if done.returncode else []
    except subprocess.TimeoutExpired as error:
        text, fault = _text(error.stdout), []
    value: Value = {}
    for line in text.splitlines():
        if line.startswith("{"):
            value |= json.loads(line)
    return value | ({"fault": fault[0]} if fault else {})


def _text(output: Any) -> str:
    return output.decode() if isinstance(output, bytes) else output or ""


def sections(state: State) -> list[Section]:
    """Return the table of ratios."""
    notes = [
        "Both on the same graphs in one process of one thread, converted before the timing; best of three of "
        "ours, one call of GraKeL 0.1's, wall time. PK and WL: 10 iterations; GH: labels (GraKeL: as unit "
        "vectors, linear kernel); CSM: subgraphs of up to 3 nodes, with edge labels where there are some. A "
        "time limit is that of the whole process, a few seconds of loading and of ours included."
    ]
    return [Section("Runtimes vs. GraKeL", COLUMNS, [_row(job.cells[0], state) for job in state.jobs], notes)]


def _row(one: Cell, state: State) -> tuple[str, ...]:
    if one not in state.store:
        return (one.column, one.row, "", "", "", state.reason(one))
    value = state.store[one]
    ours, theirs = value.get("ours"), value.get("theirs")
    cells = [f"{number:.3g}" if number else "" for number in (ours, theirs)]
    if ours and theirs:
        return (one.column, one.row, *cells, f"{theirs / ours:,.0f}", value.get("agreement", ""))
    reason = value.get("fault") or f"GraKeL did not finish within {value['limit']:g} s"
    least = f"> {value['limit'] / ours:,.0f}" if ours and "fault" not in value else ""
    return (one.column, one.row, *cells, least, reason)
