"""Solvers for many molecules, compared within the training part of HIV: nothing here sees the test part.

Called by ``python -m reproduction scaffolds``, which keeps fits in OUTPUT/scaffold_folds.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

import propkernels as pk
from reproduction.extra.records import keep_records, load_records, report

N_FOLDS, SEED = 3, 5
SOLVERS = ("linear", "landmarks")


@dataclass(frozen=True)
class Within:
    """Score of a default model with one solver on one fold of the training part.

    Attributes
    ----------
    solver : str
    fold : int
    score : float
        ROC-AUC in percent.
    seconds : float
        Processor seconds of fit and predictions, from graphs.
    """

    solver: str
    fold: int
    score: float
    seconds: float


def scaffold_folds(groups: Sequence[int]) -> NDArray[np.int64]:
    """Return the fold of each molecule: scaffolds, largest first, each to the smallest fold so far.

    Examples
    --------
    >>> scaffold_folds([0, 0, 0, 1, 1, 2, 2, 3]).tolist()
    [0, 0, 0, 2, 2, 1, 1, 1]
    """
    _, of = np.unique(groups, return_inverse=True)
    sizes = np.bincount(of)
    order = np.argsort(-sizes + 0.5 * np.random.default_rng(SEED).random(len(sizes)))
    folds, filled = np.zeros(len(sizes), dtype=np.int64), np.zeros(N_FOLDS)
    for scaffold in order:
        folds[scaffold] = np.argmin(filled)
        filled[folds[scaffold]] += sizes[scaffold]
    return np.asarray(folds[of])


Part = tuple[pk.GraphDatabase, NDArray[np.int64], NDArray[np.int64]]  # graphs, classes, scaffolds


def measure_missing(path: Path, training_part: Callable[[], Part]) -> list[Within]:
    """Return all fits; those that are not in the file are measured and kept."""
    fits = load_records(path, Within)
    known = {(fit.solver, fit.fold) for fit in fits}
    missing = [key for key in product(SOLVERS, range(N_FOLDS)) if key not in known]
    if missing:
        graphs, target, groups = training_part()
        folds = scaffold_folds(groups.tolist())
        for solver, fold in missing:
            fits.append(_measure(solver, fold, graphs, target, folds))
            keep_records([fits[-1]], path)
            report(f"{solver}, fold {fold}: {fits[-1].score:.2f}")
    return fits


def _measure(
    solver: str, fold: int, graphs: pk.GraphDatabase, target: NDArray[np.int64], folds: NDArray[np.int64]
) -> Within:
    train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
    model = pk.PropagationClassifier(
        solver=solver, scoring="roc_auc", random_state=0, n_jobs=1, progress=False
    )
    start = process_time()
    decisions = model.fit(graphs[train], target[train]).decision_function(graphs[test])
    took, score = process_time() - start, 100 * roc_auc_score(target[test], decisions)
    return Within(solver, fold, round(float(score), 2), round(took, 1))


def sentence(fits: Sequence[Within]) -> str:
    """Return the scores of both solvers, fold by fold, in words."""
    parts = []
    for solver in SOLVERS:
        scores = [fit.score for fit in sorted(fits, key=lambda fit: fit.fold) if fit.solver == solver]
        each = ", ".join(f"{score:.1f}" for score in scores)
        parts.append(f'`solver="{solver}"` had {np.mean(scores):.1f} ({each})')
    return " and ".join(parts)
