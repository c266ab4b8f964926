"""Mean coverage over many draws: training and test molecules are drawn again and again from one set.

Such molecules are exchangeable by construction, so that the mean coverage is what the method promises, or
what its corrections cost. One set of five folds cannot show it: its standard error is about a point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import propkernels as pk
from reproduction.extra.folds_of_defaults import markdown
from reproduction.extra.records import keep_records, load_records, report, with_error
from reproduction.molecules import sets

SETS = ("ESOL", "Lipophilicity", "BBBP", "BACE")
DRAWS, TRAINING, TESTED = 100, 300, 1000
Hits = NDArray[np.bool_]
Load = Callable[[str], tuple[sets.Molecules, Any]]
TEXT = """Does the correction of CV+ take back too much? Of each set, {training} training molecules and up to
{tested:,} test molecules are drawn {draws} times, each time with a new default model: mean coverage in
percent and its standard error. "CV+" is the method as published; "conformal" is what a model returns, after
it took back what its rehearsal measured.

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
    tested : int
        Number of test molecules.
    covered, covered_plainly : int
        How many of them are covered, and how many are without the correction of ranks.
    seconds : float
        Processor seconds.
    """

    dataset: str
    draw: int
    tested: int
    covered: int
    covered_plainly: int
    seconds: float


def measure(data: sets.Molecules, graphs: Any, draw: int, coverage: float) -> Draw:
    """Return the coverage of a model of molecules drawn at random."""
    start, order = process_time(), np.random.default_rng(draw).permutation(len(data.mols))
    train, test = order[:TRAINING], order[TRAINING : TRAINING + TESTED]
    kind: Any = pk.PropagationClassifier if data.is_class else pk.PropagationRegressor
    target = data.target[:, 0].astype(int) if data.is_class else data.target[:, 0]
    model = kind(random_state=draw, n_jobs=1, progress=False).fit(graphs[train], target[train])
    corrected = covered(model, graphs[test], target[test], coverage)
    model.conformal_ = replace(model.conformal_, levels=np.zeros(0))
    plain = covered(model, graphs[test], target[test], coverage)
    took = round(process_time() - start, 1)
    return Draw(data.name, draw, len(test), int(corrected.sum()), int(plain.sum()), took)


def covered(model: Any, graphs: Any, truth: NDArray[Any], coverage: float) -> Hits:
    """Return whether the set or interval of each graph contains the truth."""
    if isinstance(model, pk.PropagationClassifier):
        found = model.predict_set(graphs, coverage)
        return np.asarray(found[np.arange(len(truth)), np.searchsorted(model.classes_, truth)])
    low, high = model.predict_interval(graphs, coverage).T
    return np.asarray((low <= truth) & (truth <= high))


def missing(draws: Sequence[Draw], names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the draws that are not measured, set after set."""
    done = {(one.dataset, one.draw) for one in draws}
    yield from (key for key in product([n for n in SETS if n in names], range(DRAWS)) if key not in done)


def measure_missing(path: Path, names: Sequence[str], load: Load, coverage: float) -> list[Draw]:
    """Measure the draws that the file does not hold; return all."""
    draws = load_records(path, Draw)
    for name, draw in missing(draws, names):
        draws.append(measure(*load(name), draw, coverage))
        keep_records(draws[-1:], path)
        report(f"{name}, draw {draw}: {draws[-1].covered / draws[-1].tested:.1%}")
    return draws


def section(draws: Sequence[Draw]) -> str:
    """Return the text and table of the page; empty without draws."""
    rows = []
    for name in SETS:
        of = [one for one in draws if one.dataset == name]
        if of:
            plain = with_error([100 * one.covered_plainly / one.tested for one in of])
            rows.append(
                [name, str(len(of)), plain, with_error([100 * one.covered / one.tested for one in of])]
            )
    if not rows:
        return ""
    table = markdown(["set", "draws", "CV+", "conformal"], rows)
    return "\n## Many draws\n\n" + TEXT.format(training=TRAINING, tested=TESTED, draws=DRAWS, table=table)
