"""Mean coverage over many draws: training and test molecules are drawn again and again from one set.

Such molecules are exchangeable by construction, so that the mean coverage is what the method promises, or
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
from numpy.typing import NDArray

import propkernels as pk
from reproduction.extra.records import markdown, measure_missing, with_error
from reproduction.molecules import sets

SETS = ("ESOL", "Lipophilicity", "BBBP", "BACE")
DRAWS, TRAINING, TESTED = 100, 300, 1000
Load = Callable[[str], tuple[sets.Molecules, Any]]
TEXT = """
## Many draws

Of each set, {training} training molecules and up to {tested:,} test molecules are drawn {draws} times, each
time with a new default model: mean coverage in percent and its standard error.

{table}
"""


@dataclass(frozen=True)
class Draw:
    """Coverage of one draw.

    Attributes
    ----------
    dataset : str
    draw : int
        Seed of the draw and of the model.
    tested, covered : int
        Number of test molecules, and of those that are covered.
    seconds : float
        Processor seconds.
    """

    dataset: str
    draw: int
    tested: int
    covered: int
    seconds: float

    @property
    def key(self) -> tuple[str, int]:
        """What tells draws apart."""
        return self.dataset, self.draw


def measure(data: sets.Molecules, graphs: Any, draw: int, coverage: float) -> Draw:
    """Return the coverage of a model of molecules drawn at random."""
    start, order = process_time(), np.random.default_rng(draw).permutation(len(data.mols))
    train, test = order[:TRAINING], order[TRAINING : TRAINING + TESTED]
    kind: Any = pk.PropagationClassifier if data.is_class else pk.PropagationRegressor
    target = data.target[:, 0].astype(int) if data.is_class else data.target[:, 0]
    model = kind(random_state=draw, n_jobs=1, progress=False).fit(graphs[train], target[train])
    hits = covered(model, graphs[test], target[test], coverage)
    return Draw(data.name, draw, len(test), int(hits.sum()), round(process_time() - start, 1))


def covered(model: Any, graphs: Any, truth: NDArray[Any], coverage: float) -> NDArray[np.bool_]:
    """Return whether the set or interval of each graph contains the truth."""
    if isinstance(model, pk.PropagationClassifier):
        found = model.predict_set(graphs, coverage)
        return np.asarray(found[np.arange(len(truth)), np.searchsorted(model.classes_, truth)])
    low, high = model.predict_interval(graphs, coverage).T
    return np.asarray((low <= truth) & (truth <= high))


def measured(path: Path, names: Sequence[str], load: Load, coverage: float) -> list[Draw]:
    """Measure the draws that the file does not hold; return all."""
    keys = product([name for name in SETS if name in names], range(DRAWS))
    return measure_missing(path, Draw, keys, lambda name, draw: measure(*load(name), draw, coverage))


def section(draws: Sequence[Draw]) -> str:
    """Return the text and table of the page; empty without draws."""
    rows = []
    for name in SETS:
        shares = [100 * one.covered / one.tested for one in draws if one.dataset == name]
        if shares:
            rows.append([name, str(len(shares)), with_error(shares)])
    if not rows:
        return ""
    table = markdown(["set", "draws", "coverage"], rows)
    return TEXT.format(training=TRAINING, tested=TESTED, draws=DRAWS, table=table)
