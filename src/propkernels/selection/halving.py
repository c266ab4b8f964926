"""Successive halving: most candidates are compared on few graphs, few candidates on all of them.

A support vector machine takes time that grows with the square of the graphs it learns from, so that a look at
every candidate on a few hundred graphs costs less than one candidate on all of them. Each rung learns from
more graphs than the one before, keeps the best settings, and narrows C to the neighbors of its best value;
the last settings race on all graphs and folds (Jamieson and Talwalkar 2016, with data as the resource).

Everything stays within the folds: graphs that a fold validates on are never learned from in its rungs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import run_threads
from propkernels.decisions.ridge import RidgeRegression, screening_maker
from propkernels.decisions.support_vectors import with_effort
from propkernels.decisions.tasks import Task
from propkernels.graphs.database import GraphDatabase
from propkernels.selection.candidates import Candidate, Space, candidates
from propkernels.selection.folds import Folds, Indices

FIRST, GROWTH = 300, 3  # graphs that the first rung learns from, and how many times more the next ones do
ENOUGH = 400  # graphs to validate on in each rung, from as many folds as that takes
MOST = 1000  # graphs that one fold validates on in the rungs
QUARTER, FEW = 4, 3  # the first rung keeps one setting in four, the last one three, or six of few graphs
FINALISTS = 2  # settings, each with one C, that go through all folds where graphs are many


@dataclass(frozen=True)
class Setting:
    """A candidate before its numbers are computed: a kernel by its position, and what is set in it."""

    kernel: int
    t_max: int | None
    normalize: bool | None
    epsilon: float | None

    @classmethod
    def of(cls, kernel: int, arm: Candidate) -> Setting:
        """The setting of a candidate."""
        return cls(kernel, arm.t_max, arm.normalize, arm.epsilon)


Alive = dict[Setting, tuple[int, ...]]  # settings in the race, with the positions of their values of C


@dataclass(frozen=True)
class Rung:
    """Graphs to compare settings on, and how many settings to keep.

    Attributes
    ----------
    graphs : ndarray of int
        Positions of the graphs of this rung.
    looks : list of (train, test)
        Positions among ``graphs`` to learn from and to validate on.
    """

    graphs: Indices
    looks: list[tuple[Indices, Indices]]


def is_worthwhile(folds: Folds) -> bool:
    """Whether there is anything to compare on."""
    return len(folds) > 1


def are_few(folds: Folds) -> bool:
    """Whether folds have so few graphs to learn from that many machines on all of them take little time."""
    return min(len(train) for train, _ in folds) < FIRST * GROWTH


def shortlist(
    kernels: Sequence[Any],
    graphs: GraphDatabase,
    target: NDArray[Any],
    folds: Folds,
    space: Space,
    task: Task,
    seed: int,
    n_jobs: int | None = None,
    tell: Callable[[int], None] = lambda parts: None,
    of_each: bool = False,
) -> list[Candidate]:
    """Return the candidates that are worth a look at all graphs and folds, with few values of C each.

    With ``of_each`` the best of each kernel is among them.
    """
    alive: Alive | None = None
    # Few graphs have small kernel matrices, and the tube of an SVR is chosen among the last candidates.
    solver = "kernel" if space.solver == "linear" else space.solver
    first = replace(space, epsilons=space.epsilons[:1], solver=solver)
    order = spread_order(target, folds, seed)
    n_train = min(len(train) for train, _ in folds)
    sizes = rung_sizes(n_train)
    for size in sizes:
        rung = make_rung(order, folds, size)
        known = _compare(rung, kernels, graphs, target, first, task, seed, alive, n_jobs, tell)
        few = 2 * FEW if are_few(folds) else FEW
        n_kept = few if size == sizes[-1] else max(few, -(-len(known) // QUARTER))
        alive = _best(known, n_kept, of_each)
    assert alive is not None
    return _finalists(kernels, graphs, target, folds, space, task, seed, alive, n_jobs, tell)


def rung_sizes(n_train: int) -> list[int]:
    """Numbers of graphs to learn from, each three times the one before, the last at most half of all.

    Examples
    --------
    >>> rung_sizes(100), rung_sizes(400), rung_sizes(3300)
    ([100], [300], [300, 900])
    """
    sizes = [min(FIRST, n_train)]
    while sizes[-1] * GROWTH <= n_train / 2:
        sizes.append(sizes[-1] * GROWTH)
    return sizes


def count_steps(n_settings: int, folds: Folds) -> int:
    """Number of settings that are compared in all rungs together, about, for a progress bar.

    Examples
    --------
    >>> folds = [(np.arange(3000), np.arange(3000, 4000))] * 5
    >>> count_steps(100, folds)
    128
    """
    n_train = min(len(train) for train, _ in folds)
    total, left = 0, n_settings
    for _ in rung_sizes(n_train):
        total += left
        left = max(FEW, -(-left // QUARTER))
    return total + FEW


def spread_order(target: NDArray[Any], folds: Folds, seed: int) -> NDArray[np.float64]:
    """Rank of each graph, between 0 and 1, such that any number of the first ones have all classes alike.

    Examples
    --------
    >>> order = spread_order(np.array([0] * 6 + [1] * 3), (), 0)
    >>> int(np.sum(order[:6] < 0.5)), int(np.sum(order[6:] < 0.5))
    (3, 2)
    """
    rng = np.random.default_rng(seed)
    chance = rng.random(len(target))
    order = np.empty(len(target))
    is_class = target.ndim == 1 and target.dtype.kind in "iu"
    groups = (
        [np.flatnonzero(target == c) for c in np.unique(target)] if is_class else [np.arange(len(target))]
    )
    for group in groups:
        ranks = np.argsort(np.argsort(chance[group], kind="stable"), kind="stable")
        order[group] = (ranks + 0.5 * chance[group]) / len(group)
    return order


def make_rung(order: NDArray[np.float64], folds: Folds, size: int) -> Rung:
    """Take the first graphs of each fold to learn from, of as many folds as give enough to validate on."""
    looks: list[tuple[Indices, Indices]] = []
    for train, test in folds:
        looks.append((_first(train, order, size), _first(test, order, MOST)))
        if sum(len(test) for _, test in looks) >= ENOUGH:
            break
    everyone = np.unique(np.concatenate([part for look in looks for part in look]))
    local = [(np.searchsorted(everyone, a), np.searchsorted(everyone, b)) for a, b in looks]
    return Rung(everyone, local)


def _first(graphs: Indices, order: NDArray[np.float64], size: int) -> Indices:
    return np.sort(graphs[np.argsort(order[graphs], kind="stable")[:size]])


def _compare(
    rung: Rung,
    kernels: Sequence[Any],
    graphs: GraphDatabase,
    target: NDArray[Any],
    space: Space,
    task: Task,
    seed: int,
    alive: Alive | None,
    n_jobs: int | None,
    tell: Callable[[int], None],
) -> dict[Setting, dict[int, float]]:
    """Losses of all settings that are alive, by the position of C, on the graphs of a rung."""
    few, values = graphs[rung.graphs], target[rung.graphs]
    part = task if task.weights is None else task.reweighted(task.weights[rung.graphs])
    known: dict[Setting, dict[int, float]] = {}
    for number, kernel in enumerate(kernels):
        steps = None if alive is None else [setting.t_max for setting in alive if setting.kernel == number]
        if steps == []:
            continue
        narrow = space if steps is None else space.narrowed(steps)
        arms = _arms(number, candidates(kernel, few, values, narrow, task, seed), alive)

        def losses(item: tuple[Setting, Candidate, tuple[int, ...]]) -> dict[int, float]:
            _, arm, positions = item
            found = dict.fromkeys(positions, 0.0)
            for train, test in rung.looks:
                for position, trial in zip(
                    positions, arm.trials(part, values, train, test, positions), strict=False
                ):
                    found[position] += float(trial.losses.sum())
            return found

        for (setting, _, _), found in zip(arms, run_threads(losses, arms, n_jobs), strict=True):
            known[setting] = found
        tell(len(arms))
    return known


def _arms(
    number: int, found: Sequence[Candidate], alive: Alive | None
) -> list[tuple[Setting, Candidate, tuple[int, ...]]]:
    """Candidates of one kernel that are alive, with the positions of C to try; machines may stop early."""
    arms = []
    for arm in found:
        setting = Setting.of(number, arm)
        if alive is None or setting in alive:
            quick = replace(arm, maker=screening_maker(arm.maker))
            is_cheap = isinstance(quick.maker, RidgeRegression)
            positions = _coarse(len(arm.costs), is_cheap) if alive is None else alive[setting]
            arms.append((setting, quick, tuple(_inside(positions, len(arm.costs)))))
    return arms


def _coarse(n_costs: int, is_cheap: bool) -> tuple[int, ...]:
    """Two values of C at a third and two thirds of many, those between where they are cheap; all of few."""
    if n_costs <= 3:
        return tuple(range(n_costs))
    first, last = n_costs // 3, (2 * n_costs) // 3
    return tuple(range(first, last + 1)) if is_cheap else (first, last)


def _best(known: dict[Setting, dict[int, float]], n_kept: int, of_each: bool) -> Alive:
    """The settings of smallest loss (and those of each kernel), with their best C and its neighbors."""
    order = sorted(known, key=lambda setting: min(known[setting].values()))
    first = {setting.kernel: setting for setting in reversed(order)} if of_each else {}
    chosen = {*order[:n_kept], *first.values()}
    kept = [setting for setting in known if setting in chosen]  # in their own order again: it breaks ties
    return {setting: _around(known[setting]) for setting in kept}


def _around(losses: dict[int, float]) -> tuple[int, ...]:
    best = min(losses, key=lambda position: (losses[position], position))
    return (best - 1, best, best + 1)


def _finalists(
    kernels: Sequence[Any],
    graphs: GraphDatabase,
    target: NDArray[Any],
    folds: Folds,
    space: Space,
    task: Task,
    seed: int,
    alive: Alive,
    n_jobs: int | None,
    tell: Callable[[int], None],
) -> list[Candidate]:
    """The settings that are left, on all graphs; where graphs are many, the best two of the first fold."""
    found: dict[Setting, Candidate] = {}
    positions: dict[Setting, list[int]] = {}
    for setting in alive:
        narrow = space.narrowed([setting.t_max])
        for arm in candidates(kernels[setting.kernel], graphs, target, narrow, task, seed):
            other = Setting.of(setting.kernel, arm)
            if replace(other, epsilon=setting.epsilon) == setting:
                arm = replace(arm, family=setting.kernel)
                found[other], positions[other] = arm, _inside(alive[setting], len(arm.costs))
    if are_few(folds):
        return [_with_costs(arm, positions[setting]) for setting, arm in found.items()]

    def losses(setting: Setting) -> dict[int, float]:
        quick = replace(found[setting], maker=with_effort(found[setting].maker, "quick"))
        trials = quick.trials(task, target, *folds[0], positions[setting])
        return {p: float(t.losses.sum()) for p, t in zip(positions[setting], trials, strict=False)}

    known = dict(zip(found, run_threads(losses, list(found), n_jobs), strict=True))
    tell(len(found))
    pairs = sorted((loss, n, p) for n, s in enumerate(found) for p, loss in known[s].items())[:FINALISTS]
    arms = list(found.values())
    return [
        _with_costs(arms[n], [p for _, other, p in pairs if other == n])
        for n in sorted({n for _, n, _ in pairs})
    ]


def _inside(positions: Sequence[int], n_costs: int) -> list[int]:
    return [position for position in positions if 0 <= position < n_costs]


def _with_costs(arm: Candidate, positions: Sequence[int]) -> Candidate:
    costs = tuple(arm.costs[position] for position in sorted(_inside(positions, len(arm.costs))))
    return replace(arm, costs=costs)
