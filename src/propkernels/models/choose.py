"""The choice of a model: kernels with t_max and normalization, by held-out squared error.

Rules, and what they were compared with (on other folds than those of any page):

- All candidates are screened on a stratified sample. One number decides, the mean squared error of held-out
  decisions, whose closed form needs no folds; choosing by accuracy costs 0.7 points, since accuracies of
  close candidates differ by single graphs.
- The best setting of each of the best four kernels is solved on all graphs, up to ``MOST_GRAPHS``: settings
  of one kernel are too alike to gain from each other. The best one is joined greedily by others while the
  error of the average of their held-out decisions falls. Averages gain half a point over the best setting.
- Decisions about held-out graphs by the model that they chose are too good: on 90 graphs, conformal sets of
  coverage 0.9 have 0.89. Probabilities and conformal sets are therefore learned from ten folds, without each
  of which ridges, settings and their average are chosen anew. This takes no other fit.
- With more graphs, a sample decides on kernels and ridges, and the chosen ones are solved once on all graphs:
  the ridge is in units of the kernel's diagonal, and the best one hardly depends on the number of graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels._utils.checks import check_positive, check_streams
from propkernels._utils.parallel import run_threads
from propkernels._utils.progress import LOG
from propkernels._utils.typing import Indices, Matrix, Values
from propkernels.counts.products import inverse_length
from propkernels.graphs.database import GraphDatabase
from propkernels.models.least_squares import RIDGES, Solution, solve

SCREENED = 300  # graphs of the sample on which all candidates are compared
MOST_GRAPHS = 1500  # that decide among the finalists
FINALISTS = 4
MOST_KERNELS = 3  # that are averaged
FOLDS = 10  # without each of which the choice is made anew


class Setting(NamedTuple):
    """Number of a kernel in the list of candidates, its t_max (None: it has none), and its normalization."""

    kernel: int
    t_max: int | None
    normalize: bool


class Found(NamedTuple):
    """A setting, its kernel fitted with the largest t_max, and the solution of its best ridge.

    ``apart`` holds decisions without each fold, (folds, n, columns), by the ridge that is best without it.
    """

    setting: Setting
    kernel: Any
    solution: Solution
    apart: Matrix

    def fitted(self, graphs: Any) -> Any:
        """Return the kernel of the setting, fitted to the graphs of the solution."""
        if hasattr(self.kernel, "_restricted"):
            return self.kernel._restricted(self.setting.t_max, self.setting.normalize)
        if self.setting.normalize:
            return clone(self.kernel).set_params(normalize=True).fit(graphs)
        return self.kernel


@dataclass(frozen=True, eq=False)
class Problem:
    """Graphs, or nodes, with targets, (n, columns), their weights and groups; see ``least_squares``.

    Attributes
    ----------
    graphs : GraphDatabase, or ndarray of int64, (n,)
        For nodes their numbers.
    strata : ndarray of int64, (n,)
        Classes, or ranges of numbers, of which samples hold equal shares.
    seed : int
        Seed of samples and of hash functions.
    origin : ndarray of int64, (n,), optional
        Positions of a sample in the whole problem.
    """

    graphs: Any
    targets: Matrix
    strata: Indices
    seed: int
    weights: Values | None = None
    groups: Sequence[Indices] | None = None
    origin: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def learned_from(self) -> NDArray[np.bool_]:
        """Which targets are known, of graphs that have a weight, (n, columns)."""
        known = ~np.isnan(self.targets)
        return known if self.weights is None else known & (self.weights > 0)[:, None]

    def sample(self, size: int) -> Problem:
        """Return the problem of a stratified sample."""
        return self.at(self.places(size))

    def at(self, kept: Indices) -> Problem:
        """Return the problem of some graphs."""
        at = np.full(len(self), -1)
        at[kept] = np.arange(len(kept))
        groups = self.groups and [at[group][at[group] >= 0] for group in self.groups]
        weights = None if self.weights is None else self.weights[kept]
        known = self.graphs[kept], self.targets[kept], self.strata[kept]
        return Problem(*known, self.seed, weights, groups, kept)

    @property
    def has_classes(self) -> bool:
        """Whether columns are those of three or more classes, of which each graph has one."""
        is_one = self.targets.shape[1] > 1 and not np.isnan(self.targets).any()
        return is_one and np.array_equal(self.targets.argmax(axis=1), self.strata)

    def places(self, size: int) -> Indices:
        """Return a stratified sample: graph i of a stratum of m, at random, has rank (i + 1/2) / m."""
        shuffled = np.random.RandomState(self.seed).permutation(len(self))
        order = shuffled[np.argsort(self.strata[shuffled], kind="stable")]
        strata = self.strata[order]
        within = np.arange(len(self)) - np.searchsorted(strata, strata)
        ranks = (within + 0.5) / np.bincount(strata)[strata]
        return np.sort(order[np.argsort(ranks, kind="stable")[:size]])

    def parts(self, n_parts: int) -> list[Indices]:
        """Return parts that are held out together: the groups, or stratified folds at random."""
        if self.groups is not None:
            return list(self.groups)
        shuffled = np.random.RandomState(self.seed).permutation(len(self))
        order = shuffled[np.argsort(self.strata[shuffled], kind="stable")]
        n_parts = min(n_parts, len(self))
        return [np.sort(order[part::n_parts]) for part in range(n_parts)]

    def errors(self, held_out: Matrix) -> float:
        """Return the share of held-out decisions for a wrong class, or with a wrong sign."""
        truth = self.targets
        if self.has_classes:
            return float((held_out.argmax(axis=1) != truth.argmax(axis=1)).mean())
        known = ~np.isnan(truth)
        return float(((held_out > 0) != (truth > 0))[known].mean())

    def losses(self, held_out: Matrix, without: NDArray[np.bool_] | None = None) -> Values:
        """Return mean squared errors of held-out decisions, (..., n, columns), over known targets.

        Graphs of a mask, (n,) or (folds, n), do not count.
        """
        errors = (held_out - self.targets) ** 2
        weights = np.ones(len(self)) if self.weights is None else self.weights
        weights = weights if without is None else np.where(without, 0.0, weights)
        counted = np.where(np.isnan(errors), 0.0, weights[..., None])
        total = np.where(counted > 0, counted * errors, 0.0).sum(axis=(-2, -1))
        return np.asarray(total / np.maximum(counted.sum(axis=(-2, -1)), np.finfo(float).tiny))

    @property
    def folds(self) -> list[Indices]:
        """Ten folds, or as many as there are groups, without which a choice is made anew; none of two."""
        parts = self.parts(FOLDS)
        order = np.random.RandomState(self.seed).permutation(len(parts))
        merged = [[parts[i] for i in order[first::FOLDS]] for first in range(min(FOLDS, len(parts)))]
        return [np.sort(np.concatenate(some)) for some in merged] if len(merged) > 2 else []

    def masks(self, folds: Sequence[Indices]) -> NDArray[np.bool_]:
        """Return which graphs are in each fold, (folds, n)."""
        masks = np.zeros((len(folds), len(self)), dtype=bool)
        for mask, fold in zip(masks, folds, strict=True):
            mask[fold] = True
        return masks

    def solutions(
        self,
        kernels: Sequence[Any],
        settings: Iterable[Setting],
        ridges: Mapping[Setting, Sequence[float]],
        folds: Sequence[Indices] = (),
    ) -> Iterator[Found]:
        """Yield the solution of the best ridge of each setting; a kernel's settings share one pass."""
        wanted = sorted(settings, key=attrgetter("kernel"))
        masks = self.masks(folds)
        for number, group in groupby(wanted, key=attrgetter("kernel")):
            own = list(group)
            steps = tuple(sorted({s.t_max for s in own if s.t_max is not None}))
            kernel = redrawn(kernels[number], self.seed)
            if "normalize" in kernel.get_params(deep=False):
                kernel.set_params(normalize=False)
            stack = compute_stack(kernel, self.graphs, steps or None)

            def solved(setting: Setting, stack: Any = stack, kernel: Any = kernel) -> Found:
                matrix = stack[setting.t_max]
                matrix = normalized(matrix) if setting.normalize else matrix
                found = solve(matrix, self.targets, ridges[setting], self.weights, self.groups, folds)
                losses = np.array([self.losses(one.apart, masks) for one in found])  # (ridges, folds)
                apart = np.array([found[i].apart[k] for k, i in enumerate(losses.argmin(axis=0))])
                best = min(found, key=lambda each: self.losses(each.held_out))
                return Found(setting, kernel, best, apart)

            yield from run_threads(solved, own, uses_blas=True)


def settings_of(
    kernels: Sequence[Any], steps: tuple[int, ...] | None, normalize: bool | str | None
) -> list[Setting]:
    """Return all settings of kernels: each t_max (None: up to the kernel's own), plain and normalized.

    ``normalize`` is "auto" for both, True, False, or None for the setting of each kernel. Kernels with
    k(x, x) = 1, and those without the parameter ``normalize``, are not normalized.
    """
    settings = []
    for number, kernel in enumerate(kernels):
        own, is_free = bool(getattr(kernel, "normalize", False)), "normalize" in kernel.get_params(deep=False)
        wanted: tuple[bool, ...] = (own,) if normalize is None or not is_free else (bool(normalize),)
        if normalize == "auto" and is_free:
            wanted = (False,) if getattr(kernel, "_has_constant_diagonal", False) else (False, True)
        times = (steps or tuple(range(kernel.t_max + 1))) if has_steps(kernel) else (None,)
        settings += [Setting(number, t, is_normalized) for t in times for is_normalized in wanted]
    return settings


def choose(
    problem: Problem,
    kernels: Sequence[Any],
    settings: Sequence[Setting],
    ridges: Sequence[float] = RIDGES,
    most_kernels: int = MOST_KERNELS,
    tell: Callable[[int], object] = lambda n: None,
    on_all: bool = True,
) -> tuple[list[Found], Matrix]:
    """Return the settings whose decisions are averaged, the best first, with their solutions.

    ``tell`` is called after each setting that is screened. Solutions are those of all graphs, or, if not
    ``on_all``, of a sample of ``MOST_GRAPHS``. Decisions about held-out graphs, (n, columns), come second:
    up to ``MOST_GRAPHS`` by models chosen without their fold, beyond by the solutions without them alone.
    """
    few = problem if len(problem) <= 1.2 * SCREENED else problem.sample(SCREENED)
    many = problem if len(problem) <= MOST_GRAPHS else problem.sample(MOST_GRAPHS)
    folds = problem.folds if many is problem and on_all and len(settings) * len(ridges) > 1 else ()
    grid, screened = dict.fromkeys(settings, ridges), []
    for found in few.solutions(kernels, settings, grid, folds if few is many else ()):
        screened.append(found)
        tell(1)
    finalists = screened
    if few is not many:
        screened.sort(key=lambda found: few.losses(found.solution.held_out))
        best = {found.setting.kernel: found.setting for found in reversed(screened)}  # of each kernel
        order = list(dict.fromkeys(found.setting.kernel for found in screened))[:FINALISTS]
        finalists = list(many.solutions(kernels, [best[number] for number in order], grid, folds))
    finalists.sort(key=lambda found: many.losses(found.solution.held_out))
    decided = np.array([found.solution.held_out for found in finalists])
    chosen = [finalists[i] for i in averaged(many, decided, most_kernels)]
    if many is not problem and on_all:
        ridges_of = {found.setting: [found.solution.ridge] for found in chosen}
        solved = {found.setting: found for found in problem.solutions(kernels, ridges_of, ridges_of)}
        chosen = [solved[setting] for setting in ridges_of]
    for found in chosen:
        name, (_, t_max, normalize) = type(found.kernel).__name__, found.setting
        what = f"{name}, t_max {t_max}, normalize {normalize}, C {1 / found.solution.ridge:g}"
        LOG.info("chosen of %d settings for %d graphs: %s", len(settings), len(problem), what)
    held_out = np.mean([found.solution.held_out for found in chosen], axis=0)
    for number, mask in enumerate(problem.masks(folds)):
        apart = np.array([found.apart[number] for found in finalists])
        mean = apart[averaged(problem, apart, most_kernels, mask)][:, mask].mean(axis=0)
        held_out[mask] = np.where(np.isnan(mean), held_out[mask], mean)
    return chosen, held_out


def averaged(
    problem: Problem, candidates: Matrix, most: int, without: NDArray[np.bool_] | None = None
) -> list[int]:
    """Return places of decisions, (candidates, n, columns), whose mean has a small error.

    The best one is joined greedily while the error of the mean falls. Graphs of the mask do not count.
    """
    chosen, total, smallest = list[int](), np.zeros_like(candidates[0]), np.inf
    while len(chosen) < min(most, len(candidates)):
        losses = problem.losses((total + candidates) / (len(chosen) + 1), without)
        losses[chosen] = np.inf
        if losses.min() >= smallest:
            break
        chosen.append(int(losses.argmin()))
        total, smallest = total + candidates[chosen[-1]], losses.min()
    return chosen


def normalized(kernel: Matrix) -> Matrix:
    """Return k(x, y) / sqrt(k(x, x) k(y, y))."""
    scale = inverse_length(kernel.diagonal())
    return kernel * np.outer(scale, scale)


def check_costs(costs: Any) -> tuple[float, ...]:
    """Return the candidates for C, smallest first.

    Examples
    --------
    >>> check_costs([10, 1]), check_costs(5)
    ((1.0, 10.0), (5.0,))
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
    """Return one or several values as a sequence; raise if there is none."""
    if isinstance(values, str) or np.ndim(values) == 0:
        return [values]
    several = list(values)
    if not several:
        raise ValueError(f"{name} must have at least one value, got none")
    return several


def has_steps(kernel: Any) -> bool:
    """Return whether the kernel has a parameter t_max whose values one pass covers."""
    return hasattr(kernel, "fit_transform_cumulative") and "t_max" in kernel.get_params(deep=False)


def redrawn(kernel: Any, seed: int) -> Any:
    """Return an unfitted copy of the kernel with every random_state set to the seed."""
    names = [name for name in kernel.get_params() if f"__{name}".endswith("__random_state")]
    return clone(kernel).set_params(**dict.fromkeys(sorted(names), seed))


def compute_stack(
    kernel: Any, graphs: GraphDatabase, steps: tuple[int, ...] | None
) -> dict[int | None, Matrix]:
    """Fit a kernel, and return its matrices by t_max; a kernel without t_max has the key None.

    ``steps`` are the wanted values of t_max, None: all.
    """
    n, found = len(graphs), dict[int | None, Any]()
    if not has_steps(kernel):
        found = {None: kernel.fit_transform(graphs)}
    else:
        if steps is not None:
            kernel.set_params(t_max=steps[-1])
        if steps is not None and len(steps) == 1:
            found = {steps[0]: kernel.fit_transform(graphs)}
        else:
            matrices = kernel.fit_transform_cumulative(graphs)
            found = {t: matrices[t] for t in steps or range(len(matrices))}
    for t, matrix in found.items():
        found[t] = np.asarray(matrix, dtype=np.float64)
        if found[t].shape != (n, n):
            raise ValueError(f"the kernel of {n} graphs has shape {found[t].shape}, expected {(n, n)}")
    return found
