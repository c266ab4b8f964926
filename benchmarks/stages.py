"""Where the time goes: the stations of the pipeline called in turn, and the hottest functions.

Shares are of processor time, which other programs disturb least.

Propagating and hashing are one compiled loop. Its hashing share is measured on the same nodes without their
edges: what remains is reading P_0, copying values and flooring them into codes.
"""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from time import process_time
from typing import Any

from benchmarks.case import Call, Result, Settings, build
from benchmarks.data import load
from benchmarks.timing import alternate, limit_threads

TITLE = "Where the time goes"
HOTTEST, PROFILED = 6, 3
FUSED, EDGELESS = "propagate + hash", "edgeless"


@dataclass(frozen=True)
class StageCase:
    """An estimator to take apart: "PropagationKernel" or "PropagationFeatures"."""

    name: str
    dataset: str
    estimator: str = "PropagationKernel"
    needs: str | None = None
    slow: bool = False


CASES = (
    StageCase("stages-mutag", "MUTAG", slow=True),
    StageCase("stages-nci1", "NCI1"),
    StageCase("stages-dd", "DD", slow=True),
    StageCase("stages-hiv", "HIV", "PropagationFeatures", slow=True),
)


def measure(case: StageCase, settings: Settings) -> Iterator[Result]:
    """Time every stage and the whole; the remainder is what happens between the stations."""
    graphs = load(case.dataset).graphs
    for threads in settings.threads:
        with limit_threads(threads):
            model = build(case.estimator, threads, {"t_max": 10})
            yield from _stages(case, model, graphs, threads, settings)
    with limit_threads(1):
        yield from _hottest(case, build(case.estimator, 1, {"t_max": 10}), graphs)


def _stages(case: StageCase, model: Any, graphs: Any, threads: int, settings: Settings) -> Iterator[Result]:
    calls = stage_calls(model, graphs) | {"whole": lambda: model.fit_transform(graphs)}
    times = dict(zip(calls, alternate(list(calls.values()), settings), strict=True))
    seconds = add_differences({stage: each["min"] for stage, each in times.items()})
    processor = add_differences({stage: each["processor"] for stage, each in times.items()})
    for stage, measured in seconds.items():
        share = f"{processor[stage] / processor['whole']:.0%}"
        result = Result(case.name, "stages", case.dataset, threads, "s", measured, part=stage, note=share)
        result.processor = processor[stage]
        yield result


def add_differences(seconds: dict[str, float]) -> dict[str, float]:
    """Split the fused stage by what it takes without edges, and name what lies between the stages."""
    fused, edgeless, whole = (seconds[stage] for stage in (FUSED, EDGELESS, "whole"))
    stages = {stage: value for stage, value in seconds.items() if stage not in (EDGELESS, "whole")}
    split = {"- hash, on no edges": edgeless, "- neighbor sums": fused - edgeless}
    between = {"between stages": whole - sum(stages.values()), "whole": whole}
    first = {stage: stages.pop(stage) for stage in ("learn", FUSED)}
    return first | split | stages | between


def stage_calls(model: Any, graphs: Any) -> dict[str, Call]:
    """One call for each stage, on the results of the stage before."""
    from propkernels.counts.columns import hashed_codes
    from propkernels.counts.counters import count_streams

    coder = model._learn_coder(graphs)
    codes = list(coder.codes(graphs, model.n_jobs))
    bare, width = without_edges(graphs), getattr(model, "n_features", None)
    calls: dict[str, Call] = {
        "learn": lambda: model._learn_coder(graphs),
        FUSED: lambda: list(coder.codes(graphs, model.n_jobs)),
        EDGELESS: lambda: list(coder.codes(bare, model.n_jobs)),
    }
    if width is not None:
        return calls | {"hashed columns": lambda: hashed_codes(codes, graphs.graph_ptr, width, model.n_jobs)}
    counts = count_streams(codes, graphs.graph_ptr, None, model.n_jobs)
    calls["count"] = lambda: count_streams(codes, graphs.graph_ptr, None, model.n_jobs)
    return {**calls, **_last_stage(model, graphs, counts)}


def _last_stage(model: Any, graphs: Any, counts: Any) -> dict[str, Call]:
    from propkernels._utils.parallel import run_threads
    from propkernels.counts.base_kernels import resolve_base_kernel
    from propkernels.counts.counters import rank_bins

    if hasattr(model, "n_features"):
        model.fit(graphs)  # _features joins streams by the bins that were fitted
        ordered = run_threads(rank_bins, counts, model.n_jobs)
        return {
            "order bins": lambda: run_threads(rank_bins, counts, model.n_jobs),
            "join streams": lambda: model._features(ordered),
        }
    base_kernel = resolve_base_kernel(model.base_kernel).fit(counts)
    return {
        "diagonal": lambda: base_kernel.diagonal(counts, model.n_jobs),
        "gram": lambda: base_kernel.square(counts, model.n_jobs),
    }


def without_edges(graphs: Any) -> Any:
    """The same nodes and labels, no edges."""
    from scipy.sparse import csr_array

    import propkernels as pk

    nothing = csr_array((graphs.n_nodes, graphs.n_nodes))
    return pk.GraphDatabase(nothing, graphs.graph_ptr, node_labels=graphs.node_labels)


def _hottest(case: StageCase, model: Any, graphs: Any) -> Iterator[Result]:
    """Functions with the most time of their own, the mean of a few runs."""
    profile = cProfile.Profile(process_time)
    model.fit_transform(graphs)
    for _ in range(PROFILED):
        profile.runcall(model.fit_transform, graphs)
    own = {function: values[2] for function, values in pstats.Stats(profile).stats.items()}
    for path, line, function in sorted(own, key=lambda key: -own[key])[:HOTTEST]:
        seconds = own[path, line, function]
        part = f"profile: {_function_name(path, function)}"
        share = f"{seconds / sum(own.values()):.0%}"
        yield Result(case.name, "stages", case.dataset, 1, "s", seconds / PROFILED, part=part, note=share)


def _function_name(path: str, function: str) -> str:
    """Last two parts of the module's path and the function, nothing of this machine."""
    if path == "~":
        return function.split(" at 0x")[0].strip("<>")
    parts = PurePath(path).with_suffix("").parts
    return ".".join((*parts[-2:], function.strip("<>")))
