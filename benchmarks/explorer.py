"""Time and size of the explorer's page: ``python -m benchmarks.explorer [NCI1 | HIV ...]``.

NCI1 comes from the folder that PROPKERNELS_DATA names, HIV from ``moleculenet.zip`` in it: 41,127 SMILES,
whose reading is counted too. The model is chosen as ``propkernels explore`` does it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import propkernels as pk
from benchmarks.environment import describe
from reproduction.molecules.sets import read_table

AIMS = {"NCI1": (60.0, 8.0), "HIV": (300.0, 40.0)}  # seconds on two cores, and megabytes


def data_of(name: str) -> tuple[Any, Any]:
    """Graphs and classes."""
    if name == "HIV":
        rows = read_table("HIV.csv")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "left empty")
            return pk.from_smiles(rows["smiles"], errors="empty"), rows["HIV_active"].to_numpy()
    data = pk.datasets.load(name)
    return data.graphs, data.target


def measure(name: str, folder: Path) -> str:
    """One row of the table."""
    start, before = time.perf_counter(), time.process_time()
    graphs, target = data_of(name)
    page = folder / f"{name}.html"
    pk.explore(graphs, target, n_jobs=2, random_state=0).save(page)
    took, processors, size = (
        time.perf_counter() - start,
        time.process_time() - before,
        page.stat().st_size / 1e6,
    )
    seconds, megabytes = AIMS[name]
    times = f"{took:8.1f} {seconds:6.0f} {processors:11.1f}"
    return f"{name:5} {len(graphs):7,} {times} {size:6.1f} {megabytes:5.0f}"


def main() -> None:
    """Print a table, one row per data set."""
    parser = argparse.ArgumentParser(description="Time and size of the explorer's page.")
    parser.add_argument("names", nargs="*", default=list(AIMS), metavar="NAME")
    names = parser.parse_args().names
    unknown = [name for name in names if name not in AIMS]
    if unknown:
        parser.error(f"{unknown[0]!r} has no aim: choose among {', '.join(AIMS)}")
    machine = describe()
    print(f"{machine['processor']}, {machine['cores']} cores, load average {os.getloadavg()[0]:.1f}")
    print(f"{'data':5} {'graphs':>7} {'clock, s':>8} {'aim':>6} {'processor s':>11} {'MB':>6} {'aim':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            print(measure(name, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
