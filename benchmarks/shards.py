"""An index of millions of graphs on the disk: its size, and the time of exact queries on one core.

``python -m benchmarks.shards --graphs 10000000 --folder FOLDER`` generates molecule-like graphs (Parquet),
builds the index (0.55 GB per million graphs) and queries it; whatever is there already is used again.
``--write`` keeps the figures in docs/measured/results/shards.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.environment import describe
from benchmarks.pages import put
from benchmarks.process import ROOT

RESULTS = ROOT / "docs" / "measured" / "results" / "shards.json"
PER_FILE = 100_000
NODES_PER_SHARD = 2_600_000  # a file is a shard
N_QUERIES, K = 20, 10
QUERY_SEED = 10**6  # no file of graphs has it


def generate(folder: Path, n_graphs: int) -> Path:
    """Write molecule-like graphs to files; those that are there are kept."""
    import propkernels as pk

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(-(-n_graphs // PER_FILE)):
        path = folder / f"graphs{number:05}.parquet"
        if not path.exists():
            n = min(PER_FILE, n_graphs - number * PER_FILE)
            pk.datasets.make_molecules(n, random_state=number).graphs.to_parquet(path)
    return folder


def queries() -> Any:
    import propkernels as pk

    return pk.datasets.make_molecules(N_QUERIES, random_state=QUERY_SEED).graphs


def forget(paths: Iterable[Path]) -> bool:
    """Let the system drop what it keeps of files in memory, where it can."""
    if not hasattr(os, "posix_fadvise"):
        return False
    for path in paths:
        with path.open("rb") as stream:
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


def times_of(folder: Path, cold: bool) -> dict[str, list[float]]:
    """Seconds on the clock, and of the processor, of queries on one core; ``cold``: each from the disk."""
    import propkernels as pk

    index = pk.GraphIndex.open(folder)
    for graph in queries()[:1] if cold else queries():  # compiled loops are loaded, and files if need be
        index.query(graph)
    times: dict[str, list[float]] = {"clock": [], "processor": []}
    for graph in queries():
        if cold:
            files = [shard.path for shard, _, _ in index._file.shards]
            index = pk.GraphIndex.open(folder)  # lets go of the mapping
            forget(files)
        clock, processor = time.perf_counter(), time.process_time()
        index.query(graph, k=K)
        times["clock"].append(time.perf_counter() - clock)
        times["processor"].append(time.process_time() - processor)
    return times


def is_exact(folder: Path, graphs: Path) -> bool:
    """Whether the graphs of the first file have the similarities, to the bit, that they have in memory."""
    import numpy as np

    import propkernels as pk
    from propkernels.convert.parquet import from_parquet

    first = from_parquet(min(graphs.iterdir()))
    memory = pk.GraphIndex(random_state=0).fit(first)
    index = pk.GraphIndex.open(folder)
    for graph in queries()[:3]:
        reference, similarities = memory.query(graph, k=len(first)), np.full(len(first), np.nan)
        expected = np.empty(len(first))
        expected[reference.ids] = reference.similarities
        found = index.query(graph, k=1000)
        known = found.ids < len(first)
        similarities[found.ids[known]] = found.similarities[known]
        if not np.array_equal(similarities[found.ids[known]], expected[found.ids[known]]):
            return False
        least = found.similarities[-1]
        if set(np.flatnonzero(expected > least)) - set(found.ids[known].tolist()):
            return False
    return True


def measure(folder: Path, n_graphs: int, workers: int) -> dict[str, Any]:
    """All figures of an index of so many graphs."""
    import propkernels as pk

    graphs = generate(folder / "graphs", n_graphs)
    start = time.perf_counter()
    plan = pk.partition(graphs, NODES_PER_SHARD)
    planned = time.perf_counter() - start
    start, out = time.perf_counter(), folder / "index"
    was_there = out.exists()
    index = pk.GraphIndex.build(plan, out, random_state=0, executor=workers)
    built = time.perf_counter() - start
    start = time.perf_counter()
    pk.GraphIndex.open(out)
    opened = time.perf_counter() - start
    n_bytes = sum(group.manifest.n_bytes for group in index.groups)
    return {
        "graphs": len(index),
        "nodes": plan.n_nodes,
        "shards": index.n_shards,
        "gigabytes": n_bytes / 1e9,
        "postings": sum(group.manifest.total("n_entries") for group in index.groups),
        "seconds of the plan": planned,
        "seconds of building": None if was_there else built,
        "seconds of opening": opened,
        "exact": is_exact(out, graphs),
        "warm": times_of(out, cold=False),
        "cold": times_of(out, cold=True),
        "machine": describe(),
    }


def report(found: dict[str, Any]) -> str:
    """The figures in words."""
    lines = [
        f"{found['graphs']:,} graphs ({found['nodes']:,} nodes) in {found['shards']} shards: "
        f"{found['gigabytes']:.2f} GB, {found['postings'] / found['graphs']:.0f} postings per graph",
        f"opened in {found['seconds of opening']:.3f} s; same bits as in memory: {found['exact']}",
    ]
    for name in ("warm", "cold"):
        for kind in ("processor", "clock"):
            times = found[name][kind]
            lines.append(
                f"query, files {'in memory' if name == 'warm' else 'on the disk'}, {kind}: "
                f"median {median(times):.3f} s, worst of {len(times)} {max(times):.3f} s"
            )
    return "\n".join(lines)


def page(found: dict[str, Any]) -> str:
    """The figures for a document."""
    machine = found["machine"]
    busy = machine["load average"][0] > machine["cores"]
    load = (
        f"; load {machine['load average'][0]:.0f}, so that the clock measures the other work" if busy else ""
    )
    lines = [
        f"{found['graphs']:,} molecule-like graphs ({found['nodes']:,} nodes, t_max = 5) are "
        f"{found['shards']} shards of {found['gigabytes']:.1f} GB together. The ten most similar graphs of "
        f"one, exact, {N_QUERIES} queries on one core ({machine['processor']}, {machine['cores']} cores"
        f"{load}):",
        "",
        "| | processor, median | processor, worst | clock, median | clock, worst |",
        "|---|---|---|---|---|",
    ]
    for name, words in (("warm", "files in memory"), ("cold", "files on the disk")):
        values = [f(found[name][kind]) for kind in ("processor", "clock") for f in (median, max)]
        lines.append(f"| {words} | " + " | ".join(f"{value:.2f} s" for value in values) + " |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2, help="processes that build the index")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    found = measure(options.folder, options.graphs, options.workers)
    print(report(found))
    if options.write:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        put("guide/scale.md", "shards", page(found))
    return 0 if found["exact"] else 1


if __name__ == "__main__":
    sys.exit(main())
