"""Successive halving: many candidates are compared on few graphs, few candidates on all graphs.

The training time of a support vector machine grows with the square of the number of graphs, so that all
candidates on a few hundred graphs cost less than one candidate on all graphs. Each rung trains on more graphs
than the one before, keeps the best settings, and narrows C to the neighbors of its best value; the last
settings race on all graphs and folds (Jamieson and Talwalkar 2016, with data as the resource).

Rungs respect the folds: the validation graphs of a fold are never training graphs in its rungs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.parallel import run_threads, thread_count
from propkernels.graphs.database import GraphDatabase
from propkernels.models.candidates import Candidate, Space, candidates
from propkernels.models.folds import Folds, Indices
from propkernels.models.kernel_sources import Slice
from propkernels.models.ridge import RidgeRegression, screening_maker
from propkernels.models.support_vectors import with_effort
from propkernels.models.tasks import Task

FIRST, GROWTH = 300, 3  # training graphs of the first rung, and growth factor from rung to rung
ENOUGH = 400  # validation graphs per rung, from as many folds as needed
MOST = 1000  # largest number of validation graphs of one fold in a rung
QUARTER, FEW = 4, 3  # rungs keep a quarter of the settings, the last rung three (six for few graphs)
BYTES_AT_ONCE = 2**30  # of kernel matrices that threads compute side by side
ROOM = 3  # matrices in memory while one is computed
FINALISTS = 2  # settings, each with one C, that are evaluated on all folds if there are many graphs


@dataclass(frozen=True)
class Setting:
    """Settings of a candidate: position of the kernel, t_max, normalize and epsilon."""

    kernel: int
    t_max: int | None
    normalize: bool | None
    epsilon: float | None

    @classmethod
    def of(cls, kernel: int, arm: Candidate) -> Setting:
        """Return the setting of a candidate."""
        return cls(kernel, arm.t_max, arm.normalize, arm.epsilon)


Item = TypeVar("Item")
Alive = dict[Setting, tuple[int, ...]]  # settings still compared, with the positions of their values of C


@dataclass(frozen=True)
class Rung:
    """Graphs on which settings are compared.

    Attributes
    ----------
    graphs : ndarray of int
        Positions of the graphs of this rung.
    looks : list of (train, test)
        Positions in ``graphs`` of training and validation graphs.
    """

    graphs: Indices
    looks: list[tuple[Indices, Indices]]


def is_worthwhile(folds: Folds) -> bool:
    """Return whether there are folds to compare candidates on."""
    return len(folds) > 1


def are_few(folds: Folds) -> bool:
    """Return whether training sets are so small that many machines can be fitted on all graphs."""
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
    """Return the candidates to evaluate on all graphs and folds, with few values of C each.

    With ``of_each`` and few graphs they include the best candidate of each kernel.
    """
    alive: Alive | None = None
    # Rungs are small enough for kernel matrices; epsilon is chosen among the last candidates only.
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
        alive = _best(known, n_kept, of_each and are_few(folds))
    assert alive is not None
    return _finalists(kernels, graphs, target, folds, space, task, seed, alive, n_jobs, tell)


def rung_sizes(n_train: int) -> list[int]:
    """Return the numbers of training graphs of the rungs, each three times the one before.

    All but the first are at most half of ``n_train``.

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
    """Return the approximate number of comparisons in all rungs, for a progress bar.

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
    """Return ranks between 0 and 1 such that the graphs of lowest rank have all classes in proportion.

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
    """Return a rung with ``size`` training graphs per fold, from enough folds for validation."""
    looks: list[tuple[Indices, Indices]] = []
    for train, test in folds:
        looks.append((_first(train, order, size), _first(test, order, MOST)))
        if sum(len(test) for _, test in looks) >= ENOUGH:
            break
    everyone = np.unique(np.concatenate([part for look in looks for part in look]))
    local = [(np.searchsorted(everyone, a), np.searchsorted(everyone, b)) for a, b in looks]
    return Rung(everyone, local)


def _first(graphs: Indices, order: NDArray[np.float64], size: int) -> Indices:
    """Return the ``size`` graphs of lowest rank, in ascending order."""
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
    """Return the losses of all remaining settings on the graphs of a rung, by position of C.

    Kernels are computed side by side as far as memory allows, each with the machines of its settings.
    """
    few, values = graphs[rung.graphs], target[rung.graphs]
    part = task if task.weights is None else task.reweighted(task.weights[rung.graphs])
    spaces: dict[int, Space] = {}
    for number in range(len(kernels)):
        steps = None if alive is None else [setting.t_max for setting in alive if setting.kernel == number]
        if steps != []:
            spaces[number] = space if steps is None else space.narrowed(steps)
    sizes = [narrow.n_matrices(kernels[number]) for number, narrow in spaces.items()]
    known: dict[Setting, dict[int, float]] = {}

    def one_kernel(number: int) -> dict[Setting, dict[int, float]]:
        made = candidates(kernels[number], few, values, spaces[number], task, seed, n_jobs)
        return _losses(_arms(number, made, alive), rung, part, values, n_jobs)

    for numbers in together(list(spaces), sizes, len(few), n_jobs):
        is_one = len(numbers) == 1
        several = (
            map(one_kernel, numbers) if is_one else run_threads(one_kernel, numbers, n_jobs, uses_blas=True)
        )
        for found in several:
            known |= found
            tell(len(found))
    return known


Arm = tuple[Setting, Candidate, tuple[int, ...]]


def _losses(
    arms: Sequence[Arm], rung: Rung, task: Task, target: NDArray[Any], n_jobs: int | None
) -> dict[Setting, dict[int, float]]:
    """Return the losses of settings on all looks of a rung, by position of C."""

    def one_look(item: tuple[Arm, tuple[Indices, Indices]]) -> list[float]:
        (_, candidate, positions), look = item
        return [float(t.losses.sum()) for t in candidate.trials(task, target, *look, positions, n_jobs)]

    items = [(arm, look) for arm in arms for look in rung.looks]
    found = iter(run_threads(one_look, items, n_jobs, uses_blas=True))
    known = {}
    for setting, _, positions in arms:
        known[setting] = dict.fromkeys(positions, 0.0)
        for _ in rung.looks:
            for position, loss in zip(positions, next(found), strict=False):
                known[setting][position] += loss
    return known


def together(
    items: Sequence[Item], n_matrices: Sequence[int], n_graphs: int, n_jobs: int | None
) -> Iterator[list[Item]]:
    """Yield the items whose kernel matrices are in memory at a time; with one thread, one by one.

    Examples
    --------
    >>> list(together("abcd", [3000, 1000, 2000, 9000], 200, 2))
    [['a'], ['b', 'c'], ['d']]
    """
    is_one_by_one = thread_count(n_jobs) == 1
    batch: list[Item] = []
    size = 0
    for item, more in zip(items, n_matrices, strict=True):
        if batch and (is_one_by_one or not fits(size + more, n_graphs)):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += more
    if batch:
        yield batch


def fits(n_matrices: int, n_graphs: int) -> bool:
    """Return whether so many kernel matrices may be in memory at a time."""
    return n_matrices <= BYTES_AT_ONCE // (8 * n_graphs**2)


def _arms(number: int, of_kernel: Sequence[Candidate], alive: Alive | None) -> list[Arm]:
    """Return the remaining candidates of one kernel, with quick machines and the positions of C to try."""
    arms = []
    for arm in of_kernel:
        setting = Setting.of(number, arm)
        if alive is None or setting in alive:
            quick = replace(arm, maker=screening_maker(arm.maker))
            is_cheap = isinstance(quick.maker, RidgeRegression)
            positions = _coarse(len(arm.costs), is_cheap) if alive is None else alive[setting]
            arms.append((setting, quick, tuple(_inside(positions, len(arm.costs)))))
    return arms


def _coarse(n_costs: int, is_cheap: bool) -> tuple[int, ...]:
    """Return positions of C at one and two thirds of the grid, and between if cheap; all of a small grid."""
    if n_costs <= 3:
        return tuple(range(n_costs))
    first, last = n_costs // 3, (2 * n_costs) // 3
    return tuple(range(first, last + 1)) if is_cheap else (first, last)


def _best(known: dict[Setting, dict[int, float]], n_kept: int, of_each: bool) -> Alive:
    """Return the settings of smallest loss (and the best of each kernel), with positions of C to try."""
    order = sorted(known, key=lambda setting: min(known[setting].values()))
    first = {setting.kernel: setting for setting in reversed(order)} if of_each else {}
    chosen = {*order[:n_kept], *first.values()}
    kept = [setting for setting in known if setting in chosen]  # in the original order, which breaks ties
    return {setting: _around(known[setting]) for setting in kept}


def _around(losses: dict[int, float]) -> tuple[int, ...]:
    """Return the position of the best C and its neighbors."""
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
    """Return the remaining settings on all graphs; of many graphs, the best two on the first fold."""
    arms: list[Candidate] = []
    known: list[dict[int, float]] = []

    def one_pass(one: Pass) -> tuple[list[Candidate], list[dict[int, float]]]:
        narrow = space.narrowed(one.steps)
        made = candidates(kernels[one.kernel], graphs, target, narrow, task, seed, n_jobs)
        remaining = _remaining(one, made, alive)
        if are_few(folds):
            return [_with_costs(arm, positions) for arm, positions in remaining], []
        losses = _first_fold_losses(remaining, target, folds[0], task, n_jobs)
        return [arm for arm, _ in remaining], losses

    passes = _passes(alive, len(graphs))
    for some in together(passes, [ROOM + one.n_more for one in passes], len(graphs), n_jobs):
        is_one = len(some) == 1
        each = map(one_pass, some) if is_one else run_threads(one_pass, some, n_jobs, uses_blas=True)
        for found, losses in each:
            arms, known = arms + found, known + losses
            tell(len(losses))
    if are_few(folds):
        return arms
    pairs = sorted((loss, n, p) for n, losses in enumerate(known) for p, loss in losses.items())[:FINALISTS]
    return [
        _with_costs(arms[n], [p for _, other, p in pairs if other == n])
        for n in sorted({n for _, n, _ in pairs})
    ]


class Pass(NamedTuple):
    """A pass of a kernel over the graphs: position of the kernel, and values of t_max."""

    kernel: int
    steps: tuple[int | None, ...]

    @property
    def n_more(self) -> int:
        """Matrices besides the one that is computed: those of all iterations if t_max has several values."""
        return max(step or 0 for step in self.steps) if len(self.steps) > 1 else 0


def _passes(alive: Alive, n_graphs: int) -> list[Pass]:
    """Return the passes over all graphs: one per kernel, or per t_max if matrices do not fit into memory."""
    steps_of: dict[int, dict[int | None, None]] = {}
    for setting in alive:
        steps_of.setdefault(setting.kernel, {})[setting.t_max] = None
    passes = []
    for kernel, steps in steps_of.items():
        whole = Pass(kernel, tuple(steps))
        is_one = fits(ROOM + whole.n_more, n_graphs)
        passes += [whole] if is_one else [Pass(kernel, (step,)) for step in steps]
    return passes


Remaining = list[tuple[Candidate, list[int]]]  # candidates with the positions of C to try


def _remaining(one: Pass, made: Sequence[Candidate], alive: Alive) -> Remaining:
    """Return the candidates of a pass whose settings are still compared, in the order of the settings."""
    arms = [(Setting.of(one.kernel, arm), arm) for arm in made]
    return [
        (replace(arm, family=one.kernel, machines={}), _inside(positions, len(arm.costs)))
        for setting, positions in alive.items()
        for other, arm in arms
        if replace(other, epsilon=setting.epsilon) == setting
    ]


def _first_fold_losses(
    arms: Remaining, target: NDArray[Any], fold: tuple[Indices, Indices], task: Task, n_jobs: int | None
) -> list[dict[int, float]]:
    """Return the losses of quick machines on one fold, by position of C: all settings and C at once."""
    quick = [replace(arm, maker=with_effort(arm.maker, "quick")) for arm, _ in arms]
    known: list[dict[int, float]] = [{} for _ in arms]
    most = 1 if task.is_constant(target[fold[0]]) else None

    def loss(item: tuple[int, Slice, int]) -> float:
        return float(quick[item[0]].trial(task, target, item[1], item[2]).losses.sum())

    for numbers in together(range(len(arms)), [1] * len(arms), len(target), n_jobs):
        parts = [quick[k].source.slice(*fold, quick[k].scaled) for k in numbers]
        run_threads(Slice.read, parts, n_jobs)
        items = [(k, part, p) for k, part in zip(numbers, parts, strict=True) for p in arms[k][1][:most]]
        for (k, _, p), found in zip(items, run_threads(loss, items, n_jobs, uses_blas=True), strict=True):
            known[k][p] = found
    for arm in quick:
        arm.forget_unfinished()
    return known


def _inside(positions: Sequence[int], n_costs: int) -> list[int]:
    """Return the positions that lie within the grid of C."""
    return [position for position in positions if 0 <= position < n_costs]


def _with_costs(arm: Candidate, positions: Sequence[int]) -> Candidate:
    """Return the candidate with only the values of C at these positions."""
    costs = tuple(arm.costs[position] for position in sorted(_inside(positions, len(arm.costs))))
    return replace(arm, costs=costs)
