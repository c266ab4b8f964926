"""What models of classes say about molecules unlike those of their training: how sure they are.

Models of FAMILIES (14 classes) and of BBBP and BACE (two) are fitted to nine tenths of the molecules, and
asked about the rest, and about FreeSolv: small molecules of another kind. A section of the page that
``python -m reproduction defaults`` writes; each model is kept in OUTPUT/foreign.jsonl.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import propkernels as pk
from reproduction.engine.cells import measured_on
from reproduction.extra.records import Record, markdown, measure_missing, with_spread
from reproduction.molecules import sets

SETS, SEEDS, FOREIGN = ("FAMILIES", "BBBP", "BACE"), (101, 102, 103, 104, 105), "FreeSolv"
COLUMNS = (  # values of a record, their factors and digits in the table
    ("own", 1, 2),
    ("foreign", 1, 2),
    ("sure", 1, 2),
    ("by_probability", 100, 1),
    ("by_novelty", 100, 1),
    ("predict", 1, 1),
    ("predict_proba", 1, 1),
)
SECTION = """
## Foreign molecules

How sure models are about molecules of FreeSolv, which belong to none of their classes, and about held-out
molecules of their own sets: medians of the largest probability, the share of foreign molecules above
0.9, and the area under the ROC curve, in percent, by which the largest probability and `NoveltyDetector()`
tell foreign molecules from the model's own. "predict" and "predict_proba": processor milliseconds for
1,000 molecules, on a busy machine. Mean ± standard deviation over seeds 101 to 105. Measured {measured}.

{table}
"""


@dataclass(frozen=True)
class Result(Record):
    """One model: medians of the largest probability, and how well foreign molecules are recognized."""

    n_keys = 2

    dataset: str
    seed: int
    classes: int
    own: float
    foreign: float
    sure: float
    by_probability: float
    by_novelty: float
    predict: float
    predict_proba: float


def load(name: str) -> tuple[Any, Any]:
    """Graphs of molecules, and their classes."""
    if name == "FAMILIES":
        data = pk.datasets.load(name)
        return data.graphs, np.asarray(data.target)
    found = sets.load(name)
    return pk.MoleculesToGraphs().transform(found.mols), found.target[:, 0]


def measure(name: str, seed: int) -> Result:
    """Fit to nine tenths, and ask about the rest and about foreign molecules."""
    graphs, target = load(name)
    plain, views = pk.MoleculesToGraphs(node_labels="symbol"), pk.MoleculesToGraphs()
    reader = plain if name == "FAMILIES" else views
    strangers = reader.transform(sets.load(FOREIGN).mols)
    order = np.random.default_rng(seed).permutation(len(target))
    held, train = order[: len(order) // 10], order[len(order) // 10 :]
    model = pk.PropagationClassifier(random_state=seed).fit(graphs[train], target[train])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pk.models.ForeignGraphsWarning)
        own, foreign = (model.predict_proba(some).max(axis=1) for some in (graphs[held], strangers))
        times = [milliseconds(method, strangers) for method in (model.predict, model.predict_proba)]
    detector = pk.NoveltyDetector(random_state=seed).fit(graphs[train])
    novelty = np.concatenate([detector.score_samples(some) for some in (graphs[held], strangers)])
    is_own = np.repeat([1, 0], [len(own), len(foreign)])
    areas = [float(roc_auc_score(is_own, scores)) for scores in (np.concatenate([own, foreign]), novelty)]
    shares = float(np.median(own)), float(np.median(foreign)), float((foreign > 0.9).mean())
    figures = (round(value, 4) for value in (*shares, *areas, *times))
    return Result(name, seed, len(model.classes_), *figures)


def milliseconds(method: Callable[[Any], Any], graphs: Any) -> float:
    """Processor time of a method for 1,000 graphs, the best of five."""
    found = []
    for _ in range(5):
        start = process_time()
        method(graphs)
        found.append(process_time() - start)
    return 1e6 * min(found) / len(graphs)


def section(folder: Path, is_measured: bool) -> str:
    """Measure what is missing if asked; return text and table of the page, empty without records."""
    keys = product(SETS, SEEDS) if is_measured else ()
    results, rows = measure_missing(folder / "foreign.jsonl", Result, keys, measure), []
    for name in SETS:
        of = [result for result in results if result.dataset == name]
        if of:
            cells = [
                with_spread([factor * getattr(one, what) for one in of], digits)
                for what, factor, digits in COLUMNS
            ]
            rows.append([name, str(of[0].classes), *cells])
    head = [
        "model of",
        "classes",
        "own molecules",
        "foreign",
        "above 0.9",
        "told by probability",
        "by novelty",
        "predict",
        "predict_proba",
    ]
    measured = measured_on(folder, "foreign.jsonl")
    return SECTION.format(table=markdown(head, rows), measured=measured) if rows else ""
