"""How time and memory grow: nodes, graphs, labels, iterations and density, on generated molecule-like graphs.

Every point runs in a fresh process (benchmarks.growth_process), which reports the seconds of the second call
and the peak of its memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.case import Result, Settings
from benchmarks.process import run_module, succeeded

TITLE = "Growth"
LIMIT = 900.0
LINEAR_WITHIN = 1.3


@dataclass(frozen=True)
class GrowthCase:
    """One curve: an estimator on graphs of which one size grows.

    Attributes
    ----------
    task : {"features", "streamed", "kernel"}
        Features of all graphs, features of a million nodes at a time in hashed columns, or the kernel.
    variable : str
        What grows: an argument of ``benchmarks.growth_process.generate``, or "t_max".
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
    needs: str | None = None
    slow: bool = False
    dataset: str | None = None


CASES = (
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


def measure(case: GrowthCase, settings: Settings) -> Iterator[Result]:
    """Measure every point of the curve; the last result tells how far from proportional the growth is."""
    points = []
    for value in case.values[: case.n_quick] if settings.quick else case.values:
        arguments = json.dumps({"task": case.task, **case.fixed, case.variable: value})
        point = succeeded(run_module("benchmarks.growth_process", arguments, limit=LIMIT)).lines[-1]
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

    names = [case.name for case in CASES if any(_points(results, case.name))]
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
