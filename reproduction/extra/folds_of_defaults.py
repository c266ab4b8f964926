"""Folds on which PropagationClassifier is measured as it comes: fitted, tested, and kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import propkernels as pk
from reproduction.extra.records import Record, describe_model, measure_missing
from reproduction.protocols.nested import class_numbers

LABELS_ONLY = "ENZYMES, labels only"
Key = tuple[str, int, int]  # data set, repeat and fold
Data = tuple[Any, NDArray[Any]]  # graphs and classes
Split = tuple[
    NDArray[np.int64], NDArray[np.int64], int
]  # training and test graphs, and the seed of the model


N_BINS = 15  # of the largest probability


@dataclass(frozen=True)
class FoldResult(Record):
    """One fold: what was chosen, how it did, and how long it took.

    ``log_loss`` is the mean over the test graphs. ``sure`` has one entry per bin of the largest probability
    that has graphs: its number, graphs, sum of the probabilities, and how many of the graphs are right.
    """

    n_keys = 3

    dataset: str
    repeat: int
    fold: int
    correct: int
    tested: int
    chosen: str
    validated: float
    seconds: float
    processor_seconds: float
    log_loss: float = float("nan")
    sure: list[list[float]] = field(default_factory=list)


@lru_cache(maxsize=1)
def load(name: str) -> Data:
    """Graphs and classes of a data set."""
    data = pk.datasets.load("ENZYMES" if name == LABELS_ONLY else name)
    graphs: Any = data.graphs
    if name == LABELS_ONLY:
        graphs = graphs.with_attributes(None)
    return graphs, class_numbers(data.target)


def measure_folds(
    path: Path,
    keys: Iterable[Key],
    load: Callable[[str], Data],
    split: Callable[[NDArray[Any], Key], Split],
    n_jobs: int,
) -> dict[str, list[FoldResult]]:
    """Measure what the file lacks; return all results by data set.

    Parameters
    ----------
    path : Path
    keys : iterable of (str, int, int)
        Data sets, repeats and folds.
    load : callable
        Graphs and classes of a data set.
    split : callable
        Gets classes and a key, and returns training and test graphs and the seed of the model.
    n_jobs : int
        Threads of a fit.
    """

    def measure(dataset: str, repeat: int, fold: int) -> FoldResult:
        graphs, target = load(dataset)
        train, test, seed = split(target, (dataset, repeat, fold))
        start, processor = perf_counter(), process_time()
        model = pk.PropagationClassifier(random_state=seed, n_jobs=n_jobs, progress=False)
        model.fit(graphs[train], target[train])
        seconds, processor = perf_counter() - start, process_time() - processor
        chances, truth = model.predict_proba(graphs[test]), np.searchsorted(model.classes_, target[test])
        correct = int(np.sum(chances.argmax(axis=1) == truth))
        outcome = correct, len(test), describe_model(model), round(model.score_, 4)
        took = round(seconds, 2), round(processor, 2)
        return FoldResult(dataset, repeat, fold, *outcome, *took, *judged(chances, truth))

    found: dict[str, list[FoldResult]] = {}
    for result in measure_missing(path, FoldResult, keys, measure):
        found.setdefault(result.dataset, []).append(result)
    return found


def judged(chances: NDArray[np.float64], truth: NDArray[np.int64]) -> tuple[float, list[list[float]]]:
    """Log loss and reliability of probabilities, as a fold keeps them."""
    own, top = chances[np.arange(len(truth)), truth], chances.max(axis=1)
    right, bins = chances.argmax(axis=1) == truth, np.minimum((N_BINS * top).astype(int), N_BINS - 1)
    sums = [np.bincount(bins, weights, N_BINS) for weights in (None, top, right)]
    rows = [
        [i, int(n), round(float(s), 3), int(r)] for i, (n, s, r) in enumerate(zip(*sums, strict=True)) if n
    ]
    return round(float(-np.log(own.clip(1e-15)).mean()), 4), rows


def calibration_error(results: Sequence[FoldResult]) -> float:
    """Expected calibration error over all folds: mean gap of probability and share of right answers."""
    sums = np.zeros((N_BINS, 3))
    for result in results:
        for number, *values in result.sure:
            sums[int(number)] += values
    return float(np.abs(sums[:, 1] - sums[:, 2]).sum() / sums[:, 0].sum())


def accuracies(results: Sequence[FoldResult]) -> list[float]:
    """Mean over the folds of each repeat, in percent."""
    repeats = sorted({result.repeat for result in results})
    return [100 * float(np.mean([r.correct / r.tested for r in results if r.repeat == n])) for n in repeats]


def spread(results: Sequence[FoldResult]) -> float:
    """Standard deviation over the folds, in percent."""
    return float(np.std([100 * result.correct / result.tested for result in results]))
