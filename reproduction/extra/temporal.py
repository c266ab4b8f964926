"""PropagationClassifier as it comes, on graphs in time vs. the same graphs without time.

Data sets of Oettershagen, Kriege, Morris and Mutzel, "Temporal Graph Kernels for Classifying Dissemination
Processes" (SDM 2020): contacts between people or authors, over which something spreads. Task 1 distinguishes
spreading from random labels, task 2 two ways of spreading::

    python -m reproduction temporal

The sets are read from temporal.zip in the folder that PROPKERNELS_DATA names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import propkernels as pk
from propkernels.graphs.moments import static_graphs
from reproduction.engine.cells import measured_on, write_text
from reproduction.extra.folds_of_defaults import (
    Data,
    FoldResult,
    Key,
    Split,
    accuracies,
    measure_folds,
    spread,
)
from reproduction.extra.records import chosen_names, data_file, markdown

SETS = tuple(
    f"{name}_ct{task}" for task in (1, 2) for name in ("dblp", "facebook", "highschool", "infectious")
)
STATIC = " static"  # ends the names of results without time
SEED, FOLDS = 0, 10
PAGE = """# Graphs in time

`PropagationClassifier()` without any setting but the seed, on graphs whose edges and labels come and go,
vs. the same model on the same graphs without time: one node per vertex with its last label, one edge per
pair that ever met. Ten folds, everything chosen inside the training part. Data: Oettershagen, Kriege, Morris
and Mutzel, "Temporal Graph Kernels for Classifying Dissemination Processes" (SDM 2020); task 1 (`_ct1`) and
task 2 (`_ct2`). Measured {measured}, by

    python -m reproduction temporal

{table}

± is the standard deviation over the test folds; processor seconds are those of one fit with time. Published
kernels for graphs in time, and forests on hand-made features of contacts, were not measured.

The default model of graphs in time tries Weisfeiler-Lehman and propagation kernels whose information moves
forwards in time only, in both directions, or not in time (`time="forward"`, `"both"`, `"static"`), and
averages those that are nearly as good as the best. This list was found on folds of infectious and highschool
that are drawn with another seed than the folds of this page, but hold the same graphs.
"""


@lru_cache(maxsize=1)
def load(name: str) -> Data:
    """Graphs in time and classes of a data set; without time where the name says so."""
    data = pk.datasets.read_temporal(data_file("temporal.zip"), name.removesuffix(STATIC))
    graphs: Any = data.graphs
    return static_graphs(graphs) if name.endswith(STATIC) else graphs, data.target


def split(target: Any, key: Key) -> Split:
    """One of the stratified folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(target, target)
    train, test = list(folds)[key[2]]
    return train, test, SEED


def run(names: Sequence[str], folder: Path, document: Path, jobs: int = -1) -> str:
    """Measure what is missing, write the page, and return its table."""
    views = [view for name in chosen_names(names, SETS) for view in (name, name + STATIC)]
    results = measure_folds(folder / "temporal.jsonl", product(views, [0], range(FOLDS)), load, split, jobs)
    head = ["data set", "without time", "in time", "folds", "processor seconds per fit"]
    rows = [row(name, results[name], results.get(name + STATIC, [])) for name in SETS if name in results]
    table = markdown(head, rows)
    write_text(document, PAGE.format(table=table, measured=measured_on(folder, "temporal.jsonl")))
    return table


def row(name: str, results: Sequence[FoldResult], static: Sequence[FoldResult]) -> list[str]:
    """One line of the table."""
    seconds = float(np.mean([result.processor_seconds for result in results]))
    return [name, percent(static), percent(results), f"{len(results)} of {FOLDS}", f"{seconds:.1f}"]


def percent(results: Sequence[FoldResult]) -> str:
    """Mean accuracy and its standard deviation over the folds, in percent; "-" without results."""
    return f"{accuracies(results)[0]:.1f} ± {spread(results):.1f}" if results else "-"
