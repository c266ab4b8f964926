"""One evaluation in progress: what its repeats and folds share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.database import GraphDatabase
from propkernels.learn.evaluation.protocols import Protocol
from propkernels.learn.evaluation.result import Choice
from propkernels.learn.machines.scoring import Scorer, score_model
from propkernels.learn.machines.tasks import Classification, Columns, Regression, Task
from propkernels.learn.selection.candidates import Candidate, CostGrid, Space, candidates
from propkernels.learn.selection.folds import Fold, Seeds
from propkernels.learn.selection.search import choose_among
from propkernels.learn.selection.sources import has_steps, redrawn
from propkernels.utils.parallel import run_threads


@dataclass(frozen=True)
class Run:
    """One repeat."""

    scores: tuple[float, ...]
    choices: tuple[Choice, ...]
    kernel_seconds: float


@dataclass
class Report:
    """Counts folds that are done, from any thread, and tells."""

    tell: Callable[[int, int], None] | None
    total: int = 0
    done: int = 0
    lock: Any = field(default_factory=Lock)

    def one_more(self) -> None:
        """Another fold is done."""
        with self.lock:
            self.done += 1
            if self.tell is not None:
                self.tell(self.done, self.total)


@dataclass(frozen=True)
class KernelStudy:
    """A kernel with a C-SVM or an SVR: one pass a repeat, folds are slices."""

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
        """Whether numbers are predicted."""
        return self.target.dtype.kind == "f" and not self.has_labels

    def task(self, middle: Any = 0.0, unit: Any = 1.0, scorer: Scorer | None = None) -> Task:
        """What is predicted; scores of numbers are those of ``unit * target + middle``."""
        each = Regression(None, scorer, middle, unit) if self.is_regression else Classification(None, scorer)
        return Columns(each) if self.target.ndim == 2 else each

    def run(self, seeds: Seeds, folds: Sequence[Fold]) -> Run:
        """One repeat: its kernels, and every fold's choice and score."""
        start = perf_counter()
        space = Space(None, self.steps, self.costs, "kernel", self.epsilons)
        arms = candidates(self.kernel, self.graphs, self.target, space, self.task(), seeds.kernel)
        kernel_seconds = perf_counter() - start
        outcomes = run_threads(lambda fold: self.judge(arms, fold), folds, self.n_jobs)
        scores, choices = zip(*outcomes, strict=True)
        return Run(scores, choices, kernel_seconds)

    def judge(self, arms: Sequence[Candidate], fold: Fold) -> tuple[float, Choice]:
        """Choose on the training part, learn from all of it, and score on the test part."""
        middle, unit = self._units(self.target[fold.train])
        target = (self.target - middle) / unit if self.is_regression else self.target
        task = self.task(middle, unit, self.scorer if self.chooses_by_score else None)
        found = choose_among(arms, target, fold.inner, task, self.is_exact)
        assert found is not None
        arm = arms[found.arm]
        score = arm.score(self.task(middle, unit, self.scorer), target, fold.train, fold.test, found.cost)
        self.report.one_more()
        return score, Choice(arm.t_max, arm.costs[found.cost])

    def _units(self, known: NDArray[Any]) -> tuple[Any, Any]:
        """Mean and standard deviation of the training part, for numbers."""
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
        """Nothing is chosen here: models choose by themselves."""
        return False

    def run(self, seeds: Seeds, folds: Sequence[Fold]) -> Run:
        """One repeat: a model for every fold."""
        outcomes = run_threads(lambda fold: self.judge(seeds.kernel, fold), folds, self.n_jobs)
        scores, choices, seconds = zip(*outcomes, strict=True)
        return Run(scores, choices, float(sum(seconds)))

    def judge(self, seed: int, fold: Fold) -> tuple[float, Choice, float]:
        """Fit on the training part, and score on the test part."""
        start = perf_counter()
        model = redrawn(self.kernel, seed).fit(self.graphs[fold.train], self.target[fold.train])
        seconds = perf_counter() - start
        score = score_model(self.scorer, model, self.graphs[fold.test], self.target[fold.test])
        self.report.one_more()
        choice = Choice(getattr(model, "t_max_", None), float(getattr(model, "C_", np.nan)))
        return score, choice, seconds


def split_digest(splits: Sequence[Sequence[Fold]]) -> str:
    """Digest of which graphs are tested when."""
    digest = sha256()
    for folds in splits:
        for fold in folds:
            digest.update(np.ascontiguousarray(fold.test, dtype=np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]
