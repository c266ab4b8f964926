"""Times on 1, 2, 4, ... cores: ``python -m benchmarks.cores [--only WORD] [--ends]``.

Each job is timed with every n_jobs in one process, in turn, least of some runs after a first. The section
goes to docs/measured/results/cores.md, which ``python -m benchmarks.run --page`` puts into the page. "Busy"
is the share of the cores that work while the job runs on all of them, "work" the processor time on all
cores over that on one: the gain is their number times busy over work. Two cores of a cloud machine are
often one core with two threads of hardware.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machine import Call, describe, fastest, is_present, load, table
from benchmarks.run import GH, HASHED, P2K, PK, RESULTS, SP, WL, fit, kernel, learned

MOLECULES, ONE_GRAPH = "MOLECULES-1M", "ONE-GRAPH"
INTERSECTION = kernel("PropagationKernel", t_max=10, base_kernel="intersection")
JOBS: tuple[tuple[str, str, Callable[[Any, int], Call]], ...] = (
    *(("hashed features", name, HASHED) for name in ("NCI1", "DD", "HIV", MOLECULES, ONE_GRAPH)),
    *(("PropagationKernel", name, PK) for name in ("NCI1", "DD", "HIV")),
    *(("WeisfeilerLehman", name, WL) for name in ("NCI1", ONE_GRAPH)),
    *(("intersection kernel", name, INTERSECTION) for name in ("NCI1", "DD")),
    *(("ShortestPath", name, SP) for name in ("PROTEINS", "DD")),
    *(("P2K", name, P2K) for name in ("ENZYMES", "PROTEINS")),
    *(("GraphHopper", name, GH) for name in ("ENZYMES", "PROTEINS")),
    *(("default classifier, fit", name, fit) for name in ("NCI1", "ENZYMES")),
    *((f"default classifier, {name}", "NCI1", learned(name)) for name in ("predict", "explain")),
)


class Graphs(NamedTuple):
    """Generated graphs, as a data set."""

    graphs: Any


def data_of(name: str) -> Any:
    """Return a data set, or a generated one."""
    if name not in (MOLECULES, ONE_GRAPH):
        return load(name)
    import propkernels as pk

    if name == ONE_GRAPH:
        return Graphs(ring_with_chords(2_000_000))
    part = pk.datasets.make_molecules(50_000, random_state=0).graphs
    return Graphs(pk.GraphDatabase.concat([part] * 20))  # columns of a graph do not depend on the others


def ring_with_chords(n: int) -> Any:
    """Return one graph: a ring of n nodes with as many random edges, and ten labels."""
    from scipy.sparse import coo_array

    import propkernels as pk

    rng, nodes = np.random.default_rng(0), np.arange(n)
    ends = (
        np.concatenate([nodes, rng.integers(0, n, n)]),
        np.concatenate([(nodes + 1) % n, rng.permutation(n)]),
    )
    both = np.concatenate(ends), np.concatenate(ends[::-1])
    adjacency = coo_array((np.ones(len(both[0])), both), shape=(n, n)).tocsr()
    adjacency.data[:] = 1.0
    return pk.GraphDatabase(adjacency, [0, n], node_labels=rng.integers(0, 10, n))


def row(what: str, dataset: str, times: dict[int, tuple[float, float]], cores: Sequence[int]) -> list[str]:
    """Milliseconds by number of cores, gain, busy and work."""
    n = max(times)
    (first, one), (last, every) = times[1], times[n]
    shown = [f"{1e3 * times[c][0]:,.0f}" if c in times else "" for c in cores]
    return [what, dataset, *shown, f"{first / last:.1f}", f"{every / (n * last):.0%}", f"{every / one:.2f}"]


def section(rows: list[list[str]], cores: Sequence[int]) -> str:
    """The section of the page."""
    on = describe()
    text = (
        f"`python -m benchmarks.cores`, {on['date'][:10]}, tree {on['tree']}, {on['processor']}. "
        "Milliseconds on the clock by n_jobs; busy: the share of the cores that work; work: processor time "
        "on all cores over that on one. Results are the same bits for every n_jobs."
    )
    columns = ["what", "data set", *map(str, cores), "gain", "busy", "work"]
    return "\n".join([f"## On {cores[-1]} cores", "", text, "", *table(columns, rows), ""])


def main() -> None:
    """Measure, and write the section after every row: what is measured is kept if the run is cut short."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cores", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS.with_name("cores.md"))
    parser.add_argument("--only", nargs="+", default=[""], help="jobs whose name or data set contains a word")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)), help="most cores")
    parser.add_argument("--ends", action="store_true", help="measure on one core and on the most only")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    powers = [1 << k for k in range(options.cores.bit_length()) if 1 << k < options.cores]
    cores = [1, options.cores] if options.ends else [*powers, options.cores]
    rows: list[list[str]] = []
    for what, dataset, prepare in JOBS:
        chosen = any(word in f"{what} {dataset}" for word in options.only)
        if not chosen or not (dataset in (MOLECULES, ONE_GRAPH) or is_present(dataset)):
            continue
        data = data_of(dataset)
        prepare(data, cores[-1])()
        times = {n: fastest(prepare(data, n), 0, options.repeats) for n in cores}
        rows.append(row(what, dataset, times, cores))
        print("  ".join(rows[-1]), flush=True)
        options.output.write_text(section(rows, cores), encoding="utf-8")


if __name__ == "__main__":
    main()
