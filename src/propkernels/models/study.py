"""Protocols of cross-validation, and studies: the work done on each fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import run_threads
from propkernels.graphs.database import GraphDatabase
from propkernels.models.candidates import Candidate, CostGrid, Space, candidates
from propkernels.models.choosing import choose_among
from propkernels.models.evaluation_result import Choice
from propkernels.models.folds import LEAVE_ONE_OUT, Fold, Indices, Seeds, split
from propkernels.models.kernel_sources import has_steps, redrawn
from propkernels.models.learning_targets import units_of
from propkernels.models.scoring import Recorder, Scorer, score_model
from propkernels.models.support_vectors import with_effort
from propkernels.models.tasks import Classification, Columns, Regression, Task

DEFAULT_FOLDS = 10


@dataclass(frozen=True)
class Protocol:
    """The outer and inner splits of the graphs.

    Attributes
    ----------
    cv : int, "loo", splitter or list of (train, test)
        The outer split; "loo" leaves out one graph at a time, or one group.
    inner_cv : int, "loo" or splitter
        The split of each training part.
    groups : ndarray or None
        Group of each graph; neither the outer nor the inner split divides a group.
    is_classification : bool
        Whether folds are stratified by class.
    """

    cv: Any
    inner_cv: Any
    groups: NDArray[np.int64] | None
    is_classification: bool

    @property
    def name(self) -> str:
        """The outer split in words."""
        if self.cv == LEAVE_ONE_OUT:
            return "leave-one-out" if self.groups is None else "leave-one-group-out"
        if not isinstance(self.cv, int):
            return type(self.cv).__name__ if hasattr(self.cv, "split") else "given folds"
        kind = "stratified " if self.is_classification else ""
        return f"{kind}{self.cv}-fold" + ("" if self.groups is None else " by groups")

    def folds(self, target: NDArray[Any], seeds: Seeds, has_choice: bool) -> list[Fold]:
        """Return outer folds, and inner folds of each training part if there is something to choose."""
        self._check_number(target)
        outer = split(target, self.cv, self.groups, self.is_classification, seeds.outer)
        return [
            Fold(train, test, self._inner(train, target, seeds.inner) if has_choice else ())
            for train, test in outer
        ]

    def _inner(self, train: Indices, target: NDArray[Any], seed: int) -> tuple[tuple[Indices, Indices], ...]:
        cv = self.inner_cv
        if isinstance(cv, int):
            cv = min(cv, self._most(train, target))
            if cv < 2:
                return ()
        groups = None if self.groups is None else self.groups[train]
        pairs = split(target[train], cv, groups, self.is_classification, seed)
        return tuple((train[a], train[b]) for a, b in pairs)

    def _most(self, graphs: Indices, target: NDArray[Any]) -> int:
        """Largest possible number of folds."""
        if self.groups is not None:
            return len(np.unique(self.groups[graphs]))
        return int(np.bincount(target[graphs]).max()) if self.is_classification else len(graphs)

    def _check_number(self, target: NDArray[Any]) -> None:
        most = self._most(np.arange(len(target)), target)
        if isinstance(self.cv, int) and self.cv > most:
            limit = "the size of the largest class" if self.is_classification else "the number of graphs"
            limit = limit if self.groups is None else "the number of groups"
            raise ValueError(f"cv must be at most {most}, {limit}; got {self.cv}")


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
        warnings.warn(f"{n_folds} folds instead of {DEFAULT_FOLDS}: {reason}", UserWarning, stacklevel=4)
    return n_folds


@dataclass(frozen=True)
class Run:
    """Results of one repeat."""

    scores: tuple[float, ...]
    choices: tuple[Choice, ...]
    kernel_seconds: float
    recorders: tuple[Recorder, ...] = ()


@dataclass(frozen=True)
class KernelStudy:
    """A kernel with a C-SVM or an SVR: one pass per repeat, folds are slices of its matrices."""

    kernel: Any
    graphs: GraphDatabase
    target: NDArray[Any]
    protocol: Protocol
    scorer: Scorer
    n_jobs: int | None
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

    def run(self, seeds: Seeds, folds: Sequence[Fold], tell: Callable[[int], None]) -> Run:
        """Return one repeat: times of its kernels, and choice and score of every fold."""
        start = perf_counter()
        space = Space(None, self.steps, self.costs, "kernel", self.epsilons)
        arms = candidates(self.kernel, self.graphs, self.target, space, self.task(), seeds.kernel)
        kernel_seconds = perf_counter() - start
        outcomes = run_threads(lambda fold: self.judge(arms, fold, tell), folds, self.n_jobs, uses_blas=True)
        scores, choices, recorders = zip(*outcomes, strict=True)
        return Run(scores, choices, kernel_seconds, recorders)

    def judge(
        self, arms: Sequence[Candidate], fold: Fold, tell: Callable[[int], None]
    ) -> tuple[float, Choice, Recorder]:
        """Choose on the training part, train on all of it, and score on the test part."""
        middle, unit = self._units(self.target[fold.train])
        target = (self.target - middle) / unit if self.is_regression else self.target
        task = self.task(middle, unit, self.scorer if self.chooses_by_score else None)
        compared = arms if self.is_exact else [_patient(arm) for arm in arms]
        found = choose_among(compared, target, fold.inner, task, self.is_exact)
        assert found is not None
        arm, recorder = arms[found.arm], Recorder(self.scorer)
        score = arm.score(self.task(middle, unit, recorder), target, fold.train, fold.test, found.cost)
        tell(1)
        return score, Choice(arm.t_max, arm.costs[found.cost]), recorder

    def _units(self, known: NDArray[Any]) -> tuple[Any, Any]:
        """Return mean and standard deviation of the training part, for numbers."""
        return units_of(known) if self.is_regression else (0.0, 1.0)


def _patient(arm: Candidate) -> Candidate:
    """Return the candidate with limited machines: if they do not converge, C is too large."""
    return replace(arm, maker=with_effort(arm.maker, "patient"), machines={})


@dataclass(frozen=True)
class ModelStudy:
    """A classifier or regressor of graphs, fitted on each training part."""

    kernel: Any
    graphs: GraphDatabase
    target: NDArray[Any]
    protocol: Protocol
    scorer: Scorer
    n_jobs: int | None

    @property
    def has_choice(self) -> bool:
        """False: models choose their parameters themselves."""
        return False

    def run(self, seeds: Seeds, folds: Sequence[Fold], tell: Callable[[int], None]) -> Run:
        """Return one repeat: a fitted model for every fold."""
        outcomes = run_threads(
            lambda fold: self.judge(seeds.kernel, fold, tell), folds, self.n_jobs, uses_blas=True
        )
        scores, choices, seconds, recorders = zip(*outcomes, strict=True)
        return Run(scores, choices, float(sum(seconds)), recorders)

    def judge(
        self, seed: int, fold: Fold, tell: Callable[[int], None]
    ) -> tuple[float, Choice, float, Recorder]:
        """Fit on the training part, and score on the test part."""
        start = perf_counter()
        model = redrawn(self.kernel, seed).fit(self.graphs[fold.train], self.target[fold.train])
        seconds, recorder = perf_counter() - start, Recorder(self.scorer)
        score = score_model(recorder, model, self.graphs[fold.test], self.target[fold.test])
        tell(1)
        choice = Choice(getattr(model, "t_max_", None), float(getattr(model, "C_", np.nan)))
        return score, choice, seconds, recorder


def split_digest(splits: Sequence[Sequence[Fold]]) -> str:
    """Return a digest of the test parts of all folds."""
    digest = sha256()
    for folds in splits:
        for fold in folds:
            digest.update(np.ascontiguousarray(fold.test, dtype=np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]
