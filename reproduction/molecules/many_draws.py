"""Mean coverage over many draws: training and test graphs are drawn again and again from one set.

Such graphs are exchangeable by construction, so that the mean coverage is what the method promises, or
what its corrections cost. One set of five folds cannot show it: its standard error is about a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import propkernels as pk
from reproduction.extra.records import Record, markdown, measure_missing, with_error
from reproduction.molecules import sets

GRAPHS = ("MUTAG", "COX2", "ENZYMES", "MSRC_9", "FAMILIES")
SETS = (*GRAPHS, "BBBP", "BACE", "FreeSolv", "ESOL", "Lipophilicity")
DRAWS, TRAINING, TESTED = 40, 300, 1000
Load = Callable[[str], tuple[sets.Molecules, Any]]
TEXT = """
## Many draws

{training} training graphs (half of a smaller set) and up to {tested:,} test graphs are drawn {draws} times:
mean coverage in percent and its standard error, where 90 is asked for, and the mean number of classes in a
set or width of an interval. Where classes are small, more is covered: nine of ten is the least that whole
graphs allow. Measured {measured}.

{table}
"""


@dataclass(frozen=True)
class Draw(Record):
    """Coverage of one draw.

    Attributes
    ----------
    dataset : str
    draw : int
        Seed of the draw and of the model.
    tested, covered : int
        Number of test graphs, and of those that are covered.
    width : float
        Mean number of classes in a set, or width of intervals in standard deviations of the target.
    seconds : float
        Processor seconds.
    """

    n_keys = 2

    dataset: str
    draw: int
    tested: int
    covered: int
    width: float
    seconds: float


def measure(name: str, draw: int, load: Load, coverage: float) -> Draw:
    """Return the coverage of a model of graphs drawn at random."""
    if name in GRAPHS:
        known = pk.datasets.load(name)
        graphs, target, is_class = known.graphs, np.asarray(known.target), True
    else:
        data, graphs = load(name)
        target, is_class = data.target[:, 0].astype(int if data.is_class else float), data.is_class
    start, order = process_time(), np.random.default_rng(draw).permutation(len(target))
    n = min(TRAINING, len(order) // 2)
    train, test = order[:n], order[n : n + TESTED]
    kind: Any = pk.PropagationClassifier if is_class else pk.PropagationRegressor
    model = kind(random_state=draw, n_jobs=1, progress=False).fit(graphs[train], target[train])
    if is_class:
        found = model.predict_set(graphs[test], coverage)
        hits = found[np.arange(len(test)), np.searchsorted(model.classes_, target[test])]
        width = float(found.sum(axis=1).mean())
    else:
        low, high = model.predict_interval(graphs[test], coverage).T
        hits = (low <= target[test]) & (target[test] <= high)
        width = float((high - low).mean() / target.std())
    took = round(process_time() - start, 1)
    return Draw(name, draw, len(test), int(hits.sum()), round(width, 4), took)


def measured(path: Path, names: Sequence[str], load: Load, coverage: float) -> list[Draw]:
    """Measure the draws that the file does not hold; return all."""
    keys = product([name for name in SETS if name in names or name in GRAPHS], range(DRAWS))
    return measure_missing(path, Draw, keys, lambda name, draw: measure(name, draw, load, coverage))


def section(draws: Sequence[Draw], measured: str) -> str:
    """Return the text and table of the page; empty without draws."""
    rows = []
    for name in SETS:
        of = [one for one in draws if one.dataset == name]
        if of:
            shares, width = [100 * one.covered / one.tested for one in of], np.mean([one.width for one in of])
            rows.append([name, str(len(of)), with_error(shares), f"{width:.2f}"])
    if not rows:
        return ""
    table = markdown(["set", "draws", "coverage", "classes, or width"], rows)
    return TEXT.format(training=TRAINING, tested=TESTED, draws=DRAWS, table=table, measured=measured)
