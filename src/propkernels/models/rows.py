"""Rows of features in memory or in a folder: targets, weights, exact sums over rows, and L-BFGS."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from propkernels._utils.arrays import available_memory
from propkernels._utils.locks import ForkSafeLock
from propkernels._utils.parallel import one_blas_thread, run_threads, thread_count
from propkernels._utils.progress import ProgressBar
from propkernels.models.exact_sums import CLASSIFIES, ExactSums, Outline, Problem
from propkernels.models.targets import Known, check_numbers, known_targets
from propkernels.scale.executors import Engine, is_worker_loss, resolve_executor
from propkernels.scale.opened import FeatureFolder
from propkernels.scale.part_files import read_block

Values = NDArray[np.float64]
ENTRIES_PER_THREAD = 2**17  # smallest number per thread
CACHE_SHARE = 0.25  # share of available memory for parts kept between passes
TASKS_PER_WORKER = 2
MOST_LOSSES = 5  # lost workers tolerated per pass
LEAST_RANGE = 2.0**-20  # relative range of numbers below which the intercept suffices
CORRECTIONS = 10  # pairs of steps and gradients stored by L-BFGS
NO_PROGRESS = 64 * np.finfo(np.float64).eps  # relative decrease at which L-BFGS stops, as in scikit-learn


class Settings(NamedTuple):
    """Validated parameters of a model."""

    cost: float  # C
    fit_intercept: bool
    tolerance: float  # largest entry of the gradient of the mean objective at which to stop
    max_iter: int


def canonical_rows(X: Any) -> csr_array:
    """Return rows in the form that compiled loops need: sorted, distinct and valid columns."""
    features = csr_array(X)
    features.check_format(full_check=True)
    if not features.has_canonical_format:
        features = features.copy()
        features.sum_duplicates()
    return features


# targets and weights of rows


def check_targets(target: Any, n_rows: int, loss: str) -> Known:
    """Return the graphs of a folder with a target, and these targets."""
    if target is None:
        raise ValueError("the files have no target: pass y, one value per graph")
    values = np.asarray(target)
    if values.ndim == 2:
        raise ValueError(f"the files have {values.shape[1]} targets: pass y, one of the columns")
    if values.shape != (n_rows,):
        raise ValueError(f"y must have one value for each of {n_rows} graphs, got shape {values.shape}")
    known = known_targets(target, n_rows)
    if loss in CLASSIFIES:
        check_classification_targets(known.target)
        return known
    if known.target.dtype.kind not in "biuf":
        raise ValueError('loss="squared" needs numbers, but the target has texts')
    return replace(known, target=check_numbers(known.target, len(known.places), known.places))


def target_unit(target: NDArray[Any], has_intercept: bool) -> float:
    """Return the power of 2 next to the range of the numbers, so that division by it is exact.

    Examples
    --------
    >>> target_unit(np.array([300.0, 302.5]), True), target_unit(np.array([1e-9, 0]), False) == 2.0**-30
    (2.0, True)
    """
    values = np.asarray(target, dtype=np.float64)
    largest = float(np.abs(values).max(initial=0.0))
    spread = float(values.max(initial=-np.inf) - values.min(initial=np.inf)) if has_intercept else largest
    size = max(spread, largest * LEAST_RANGE)
    return 2.0 ** max(math.frexp(size)[1] - 1, -1000) if 0 < size < math.inf else 1.0


def at_least_two_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes of a target; refuse a single class."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"y has 1 class only, {classes.tolist()[0]!r}: classification needs at least 2")
    return classes


def class_weighted(y: NDArray[Any], classes: NDArray[Any], weights: Values, class_weight: Any) -> Values:
    """Return the weights of rows times those of their classes."""
    by_class = compute_class_weight(class_weight, classes=classes, y=y)
    return np.asarray(weights * by_class[np.searchsorted(classes, y)])


def stream_classes(y: NDArray[Any], given: Any, known: NDArray[Any] | None) -> NDArray[Any]:
    """Return the classes of a stream, which must be the same in all calls."""
    if known is None and given is None:
        raise ValueError("the first call of partial_fit needs classes, all those of the stream")
    named = None if given is None else np.unique(np.asarray(given))
    if known is not None and named is not None and not np.array_equal(named, known):
        raise ValueError(f"classes must be the same in all calls of partial_fit: {known.tolist()}")
    classes = known if known is not None else named
    assert classes is not None
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"{unknown.tolist()[0]!r} is not one of the classes {classes.tolist()}")
    return classes


def of_all_rows(targets: Values, weights: Values, known: Known | None) -> tuple[Values, Values]:
    """Return targets and weights of all rows; rows without a target have weight 0."""
    if known is None or not known.n_missing:
        return targets, weights
    everyone = np.zeros((2, known.n_graphs))
    everyone[:, known.places] = targets, weights
    return everyone[0], everyone[1]


# passes


class Rows(ABC):
    """Rows of features, with exact sums of losses and gradients, and their minimization.

    Only non-empty columns are used; the coefficients of all others are 0.
    """

    n_columns: int
    outline: Outline

    @abstractmethod
    def sums(self, problem: Problem, coefficients: Values, rounding: Values) -> ExactSums:
        """Return the exact sums over all rows, for coefficients of the non-empty columns."""

    def expanded(self, coefficients: Values) -> Values:
        """Return the coefficients of all columns and the intercept, from those of the non-empty columns."""
        whole = np.zeros(self.n_columns + 1)
        whole[self.outline.columns], whole[-1] = coefficients[:-1], coefficients[-1]
        return whole

    def minimize(self, problem: Problem, settings: Settings, text: str) -> tuple[Values, int]:
        """Minimize (sum of weighted losses + |w|^2 / (2 C)) / (sum of weights) by L-BFGS.

        Parameters
        ----------
        problem : Problem
        settings : Settings
        text : str
            Text of the progress bar.

        Returns
        -------
        coefficients : ndarray, (columns + 1,)
            Coefficients, the intercept last.
        n_iterations : int
        """
        total = math.fsum(problem.weights.tolist())

        def value_and_gradient(coefficients: Values) -> tuple[float, Values]:
            rounding = problem.rounding(self.outline, coefficients)
            loss, gradient = self.sums(problem, coefficients, rounding).result()
            weights = coefficients[:-1]
            gradient[:-1] += weights / settings.cost
            if not settings.fit_intercept:
                gradient[-1] = 0.0
            value = loss + float(weights @ weights) / (2 * settings.cost)
            return value / total, gradient / total

        with ProgressBar(text, settings.max_iter) as bar, one_blas_thread():
            found = minimize(
                value_and_gradient,
                np.zeros(len(self.outline.columns) + 1),
                jac=True,
                method="L-BFGS-B",
                callback=lambda _: bar.step(),
                options={
                    "maxiter": settings.max_iter,
                    "maxfun": 20 * settings.max_iter,
                    "maxcor": CORRECTIONS,
                    "gtol": settings.tolerance,
                    "ftol": NO_PROGRESS,
                },
            )
        if found.status != 0:
            why = "" if found.status == 1 else f" ({found.message})"
            warnings.warn(
                f"L-BFGS stopped after {found.nit} iterations without convergence{why}: increase max_iter "
                "or tol, or decrease C",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self.expanded(np.asarray(found.x)), max(int(found.nit), 1)


class ArrayRows(Rows):
    """Rows of a sparse array in memory, summed by threads."""

    def __init__(self, features: csr_array, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        n_rows, self.n_columns = features.shape
        self.outline = Outline.of(features)
        narrow = _narrowed(features, self.outline.columns)
        runs = max(min(thread_count(n_jobs), features.nnz // ENTRIES_PER_THREAD), 1)
        bounds = np.linspace(0, n_rows, runs + 1).astype(np.int64)
        self._runs = [(slice(a, b), narrow[a:b]) for a, b in pairwise(bounds)]

    def sums(self, problem: Problem, coefficients: Values, rounding: Values) -> ExactSums:
        """Return the sums over batches of rows, added up."""

        def one_run(run: tuple[slice, csr_array]) -> ExactSums:
            rows, features = run
            sums = ExactSums.zeros(features.shape[1])
            sums.add_rows(features, problem.take(rows), coefficients, rounding)
            return sums

        first, *others = run_threads(one_run, self._runs, self.n_jobs)
        for other in others:
            first.add(slice(None), other.high, other.low)
        return first


def _narrowed(features: csr_array, columns: NDArray[np.int64]) -> csr_array:
    """Return the rows without empty columns."""
    number = np.zeros(features.shape[1], dtype=features.indices.dtype)
    number[columns] = np.arange(len(columns))
    arrays = (features.data, number[features.indices], features.indptr)
    return csr_array(arrays, shape=(features.shape[0], len(columns)))


class PartRows(Rows):
    """Rows of the parts of a folder; workers read features and return only sums."""

    def __init__(self, folder: FeatureFolder, engine: Engine) -> None:
        self.folder, self.engine = folder, engine
        self.n_columns = folder.shape[1]
        self._ends = np.cumsum([0, *folder.part_sizes])
        n_tasks = min(folder.n_parts, TASKS_PER_WORKER * engine.n_workers())
        cuts = np.linspace(0, folder.n_parts, n_tasks + 1).astype(int)
        self._tasks = [range(a, b) for a, b in pairwise(cuts.tolist())]
        self.outline = Outline.joined(self._each(_outline_of_parts, lambda parts: ()))

    @classmethod
    @contextmanager
    def opened(cls, folder: FeatureFolder, executor: Any, n_jobs: int | None) -> Iterator[PartRows]:
        """Yield the rows, while the workers are available."""
        engine = resolve_executor(executor, n_jobs)
        try:
            yield cls(folder, engine)
        finally:
            engine.close()
            CACHE.clear()

    def sums(self, problem: Problem, coefficients: Values, rounding: Values) -> ExactSums:
        """Return the sums of the parts, added up in their order."""
        columns = self.outline.columns
        whole = self.expanded(coefficients)
        places = np.flatnonzero(whole).astype(np.int32)
        sent = (places, whole[places])

        def arguments(parts: range) -> tuple[Any, ...]:
            rows = slice(self._ends[parts.start], self._ends[parts.stop])
            return problem.take(rows), sent, rounding

        total = ExactSums.zeros(len(columns))
        known = np.append(columns, [self.n_columns, self.n_columns + 1])  # intercept and loss are last
        for places, high, low in self._each(_sums_of_parts, arguments):
            total.add(np.searchsorted(known, places), high, low)
        return total

    def _each(self, function: Callable[..., Any], arguments: Callable[[range], Any]) -> list[Any]:
        """Return results of a function on batches of parts; batches of lost workers are repeated."""
        calls = {}
        for number, parts in enumerate(self._tasks):
            files = [str(self.folder.path(i)) for i in parts]
            calls[number] = (function, files, self.n_columns, *arguments(parts))
        results: dict[int, Any] = {}
        for _ in range(MOST_LOSSES):
            left = {number: call for number, call in calls.items() if number not in results}
            if _compute(self.engine, left, results):
                return [results[number] for number in calls]
            self.engine.renew()
        raise RuntimeError(
            f"workers were lost {MOST_LOSSES} times in one pass: use smaller parts, which need less memory"
        )


def _compute(engine: Engine, calls: dict[int, Any], results: dict[int, Any]) -> bool:
    """Run calls on workers; return whether no worker was lost."""
    try:
        futures = {engine.submit(*call): number for number, call in calls.items()}
    except BrokenExecutor:
        return False
    is_whole = True
    while futures:
        for future in engine.wait(futures):
            number = futures.pop(future)
            try:
                results[number] = future.result()
            except BaseException as error:
                if not is_worker_loss(error):
                    raise
                is_whole = False
    return is_whole


# on workers


class PartCache:
    """Cache of the features of parts, as long as memory suffices; files of parts never change."""

    def __init__(self) -> None:
        self._parts: OrderedDict[str, csr_array] = OrderedDict()
        self._lock = ForkSafeLock()

    def features(self, path: str, n_columns: int) -> csr_array:
        """Return the features of a part, from the cache or from its file."""
        with self._lock:
            if path in self._parts:
                return self._parts[path]
        features = read_block(Path(path), n_columns).features
        with self._lock:
            if self._has_room(features):
                self._parts[path] = features
        return features

    def _has_room(self, features: csr_array) -> bool:
        there = available_memory()
        held = sum(map(_bytes_of, self._parts.values()))
        return there is not None and held + _bytes_of(features) <= CACHE_SHARE * (there + held)

    def clear(self) -> None:
        """Remove all parts."""
        with self._lock:
            self._parts.clear()


def _bytes_of(features: csr_array) -> int:
    return int(features.data.nbytes + features.indices.nbytes + features.indptr.nbytes)


CACHE = PartCache()  # cache of this process; each worker has one


def _outline_of_parts(files: list[str], n_columns: int) -> Outline:
    return Outline.joined([Outline.of(CACHE.features(file, n_columns)) for file in files])


def _sums_of_parts(
    files: list[str], n_columns: int, problem: Problem, sent: tuple[Any, Values], rounding: Values
) -> tuple[Any, Any, Any]:
    coefficients = np.zeros(n_columns + 1)
    coefficients[sent[0]] = sent[1]
    sums, first = ExactSums.zeros(n_columns), 0
    for file in files:
        features = CACHE.features(file, n_columns)
        rows = slice(first, first + features.shape[0])
        first = rows.stop
        sums.add_rows(features, problem.take(rows), coefficients, rounding)
    return sums.packed()
