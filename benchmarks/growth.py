"""Memory of the cases of benchmarks.kernels, and how time and memory grow with the size of generated graphs.

Every case and every point of a curve runs in a fresh process, which reports the peak of its memory:
``python -m benchmarks.growth '{"task": "features", "nodes": 100000}'``. Megabytes are 10^6 bytes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import kernels
from benchmarks.case import Case, Result, Settings
from benchmarks.data import load
from benchmarks.process import run_module, say, succeeded
from benchmarks.timing import limit_threads

LIMIT = 900.0
LINEAR_WITHIN = 1.3
MEAN_NODES = 25
NODES_OF_A_BLOCK = 1_000_000


@dataclass(frozen=True)
class GrowthCase:
    """One curve: an estimator on graphs of which one size grows.

    Attributes
    ----------
    task : {"features", "streamed", "kernel"}
        Features of all graphs, features of a million nodes at a time in hashed columns, or the kernel.
    variable : str
        What grows: an argument of :func:`generate`, or "t_max".
    values : tuple of int
        Its values; quick mode takes the first ``n_quick``.
    linear : bool
        Whether seconds must be proportional to the number of nodes, within ``LINEAR_WITHIN``.
    """

    name: str
    task: str
    variable: str
    values: tuple[int, ...]
    fixed: dict[str, int] = field(default_factory=dict)
    linear: bool = False
    n_quick: int = 2
    slow: bool = False
    dataset: str | None = None


CURVES = (
    GrowthCase("growth-nodes", "features", "nodes", (10**5, 10**6, 10**7, 3 * 10**7), linear=True),
    GrowthCase(
        "growth-nodes-streamed",
        "streamed",
        "nodes",
        (10**6, 10**7, 3 * 10**7),
        linear=True,
        n_quick=1,
        slow=True,
    ),
    GrowthCase("growth-graphs", "kernel", "graphs", (100, 1000, 10_000, 40_000)),
    GrowthCase(
        "growth-graphs-features",
        "features",
        "graphs",
        (10**4, 10**5, 10**6),
        linear=True,
        n_quick=1,
        slow=True,
    ),
    GrowthCase(
        "growth-labels", "features", "labels", (2, 10, 100, 1000, 10_000), {"nodes": 500_000}, slow=True
    ),
    GrowthCase("growth-t-max", "features", "t_max", (0, 5, 10, 20, 40), {"nodes": 500_000}, slow=True),
    GrowthCase("growth-density", "features", "degree", (2, 4, 8, 16, 32), {"nodes": 500_000}, slow=True),
)


MEMORY = tuple(
    replace(case, name=f"memory-{case.name}", slow=case.slow or not case.megabytes) for case in kernels.CASES
)


def measure_memory(case: Case, settings: Settings) -> Iterator[Result]:
    """Take the smaller peak of two processes that import, load and compute once: the first may compile."""
    for threads in settings.threads:
        arguments = json.dumps({"case": case.name.removeprefix("memory-"), "threads": threads})
        runs = [succeeded(run_module("benchmarks.growth", arguments, limit=LIMIT)).lines[-1] for _ in "ab"]
        best = min(runs, key=lambda run: run["peak"])
        note = f"{best['loaded']:.0f} MB after loading, {best['imported']:.0f} MB after import"
        found = Result(case.name, "memory", case.dataset, threads, "MB", best["peak"], case.megabytes)
        yield replace(found, note=note, details=best)


def measure_growth(case: GrowthCase, settings: Settings) -> Iterator[Result]:
    """Measure every point of the curve; the last result tells how far from proportional the growth is."""
    points = []
    for value in case.values[: case.n_quick] if settings.quick else case.values:
        arguments = json.dumps({"task": case.task, **case.fixed, case.variable: value})
        point = succeeded(run_module("benchmarks.growth", arguments, limit=LIMIT)).lines[-1]
        points.append((value, point))
        memory = point["peak"] - point["before"]
        note = f"{memory:.0f} MB beyond the graphs, {1e6 * memory / point['nodes']:.0f} bytes per node"
        yield Result(
            case.name,
            "growth",
            threads=2,
            measured=point["seconds"],
            part=f"{case.variable} = {value:,}",
            note=note,
            details=point | {"variable": case.variable, "value": value},
        )
    if case.linear and len(points) > 1:
        yield _linearity(case, points)


def _linearity(case: GrowthCase, points: Sequence[tuple[int, dict[str, Any]]]) -> Result:
    """Seconds per node at the last point over those at the first that takes a tenth of a second."""
    timed = [point for _, point in points if point["seconds"] >= 0.1]
    first, last = (point["seconds"] / point["nodes"] for point in (timed[0], timed[-1]))
    return Result(
        case.name,
        "growth",
        threads=2,
        unit="times",
        measured=last / first,
        target=LINEAR_WITHIN,
        part="seconds per node, last over first",
    )


def draw(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw seconds and memory of every curve, from the JSON of a run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import NullFormatter

    names = [case.name for case in CURVES if any(_points(results, case.name))]
    figure, axes = pyplot.subplots(len(names), 2, figsize=(9, 2.6 * len(names)), squeeze=False)
    for row, name in zip(axes, names, strict=True):
        points = _points(results, name)
        for axis, key, label in zip(row, ("seconds", "extra"), ("seconds", "memory, MB"), strict=True):
            values, measured = [p["value"] for p in points], [p[key] for p in points]
            axis.plot(values, measured, "o-", color="#1f5a96")
            if _is_wide(values):
                axis.set_xscale("log")
            if _is_wide(values) and _is_wide(measured):
                axis.set_yscale("log")
                axis.yaxis.set_minor_formatter(NullFormatter())
            else:
                axis.set_ylim(0, 1.1 * max(measured))
            axis.set_xlabel(points[0]["variable"])
            axis.set_ylabel(label)
            axis.set_title(name, fontsize=9, loc="left")
            axis.grid(alpha=0.3)
    figure.tight_layout()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


def _is_wide(values: Sequence[float]) -> bool:
    """Whether a logarithmic axis suits: values span more than a factor of 20."""
    return min(values) > 0 and max(values) > 20 * min(values)


def _points(results: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    found = [r["details"] for r in results if r["case"] == name and "value" in r["details"]]
    return [point | {"extra": point["peak"] - point["before"]} for point in found]


# the process of one case or point


def generate(
    nodes: int | None = None, graphs: int | None = None, labels: int | None = None, degree: int | None = None
) -> Any:
    """Molecule-like graphs; with ``labels`` uniform labels, with ``degree`` random edges instead."""
    import propkernels as pk

    n_graphs = graphs if graphs is not None else max(1, (nodes or 0) // MEAN_NODES)
    made = pk.datasets.make_molecules(n_graphs, random_state=0, mean_nodes=MEAN_NODES).graphs
    if labels is None and degree is None:
        return made
    rng = np.random.default_rng(0)
    column = made.node_labels if labels is None else rng.integers(labels, size=made.n_nodes)
    adjacency = made.adjacency if degree is None else _random_edges(made, degree, rng)
    return pk.GraphDatabase(adjacency, made.graph_ptr, node_labels=column)


def _random_edges(graphs: Any, degree: int, rng: Any) -> Any:
    """Every node gets ``degree / 2`` random partners in its own graph; edges go both ways."""
    from scipy.sparse import coo_array, csr_array

    sizes = np.diff(graphs.graph_ptr)
    ids = np.repeat(np.arange(len(sizes)), sizes)
    one = np.repeat(np.arange(graphs.n_nodes), max(degree // 2, 1))
    other = graphs.graph_ptr[ids[one]] + (rng.random(len(one)) * sizes[ids[one]]).astype(np.int64)
    keep = one != other
    rows, columns = np.r_[one[keep], other[keep]], np.r_[other[keep], one[keep]]
    matrix = csr_array(coo_array((np.ones(len(rows)), (rows, columns)), shape=(graphs.n_nodes,) * 2))
    matrix.data[:] = 1.0
    return matrix


def task(name: str, graphs: Any, t_max: int) -> None:
    """What is timed."""
    import propkernels as pk

    if name == "kernel":
        pk.PropagationKernel(t_max=t_max, random_state=0, n_jobs=2).fit_transform(graphs)
    elif name == "features":
        pk.PropagationFeatures(t_max=t_max, random_state=0, n_jobs=2).fit_transform(graphs)
    else:
        features = pk.PropagationFeatures(t_max=t_max, n_features=2**20, random_state=0, n_jobs=2)
        features.fit(graphs[:1])
        cuts = np.searchsorted(graphs.graph_ptr, np.arange(0, graphs.n_nodes, NODES_OF_A_BLOCK))
        for first, last in zip(cuts, [*cuts[1:], len(graphs)], strict=True):
            features.transform(graphs[int(first) : int(last)])


def megabytes(field: str) -> float:
    """Resident memory of this process: now ("VmRSS") or at its peak ("VmHWM")."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024 / 1e6


def forget_peak() -> float:
    """Let the peak begin anew, and return where it begins."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return megabytes("VmRSS")


def kernel_memory(case: str, threads: int) -> None:
    """Import, load, compute; print the peak after each."""
    import propkernels.kernels  # noqa: F401

    imported = megabytes("VmHWM")
    chosen = next(one for one in kernels.CASES if one.name == case)
    data = load(chosen.dataset)
    loaded = megabytes("VmHWM")
    with limit_threads(threads):
        result = chosen.prepare(data, threads)()
    say(imported=imported, loaded=loaded, peak=megabytes("VmHWM"), shape=list(result.shape))


def point(name: str, t_max: int = 10, **sizes: int) -> None:
    """Generate, warm up on a few graphs, run, and print seconds and memory."""
    graphs = generate(**sizes)
    task(name, graphs[: min(len(graphs), 50)], t_max)
    before = forget_peak()
    best = float("inf")
    for _ in range(3 if graphs.n_nodes <= 10**6 else 1):
        start = time.perf_counter()
        task(name, graphs, t_max)
        best = min(best, time.perf_counter() - start)
    counted = {"nodes": graphs.n_nodes, "graphs": len(graphs), "edges": graphs.adjacency.nnz}
    say(seconds=best, before=before, peak=megabytes("VmHWM"), **counted)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    if "case" in given:
        kernel_memory(**given)
    else:
        point(given.pop("task"), **given)
