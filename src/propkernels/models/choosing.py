"""Choosing among kernels, t_max, normalization, epsilon and C by cross-validation on the training graphs.

A candidate is an arm (a kernel with its t_max, normalized or not) with one value of C. Its loss is the sum
over all validation graphs, so it can only grow from fold to fold: a candidate whose loss exceeds that of the
best complete candidate can no longer win. "exhaustive" selection drops only such candidates, which does not
change the result. A "race" also drops candidates that are significantly worse than the leader on the same
validation graphs, and large values of C where the loss falls too slowly to catch up, where hardly any
multiplier of a smaller C was at its bound, or where the solver does not converge. By default, the number of
graphs determines the kind of selection and the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import call
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice
from propkernels._utils.parallel import run_threads, thread_count
from propkernels.graphs.database import GraphDatabase
from propkernels.models.candidates import (
    Candidate,
    Losses,
    Space,
    Trial,
    candidates,
    has_explicit_counts,
)
from propkernels.models.folds import Folds
from propkernels.models.halving import are_few, fits
from propkernels.models.kernel_sources import has_steps
from propkernels.models.partners import Selection, with_partners
from propkernels.models.support_vectors import with_effort
from propkernels.models.tasks import Task

WAVE = 4  # arms evaluated together (in threads, if any) before their results are compared
SIGNIFICANT = 3.0  # standard errors behind the leader at which a candidate is dropped


class Arm(Protocol):
    """A kernel to be tried with several values of C, smallest first."""

    costs: Sequence[float]


# (arm, fold, positions of C) -> one trial per position, computed lazily
Trials = Callable[[Any, int, Sequence[int]], Iterator[Trial]]


@dataclass(frozen=True)
class Winner:
    """The best candidate: number of its arm, position of its C, and losses on all folds."""

    arm: int
    cost: int
    losses: tuple[Losses, ...]

    @property
    def total(self) -> float:
        """Sum of the losses."""
        return float(sum(part.sum() for part in self.losses))


@dataclass
class Race:
    """Search for the arm and C with the smallest loss; ties go to the first arm, then to the smallest C.

    Parameters
    ----------
    arms : sequence of Arm
    n_folds : int
    trials : callable
        ``trials(arm, fold, positions)`` yields one :class:`Trial` per position of C.
    is_exact : bool
        Drop only candidates that can no longer win.
    incumbent : tuple of ndarray, optional
        Losses of an earlier candidate on the same folds, which the winner must beat.
    n_jobs : int or None
    tell : callable, optional
        Progress callback; receives the number of folds of an arm that were completed or skipped.
    is_additive : bool
        Whether losses are nonnegative, so that the losses of some folds are a lower bound of the total; if
        not (scores of scikit-learn), no arm is dropped because of its total.
    """

    arms: Sequence[Any]
    n_folds: int
    trials: Trials
    is_exact: bool
    incumbent: tuple[Losses, ...] | None = None
    n_jobs: int | None = None
    tell: Callable[[int], None] = lambda parts: None
    is_additive: bool = True
    known: dict[tuple[int, int], list[Losses]] = field(default_factory=dict)
    leader: tuple[Losses, ...] | None = None

    def run(self) -> Winner | None:
        """Return the winner; None if no candidate beats the incumbent."""
        self.leader = self.incumbent
        self._first_fold()
        for wave in self._later_waves():
            run_threads(self._finish, wave, self.n_jobs, uses_blas=True)
            for arm in wave:
                self._update(arm)
                self.tell(self.n_folds - 1)
        finished = {key: parts for key, parts in self.known.items() if len(parts) == self.n_folds}
        if not finished:
            return None
        best = min(finished, key=lambda key: (_total(finished[key]), key))
        if self.incumbent is not None and _total(finished[best]) >= _total(self.incumbent):
            return None
        return Winner(*best, tuple(finished[best]))

    def _first_fold(self) -> None:
        """Evaluate every arm on the first fold, largest t_max first, since those tend to win."""
        order = list(range(len(self.arms)))[::-1]
        for wave in _waves(order):
            found = run_threads(self._climb, wave, self.n_jobs, uses_blas=True)
            for arm, by_cost in zip(wave, found, strict=True):
                self.known.update({(arm, cost): [losses] for cost, losses in by_cost.items()})
                self.tell(1)
            self._lead()

    def _climb(self, arm: int) -> dict[int, Losses]:
        """Return losses on the first fold by position of C, smallest C first, until larger C cannot help."""
        positions = range(len(self.arms[arm].costs))
        losses: dict[int, Losses] = {}
        for cost, trial in zip(positions, self.trials(self.arms[arm], 0, positions), strict=False):
            if losses and not trial.is_converged and not self.is_exact:
                break
            losses[cost] = trial.losses
            if trial.is_final:
                return losses | dict.fromkeys(positions[cost:], trial.losses)
            if not self.is_exact and (trial.is_nearly_final or self._is_hopeless(trial, losses, positions)):
                break
        return losses

    def _is_hopeless(self, trial: Trial, losses: dict[int, Losses], positions: Sequence[int]) -> bool:
        """Return whether the loss falls too slowly to reach the leader's with the remaining values of C."""
        cost = len(losses) - 1
        if self.leader is None or cost == 0 or not trial.is_settled:
            return False
        gap = trial.losses - self.leader[0]
        fall = max(float(losses[cost - 1].sum() - trial.losses.sum()), 0.0) * (len(positions) - 1 - cost)
        return bool(gap.sum() - fall > SIGNIFICANT * np.sqrt(np.sum(gap**2)))

    def _lead(self) -> None:
        """Make the best candidate so far the leader, unless there is an incumbent."""
        if self.incumbent is None:
            best = min(self.known, key=lambda key: (_total(self.known[key]), key))
            self.leader = tuple(self.known[best][:1])

    def _later_waves(self) -> list[Sequence[int]]:
        """Return the arms to evaluate on the remaining folds, best first; the best arm is the first wave."""
        order = sorted(range(len(self.arms)), key=lambda arm: (self._best(arm), arm))
        return [order[:1], *_waves(order[1:])]

    def _best(self, arm: int) -> float:
        """Return the smallest loss of an arm over its values of C."""
        return min(_total(parts) for (of, _), parts in self.known.items() if of == arm)

    def _finish(self, arm: int) -> None:
        """Evaluate an arm on the remaining folds, with the values of C that may still win.

        As many folds as there are threads are computed ahead, with the values of C that may win so far.
        """
        ahead, found = thread_count(self.n_jobs), dict[int, dict[int, Trial]]()
        for fold in range(1, self.n_folds):
            costs = [cost for cost in range(len(self.arms[arm].costs)) if self._may_win(arm, cost, fold)]
            if not costs:
                return
            if fold not in found:
                folds = range(fold, min(fold + ahead, self.n_folds))
                on_fold = partial(self._on_fold, arm, costs)
                trials = run_threads(on_fold, folds, self.n_jobs, uses_blas=True)
                found |= zip(folds, trials, strict=True)
            for at, cost in enumerate(costs):
                trial = found[fold].get(cost) or self._on_fold(arm, [cost], fold)[cost]
                for same in costs[at:] if trial.is_final else [cost]:
                    self.known[arm, same].append(trial.losses)
                if trial.is_final:
                    break

    def _on_fold(self, arm: int, costs: Sequence[int], fold: int) -> dict[int, Trial]:
        """Return the trials of an arm on a fold by position of C, up to the first that is final."""
        found: dict[int, Trial] = {}
        for cost, trial in zip(costs, self.trials(self.arms[arm], fold, costs), strict=False):
            found[cost] = trial
            if trial.is_final:
                break
        return found

    def _may_win(self, arm: int, cost: int, fold: int) -> bool:
        """Return whether a candidate was evaluated on all earlier folds and may still win."""
        parts = self.known.get((arm, cost), [])
        if len(parts) < fold:
            return False
        if self.leader is None or len(self.leader) < self.n_folds or not self.is_additive:
            return self.is_exact or not self._is_behind(parts)
        return _total(parts) <= _total(self.leader) and (self.is_exact or not self._is_behind(parts))

    def _is_behind(self, parts: list[Losses]) -> bool:
        """Return whether losses are significantly larger than the leader's on the same graphs (paired)."""
        assert self.leader is not None
        common = min(len(parts), len(self.leader))
        gap = np.concatenate(parts[:common]) - np.concatenate(self.leader[:common])
        return bool(gap.sum() > SIGNIFICANT * np.sqrt(np.sum(gap**2)))

    def _update(self, arm: int) -> None:
        """Make a complete candidate of the arm the leader if it is better than the leader."""
        complete = [
            parts for (of, _), parts in self.known.items() if of == arm and len(parts) == self.n_folds
        ]
        for parts in complete:
            is_first = self.leader is None or len(self.leader) < self.n_folds
            if is_first or _total(parts) < _total(self.leader or ()):
                self.leader = tuple(parts)


def _total(parts: Sequence[Losses]) -> float:
    return float(sum(part.sum() for part in parts))


def _waves(order: Sequence[int]) -> list[Sequence[int]]:
    return [order[start : start + WAVE] for start in range(0, len(order), WAVE)]


SOLVERS = ("auto", "kernel", "landmarks", "linear", "gp")
MOST_FOR_KERNEL = 20_000  # graphs; a larger kernel matrix is never formed
MOST_BYTES = 2**33  # limit of "auto" for the kernel matrices of all t_max


def resolve_solver(solver: str, kernels: Sequence[Any], n_graphs: int, steps: tuple[int, ...] | None) -> str:
    """Return "kernel", "landmarks", "linear" or "gp"; raise if kernels or the number of graphs forbid it.

    If kernel matrices would be too large, "auto" is "linear" if every kernel has explicit counts, else
    "landmarks".
    """
    check_choice(solver, SOLVERS, "solver")
    other = next((kernel for kernel in kernels if not has_explicit_counts(kernel)), None)
    if solver == "linear" and other is not None:
        raise TypeError(
            f'solver="linear" needs kernels that are dot products of counts, which {other!r} is not: '
            'use base_kernel="linear", and no attributes in kernels that compare pairs of graphs'
        )
    too_many = n_graphs > MOST_FOR_KERNEL
    if solver in ("kernel", "gp") and too_many:
        raise ValueError(
            f'solver="{solver}" forms a matrix of {n_graphs} x {n_graphs}; '
            f'beyond {MOST_FOR_KERNEL} graphs use solver="landmarks" or "linear"'
        )
    if solver != "auto":
        return solver
    is_large = too_many or n_graphs**2 * 8 * _most_steps(kernels, steps) > MOST_BYTES
    if is_large and other is None:
        return "linear"
    return "landmarks" if too_many else "kernel"


def _most_steps(kernels: Sequence[Any], steps: tuple[int, ...] | None) -> int:
    """Return the number of kernel matrices that are in memory at a time."""
    n_steps = [int(kernel.t_max) + 1 if has_steps(kernel) else 1 for kernel in kernels]
    return max(n_steps) if steps is None else max(len(steps), 1)


def search(
    kernels: Sequence[Any],
    graphs: GraphDatabase,
    target: NDArray[Any],
    folds: Folds,
    space: Space,
    task: Task,
    seed: int,
    is_exact: bool,
    n_jobs: int | None = None,
    tell: Callable[[int], None] = lambda parts: None,
) -> Selection:
    """Return the best candidate; ties go to the first kernel, smallest t_max, no normalization, smallest C.

    One pass of each kernel over the graphs gives the kernel values for every t_max, normalized or not.
    Kernels are searched in turn, and each must beat the best candidate so far: only the matrices of one
    pass, and those of the best candidate, are in memory at a time.
    """
    best: Selection | None = None
    for kernel in kernels:
        arms = candidates(kernel, graphs, target, space, task, seed, n_jobs, folds)
        incumbent = None if best is None else best.losses
        winner = choose_among(arms, target, folds, task, is_exact, incumbent, n_jobs, tell)
        if winner is not None:
            best = Selection(arms[winner.arm], arms[winner.arm].costs[winner.cost], winner.losses)
        if best is not None and not folds:
            break
    assert best is not None
    return best


def choose_finalist(
    arms: Sequence[Candidate],
    target: NDArray[Any],
    folds: Folds,
    task: Task,
    n_jobs: int | None = None,
    averages: bool = False,
    then: Callable[[Selection], Any] = lambda chosen: chosen,
) -> Any:
    """Return the best of the candidates that halving has left (see :mod:`~propkernels.models.halving`).

    With ``averages`` and few graphs, the best candidates of kernels as good as the best become its partners.
    The result is what ``then`` makes of the choice, at once: threads that are left fit the machines of all
    graphs in the meantime.
    """
    has_partners = averages and are_few(folds)
    numbers = sorted({arm.family for arm in arms}) if has_partners else [None]
    families = [[arm for arm in arms if number in (arm.family, None)] for number in numbers]
    races = [_final_race(family, target, folds, task, n_jobs) for family in families]

    pairs = [(arm, cost) for arm in arms for cost in arm.costs]
    machines: list[Callable[[], Any]] = []
    if not has_partners and thread_count(n_jobs) > len(pairs) * len(folds) and fits(len(pairs), len(target)):
        machines = [partial(arm.machine_of_all, task, target, cost) for arm, cost in pairs]

    def use(winners: Sequence[Winner]) -> Any:
        chosen = [
            Selection(family[winner.arm], family[winner.arm].costs[winner.cost], winner.losses)
            for family, winner in zip(families, winners, strict=True)
        ]
        return then(with_partners(chosen, target, folds, task) if has_partners else chosen[0])

    if not machines:
        return use(run_threads(Race.run, races, n_jobs, uses_blas=True))
    race = partial(run_threads, Race.run, races, n_jobs, uses_blas=True)
    return run_threads(call, [lambda: use(race()), *machines], n_jobs, uses_blas=True)[0]


def _final_race(
    arms: Sequence[Candidate], target: NDArray[Any], folds: Folds, task: Task, n_jobs: int | None
) -> Race:
    """Return the race of the last candidates; values of C that do not converge are too large."""
    limited = [replace(arm, maker=with_effort(arm.maker, "patient")) for arm in arms]
    return _race(limited, target, folds, task, is_exact=False, n_jobs=n_jobs)


def choose_among(
    arms: Sequence[Candidate],
    target: NDArray[Any],
    folds: Folds,
    task: Task,
    is_exact: bool,
    incumbent: tuple[Losses, ...] | None = None,
    n_jobs: int | None = None,
    tell: Callable[[int], None] = lambda parts: None,
) -> Winner | None:
    """Return the winner of a race on the folds; without folds, the first candidate."""
    if not folds:
        return Winner(0, 0, ())
    return _race(arms, target, folds, task, is_exact, incumbent, n_jobs, tell).run()


def _race(
    arms: Sequence[Candidate],
    target: NDArray[Any],
    folds: Folds,
    task: Task,
    is_exact: bool,
    incumbent: tuple[Losses, ...] | None = None,
    n_jobs: int | None = None,
    tell: Callable[[int], None] = lambda parts: None,
) -> Race:
    """Return a race of candidates on the folds."""

    def trials(arm: Candidate, fold: int, positions: Sequence[int]) -> Iterator[Trial]:
        return arm.trials(task, target, *folds[fold], positions, n_jobs)

    return Race(arms, len(folds), trials, is_exact, incumbent, n_jobs, tell, task.is_additive)
