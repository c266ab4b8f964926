"""Protocols of cross-validation, and studies: the work done on each fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from propkernels._utils.checks import check_integer, shown
from propkernels._utils.locks import ForkSafeLock
from propkernels._utils.parallel import run_threads
from propkernels.decisions.scoring import Recorder, Scorer, score_model
from propkernels.decisions.tasks import Classification, Columns, Regression, Task
from propkernels.evaluation.evaluation_result import Choice
from propkernels.graphs.database import GraphDatabase
from propkernels.selection.candidates import Candidate, CostGrid, Space, candidates
from propkernels.selection.choosing import choose_among
from propkernels.selection.folds import Fold, Indices, Seeds, small_classes_allowed
from propkernels.selection.kernel_sources import has_steps, redrawn

LEAVE_ONE_OUT = "loo"
DEFAULT_FOLDS = 10
Pairs = list[tuple[Indices, Indices]]


@dataclass(frozen=True)
class Protocol:
    """The outer and inner splits of the graphs.

    Attributes
    ----------
    n_folds, inner_folds : int or "loo"
        Number of folds; "loo" leaves out one graph at a time, or one group.
    groups : ndarray or None
        Group of each graph; neither the outer nor the inner split divides a group.
    is_classification : bool
        Whether folds are stratified by class.
    cv : splitter or iterable of (train, test), optional
        The outer split, in place of ``n_folds``.
    """

    n_folds: int | str
    inner_folds: int | str
    groups: NDArray[np.int64] | None
    is_classification: bool
    cv: Any = None

    @property
    def name(self) -> str:
        """The outer split in words."""
        if self.cv is not None:
            return type(self.cv).__name__ if hasattr(self.cv, "split") else "given folds"
        if self.n_folds == LEAVE_ONE_OUT:
            return "leave-one-out" if self.groups is None else "leave-one-group-out"
        kind = "stratified " if self.is_classification else ""
        return f"{kind}{self.n_folds}-fold" + ("" if self.groups is None else " by groups")

    def folds(self, target: NDArray[Any], seeds: Seeds, has_choice: bool) -> list[Fold]:
        """Return outer folds, and inner folds of each training part if there is something to choose."""
        everyone = np.arange(len(target))
        outer = self._outer(everyone, target, seeds.outer)
        return [
            Fold(train, test, self._inner(train, target, seeds.inner) if has_choice else ())
            for train, test in outer
        ]

    def _outer(self, everyone: Indices, target: NDArray[Any], seed: int) -> Pairs:
        if self.cv is None:
            self._check_number(target)
            return self._split(everyone, target, self.n_folds, seed)
        splitter = check_cv(self.cv, target if self.is_classification else None)
        return [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(everyone, target, self.groups)]

    def _inner(self, train: Indices, target: NDArray[Any], seed: int) -> tuple[tuple[Indices, Indices], ...]:
        n_folds = self.inner_folds
        if not isinstance(n_folds, str):
            n_folds = min(n_folds, self._most(train, target))
            if n_folds < 2:
                return ()
        return tuple(self._split(train, target, n_folds, seed))

    def _split(self, graphs: Indices, target: NDArray[Any], n_folds: int | str, seed: int) -> Pairs:
        groups = None if self.groups is None else self.groups[graphs]
        splitter = self._splitter(n_folds, seed)
        with small_classes_allowed():
            return [(graphs[a], graphs[b]) for a, b in splitter.split(graphs, target[graphs], groups)]

    def _splitter(self, n_folds: int | str, seed: int) -> Any:
        if isinstance(n_folds, str):
            return LeaveOneOut() if self.groups is None else LeaveOneGroupOut()
        if self.groups is None:
            kind: Any = StratifiedKFold if self.is_classification else KFold
        else:
            kind = StratifiedGroupKFold if self.is_classification else GroupKFold
        return kind(n_folds, shuffle=True, random_state=seed)

    def _most(self, graphs: Indices, target: NDArray[Any]) -> int:
        """Largest possible number of folds."""
        if self.groups is not None:
            return len(np.unique(self.groups[graphs]))
        return int(np.bincount(target[graphs]).max()) if self.is_classification else len(graphs)

    def _check_number(self, target: NDArray[Any]) -> None:
        most = self._most(np.arange(len(target)), target)
        if not isinstance(self.n_folds, str) and self.n_folds > most:
            limit = "the size of the largest class" if self.is_classification else "the number of graphs"
            limit = limit if self.groups is None else "the number of groups"
            raise ValueError(f"n_folds must be at most {most}, {limit}; got {self.n_folds}")


def default_folds(target: NDArray[Any], groups: Any, is_classification: bool) -> int:
    """Return 10 folds, or the size of the smallest class (or number of groups or graphs); at least 2."""
    if groups is not None:
        most, what = len(np.unique(groups)), "there are {} groups"
    elif is_classification:
        most, what = int(np.bincount(target).min()), "the smallest class has {} graphs"
    else:
        most, what = len(target), "there are {} graphs"
    n_folds = max(2, min(DEFAULT_FOLDS, most))
    if n_folds < DEFAULT_FOLDS:
        reason = what.format(most)
        warnings.warn(f"{n_folds} folds instead of {DEFAULT_FOLDS}: {reason}", UserWarning, stacklevel=3)
    return n_folds


def check_folds(value: Any, name: str) -> int | str:
    """Return a number of folds, or "loo"."""
    if isinstance(value, str):
        if value != LEAVE_ONE_OUT:
            raise ValueError(f'{name} must be a whole number or "loo", got {shown(value)}')
        return value
    return check_integer(value, name, 2)


@dataclass(frozen=True)
class Run:
    """Results of one repeat."""

    scores: tuple[float, ...]
    choices: tuple[Choice, ...]
    kernel_seconds: float
    recorders: tuple[Recorder, ...] = ()


@dataclass
class Report:
    """Thread-safe counter of finished folds that calls a progress function."""

    tell: Callable[[int, int], None] | None
    total: int = 0
    done: int = 0
    lock: ForkSafeLock = field(default_factory=ForkSafeLock)

    def one_more(self) -> None:
        """Count one more finished fold."""
        with self.lock:
            self.done += 1
            if self.tell is not None:
                self.tell(self.done, self.total)


@dataclass(frozen=True)
class KernelStudy:
    """A kernel with a C-SVM or an SVR: one pass per repeat, folds are slices of its matrices."""

    kernel: Any
    graphs: GraphDatabase
    target: NDArray[Any]
    protocol: Protocol
    scorer: Scorer
    n_jobs: int | None
    report: Report
    steps: tuple[int, ...] | None
    costs: CostGrid
    epsilons: tuple[float, ...]
    is_exact: bool
    chooses_by_score: bool
    has_labels: bool

    @property
    def has_choice(self) -> bool:
        """Whether there is more than one candidate."""
        several_steps = has_steps(self.kernel) and (self.steps is None or len(self.steps) > 1)
        flag = bool(self.kernel.get_params().get("normalize", False))
        several_epsilons = self.is_regression and len(self.epsilons) > 1
        return several_steps or several_epsilons or len(self.costs.of(flag)) > 1

    @property
    def is_regression(self) -> bool:
        """Whether to predict numbers."""
        return self.target.dtype.kind == "f" and not self.has_labels

    def task(self, middle: Any = 0.0, unit: Any = 1.0, scorer: Scorer | None = None) -> Task:
        """Return the prediction task; scores of numbers are those of ``unit * target + middle``."""
        each = Regression(None, scorer, middle, unit) if self.is_regression else Classification(None, scorer)
        return Columns(each) if self.target.ndim == 2 else each

    def run(self, seeds: Seeds, folds: Sequence[Fold]) -> Run:
        """Return one repeat: times of its kernels, and choice and score of every fold."""
        start = perf_counter()
        space = Space(None, self.steps, self.costs, "kernel", self.epsilons)
        arms = candidates(self.kernel, self.graphs, self.target, space, self.task(), seeds.kernel)
        kernel_seconds = perf_counter() - start
        outcomes = run_threads(lambda fold: self.judge(arms, fold), folds, self.n_jobs)
        scores, choices, recorders = zip(*outcomes, strict=True)
        return Run(scores, choices, kernel_seconds, recorders)

    def judge(self, arms: Sequence[Candidate], fold: Fold) -> tuple[float, Choice, Recorder]:
        """Choose on the training part, train on all of it, and score on the test part."""
        middle, unit = self._units(self.target[fold.train])
        target = (self.target - middle) / unit if self.is_regression else self.target
        task = self.task(middle, unit, self.scorer if self.chooses_by_score else None)
        found = choose_among(arms, target, fold.inner, task, self.is_exact)
        assert found is not None
        arm, recorder = arms[found.arm], Recorder(self.scorer)
        score = arm.score(self.task(middle, unit, recorder), target, fold.train, fold.test, found.cost)
        self.report.one_more()
        return score, Choice(arm.t_max, arm.costs[found.cost]), recorder

    def _units(self, known: NDArray[Any]) -> tuple[Any, Any]:
        """Return mean and standard deviation of the training part, for numbers."""
        if not self.is_regression:
            return 0.0, 1.0
        spread = np.nanstd(known, axis=0)
        return np.nanmean(known, axis=0), np.where(spread == 0, 1.0, spread)


@dataclass(frozen=True)
class ModelStudy:
    """A classifier or regressor of graphs, fitted on each training part."""

    kernel: Any
    graphs: GraphDatabase
    target: NDArray[Any]
    protocol: Protocol
    scorer: Scorer
    n_jobs: int | None
    report: Report

    @property
    def has_choice(self) -> bool:
        """False: models choose their parameters themselves."""
        return False

    def run(self, seeds: Seeds, folds: Sequence[Fold]) -> Run:
        """Return one repeat: a fitted model for every fold."""
        outcomes = run_threads(lambda fold: self.judge(seeds.kernel, fold), folds, self.n_jobs)
        scores, choices, seconds, recorders = zip(*outcomes, strict=True)
        return Run(scores, choices, float(sum(seconds)), recorders)

    def judge(self, seed: int, fold: Fold) -> tuple[float, Choice, float, Recorder]:
        """Fit on the training part, and score on the test part."""
        start = perf_counter()
        model = redrawn(self.kernel, seed).fit(self.graphs[fold.train], self.target[fold.train])
        seconds, recorder = perf_counter() - start, Recorder(self.scorer)
        score = score_model(recorder, model, self.graphs[fold.test], self.target[fold.test])
        self.report.one_more()
        choice = Choice(getattr(model, "t_max_", None), float(getattr(model, "C_", np.nan)))
        return score, choice, seconds, recorder


def split_digest(splits: Sequence[Sequence[Fold]]) -> str:
    """Return a digest of the test parts of all folds."""
    digest = sha256()
    for folds in splits:
        for fold in folds:
            digest.update(np.ascontiguousarray(fold.test, dtype=np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]
