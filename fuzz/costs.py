"""Time and memory against size: ``python -m fuzz.costs`` measures how they grow where they should be linear.

Each operation runs on 1, 2, 4, ... times as many graphs or nodes. Memory is the peak that Python and numpy
allocate, time the processor time of this process, best of three; the exponent is that of the last doublings.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import propkernels as pk
from fuzz.cases import SCRATCH
from fuzz.counts import keep

STEEPEST = 1.35  # exponent that still counts as linear: n log n, and sizes that are not large yet
SIZES = (500, 1000, 2000, 4000)


@dataclass(frozen=True)
class Operation:
    """What is measured: how its input of a size is made, and what is done with it."""

    name: str
    given: Callable[[int], Any]
    run: Callable[[Any], object]


@cache
def molecules(n: int) -> pk.GraphDatabase:
    return pk.datasets.make_molecules(n, random_state=0).graphs


@cache
def path(n: int) -> pk.GraphDatabase:
    """One path of ten times n nodes."""
    n = 10 * n
    at = np.arange(n - 1)
    rows, columns = np.concatenate([at, at + 1]), np.concatenate([at + 1, at])
    matrix = sp.csr_array((np.ones(2 * n - 2), (rows, columns)), shape=(n, n))
    return pk.GraphDatabase(matrix, [0, n], np.arange(n) % 3)


@cache
def star(n: int) -> pk.GraphDatabase:
    """One star of ten times n nodes."""
    n = 10 * n
    leaves, center = np.arange(1, n), np.zeros(n - 1, dtype=int)
    ends = np.concatenate([leaves, center]), np.concatenate([center, leaves])
    return pk.GraphDatabase(sp.csr_array((np.ones(2 * n - 2), ends), shape=(n, n)), [0, n], np.arange(n) % 3)


def in_file(work: Callable[[Path, Any], object]) -> Callable[[Any], object]:
    """An operation that writes into a folder of its own."""

    def run(given: Any) -> None:
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            work(Path(folder), given)

    return run


def saved(folder: Path, graphs: Any) -> None:
    pk.save_model(graphs, folder / "graphs.pk")
    pk.load_model(folder / "graphs.pk")


def parquet(folder: Path, graphs: Any) -> None:
    graphs.to_parquet(folder / "g.parquet")
    pk.GraphDatabase.from_parquet(folder / "g.parquet")


def counted(**options: Any) -> Callable[[Any], object]:
    return lambda graphs: pk.PropagationFeatures(n_features=2**14, random_state=0, **options).fit_transform(
        graphs
    )


def refined(graphs: Any) -> object:
    return pk.WeisfeilerLehmanFeatures(n_features=2**14).fit_transform(graphs)


OPERATIONS = (
    Operation("features of molecules", molecules, counted(t_max=3)),
    Operation("features of a path", path, counted(t_max=3)),
    Operation("features of a star", star, counted(t_max=3)),
    Operation("refinement of molecules", molecules, refined),
    Operation("refinement of a star", star, refined),
    Operation("save and load", molecules, in_file(saved)),
    Operation("Parquet there and back", molecules, in_file(parquet)),
    Operation("index", molecules, lambda graphs: pk.GraphIndex(random_state=0).fit(graphs)),
    Operation("novelty", molecules, lambda graphs: pk.NoveltyDetector(random_state=0).fit(graphs)),
    Operation("drawing of a star", star, lambda graphs: graphs[0]._repr_html_()),
    Operation("drawing of graphs", molecules, lambda graphs: graphs._repr_html_()),
    Operation("slices", molecules, lambda graphs: graphs[::2]),
    Operation("SMILES of a chain", lambda n: ["C" * n], lambda texts: pk.from_smiles(texts)),
)


def seconds_of(operation: Operation, size: int) -> float:
    """Processor time, best of three."""
    given, best = operation.given(size), math.inf
    for _ in range(3):
        begin = time.process_time()
        operation.run(given)
        best = min(best, time.process_time() - begin)
    return best


def bytes_of(operation: Operation, size: int) -> int:
    """Peak of the memory that is allocated meanwhile."""
    given = operation.given(size)
    operation.run(given)
    tracemalloc.start()
    try:
        operation.run(given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    """Slope of the costs against the sizes, both as logarithms, between the first and the last.

    Examples
    --------
    >>> round(exponent((1, 2, 4), [3.0, 12.0, 48.0]), 3)
    2.0
    """
    return math.log(max(costs[-1], 1e-9) / max(costs[0], 1e-9)) / math.log(sizes[-1] / sizes[0])


def run(sizes: tuple[int, ...] = SIZES, only: str | None = None) -> dict[str, Any]:
    """Measure all operations, and name those that grow too fast."""
    rows, findings = {}, {}
    for operation in OPERATIONS:
        if only not in (None, operation.name):
            continue
        times = [seconds_of(operation, size) for size in sizes]
        memory = [float(bytes_of(operation, size)) for size in sizes]
        row = {"time": round(exponent(sizes, times), 2), "memory": round(exponent(sizes, memory), 2)}
        rows[operation.name] = {**row, "seconds": round(times[-1], 3), "MB": round(memory[-1] / 1e6, 1)}
        if row["memory"] > STEEPEST or (row["time"] > STEEPEST and times[-1] > 0.05):
            findings[f"{operation.name} grows as {row}"] = 1
    return {"cases": len(rows) * len(sizes) * 2, "sizes": list(sizes), "rows": rows, "findings": findings}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.costs", description=__doc__.split(":")[0])
    parser.add_argument("--only", help="the name of one operation")
    options = parser.parse_args()
    counts = run(only=options.only)
    print(keep("costs", counts))
    print(json.dumps(counts, indent=1))
    sys.exit(int(bool(counts["findings"])))


if __name__ == "__main__":
    main()
