"""Where rows come from: an array in memory, or parts in a folder that workers read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.learn.linear.exact_sums import ExactSums, Survey
from propkernels.scale.executors import Engine, is_worker_loss, resolve_executor
from propkernels.scale.opened import FeatureFolder
from propkernels.scale.part_files import read_block
from propkernels.utils.arrays import available_memory
from propkernels.utils.locks import ForkSafeLock
from propkernels.utils.parallel import run_threads, thread_count

Values = NDArray[np.float64]
ENTRIES_PER_THREAD = 2**17  # fewer are not worth a thread
CACHE_SHARE = 0.25  # of the memory that is available: parts that stay in memory between two passes
TASKS_PER_WORKER = 2
MOST_LOSSES = 5  # of workers in one pass


@dataclass(frozen=True)
class Problem:
    """What is to be learned from the rows.

    Attributes
    ----------
    loss : int
    targets : ndarray, (rows,)
        -1 and 1 where classes are learned.
    weights : ndarray, (rows,)
    """

    loss: int
    targets: Values
    weights: Values


class Outline(NamedTuple):
    """What rows are like: largest entry (without its sign), largest length, columns that are not empty."""

    largest_entry: float
    longest_row: float
    columns: NDArray[np.int64]


class Rows(ABC):
    """Rows of features, looked at as a whole: bounds, and exact sums of losses and gradients.

    Only columns that are not empty take part: the coefficients of all others are 0.
    """

    n_rows: int
    n_columns: int
    outline: Outline

    @abstractmethod
    def sums(self, problem: Problem, coefficients: Values, rounding: Values) -> ExactSums:
        """Losses and gradients of all rows, for coefficients of the columns that are not empty."""

    def survey(self, problem: Problem) -> Survey:
        """Bounds of all rows, and of what is to be learned."""
        targets, weights = np.abs(problem.targets), problem.weights
        bounds = (float(targets.max(initial=0.0)), float(weights.max(initial=0.0)))
        return Survey(self.n_rows, self.outline.largest_entry, self.outline.longest_row, *bounds)

    def expanded(self, coefficients: Values) -> Values:
        """Coefficients of all columns, and the intercept, from those of the columns that are not empty."""
        whole = np.zeros(self.n_columns + 1)
        whole[self.outline.columns], whole[-1] = coefficients[:-1], coefficients[-1]
        return whole


class ArrayRows(Rows):
    """Rows of a sparse array in memory, in threads."""

    def __init__(self, features: csr_array, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self.n_rows, self.n_columns = features.shape
        self.outline = outline_of(features)
        narrow = _narrowed(features, self.outline.columns)
        runs = max(min(thread_count(n_jobs), features.nnz // ENTRIES_PER_THREAD), 1)
        self._bounds = np.linspace(0, self.n_rows, runs + 1).astype(np.int64)
        self._runs = [narrow[a:b] for a, b in pairwise(self._bounds)]

    def sums(self, problem: Problem, coefficients: Values, rounding: Values) -> ExactSums:
        """Sums of runs of rows, added up."""

        def one_run(run: int) -> ExactSums:
            rows = slice(self._bounds[run], self._bounds[run + 1])
            some = Problem(problem.loss, problem.targets[rows], problem.weights[rows])
            return sums_of(self._runs[run], some, coefficients, rounding)

        first, *others = run_threads(one_run, range(len(self._runs)), self.n_jobs)
        for other in others:
            first.add(other)
        return first


def outline_of(features: csr_array) -> Outline:
    """What some rows are like."""
    from propkernels.learn.linear.compiled import survey_rows

    largest = np.zeros(2)
    survey_rows(features.indptr, features.data, largest)
    is_used = np.zeros(features.shape[1], dtype=bool)
    is_used[features.indices] = True
    return Outline(float(largest[0]), 1.001 * float(np.sqrt(largest[1])), np.flatnonzero(is_used))


def _narrowed(features: csr_array, columns: NDArray[np.int64]) -> csr_array:
    """The same rows without empty columns."""
    number = np.zeros(features.shape[1], dtype=features.indices.dtype)
    number[columns] = np.arange(len(columns))
    arrays = (features.data, number[features.indices], features.indptr)
    return csr_array(arrays, shape=(features.shape[0], len(columns)))


def sums_of(features: csr_array, problem: Problem, coefficients: Values, rounding: Values) -> ExactSums:
    """Sums of some rows."""
    sums = ExactSums.zeros(features.shape[1])
    sums.add_rows(features, problem.targets, problem.weights, coefficients, problem.loss, rounding)
    return sums


class PartRows(Rows):
    """Rows of the parts of a folder, read and summed up by workers; receipts are sums, never features."""

    def __init__(self, folder: FeatureFolder, engine: Engine) -> None:
        self.folder, self.engine = folder, engine
        self.n_rows, self.n_columns = folder.shape
        self._ends = np.cumsum([0, *folder.part_sizes])
        n_tasks = min(folder.n_parts, TASKS_PER_WORKER * engine.n_workers())
        cuts = np.linspace(0, folder.n_parts, n_tasks + 1).astype(int)
        self._tasks = [range(a, b) for a, b in pairwise(cuts.tolist())]
        self.outline = self._look()

    @classmethod
    @contextmanager
    def opened(cls, folder: FeatureFolder, executor: Any, n_jobs: int | None) -> Iterator[PartRows]:
        """Rows, as long as the workers are there."""
        engine = resolve_executor(executor, n_jobs)
        try:
            yield cls(folder, engine)
        finally:
            engine.close()
            CACHE.clear()

    def _look(self) -> Outline:
        return _joined(self._each(_outline_of_parts, lambda parts: ()))

    def sums(self, problem: Problem, coefficients: Values, rounding: Values) -> ExactSums:
        """Sums of the parts, added up in their order."""
        columns = self.outline.columns
        whole = self.expanded(coefficients)
        places = np.flatnonzero(whole).astype(np.int32)
        sent = (len(whole), places, whole[places])

        def arguments(parts: range) -> tuple[Any, ...]:
            rows = slice(self._ends[parts.start], self._ends[parts.stop])
            return Problem(problem.loss, problem.targets[rows], problem.weights[rows]), sent, rounding

        total = ExactSums.zeros(len(columns))
        known = np.concatenate(
            [columns, [self.n_columns, self.n_columns + 1]]
        )  # intercept and loss come last
        for found, high, low in self._each(_sums_of_parts, arguments):
            total.add_packed((np.searchsorted(known, found), high, low))
        return total

    def _each(self, function: Callable[..., Any], arguments: Callable[[range], Any]) -> list[Any]:
        """Results of a function of runs of parts; a run whose worker is lost is computed again."""
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
        raise RuntimeError(f"workers were lost {MOST_LOSSES} times in one pass: parts need less memory each")


def _compute(engine: Engine, calls: dict[int, Any], results: dict[int, Any]) -> bool:
    """Make calls on workers; return whether no worker was lost."""
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


class PartCache:
    """Parts that were read stay in memory as long as there is room: files of parts never change."""

    def __init__(self) -> None:
        self._parts: OrderedDict[str, csr_array] = OrderedDict()
        self._lock = ForkSafeLock()

    def features(self, path: str, n_columns: int) -> csr_array:
        """Features of a part, read from its file unless they are here."""
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
        """Forget all parts."""
        with self._lock:
            self._parts.clear()


def _bytes_of(features: csr_array) -> int:
    return int(features.data.nbytes + features.indices.nbytes + features.indptr.nbytes)


CACHE = PartCache()  # of this process; workers have their own


def _outline_of_parts(files: list[str], n_columns: int) -> Outline:
    return _joined([outline_of(CACHE.features(file, n_columns)) for file in files])


def _joined(found: list[Outline]) -> Outline:
    """The outline of several sets of rows together."""
    entries, lengths, columns = zip(*found, strict=True)
    return Outline(max(entries), max(lengths), np.unique(np.concatenate(columns)))


def _sums_of_parts(
    files: list[str], n_columns: int, problem: Problem, sent: tuple[int, Any, Any], rounding: Values
) -> tuple[Any, Any, Any]:
    n_coefficients, places, values = sent
    coefficients = np.zeros(n_coefficients)
    coefficients[places] = values
    sums, first = ExactSums.zeros(n_columns), 0
    for file in files:
        features = CACHE.features(file, n_columns)
        rows = slice(first, first + features.shape[0])
        first = rows.stop
        sums.add_rows(
            features, problem.targets[rows], problem.weights[rows], coefficients, problem.loss, rounding
        )
    return sums.packed()
