"""Conformal prediction from the folds of fit: sets of classes and intervals of numbers with a coverage.

Fit trains one machine per fold to choose settings. CV+ (Barber, Candès, Ramdas and Tibshirani 2021) predicts
a new graph x by each of them, and compares its score with the scores of the graphs that the same machine did
not learn from. With K folds, fold k(i) of graph i, and r = ceil(coverage (n + 1)), the interval is

    [ -r-th smallest of -mu_k(i)(x) + R_i s_k(i)(x),  r-th smallest of mu_k(i)(x) + R_i s_k(i)(x) ],

where R_i = |y_i - mu_k(i)(x_i)| / s_k(i)(x_i). The scale s_k(x) = base + slope * (share of the bins of x that
no training graph of fold k has) makes intervals wide for graphs unlike the training graphs. A class is in the
set of x if fewer than r of the graphs of this class have a smaller score (Mondrian: each class has its own
coverage). A score is 1 / (1 + exp(margin)), divided by s, where the margin of a class is its distance to the
strongest rival.

Machines of folds have learned from fewer graphs than all of them together, so that CV+ covers more than it
promises. Fit measures by how much: each graph i is judged once more as if fold k(i) were new, by the machines
that have seen neither fold k(i) nor one other fold j, against the scores of the graphs of fold j by the same
machine. Its level u_i is the smallest coverage at which it would have been covered; without the effect, the
r-th smallest level is r / (n + 1). These machines lack one of K - 1 folds, those that predict one of K, so
(K - 1) / K of the difference counts: r is replaced by the rank of the coverage
r / (n + 1) + (K - 1) / K (r-th smallest u_i - r / (n + 1)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels import _core
from propkernels._utils.checks import check_nonnegative, shown
from propkernels._utils.parallel import run_threads, threads_for, whole_runs
from propkernels._utils.stored import Offsets, is_whole, not_negative, require
from propkernels.explain.members import Counted, KernelMember, Member
from propkernels.explain.rule import Rule, dual_members, primal_members
from propkernels.graphs.database import GraphDatabase
from propkernels.models.candidates import Candidate, has_explicit_counts, learns_weights
from propkernels.models.folds import Folds
from propkernels.models.partners import HeldOut, Selection

Matrix = NDArray[np.float64]
Values = NDArray[np.float64]
LEAST_BASE = 0.1  # of the mean score: smallest base of the scale
MOST_FOLDED = 16  # decisions of all folds; more take less memory as coefficients of graphs than of bins
NODES_AT_ONCE = 2**18  # nodes of training graphs that are counted at a time
SCORES_AT_ONCE = 2**22  # endpoints of intervals in memory
LEAST_FOLDS = 3  # without two of which some training graphs are left


class FoldPredictions(NamedTuple):
    """Predictions of graphs by the machines of all folds.

    Attributes
    ----------
    decisions : ndarray of shape (graphs, folds, decisions)
    unseen : ndarray of shape (graphs, folds)
        Share of the counts of a graph in bins that no training graph of the fold has.
    """

    decisions: Matrix
    unseen: Matrix


@dataclass(frozen=True, eq=False)
class FoldModels:
    """Machines of the folds of fit, as one rule for new graphs.

    Attributes
    ----------
    rule : Rule
        Decisions of all folds, fold after fold.
    intercepts : ndarray of shape (folds, decisions)
    seen : list of ndarray of uint8
        For each vocabulary of the rule, (bins, folds): 1 if a training graph of the fold has the bin.
    """

    rule: Rule
    intercepts: Matrix
    seen: list[NDArray[np.uint8]]

    def _check_parts(self) -> None:
        """Raise if intercepts or bins do not match the rule."""
        require(self.intercepts.ndim == 2 and self.intercepts.size, "every fold needs intercepts")
        require(self.rule.n_decisions == self.intercepts.size, "every fold needs the same decisions")
        sizes = [(int(v.starts[-1]), self.n_folds) for v in self.rule.vocabularies]
        require([seen.shape for seen in self.seen] == sizes, "every bin needs one mark per fold")
        require(all(seen.dtype == np.uint8 for seen in self.seen), "marks of bins are bytes")

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.intercepts)

    @property
    def n_decisions(self) -> int:
        """Number of decisions of one fold."""
        return int(self.intercepts.shape[1])

    def scaled(self, unit: Any, offset: Any) -> FoldModels:
        """Return models with decisions multiplied by a unit, plus an offset; one of each per decision."""
        units: Any = np.tile(np.broadcast_to(unit, self.n_decisions), self.n_folds)
        return FoldModels(self.rule.scaled(units), unit * self.intercepts + offset, self.seen)

    def predict(self, graphs: GraphDatabase, n_jobs: int | None) -> FoldPredictions:
        """Return the decisions about graphs by all folds, and their shares of unseen bins."""

        def one_run(counted: Counted) -> tuple[Matrix, Matrix]:
            return self.rule.decide(counted), self.unseen(counted)

        decisions, unseen = zip(*self.rule.by_runs(graphs, n_jobs, one_run), strict=True)
        shape = (len(graphs), self.n_folds, self.n_decisions)
        return FoldPredictions(
            np.concatenate(decisions).reshape(shape) + self.intercepts, np.concatenate(unseen)
        )

    def unseen(self, counted: Counted) -> Matrix:
        """Return the share of the counts of graphs in bins that no training graph of a fold has."""
        return _unseen_shares(self.rule, self.seen, counted, self.n_folds)


def pairs_of_folds(folds: Folds) -> Folds:
    """Return (training, held-out) graphs without two folds each; none if folds are few or overlap.

    The held-out graphs are those of the first fold of a pair, then those of the second.

    Examples
    --------
    >>> parts = [np.arange(6) // 2 == k for k in range(3)]
    >>> folds = [(np.flatnonzero(~part), np.flatnonzero(part)) for part in parts]
    >>> [(train.tolist(), held.tolist()) for train, held in pairs_of_folds(folds)]
    [([4, 5], [0, 1, 2, 3]), ([2, 3], [0, 1, 4, 5]), ([0, 1], [2, 3, 4, 5])]
    """
    held = np.concatenate([held for _, held in folds]) if folds else np.zeros(0, dtype=np.int64)
    if len(folds) < LEAST_FOLDS or len(np.unique(held)) < len(held):
        return []
    return [
        (np.setdiff1d(train, other), np.concatenate([own, other]))
        for (train, own), (_, other) in combinations(folds, 2)
    ]


def learn_fold_models(
    chosen: Selection,
    kernels: Sequence[Any],
    whole: Rule,
    graphs: GraphDatabase,
    target: NDArray[Any],
    held_out: Sequence[HeldOut],
    pairs: Sequence[HeldOut],
    n_jobs: int | None,
) -> tuple[FoldModels, Values, list[Values]]:
    """Return the machines of the folds as one rule, and the unseen shares of held-out graphs.

    The training graphs are counted once more, to mark the bins that each fold has seen.

    Parameters
    ----------
    chosen : Selection
    kernels : sequence of estimators
        The kernel of each member of the selection, fitted on all graphs.
    whole : Rule
        The rule learned from all graphs, whose vocabularies are shared.
    graphs : GraphDatabase
    target : ndarray
    held_out, pairs : sequence of HeldOut
        Machines without one fold, and without two.
    n_jobs : int or None

    Returns
    -------
    models : FoldModels
    unseen : ndarray
        Share of each held-out graph's counts in bins that its fold has not seen, fold after fold.
    unseen_by_pairs : list of ndarray
        The same for the held-out graphs of each pair.
    """
    members: list[Member] = []
    for number, ((candidate, _), kernel) in enumerate(zip(chosen.members, kernels, strict=True)):
        members += _members_of(candidate, kernel, number, graphs, target, held_out)
    rule = Rule.of([member.scaled(1 / len(kernels)) for member in members], whole.vocabularies)
    intercepts = np.stack([part.intercepts for part in held_out])
    runs = pairwise(whole_runs(graphs.graph_ptr, NODES_AT_ONCE).tolist())
    counted = [Counted(graphs[start:stop], n_jobs) for start, stop in runs]
    for run in counted:
        run_threads(run.entries, rule.vocabularies, n_jobs)
    parts = [*held_out, *pairs]
    seen = _seen_bins(rule, counted, parts)
    shares = np.concatenate([_unseen_shares(rule, seen, run, len(parts)) for run in counted])
    unseen = [shares[part.held, k] for k, part in enumerate(parts)]
    n_folds = len(held_out)
    models = FoldModels(rule, intercepts, [np.ascontiguousarray(marks[:, :n_folds]) for marks in seen])
    return models, np.concatenate(unseen[:n_folds]), unseen[n_folds:]


def _unseen_shares(rule: Rule, seen: Sequence[NDArray[np.uint8]], counted: Counted, n_folds: int) -> Matrix:
    """Return the mean share over the vocabularies; 0 if graphs are compared without bins."""
    shares = np.zeros((max(len(seen), 1), len(counted.graphs), n_folds))
    for vocabulary, marks, share in zip(rule.vocabularies, seen, shares, strict=False):
        entries = counted.entries(vocabulary)
        threads = threads_for(len(entries.columns) * n_folds, counted.n_jobs)
        _core.share_unseen(entries.arrays, marks, share, threads)
    return np.asarray(shares.mean(axis=0))


def _members_of(
    candidate: Candidate,
    kernel: Any,
    number: int,
    graphs: GraphDatabase,
    target: NDArray[Any],
    held_out: Sequence[HeldOut],
) -> list[Member]:
    """Return members with the decisions of all folds; kernels that learn weights are fitted per fold."""
    if learns_weights(kernel):
        fits = [clone(kernel).fit(graphs[part.train], target[part.train]) for part in held_out]
        pairs = enumerate(zip(fits, held_out, strict=True))
        padded = [(fit, _padded(part.coefficients[number], k, len(held_out))) for k, (fit, part) in pairs]
        return [member for fit, table in padded for member in dual_members(fit, table)]
    if candidate.maker.uses_features:
        return primal_members(kernel, np.hstack([part.coefficients[number] for part in held_out]))
    tables = []
    for part in held_out:
        table = np.zeros((len(graphs), part.coefficients[number].shape[1]))
        table[part.train] = part.coefficients[number]
        tables.append(table)
    whole = np.hstack(tables)
    is_wide = whole.shape[1] > MOST_FOLDED and has_explicit_counts(kernel)
    return [KernelMember(kernel, whole)] if is_wide else dual_members(kernel, whole)


def _padded(coefficients: Matrix, fold: int, n_folds: int) -> Matrix:
    """Return the coefficients of one fold in the columns of all folds; the others are 0."""
    n_decisions = coefficients.shape[1]
    table = np.zeros((len(coefficients), n_folds * n_decisions))
    table[:, fold * n_decisions : (fold + 1) * n_decisions] = coefficients
    return table


def _seen_bins(
    rule: Rule, counted: Sequence[Counted], held_out: Sequence[HeldOut]
) -> list[NDArray[np.uint8]]:
    """Return, for each vocabulary, which bins the training graphs of each fold have."""
    ends = np.concatenate([[0], np.cumsum([len(run.graphs) for run in counted])])
    is_training = np.zeros((int(ends[-1]), len(held_out)), dtype=np.uint8)
    for k, part in enumerate(held_out):
        is_training[part.train, k] = 1
    seen = [np.zeros((int(v.starts[-1]), len(held_out)), dtype=np.uint8) for v in rule.vocabularies]

    for run, start, stop in zip(counted, ends, ends[1:], strict=False):
        for vocabulary, marks in zip(rule.vocabularies, seen, strict=True):
            entries = run.entries(vocabulary)
            threads = threads_for(len(entries.columns) * len(held_out), run.n_jobs)
            _core.mark_bins(entries.arrays, is_training[start:stop], marks, threads)
    return seen


@dataclass(frozen=True, eq=False)
class Conformal:
    """Scores of held-out training graphs, with the models that gave them.

    Scores are sorted within each run; group g (a class, or a column of numbers) and fold k have the run
    ``g * n_folds + k``.

    Attributes
    ----------
    models : FoldModels
    scores : ndarray of float64
        Nonconformity of held-out graphs, divided by their scale.
    ptr : ndarray of int64, (groups * folds + 1,)
        Offsets of the runs.
    base, slope : ndarray of shape (groups,)
        Scale of a graph: base + slope * unseen share.
    levels : ndarray of float64
        For the scores of each group, by rank: the coverage whose rank takes the place of this one. Empty: not
        measured.
    """

    models: FoldModels
    scores: Values
    ptr: Annotated[NDArray[np.int64], Offsets("scores")]
    base: Values
    slope: Values
    levels: Values = field(default_factory=lambda: np.zeros(0))

    def _check_parts(self) -> None:
        """Raise if runs, scores or scales do not match."""
        require(
            is_whole(self.n_groups, 1) and self.base.shape == self.slope.shape, "every group needs a scale"
        )
        require(len(self.ptr) == self.n_groups * self.models.n_folds + 1, "every group and fold needs a run")
        require(self.scores.ndim == 1 and not_negative(self.scores), "scores must be finite and nonnegative")
        require(not_negative(self.slope) and (self.base > 0).all(), "scales must be positive")
        runs = [self.scores[a:b] for a, b in pairwise(self.ptr.tolist())]
        require(all((np.diff(run) >= 0).all() for run in runs), "scores must be sorted")
        require(self.levels.shape in ((0,), self.scores.shape), "every score needs a level")
        require(not_negative(self.levels) and (self.levels <= 1).all(), "levels are shares")
        sorted_by_group = [(np.diff(self.levels[of]) >= 0).all() for of in self._groups]
        require(all(sorted_by_group), "levels must be sorted")

    @classmethod
    def learn(
        cls,
        models: FoldModels,
        held_out: Sequence[HeldOut],
        unseen: Values,
        scores: Matrix,
        by_pairs: Sequence[tuple[Matrix, Values]] = (),
    ) -> Conformal:
        """Return sorted scores divided by their scales.

        Parameters
        ----------
        models : FoldModels
        held_out : sequence of HeldOut
        unseen : ndarray of shape (held-out graphs,)
            Share of unseen bins of each held-out graph, fold after fold.
        scores : ndarray of shape (held-out graphs, groups)
            Nonconformity of each held-out graph; NaN if it is not in the group.
        by_pairs : sequence of (ndarray, ndarray)
            Scores and shares of unseen bins of the held-out graphs of each pair of folds.
        """
        sizes = [len(part.held) for part in held_out]
        folds = np.repeat(np.arange(len(held_out)), sizes)
        runs, scales = [], []
        for of_group in scores.T:
            known = ~np.isnan(of_group)
            base, slope = fit_scale(of_group[known], unseen[known])
            scaled = of_group / (base + slope * unseen)
            runs += [np.sort(scaled[known & (folds == k)]) for k in range(models.n_folds)]
            scales.append((base, slope))
        ptr = np.concatenate([[0], np.cumsum([len(run) for run in runs])]).astype(np.int64)
        base, slope = np.array(scales).T
        scaled_pairs = [of_pair / (base + slope * shares[:, None]) for of_pair, shares in by_pairs]
        levels = [rehearse([of[:, group] for of in scaled_pairs], sizes) for group in range(len(base))]
        return cls(models, np.concatenate(runs), ptr, base.copy(), slope.copy(), np.concatenate(levels))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.base)

    @property
    def _groups(self) -> list[slice]:
        """Scores of each group."""
        ends = self.ptr[:: self.models.n_folds].tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    def rank(self, group: int, coverage: float) -> int:
        """Return the rank of the score for a coverage; above the number of scores if these are too few."""
        n = len(self.scores[self._groups[group]])
        plain = _rank(n, coverage)
        levels = self.levels[self._groups[group]]
        return plain if plain > n or not len(levels) else min(_rank(n, float(levels[plain - 1])), n)

    def runs(self, group: int) -> list[Values]:
        """Return the sorted scores of a group, one array per fold."""
        first = group * self.models.n_folds
        ends = self.ptr[first : first + self.models.n_folds + 1]
        return [self.scores[a:b] for a, b in pairwise(ends.tolist())]

    def scale(self, group: int, unseen: Matrix) -> Matrix:
        """Return the scale of graphs in a group, (graphs, folds)."""
        return self.base[group] + self.slope[group] * unseen

    def interval(self, group: int, found: FoldPredictions, coverage: float) -> Matrix:
        """Return the interval of each graph's number, (graphs, 2)."""
        runs, scale = self.runs(group), self.scale(group, found.unseen)
        values, n_scores = found.decisions[:, :, group], sum(map(len, runs))
        rank = self.rank(group, coverage)
        if rank > n_scores:
            return np.tile([-np.inf, np.inf], (len(values), 1))
        step = max(SCORES_AT_ONCE // n_scores, 1)
        parts = [slice(start, start + step) for start in range(0, len(values), step)]
        ends = [[_smallest(sign * values[p], scale[p], runs, rank) for p in parts] for sign in (-1, 1)]
        empty = np.zeros(0)
        return np.column_stack([-np.concatenate([*ends[0], empty]), np.concatenate([*ends[1], empty])])

    def contains(self, group: int, scores: Matrix, unseen: Matrix, coverage: float) -> NDArray[np.bool_]:
        """Return whether the class of a group is in the set of each graph; scores are (graphs, folds)."""
        runs, scaled = self.runs(group), scores / self.scale(group, unseen)
        smaller = sum(np.searchsorted(run, scaled[:, k], side="left") for k, run in enumerate(runs))
        return np.asarray(smaller < self.rank(group, coverage))


def rehearse(scores: Sequence[Values], sizes: Sequence[int]) -> Values:
    """Return the coverages whose ranks replace the ranks 1, 2, ... of a group.

    The level of a graph is (rivals with a smaller score + 1) / (rivals + 1).

    Parameters
    ----------
    scores : sequence of ndarray
        For each pair of folds, the scores of the graphs of the first and of the second; NaN if a graph is not
        in the group. Empty: no levels.
    sizes : sequence of int
        Number of graphs of each fold.

    Examples
    --------
    >>> rehearse([np.array([1.0, 2.0]), np.array([1.0, 3.0]), np.array([2.0, 3.0])], [1, 1, 1]).tolist()
    [0.3055555555555556, 0.6111111111111112, 0.9166666666666667]
    """
    if not scores:
        return np.zeros(0)
    smaller, rivals = ([np.zeros(size) for size in sizes] for _ in range(2))
    inside = [np.zeros(size, dtype=bool) for size in sizes]
    for (first, second), of_pair in zip(combinations(range(len(sizes)), 2), scores, strict=True):
        halves = of_pair[: sizes[first]], of_pair[sizes[first] :]
        for fold, own, others in ((first, *halves), (second, *halves[::-1])):
            known = np.sort(others[~np.isnan(others)])
            smaller[fold] += np.searchsorted(known, own, side="left")
            rivals[fold] += len(known)
            inside[fold] = ~np.isnan(own)
    levels = np.concatenate([(s + 1) / (r + 1) for s, r in zip(smaller, rivals, strict=True)])
    found = np.sort(levels[np.concatenate(inside)])
    plain = np.arange(1, len(found) + 1) / (len(found) + 1)
    return np.asarray(plain + (1 - 1 / len(sizes)) * (found - plain))


def check_coverage(coverage: Any) -> float:
    """Return a number above 0 and below 1.

    Raises
    ------
    ValueError
    """
    share = check_nonnegative(coverage, "coverage")
    if not 0 < share < 1:
        raise ValueError(f"coverage must be above 0 and below 1, got {shown(coverage)}")
    return share


def fit_scale(scores: Values, unseen: Values) -> tuple[float, float]:
    """Return base and slope of the line through the scores; base is positive, slope at least 0.

    Examples
    --------
    >>> base, slope = fit_scale(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.5, 1.0]))
    >>> round(base, 6), round(slope, 6)
    (1.0, 2.0)
    >>> fit_scale(np.array([2.0, 1.0]), np.array([0.0, 1.0]))
    (1.5, 0.0)
    """
    mean = float(scores.mean()) if len(scores) else 0.0
    if not mean > 0:
        return 1.0, 0.0
    middle, spread = float(unseen.mean()), float(unseen.var())
    if not spread > 0:
        return mean, 0.0
    slope = float(np.mean((unseen - middle) * (scores - mean))) / spread
    slope = min(max(slope, 0.0), (1 - LEAST_BASE) * mean / middle)
    return mean - slope * middle, slope


def _rank(n: int, coverage: float) -> int:
    """Return ceil(coverage (n + 1)), robust to rounding."""
    return math.ceil(coverage * (n + 1) - 1e-9)


def _smallest(values: Matrix, scale: Matrix, runs: Sequence[Values], rank: int) -> Values:
    """Return the rank-th smallest of values[:, k] + scale[:, k] * run_k, over all folds k."""
    ends = [values[:, [k]] + scale[:, [k]] * run for k, run in enumerate(runs)]
    return np.asarray(np.partition(np.hstack(ends), rank - 1, axis=1)[:, rank - 1])
