"""What edge labels do to accuracy: kernels that ignore the labels of edges, and the same that use them.

Nested 10-fold cross-validation of single kernels, t_max and C chosen on the training part of each fold, on
the same folds with and without. A section of the page that ``python -m reproduction defaults`` writes; each
pair is kept in OUTPUT/edge_labels.jsonl at once and not computed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from propkernels.propagation import Diffusion
from reproduction.engine.cells import measured_on
from reproduction.extra.records import Record, markdown, measure_missing

SETS: dict[str, int | None] = {"MUTAG": None, "AIDS": 600, "BBBP": 600}  # graphs, drawn at random; None: all
COSTS, STEPS, SEED = (1.0, 10.0, 100.0), (0, 1, 2, 4), 7
SECTION = """
## What edge labels do

Kernels with `edge_labels=False` and `edge_labels=True`, nested 10-fold cross-validation on the same folds.
± and p are those of the corrected resampled t-test over the folds (Nadeau and Bengio 2003). Measured
{measured}.

{table}
"""


@dataclass(frozen=True)
class Effect(Record):
    """Accuracies of one kernel without and with edge labels, in percent."""

    n_keys = 2

    dataset: str
    kernel: str
    graphs: int
    without: float
    using: float
    error: float
    p: float


def kernels() -> dict[str, Any]:
    """Kernels by name, without edge labels."""
    common: dict[str, Any] = {"base_kernel": "intersection", "normalize": True}
    return {
        "propagation, walk": pk.PropagationKernel(**common),
        "propagation, summed neighbors": pk.PropagationKernel(propagation=Diffusion(0.5, "none"), **common),
        "Weisfeiler-Lehman": pk.WeisfeilerLehman(**common),
        "shortest paths": pk.ShortestPath(**common),
    }


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, Any]:
    """Graphs and classes, a part of them where there are many."""
    data = pk.datasets.load(name)
    some = np.sort(np.random.default_rng(SEED).permutation(len(data.graphs))[: SETS[name]])
    return data.graphs[some], np.asarray(data.target)[some]


def compare(name: str, title: str) -> Effect:
    """Evaluate one kernel both ways."""
    (graphs, target), kernel = load(name), kernels()[title]
    steps = None if title == "shortest paths" else STEPS
    without, using = (
        pk.evaluate(
            graphs,
            target,
            pk.PropagationClassifier(
                kernel=kernel.set_params(edge_labels=flag), t_max=steps, C=COSTS, normalize=None
            ),
            cv=10,
            random_state=SEED,
        )
        for flag in (False, True)
    )
    test = using.compare(without)
    error = abs(test.difference / test.corrected_t) if test.corrected_t else float("nan")
    means = {"without": without.mean, "using": using.mean, "error": error}
    percent = {key: round(100 * value, 3) for key, value in means.items()}
    return Effect(name, title, len(graphs), **percent, p=round(test.corrected_p, 4))


def section(folder: Path, is_measured: bool) -> str:
    """Measure what is missing if asked; return the section of the page, empty without records."""
    keys = product(SETS, kernels()) if is_measured else ()
    effects = measure_missing(folder / "edge_labels.jsonl", Effect, keys, compare)
    head = ["data set", "graphs", "kernel", "without", "with edge labels", "difference", "p"]
    rows = []
    for e in sorted(effects, key=lambda effect: list(SETS).index(effect.dataset)):
        error = "" if np.isnan(e.error) else f" ± {e.error:.1f}"
        numbers = [f"{e.without:.1f}", f"{e.using:.1f}", f"{e.using - e.without:+.1f}{error}"]
        rows.append([e.dataset, f"{e.graphs}", e.kernel, *numbers, "-" if np.isnan(e.p) else f"{e.p:.2f}"])
    measured = measured_on(folder, "edge_labels.jsonl")
    return SECTION.format(table=markdown(head, rows), measured=measured) if rows else ""
