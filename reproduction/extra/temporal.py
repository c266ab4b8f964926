"""PropagationClassifier as it comes, on graphs in time beside the same graphs without time.

Data sets of Oettershagen, Kriege, Morris and Mutzel, "Temporal Graph Kernels for Classifying Dissemination
Processes" (SDM 2020): contacts between people or authors, over which something spreads. Task 1 tells
spreading from random labels, task 2 tells two ways of spreading apart::

    python -m reproduction temporal

The sets are read from temporal.zip in the folder that PROPKERNELS_DATA names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

import propkernels as pk
from propkernels._utils.safe_files import atomic_write
from propkernels.graphs.moments import static_graphs
from reproduction.extra.folds_of_defaults import (
    FoldResult,
    Kept,
    Split,
    accuracies,
    markdown,
    measure,
    most_chosen,
)

SETS = tuple(
    f"{name}_ct{task}" for task in (1, 2) for name in ("dblp", "facebook", "highschool", "infectious")
)
STATIC = " static"  # ends the names of results without time
SEED, FOLDS = 0, 10
PAGE = """# Graphs in time

`PropagationClassifier()` without any setting but the seed, on graphs whose edges and labels come and go,
beside the same model on the same graphs without time: one node per vertex with its last label, one edge per
pair that ever met. Ten folds, everything chosen inside the training part. Data: Oettershagen, Kriege, Morris
and Mutzel, "Temporal Graph Kernels for Classifying Dissemination Processes" (SDM 2020); task 1 (`_ct1`) and
task 2 (`_ct2`). Written by

    python -m reproduction temporal

{table}

± is the standard deviation over the test folds; processor seconds are those of one fit with time.

The default model of graphs in time tries Weisfeiler-Lehman and propagation kernels whose information moves
forwards in time only, in both directions, or not in time (`time="forward"`, `"both"`, `"static"`), and
averages those that are nearly as good as the best. This list was found on folds of infectious and highschool
that are drawn with another seed than the folds of this page, but hold the same graphs.
"""


def load(name: str) -> tuple[Any, NDArray[Any]]:
    """Graphs in time and classes of a data set."""
    path = Path(os.environ.get("PROPKERNELS_DATA") or ".") / "temporal.zip"
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: set PROPKERNELS_DATA to the folder that holds it")
    data = pk.datasets.read_temporal(path, name)
    return data.graphs, data.target


def splits_of(target: NDArray[Any]) -> list[Split]:
    """Stratified folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(target, target)
    return [(0, number, train, test) for number, (train, test) in enumerate(folds)]


def run(names: Sequence[str], folder: Path, document: Path, n_jobs: int) -> str:
    """Measure what is missing, write the page, and return its table."""
    unknown = [name for name in names if name not in SETS]
    if unknown:
        raise ValueError(f"the data set {unknown[0]!r} is not here: choose among {', '.join(SETS)}")
    kept = Kept(folder / "temporal.jsonl")
    for name in names or SETS:
        graphs, target = load(name)
        for view, seen in ((name, graphs), (name + STATIC, static_graphs(graphs))):
            for split in kept.missing(view, splits_of(target)):
                kept.add(measure(view, seen, target, split, SEED, n_jobs))
                write_page(kept, document)
    return write_page(kept, document)


def write_page(kept: Kept, document: Path) -> str:
    """Write what is known so far."""
    head = ["data set", "without time", "in time", "folds", "processor seconds per fit", "chosen most often"]
    rows = [row(name, kept.of(name), kept.of(name + STATIC)) for name in SETS if kept.of(name)]
    table = markdown(head, rows)
    with atomic_write(document, text=True) as file:
        file.write(PAGE.format(table=table))
    return table


def row(name: str, results: Sequence[FoldResult], static: Sequence[FoldResult]) -> list[str]:
    """One line of the table."""
    seconds = float(np.mean([result.processor_seconds for result in results]))
    cells = [name, percent(static), percent(results), f"{len(results)} of {FOLDS}", f"{seconds:.1f}"]
    return [*cells, most_chosen(results)]


def percent(results: Sequence[FoldResult]) -> str:
    """Mean accuracy and its standard deviation over the folds, in percent; "-" without results."""
    if not results:
        return "-"
    spread = float(np.std([100 * result.correct / result.tested for result in results]))
    return f"{accuracies(results)[0]:.1f} ± {spread:.1f}"
