"""Missing labels: the default of ``PropagationKernel`` vs. the paper's schemes and Weisfeiler-Lehman.

Labels are hidden at random, three draws for each share, and each normalized kernel is evaluated on the same
draws and folds. A section of the page that ``python -m reproduction defaults`` writes; each run is kept in
OUTPUT/missing_labels.jsonl at once and not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import propkernels as pk
from propkernels.propagation import LabelImputer
from reproduction.data.corrupt import hide_labels
from reproduction.engine.cells import measured_on
from reproduction.extra.records import Record, markdown, measure_missing

SETS: dict[str, int | None] = {  # graphs, drawn at random; None: all
    "MUTAG": None,
    "MSRC_9": None,
    "ENZYMES": None,
    "MSRC_21": None,
    "PROTEINS": 450,
    "NCI1": 600,
}
SHARES = (5, 20, 40, 60, 80)
STEPS, FIRST_DRAW, N_DRAWS = (0, 1, 2, 3, 4, 6), 4100, 3
RULES = {
    '`PropagationKernel()`, "auto"': "auto",
    '"diffusion", Eq. (1)': "diffusion",
    '"label_propagation", Eq. (3)': "label_propagation",
    '"push_back", Eq. (14)': "push_back",
    "`LabelImputer`, then `WeisfeilerLehman`": "filled",
    "`WeisfeilerLehman`, missing is a label": "refined",
}
SECTION = """
## Missing labels

Accuracy in percent of normalized kernels where a share of the node labels is hidden at random, and the
difference to the default: mean over six data sets (MUTAG, MSRC_9, ENZYMES, MSRC_21, 450 graphs of PROTEINS
and 600 of NCI1), ± its standard error over them. Three draws for each share, 5-fold cross-validation, t_max
and C chosen by leave-one-out on the training part of each fold. Measured {measured}.

{table}
"""


@dataclass(frozen=True)
class Run(Record):
    """Accuracy of one rule, in percent, over 5 folds of one draw."""

    n_keys = 4

    draw: int
    share: int
    dataset: str
    rule: str
    accuracy: float


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, Any]:
    """Graphs and classes, a part of them where there are many."""
    data = pk.datasets.load(name)
    some = np.sort(np.random.default_rng(FIRST_DRAW).permutation(len(data.graphs))[: SETS[name]])
    return data.graphs[some], np.asarray(data.target)[some]


def measure(draw: int, share: int, dataset: str, rule: str) -> Run:
    """Hide labels, and evaluate one rule."""
    graphs, target = load(dataset)
    graphs = hide_labels(graphs, share / 100, random_state=FIRST_DRAW + draw)
    kernel: Any = pk.WeisfeilerLehman(t_max=max(STEPS))
    if rule == "filled":
        graphs = LabelImputer().fit_transform(graphs)
    elif rule != "refined":
        kernel = pk.PropagationKernel(propagation=rule, t_max=max(STEPS))
    model = pk.PropagationClassifier(kernel=kernel, t_max=STEPS, normalize=True)
    found = pk.evaluate(graphs, target, model, cv=5, random_state=FIRST_DRAW + draw)
    return Run(draw, share, dataset, rule, round(100 * found.mean, 3))


def table(runs: Sequence[Run]) -> str:
    """Mean accuracy over the data sets, and the difference to "auto" with its standard error over them."""
    found = {run.key: run.accuracy for run in runs}
    rows = []
    for title, rule in RULES.items():
        row = [title]
        for share in SHARES:
            pairs = [
                (name, found[draw, share, name, rule], found[draw, share, name, "auto"])
                for draw, name in product(range(N_DRAWS), SETS)
                if {(draw, share, name, rule), (draw, share, name, "auto")} <= found.keys()
            ]
            means = np.array([np.mean([p[1:] for p in pairs if p[0] == name], axis=0) for name in SETS])
            text, gains = f"{means[:, 0].mean():.1f}", means[:, 0] - means[:, 1]
            if rule != "auto":
                text += f" ({gains.mean():+.1f} ± {gains.std(ddof=1) / len(gains) ** 0.5:.1f})"
            row.append(text)
        rows.append(row)
    return markdown(["kernel", *(f"{share} %" for share in SHARES)], rows)


def section(folder: Path, is_measured: bool) -> str:
    """Measure what is missing if asked; return text and table of the page, empty without records."""
    keys = [
        (draw, share, name, rule)
        for draw, name, share, rule in product(range(N_DRAWS), SETS, SHARES, RULES.values())
    ]
    runs = measure_missing(folder / "missing_labels.jsonl", Run, keys if is_measured else (), measure)
    measured = measured_on(folder, "missing_labels.jsonl")
    return SECTION.format(table=table(runs), measured=measured) if runs else ""
