"""``python -m reproduction molecules``: propagation features and models beside fingerprints.

    python -m reproduction molecules --document docs/measured/fingerprints.md
    python -m reproduction molecules --dataset BACE --repeats 1

``--repeats`` is the number of folds, five by default. Cells are kept in OUTPUT/molecules.jsonl and timings in
OUTPUT/molecule_seconds.jsonl as soon as they are known.
"""

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
from reproduction.extra.records import chosen_names, describe_model, measure_missing
from reproduction.molecules import page, seconds, sets
from reproduction.molecules.features import FEATURES
from reproduction.molecules.heads import HEADS, score
from reproduction.molecules.page import DEFAULT, METHODS

LARGE = {"HIV": 2}  # folds of each split that are measured


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


def keys_of(names: Sequence[str], n_folds: int) -> Iterator[tuple[str, str, int, str, str]]:
    """Yield what is measured: the first fold of every set, small sets first, then the other folds."""
    for first, last in ((0, 1), (1, n_folds)):
        for name in names:
            numbers = range(first, min(last, LARGE.get(name, n_folds)))
            for split, fold, method in product(sets.SPLITS, numbers, METHODS):
                yield name, split, fold, *method


@lru_cache(maxsize=1)
def loaded(name: str) -> sets.Molecules:
    """A set; the last one stays in memory."""
    return sets.load(name)


@lru_cache(maxsize=len(FEATURES))
def features_of(name: str, features: str) -> csr_array:
    """Features of the set that is in memory."""
    return csr_array(FEATURES[features](loaded(name).mols), dtype=np.float64)


def measure(name: str, split: str, fold: int, features: str, head: str) -> Cell:
    """Fit a method on the training molecules of a fold, and score the others."""
    data = loaded(name)
    train, test = sets.folds(data, split)[fold]
    if features == DEFAULT:
        table = pk.MoleculesToGraphs().transform(data.mols)
    else:
        table = features_of(name, features)
    start = process_time()
    if features == DEFAULT:
        target = data.target if data.target.shape[1] > 1 else data.target[:, 0]
        if data.is_class:
            target = target if target.ndim > 1 else target.astype(int)
            model = pk.PropagationClassifier(random_state=0, n_jobs=1, progress=False)
            found = model.fit(table[train], target[train]).decision_function(table[test])
        else:
            model = pk.PropagationRegressor(random_state=0, n_jobs=1, progress=False)
            found = model.fit(table[train], target[train]).predict(table[test])
        scores, chosen = found.reshape(len(test), -1), describe_model(model)
    else:
        fitted = HEADS[head](table, data.target, train, test, data.is_class)
        scores, chosen = fitted.scores, fitted.chosen
    took = process_time() - start
    value = score(data.target[test], scores, data.is_class)
    return Cell(name, split, fold, features, head, round(value, 4), round(took, 2), chosen)


def run(names: Sequence[str], folder: Path, document: Path, repeats: int | None = None) -> str:
    """Measure what is missing, write the page, and return what it says first."""
    chosen = chosen_names(names, sets.SOURCES)
    timed = measure_missing(
        folder / "molecule_seconds.jsonl", seconds.Seconds, seconds.keys_of(chosen), seconds.measure
    )
    keys = keys_of(chosen, min(repeats or sets.N_FOLDS, sets.N_FOLDS))
    found = measure_missing(folder / "molecules.jsonl", Cell, keys, measure)
    page.write_page(document, page.measured_part(found, timed))
    return "\n".join(page.verdicts(found))
