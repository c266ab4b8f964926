"""Processor time of commands on which people wait: ``python -m benchmarks.command_line``.

Every command runs in a separate process, with its output in a pipe. Latencies of single graphs are measured
in this process, after loading the model.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import propkernels as pk
from propkernels._utils.text_tables import format_table
from propkernels.datasets import Dataset
from propkernels.datasets.sources import save_source

SIZE = 344  # graphs of PTC_MR, a set on which new users try 'evaluate'
QUERIES = 300


def sample(n_graphs: int) -> Dataset:
    """Return graphs of NCI1, or generated ones where it is not in the data folder."""
    place = {info.name: info.where for info in pk.datasets.list_datasets()}
    if place["NCI1"] == "download":
        return pk.datasets.make_molecules(n_graphs, random_state=0)
    return pk.datasets.load("NCI1").sample(n_graphs, 0)


def run(*words: object) -> tuple[float, float, float]:
    """Return processor seconds, seconds, and seconds until the first line of a command."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "propkernels.cli", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        rows: list[float] = []
        for line in process.stdout:
            if line.startswith((b"LABELS", b"chosen", b"id,")):
                rows.append(time.perf_counter() - start)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    took = time.perf_counter() - start
    return usage.ru_utime + usage.ru_stime, took, rows[0] if rows else took


def latencies(model: pk.PropagationClassifier, graphs: pk.GraphDatabase) -> tuple[float, float]:
    """Return median and 99th percentile of predict_proba for one graph, in milliseconds."""
    ones = [graphs[[i % len(graphs)]] for i in range(QUERIES)]
    for graph in ones[:20]:
        model.predict_proba(graph)
    times = []
    for graph in ones:
        start = time.perf_counter()
        model.predict_proba(graph)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times)), float(np.percentile(times, 99))


def commands(folder: Path) -> dict[str, Callable[[], tuple[float, float, float]]]:
    """Return the measured commands by name."""
    data = folder / "graphs.parquet"
    save_source(sample(SIZE), data)
    model = folder / "model.pk"
    return {
        f"fit, {SIZE} graphs, one job": lambda: run("fit", data, "-o", model, "-j", 1, "--force"),
        f"fit, {SIZE} graphs, all jobs": lambda: run("fit", data, "-o", model, "--force"),
        f"evaluate, {SIZE} graphs": lambda: run("evaluate", data),
        f"predict, {SIZE} graphs": lambda: run("predict", model, data),
    }


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--novelty", type=int, default=0, help="Also fit a NoveltyDetector to N graphs.")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, measure in commands(folder).items():
            rows.append([name, *(f"{value:.1f}" for value in measure())])
        model = pk.load_model(folder / "model.pk")
        median, late = latencies(model, pk.GraphDatabase.from_parquet(folder / "graphs.parquet"))
    print(format_table(["command", "processor s", "s", "first row after s"], rows, left=["command"]))
    print(f"\npredict_proba of one graph: median {median:.1f} ms, 99th percentile {late:.1f} ms")
    if options.novelty:
        graphs = pk.datasets.make_molecules(options.novelty, random_state=0).graphs
        start, used = time.perf_counter(), time.process_time()
        pk.NoveltyDetector(random_state=0).fit(graphs)
        took, used = time.perf_counter() - start, time.process_time() - used
        print(
            f"NoveltyDetector on {options.novelty:,} graphs: {took:.1f} s, {used:.1f} processor s, "
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB of memory"
        )


if __name__ == "__main__":
    main()
