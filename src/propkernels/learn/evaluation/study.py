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
from propkernels.learn.evaluation.metrics import Scores
from propkernels.learn.evaluation.protocols import Protocol
from propkernels.learn.evaluation.result import Choice
from propkernels.learn.machines.tasks import Classification, Regression, Task
from propkernels.learn.selection.candidates import Candidate, Space, candidates
from propkernels.learn.selection.folds import Fold, Seeds
from propkernels.learn.selection.kernels_by_t import has_steps, redrawn
from propkernels.learn.selection.search import choose_among
from propkernels.learn.selection.space import CostGrid
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
    score: Scores
    n_jobs: int | None
    report: Report
    steps: tuple[int, ...] | None
    costs: CostGrid
    epsilons: tuple[float, ...]
    is_exact: bool

    @property
    def has_choice(self) -> bool:
        """Whether there is more than one candidate."""
        several_steps = has_steps(self.kernel) and (self.steps is None or len(self.steps) > 1)
        flag = bool(self.kernel.get_params().get("normalize", False))
        several_epsilons = not self.protocol.is_classification and len(self.epsilons) > 1
        return several_steps or several_epsilons or len(self.costs.of(flag)) > 1

    @property
    def task(self) -> Task:
        """What is predicted."""
        return Classification() if self.protocol.is_classification else Regression()

    def run(self, seeds: Seeds, folds: Sequence[Fold]) -> Run:
        """One repeat: its kernels, and every fold's choice and score."""
        start = perf_counter()
        space = Space(None, self.steps, self.costs, "kernel", self.epsilons)
        arms = candidates(self.kernel, self.graphs, space, self.task, seeds.kernel)
        kernel_seconds = perf_counter() - start
        outcomes = run_threads(lambda fold: self.judge(arms, fold), folds, self.n_jobs)
        scores, choices = zip(*outcomes, strict=True)
        return Run(scores, choices, kernel_seconds)

    def judge(self, arms: Sequence[Candidate], fold: Fold) -> tuple[float, Choice]:
        """Choose on the training part, learn from all of it, and score on the test part."""
        known = self.target[fold.train]
        middle, unit = (0, 1) if self.protocol.is_classification else (known.mean(), known.std() or 1.0)
        target = self.target if self.protocol.is_classification else (self.target - middle) / unit
        found = choose_among(arms, target, fold.inner, self.task, self.is_exact)
        assert found is not None
        arm = arms[found.arm]
        predicted = unit * arm.predict(self.task, target, fold.train, fold.test, found.cost) + middle
        self.report.one_more()
        return self.score(self.target[fold.test], predicted), Choice(arm.t_max, arm.costs[found.cost])


@dataclass(frozen=True)
class ModelStudy:
    """A classifier or regressor of graphs, fitted on each training part."""

    kernel: Any
    graphs: GraphDatabase
    target: NDArray[Any]
    protocol: Protocol
    score: Scores
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
        predicted = model.predict(self.graphs[fold.test])
        self.report.one_more()
        choice = Choice(getattr(model, "t_max_", None), float(getattr(model, "C_", np.nan)))
        return self.score(self.target[fold.test], np.asarray(predicted)), choice, seconds


def split_digest(splits: Sequence[Sequence[Fold]]) -> str:
    """Digest of which graphs are tested when."""
    digest = sha256()
    for folds in splits:
        for fold in folds:
            digest.update(np.ascontiguousarray(fold.test, dtype=np.int64).tobytes() + b"|")
    return digest.hexdigest()[:16]
