"""Cells of the comparison: one method on one fold of one set, kept in a file as soon as it is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.cli.arguments import describe_kernel
from reproduction.extra.records import keep_records, load_records, report
from reproduction.molecules import sets
from reproduction.molecules.features import FEATURES
from reproduction.molecules.heads import HEADS, Rows, score

DEFAULT = "default model"
LARGE = {"HIV": 2}  # folds of each split that are measured
Method = tuple[str, str]  # features and head
METHODS: tuple[Method, ...] = (
    *((features, head) for head in HEADS for features in FEATURES),
    (DEFAULT, ""),
)


@dataclass(frozen=True)
class Cell:
    """One method on one fold.

    Attributes
    ----------
    dataset, split, fold, features, head
        What was measured.
    score : float
        ROC-AUC in percent, or root mean squared error.
    seconds : float
        Processor seconds of choice, fit and scores, features not counted.
    chosen : str
    """

    dataset: str
    split: str
    fold: int
    features: str
    head: str
    score: float
    seconds: float
    chosen: str

    @property
    def key(self) -> tuple[str, str, int, str, str]:
        """What tells cells apart."""
        return self.dataset, self.split, self.fold, self.features, self.head

    @property
    def method(self) -> Method:
        """Features and head."""
        return self.features, self.head


class Kept:
    """Cells in a file, one line each; what the file holds is not measured again."""

    def __init__(self, path: Path) -> None:
        self.path, self.cells = path, load_records(path, Cell)

    def add(self, cell: Cell) -> None:
        """Keep a cell, and write it at once."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        keep_records([cell], self.path)
        self.cells.append(cell)

    def missing(self, names: Sequence[str], n_folds: int) -> Iterator[tuple[str, str, int, Method]]:
        """What is to be measured: the first fold of every set, small sets first, then the other folds."""
        done = {cell.key for cell in self.cells}
        for first, last in ((0, 1), (1, n_folds)):
            for name in names:
                numbers = range(first, min(last, LARGE.get(name, n_folds)))
                for split, fold, method in product(sets.SPLITS, numbers, METHODS):
                    if (name, split, fold, *method) not in done:
                        yield name, split, fold, method


@lru_cache(maxsize=1)
def loaded(name: str) -> sets.Molecules:
    """A set; the last one stays in memory."""
    return sets.load(name)


@lru_cache(maxsize=2)
def folds_of(name: str, split: str) -> list[sets.Fold]:
    """Folds of the set that is in memory."""
    return sets.folds(loaded(name), split)


@lru_cache(maxsize=len(FEATURES))
def features_of(name: str, features: str) -> csr_array:
    """Features of the set that is in memory."""
    return csr_array(FEATURES[features](loaded(name).mols), dtype=np.float64)


def measure(name: str, split: str, fold: int, method: Method) -> Cell:
    """Fit a method on the training molecules of a fold, and score the others."""
    data = loaded(name)
    train, test = folds_of(name, split)[fold]
    features, head = method
    if method == (DEFAULT, ""):
        return _model(data, split, fold, train, test)
    table = features_of(name, features)
    start = process_time()
    fitted = HEADS[head](table, data.target, train, test, data.is_class)
    took = process_time() - start
    value = score(data.target[test], fitted.scores, data.is_class)
    return Cell(name, split, fold, *method, round(value, 4), round(took, 2), fitted.chosen)


def _model(data: sets.Molecules, split: str, fold: int, train: Rows, test: Rows) -> Cell:
    """Molecules into graphs, and a model that chooses everything on the training graphs."""
    graphs = pk.MoleculesToGraphs().transform(data.mols)
    start = process_time()
    target = data.target if data.target.shape[1] > 1 else data.target[:, 0]
    if data.is_class:
        target = target if target.ndim > 1 else target.astype(int)
        model = pk.PropagationClassifier(scoring="roc_auc", random_state=0, n_jobs=1, progress=False)
        found = model.fit(graphs[train], target[train]).decision_function(graphs[test])
    else:
        model = pk.PropagationRegressor(random_state=0, n_jobs=1, progress=False)
        found = model.fit(graphs[train], target[train]).predict(graphs[test])
    took = process_time() - start
    value = score(data.target[test], found.reshape(len(test), -1), data.is_class)
    kernel = describe_kernel(model.kernel_, without=("t_max", "normalize"))
    chosen = f"{kernel}; t_max={model.t_max_}, normalize={model.normalize_}, C={model.C_:g}"
    return Cell(data.name, split, fold, DEFAULT, "", round(value, 4), round(took, 2), chosen)


def measure_missing(kept: Kept, names: Sequence[str], n_folds: int) -> Iterator[Cell]:
    """Measure what the file does not hold, and keep it."""
    for name, split, fold, method in list(kept.missing(names, n_folds)):
        cell = measure(name, split, fold, method)
        kept.add(cell)
        report(
            f"{name}, {split} fold {fold}: {' + '.join(filter(None, method))} {cell.score:.3f}, "
            f"{cell.seconds:.1f} s"
        )
        yield cell
