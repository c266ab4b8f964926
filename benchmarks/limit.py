"""How close each stage comes to the machine's limit: the bytes that must move, at the speed of a plain copy.

With N nodes, E stored edges, S counts and B bins of all streams, and n graphs, at least these bytes have to
be read or written:

- propagate + hash: for every step, the adjacency (4 E + 4 N), the weights of the step (16 N) and the columns
  that are still needed, read and written (16 N per column); and the codes (8 N per stream). The columns of a
  block of graphs stay in the cache, so that only adjacency and codes really reach the memory: more than
  100 % is possible;
- count: the codes (8 N per stream), the counts (12 S) and the bins (8 B);
- Gram: the counts (12 S) and the matrix (8 n^2);
- features: the counts, read and written (24 S), and the bins (16 B).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.case import Result, Settings, build
from benchmarks.data import load
from benchmarks.stages import FUSED, StageCase, stage_calls
from benchmarks.timing import alternate, best_of, limit_threads

TITLE = "Share of the machine's limit"
T_MAX = 10
COPIED = 2**27  # bytes

CASES = (
    StageCase("limit-nci1", "NCI1"),
    StageCase("limit-dd", "DD"),
    StageCase("limit-hiv", "HIV", "PropagationFeatures"),
)
TARGETS = {("limit-hiv", FUSED): 0.4}


def measure(case: StageCase, settings: Settings) -> Iterator[Result]:
    """Measure the copy and the stages in turn, with every number of threads."""
    graphs = load(case.dataset).graphs
    for threads in settings.threads:
        with limit_threads(threads):
            speed = copy_speed(threads, settings)
            model = build(case.estimator, threads, {"t_max": T_MAX})
            yield from _shares(case, model, graphs, threads, speed, settings)


def copy_speed(threads: int, settings: Settings) -> float:
    """Bytes per second, read and written, of copying a large array with so many threads."""
    source, target = np.ones(COPIED, dtype=np.uint8), np.zeros(COPIED, dtype=np.uint8)
    parts = list(zip(np.array_split(source, threads), np.array_split(target, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        times = best_of(lambda: list(pool.map(lambda part: np.copyto(part[1], part[0]), parts)), settings)
    return float(2 * COPIED / times["min"])


def bytes_to_move(graphs: Any, counts: Any) -> dict[str, float]:
    """The bytes of each stage, by the formulas above."""
    n, edges, streams = graphs.n_nodes, graphs.adjacency.nnz, len(counts)
    entries, bins = sum(s.counts.nnz for s in counts), sum(len(s.codes) for s in counts)
    steps = streams - 1
    columns = steps * (steps + 1) // 2
    return {
        FUSED: steps * (4 * edges + 20 * n) + 16 * n * columns + 8 * n * streams,
        "count": 8 * n * streams + 12 * entries + 8 * bins,
        "gram": 12 * entries + 8 * len(graphs) ** 2,
        "order bins": 24 * entries + 16 * bins,
        "join streams": 24 * entries,
    }


def _shares(
    case: StageCase, model: Any, graphs: Any, threads: int, speed: float, settings: Settings
) -> Iterator[Result]:
    calls = stage_calls(model, graphs)
    counts = calls["count"]()
    least = bytes_to_move(graphs, counts)
    chosen = {stage: call for stage, call in calls.items() if stage in least}
    times = alternate(list(chosen.values()), settings)
    for stage, measured in zip(chosen, times, strict=True):
        seconds = least[stage] / speed
        yield Result(
            case.name,
            "limit",
            case.dataset,
            threads,
            "share",
            seconds / measured["min"],
            TARGETS.get((case.name, stage)),
            at_least=True,
            part=stage,
            note=f"{least[stage] / 1e6:.0f} MB at {speed / 1e9:.1f} GB/s take {1000 * seconds:.1f} ms, "
            f"measured {1000 * measured['min']:.1f} ms",
            details=measured | {"bytes": least[stage], "bytes per second": speed},
        )
