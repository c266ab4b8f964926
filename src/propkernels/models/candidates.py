"""Candidates for model selection: kernels by t_max and normalization, values of C and epsilon."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels._utils.checks import check_choice, check_nonnegative, check_positive, check_streams, shown
from propkernels._utils.parallel import run_threads, thread_count
from propkernels.counts.counters import sort_bins
from propkernels.graphs.database import GraphDatabase
from propkernels.models.folds import Folds, Indices
from propkernels.models.kernel_sources import (
    AlignedSource,
    GramSource,
    Slice,
    Source,
    compute_stack,
    feature_sources,
    has_steps,
    redrawn,
)
from propkernels.models.landmark_choice import landmark_sources
from propkernels.models.support_vectors import Machine, MachineMaker
from propkernels.models.tasks import Task

Losses = NDArray[np.float64]
DEFAULT_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
PAPER_COSTS = {
    False: (1e-7, 1e-5, 1e-3, 1e-1),
    True: (1e-7, 1e-5, 1e-3, 1e-1, 1e1, 1e3, 1e5, 1e7),
}


@dataclass(frozen=True)
class CostGrid:
    """Values of C to try.

    Attributes
    ----------
    plain, normalized : tuple of float
        Values for kernels without and with normalization.
    scaled : bool
        Whether C is in units of the kernel's mean diagonal; otherwise it applies to the unscaled kernel.
    """

    plain: tuple[float, ...]
    normalized: tuple[float, ...]
    scaled: bool

    def of(self, is_normalized: bool) -> tuple[float, ...]:
        """Return the values of C for a kernel with or without normalization."""
        return self.normalized if is_normalized else self.plain


SELECTIONS = ("auto", "halving", "race", "exhaustive")
MOST_FOR_EXHAUSTIVE = 1000  # largest number of graphs for which "auto" is exhaustive
MOST_KERNELS = 2  # largest number of kernels for which "auto" is exhaustive


def resolve_selection(selection: str, n_graphs: int, n_kernels: int = 1) -> str:
    """Return "halving", "race" or "exhaustive"; "auto" is exhaustive for few graphs and kernels."""
    check_choice(selection, SELECTIONS, "selection")
    if selection != "auto":
        return selection
    is_small = n_graphs <= MOST_FOR_EXHAUSTIVE and n_kernels <= MOST_KERNELS
    return "exhaustive" if is_small else "halving"


def check_cost_grid(costs: Any) -> CostGrid:
    """Return the grid of the parameter ``C``; "paper" gives the grid of the propagation kernel paper.

    Examples
    --------
    >>> check_cost_grid([10, 1])
    CostGrid(plain=(1.0, 10.0), normalized=(1.0, 10.0), scaled=True)
    >>> check_cost_grid("paper").plain
    (1e-07, 1e-05, 0.001, 0.1)
    """
    if isinstance(costs, str):
        if costs != "paper":
            raise ValueError(f'C must be a number, several numbers or "paper", got {shown(costs)}')
        return CostGrid(PAPER_COSTS[False], PAPER_COSTS[True], False)
    values = check_costs(costs)
    return CostGrid(values, values, True)


def check_epsilons(epsilon: Any) -> tuple[float, ...]:
    """Return the candidates for epsilon, smallest first.

    Examples
    --------
    >>> check_epsilons(0)
    (0.0,)
    """
    return tuple(sorted({check_nonnegative(value, "epsilon") for value in _several(epsilon, "epsilon")}))


def check_costs(costs: Any) -> tuple[float, ...]:
    """Return the candidates for C, smallest first.

    Examples
    --------
    >>> check_costs([10, 1])
    (1.0, 10.0)
    >>> check_costs(5)
    (5.0,)
    """
    return tuple(sorted({check_positive(cost, "C") for cost in _several(costs, "C")}))


def check_steps(t_max: Any) -> tuple[int, ...] | None:
    """Return the candidates for t_max, smallest first; None means all values up to the kernel's t_max.

    Examples
    --------
    >>> check_steps(range(3))
    (0, 1, 2)
    """
    if t_max is None:
        return None
    if isinstance(t_max, range) and t_max:  # checked first: the range may be too long for a list
        check_streams(max(t_max[0], t_max[-1]), 1)
    return tuple(sorted({check_streams(step, 1)[0] for step in _several(t_max, "t_max")}))


def _several(values: Any, name: str) -> Sequence[Any]:
    """Return a list of candidates from a number or a sequence of numbers."""
    candidates = [values] if np.ndim(values) == 0 else list(values)
    if not candidates:
        raise ValueError(f"{name} needs at least one value, got none")
    return candidates


@dataclass(frozen=True)
class Trial:
    """Losses of one machine on the validation graphs of one fold, and the flags of the machine.

    The flags tell whether larger values of C are worth a trial; see
    :class:`~propkernels.models.support_vectors.Machine`.
    """

    losses: Losses
    is_final: bool
    is_settled: bool
    is_nearly_final: bool = False
    is_converged: bool = True


@dataclass(frozen=True)
class Candidate:
    """An arm of the race: a kernel with its settings, and the values of C to try.

    Attributes
    ----------
    kernel : estimator
        Unfitted, with the candidate's t_max and normalize.
    t_max : int or None
    normalize : bool or None
        None where the kernel has no such parameter.
    source : Source
        Kernel values or features of the graphs.
    epsilon : float or None
    maker : MachineMaker
    costs : tuple of float
    scaled : bool
        Whether C is in units of the kernel's mean diagonal.
    fitted : estimator or None
        The kernel that was fitted once for all candidates: largest t_max, not normalized.
    family : int
        Position of the kernel in the list of kernels.
    machines : dict or None
        If given, machines are stored here, keyed by the identity of ``train`` (0: all graphs) and by C.
    """

    kernel: Any
    t_max: int | None
    normalize: bool | None
    source: Source
    epsilon: float | None
    maker: MachineMaker
    costs: tuple[float, ...]
    scaled: bool
    fitted: Any = None
    family: int = 0
    machines: dict[tuple[int, float], Machine] | None = field(default=None, compare=False, repr=False)

    def fitted_kernel(self, graphs: GraphDatabase, target: NDArray[Any]) -> Any:
        """Return the kernel fitted on the graphs; reuses the counts of ``fitted`` where possible."""
        if learns_weights(self.kernel):
            return clone(self.kernel).fit(graphs, target)
        if hasattr(self.fitted, "_restricted"):
            return self.fitted._restricted(self.t_max, bool(self.normalize))
        is_as_tried = self.fitted is not None and self.t_max is None and self.normalize is None
        return self.fitted if is_as_tried else clone(self.kernel).fit(graphs)

    def fit(self, task: Task, known: Any, target: NDArray[Any], train: Indices, cost: float) -> Machine:
        """Return a machine fitted to a kernel matrix or features, with the weights of the training graphs."""
        weights = None if task.weights is None else task.weights[train]
        return self.maker.fit(known, target, cost, weights)

    def trials(
        self,
        task: Task,
        target: NDArray[Any],
        train: Indices,
        test: Indices,
        positions: Sequence[int],
        n_jobs: int | None = None,
    ) -> Iterator[Trial]:
        """Yield one trial per position of C: a fit on the training graphs, with losses on the test graphs.

        As many trials as there are threads are computed ahead; all of them read the same kernel values.
        """
        part = self.source.slice(train, test, self.scaled)
        if task.is_constant(target[train]):
            yield self.trial(task, target, part, 0)
            return
        ahead = thread_count(n_jobs)
        for first in range(0, len(positions), ahead):
            some = positions[first : first + ahead]
            if any(self._stored(train, self.costs[position]) is None for position in some):
                _ = part.known, part.unknown  # computed before several threads read them
            trial = partial(self.trial, task, target, part)
            yield from run_threads(trial, some, n_jobs, uses_blas=True)

    def trial(self, task: Task, target: NDArray[Any], part: Slice, position: int) -> Trial:
        """Return the trial of one C: a fit on the training graphs, with losses on the test graphs."""
        known, truth, cost = target[part.train], target[part.test], self.costs[position]
        if task.is_constant(known):
            losses = task.losses(np.full(len(truth), known[0]), truth)
            score = losses if task.is_additive else np.array([-task.score_constant(known, truth)])
            return Trial(score, True, True)
        machine = self._stored(part.train, cost) or self.fit(task, part.known, known, part.train, cost)
        if self.machines is not None:
            self.machines[id(part.train), cost] = machine
        state = machine.is_final, machine.is_settled, machine.is_nearly_final, machine.is_converged
        return Trial(task.judge(self.maker, machine, part.unknown, known, truth), *state)

    def _stored(self, train: Indices, cost: float) -> Machine | None:
        """Return a stored machine that has converged, as it would with any larger limit of steps."""
        machine = (self.machines or {}).get((id(train), cost))
        return machine if machine is not None and machine.is_converged else None

    def forget_unfinished(self) -> None:
        """Drop stored machines that a larger limit of steps would change: those of features have none."""
        for key, machine in list((self.machines or {}).items()):
            if self.maker.uses_features or not machine.is_converged:
                del (self.machines or {})[key]

    def machine_of_all(self, task: Task, target: NDArray[Any], cost: float) -> tuple[Machine, float]:
        """Return the machine of all graphs, a stored one if possible, and the unit of its kernel values."""
        everyone = np.arange(len(target))
        part = self.source.slice(everyone, everyone[:0], self.scaled)
        machine = (self.machines or {}).get((0, cost))
        if machine is None:
            machine = self.fit(task, part.known, target, everyone, cost)
        if self.machines is not None:
            self.machines[0, cost] = machine
        return machine, part.unit

    def machine_and_slice(
        self, task: Task, target: NDArray[Any], train: Indices, test: Indices, cost: float
    ) -> tuple[Machine, Slice]:
        """Return the machine of the training graphs, a stored one if possible, and the slice of the fold."""
        part = self.source.slice(train, test, self.scaled)
        machine = (self.machines or {}).get((id(train), cost))
        return machine or self.fit(task, part.known, target[train], train, cost), part

    def score(self, task: Task, target: NDArray[Any], train: Indices, test: Indices, position: int) -> float:
        """Return the task's score on the test graphs after a fit on the training graphs with one C."""
        known = target[train]
        if task.is_constant(known):
            return task.score_constant(known, target[test])
        part = self.source.slice(train, test, self.scaled)
        machine = self.fit(task, part.known, known, train, self.costs[position])
        return -float(task.judge(self.maker, machine, part.unknown, known, target[test])[0])

    def predict(
        self, task: Task, target: NDArray[Any], train: Indices, test: Indices, position: int
    ) -> NDArray[Any]:
        """Return predictions for the test graphs after a fit on the training graphs with one C."""
        if task.is_constant(target[train]):
            return np.full(len(test), target[train][0])
        part = self.source.slice(train, test, self.scaled)
        machine = self.fit(task, part.known, target[train], train, self.costs[position])
        return np.asarray(task.predictions(self.maker, machine, part.unknown, target[train]))


@dataclass(frozen=True)
class Space:
    """The search space.

    Attributes
    ----------
    normalize : {"auto", True, False, None}
    steps : tuple of int or None
        Candidates for t_max; None: all values up to the kernel's t_max.
    costs : CostGrid
    solver : {"kernel", "linear", "landmarks", "gp"}
    epsilons : tuple of float
    """

    normalize: Any
    steps: tuple[int, ...] | None
    costs: CostGrid
    solver: str
    epsilons: tuple[float, ...]

    def n_matrices(self, kernel: Any) -> int:
        """Return the number of kernel matrices that all candidates of a kernel share."""
        if not has_steps(kernel):
            return 1
        return int(kernel.t_max) + 1 if self.steps is None else len(self.steps)

    def narrowed(self, steps: Sequence[int | None]) -> Space:
        """Return the space restricted to these values of t_max; entries None are ignored."""
        kept = tuple(sorted({step for step in steps if step is not None}))
        return replace(self, steps=kept) if kept else self


def candidates(
    kernel: Any,
    graphs: GraphDatabase,
    target: NDArray[Any],
    space: Space,
    task: Task,
    seed: int,
    n_jobs: int | None = None,
    folds: Folds = (),
) -> list[Candidate]:
    """Return all candidates of one kernel, from one pass over the graphs; threads are those of slices.

    The target is used by kernels that learn weights, and only on the training graphs of each fold, and for
    the choice of landmarks, of which a fold uses those among its training graphs.
    """
    kernel = redrawn(kernel, seed)
    has_option = "normalize" in kernel.get_params(deep=False)
    wanted: list[bool | None] = _wanted(kernel, space.normalize) if has_option else [None]
    plain = redrawn(kernel, seed).set_params(**({"normalize": False} if has_option else {}))
    sources: dict[tuple[int | None, bool | None], Source]
    if learns_weights(plain):
        sources = _aligned_sources(plain, graphs, target, space.solver, wanted, n_jobs)
    elif space.solver == "linear":
        sources = _linear_sources(plain, graphs, space, wanted)
    elif space.solver == "landmarks":
        keys, restricted = _landmark_keys(plain, graphs, space, wanted)
        parts = folds, task.weights, seed, n_jobs
        sources = {**landmark_sources(restricted, graphs, target, keys, *parts)}
    else:
        stack = compute_stack(plain, graphs, space.steps)
        sources = {
            (t, flag): GramSource(matrix, bool(flag), n_jobs)
            for t, matrix in stack.items()
            for flag in wanted
        }
    return [
        Candidate(
            _copy(kernel, t, is_normalized),
            t,
            is_normalized,
            source,
            epsilon,
            maker,
            space.costs.of(bool(is_normalized)),
            space.costs.scaled,
            plain,
        )
        for (t, is_normalized), source in sources.items()
        for epsilon, maker in task.makers(space.solver, space.epsilons)
    ]


def count_arms(kernels: Sequence[Any], space: Space, task: Task) -> int:
    """Return the number of candidates of all kernels, without computing any."""
    total = 0
    for kernel in kernels:
        parameters, is_family = kernel.get_params(deep=False), has_steps(kernel)
        n_default = int(parameters["t_max"]) + 1 if is_family else 1
        n_steps = len(space.steps) if is_family and space.steps is not None else n_default
        total += n_steps * (len(_wanted(kernel, space.normalize)) if "normalize" in parameters else 1)
    return total * len(task.makers(space.solver, space.epsilons))


def _wanted(kernel: Any, normalize: Any) -> list[bool | None]:
    """Return the values of normalize to try; one where normalization changes nothing."""
    if normalize == "auto":
        return [False] if getattr(kernel, "_has_constant_diagonal", False) else [False, True]
    return [bool(kernel.normalize if normalize is None else normalize)]


def _copy(kernel: Any, t: int | None, is_normalized: bool | None) -> Any:
    """Return a shallow copy of a kernel with other settings; fit does not change shared parameters."""
    other = copy(kernel)
    if t is not None:
        other.t_max = t
    if is_normalized is not None:
        other.normalize = is_normalized
    return other


def _linear_sources(
    plain: Any, graphs: GraphDatabase, space: Space, wanted: list[bool | None]
) -> dict[tuple[int | None, bool | None], Source]:
    """Return features by t_max and normalization, ordered by t_max, without normalization first."""
    if has_steps(plain) and space.steps is not None:
        plain = plain.set_params(t_max=space.steps[-1])
    streams = [sort_bins(stream) for stream in plain.fit(graphs)._training_counts]
    sources = feature_sources(streams, [bool(flag) for flag in wanted])
    if not has_steps(plain):
        last = max(t for t, _ in sources)
        return {(None, flag): sources[last, bool(flag)] for flag in wanted}
    steps = sorted({t for t, _ in sources}) if space.steps is None else space.steps
    return {(t, flag): sources[t, bool(flag)] for t in steps for flag in wanted}


def _landmark_keys(
    plain: Any, graphs: GraphDatabase, space: Space, wanted: list[bool | None]
) -> tuple[list[tuple[int | None, bool | None]], Callable[[int | None, bool | None], Any]]:
    """Return the pairs of t_max and normalization to try, and the kernels of these pairs.

    Every pair has rows of its own: without values of t_max to choose from, only the kernel's own is tried.
    """
    steps: list[int | None] = [None]
    if has_steps(plain):
        steps = [int(plain.t_max)] if space.steps is None else list(space.steps)
        plain.set_params(t_max=steps[-1])
    fitted = plain.fit(graphs)

    def restricted(t: int | None, is_normalized: bool | None) -> Any:
        if hasattr(fitted, "_restricted"):
            return fitted._restricted(t, bool(is_normalized))
        return fitted if not is_normalized else _copy(clone(fitted), t, is_normalized).fit(graphs)

    return [(t, flag) for t in steps for flag in wanted], restricted


def _aligned_sources(
    plain: Any,
    graphs: GraphDatabase,
    target: NDArray[Any],
    solver: str,
    wanted: list[bool | None],
    n_jobs: int | None,
) -> dict[tuple[int | None, bool | None], Source]:
    """Return the parts of a sum kernel, whose weights are learned in each fold."""
    if solver in ("linear", "landmarks"):
        raise ValueError('weights="alignment" are learned from kernel matrices: use solver="kernel"')
    if target.ndim > 1:
        raise ValueError('weights="alignment" are learned from one target: give numbers, or one column')
    parts = plain._part_matrices(graphs)
    return {(None, flag): AlignedSource(parts, target, bool(flag), n_jobs) for flag in wanted}


def learns_weights(kernel: Any) -> bool:
    """Return whether a kernel is a sum whose weights are learned from the target."""
    return bool(getattr(kernel, "_learns_weights", False))


def has_explicit_counts(kernel: Any) -> bool:
    """Return whether a kernel is a dot product of counts, which linear machines can learn from."""
    return bool(getattr(kernel, "_is_dot_product", False))
