"""evaluate: nested cross-validation, the protocol of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.checks import check_integer
from propkernels.graphs.check import check_graphs
from propkernels.graphs.database import GraphDatabase
from propkernels.learn.evaluation import Choice, Evaluation
from propkernels.learn.grid import DEFAULT_COSTS, check_costs, check_steps
from propkernels.learn.machine import count_correct
from propkernels.learn.selection import choose
from propkernels.learn.splits import Fold, Seeds, check_target, draw_folds, draw_seeds
from propkernels.learn.stack import KernelStack, check_kernel, compute_stack, has_steps, redrawn
from propkernels.parallel import run_threads

INNER_FOLDS = 5


def evaluate(
    kernel: Any,
    data: Any,
    target: Any = None,
    *,
    n_folds: int = 10,
    repeats: int = 1,
    t_max: Any = None,
    C: Any = DEFAULT_COSTS,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Estimate how well a C-SVM with this kernel classifies graphs, by nested cross-validation.

    The protocol of the paper (section "Experimental Protocol"): stratified k-fold cross-validation, repeated
    with other folds and with hash functions drawn anew; for every fold, t_max and C are chosen by a
    stratified 5-fold cross-validation on its training part, ties going to the smaller t_max, then to the
    smaller C.

    All graphs of a repeat go through one pass that yields the kernels for every t_max, and the folds are
    slices of them. This is exactly inductive: a graph's codes are a pure function of that graph and the
    seed, so that the slices are what ``fit`` on the training graphs and ``transform`` of the test graphs
    would give. (Three settings do look at all graphs, though never at their classes: unobserved node labels
    start uniform over all observed labels, ``base_kernel="rbf"`` takes its width from all graphs, and
    attributes are standardised over all nodes, among which P2K also draws its sample points.)

    Before it meets the SVM, a kernel is divided by the mean of its training diagonal, which is only a
    reparametrisation of C: one grid of C, at values where libsvm is fast, then serves kernels of any scale.

    Parameters
    ----------
    kernel : estimator
        Any with ``fit_transform``; with ``t_max`` and ``fit_transform_cumulative``, t_max is chosen.
        It is left as it is: copies are fitted. Whether the kernel is normalised is its own affair.
    data : Dataset, GraphDatabase or sequence of graphs
        What to classify.
    target : array-like of shape (n,), optional
        Class of each graph; None: ``data.target``.
    n_folds, repeats : int, default 10 and 1
        Number of folds, and how often to repeat.
    t_max : int or sequence of int, optional
        Candidates; None: 0 up to the kernel's own t_max.
    C : float or sequence of float
        Candidates, 0.01 to 1000 by default. With one t_max and one C there is no inner loop.
    random_state : int, RandomState or None
        Seed of folds and hash functions. Kernels that are evaluated with the same number meet the same
        folds.
    n_jobs : int or None
        Threads over folds, None is one, -1 all cores; the kernel's own ``n_jobs`` is for the kernel.
    progress : callable, optional
        Called as ``progress(folds_done, folds_in_all)``.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError, TypeError
        One sentence, before anything is computed, where the target is not one of classes or a number does
        not fit.

    Examples
    --------
    >>> import propkernels as pk
    >>> from propkernels.learn import evaluate
    >>> data = pk.datasets.make_molecules(60, random_state=0)
    >>> result = evaluate(pk.PropagationKernel(t_max=3), data, n_folds=5, C=[1, 10], random_state=0)
    >>> result.scores.shape, result.mean > 0.8
    ((1, 5), True)
    >>> evaluate(pk.PropagationKernel(), data, n_folds=5, t_max=0, C=1, random_state=0).choices[0][0]
    Choice(t_max=0, C=1.0)
    """
    start = perf_counter()
    steps, costs = check_steps(t_max), check_costs(C)
    check_kernel(kernel, steps)
    repeats, n_folds = check_integer(repeats, "repeats", 1), check_integer(n_folds, "n_folds", 2)
    graphs, classes = _unpack(data, target)
    study = _Study(
        kernel, graphs, classes, steps, costs, n_folds, n_jobs, _Report(progress, repeats * n_folds)
    )
    runs = [study.run(seeds) for seeds in draw_seeds(random_state, repeats)]
    return Evaluation(
        data=str(getattr(data, "name", "graphs")),
        kernel=type(kernel).__name__,
        scores=np.array([run.scores for run in runs]),
        choices=tuple(run.choices for run in runs),
        kernel_seconds=tuple(run.kernel_seconds for run in runs),
        seconds=perf_counter() - start,
    )


def _unpack(data: Any, target: Any) -> tuple[GraphDatabase, NDArray[np.int64]]:
    if target is None and not (hasattr(data, "graphs") and hasattr(data, "target")):
        raise TypeError(f"target is needed, or a data set that has one; got {type(data).__name__} alone")
    graphs = check_graphs(getattr(data, "graphs", data))
    return graphs, check_target(data.target if target is None else target, len(graphs))


@dataclass(frozen=True)
class _Run:
    """One repeat."""

    scores: tuple[float, ...]
    choices: tuple[Choice, ...]
    kernel_seconds: float


@dataclass
class _Report:
    """Counts folds that are done, from any thread, and tells."""

    tell: Callable[[int, int], None] | None
    total: int
    done: int = 0
    lock: Any = field(default_factory=Lock)

    def one_more(self) -> None:
        with self.lock:
            self.done += 1
            if self.tell is not None:
                self.tell(self.done, self.total)


@dataclass(frozen=True)
class _Study:
    """Everything that the repeats have in common."""

    kernel: Any
    graphs: GraphDatabase
    target: NDArray[np.int64]
    steps: tuple[int, ...] | None
    costs: tuple[float, ...]
    n_folds: int
    n_jobs: int | None
    report: _Report

    def run(self, seeds: Seeds) -> _Run:
        """One repeat: its folds, its kernels, and every fold's choice and score."""
        folds = draw_folds(self.target, self.n_folds, INNER_FOLDS if self.has_choice else 0, seeds)
        start = perf_counter()
        kernels = compute_stack(redrawn(self.kernel, seeds.kernel), self.graphs, self.steps)
        kernel_seconds = perf_counter() - start
        outcomes = run_threads(lambda fold: self.judge(kernels, fold), folds, self.n_jobs)
        scores, choices = zip(*outcomes, strict=True)
        return _Run(scores, choices, kernel_seconds)

    @property
    def has_choice(self) -> bool:
        several_steps = has_steps(self.kernel) and (self.steps is None or len(self.steps) > 1)
        return several_steps or len(self.costs) > 1

    def judge(self, kernels: KernelStack, fold: Fold) -> tuple[float, Choice]:
        """Choose on the training part, learn from all of it, and score on the test part."""
        choice = choose(kernels, self.target, fold, self.costs)
        correct = count_correct(kernels[choice.t_max], self.target, fold.train, fold.test, [choice.C])
        self.report.one_more()
        return float(correct[0]) / len(fold.test), choice
