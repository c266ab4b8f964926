"""Two of our own calls against each other, in turn, in one process: how many times longer one takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.case import Call, Prepare, Result, Settings, build, estimator
from benchmarks.data import load
from benchmarks.timing import alternate, limit_threads

TITLE = "Ratios"


@dataclass(frozen=True)
class RatioCase:
    """Time of ``prepare`` divided by time of ``baseline``, at most ``at_most``."""

    name: str
    dataset: str
    prepare: Prepare
    baseline: Prepare
    at_most: float
    needs: str | None = None
    slow: bool = False


def half_hidden(propagation: str, fraction: float = 0.5) -> Prepare:
    """Prepare a kernel by one scheme on graphs half of whose labels are hidden."""

    def prepare(data: Any, threads: int) -> Call:
        import propkernels as pk

        graphs = pk.datasets.hide_labels(data.graphs, fraction, random_state=0)
        model = build("PropagationKernel", threads, {"t_max": 10, "propagation": propagation})
        return lambda: model.fit_transform(graphs)

    return prepare


PK = estimator("PropagationKernel", t_max=10)
LP = half_hidden("label_propagation")
SAME = half_hidden("diffusion")  # diffusion on the same half-hidden labels
COMPLETE = half_hidden("diffusion", fraction=0.0)  # diffusion with all labels: another problem, other bins
WL = estimator("WeisfeilerLehman", t_max=10)

CASES = (
    RatioCase("lp-msrc21", "MSRC_21", LP, SAME, 1.5, "LabelPropagation"),
    RatioCase("lp-nci1", "NCI1", LP, SAME, 1.5, "LabelPropagation"),
    RatioCase("lp-msrc21-complete", "MSRC_21", LP, COMPLETE, 1.5, "LabelPropagation"),
    RatioCase("lp-nci1-complete", "NCI1", LP, COMPLETE, 1.5, "LabelPropagation"),
    RatioCase("wl-pk-nci1", "NCI1", WL, PK, 1.3, "WeisfeilerLehman"),
    RatioCase("wl-pk-dd", "DD", WL, PK, 1.3, "WeisfeilerLehman"),
)


def measure(case: RatioCase, settings: Settings) -> Iterator[Result]:
    """Time both in turn, with every number of threads."""
    data = load(case.dataset)
    for threads in settings.threads:
        with limit_threads(threads):
            calls = [prepare(data, threads) for prepare in (case.prepare, case.baseline)]
            ours, baseline = alternate(calls, settings)
        note = f"{ours['min']:.3g} s against {baseline['min']:.3g} s" + _in_processor_time(ours, baseline)
        details = {"ours": ours, "baseline": baseline}
        ratio = ours["min"] / baseline["min"]
        yield Result(
            case.name,
            "ratios",
            case.dataset,
            threads,
            "times",
            ratio,
            case.at_most,
            note=note,
            details=details,
        )


def _in_processor_time(ours: dict[str, Any], baseline: dict[str, Any]) -> str:
    return f"; processor {ours['processor'] / baseline['processor']:.3g} x"
