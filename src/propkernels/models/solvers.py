"""Solvers: from chosen kernels to decisions, one column per class, label or number, and held-out decisions.

All choose kernels by least squares (:mod:`propkernels.models.choose`). "ridge" takes their solutions; the
others take the best kernel and learn its coefficients in another way: support vectors, a Gaussian process,
least squares on kernel values with some graphs ("landmarks"), or least squares on sparse features ("linear").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.sparse import csr_array, diags_array
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.svm import SVC, SVR

from propkernels.counts.columns import join_streams
from propkernels.counts.counters import sort_bins
from propkernels.counts.products import inverse_length, self_products
from propkernels.explain.rule import Rule, dual_members, mean_rule, primal_members
from propkernels.graphs.database import GraphDatabase
from propkernels.models.choose import Found, Problem, Setting, choose, redrawn
from propkernels.models.gaussian_process import Coefficients, Posterior, fit_classes, fit_numbers
from propkernels.models.least_squares import patterns_of, solve

Matrix = NDArray[np.float64]
Values = NDArray[np.float64]
Indices = NDArray[np.int64]
SOLVERS = ("auto", "ridge", "svm", "landmarks", "linear", "gp")
MOST_FOR_KERNEL = 20_000  # graphs of a kernel matrix
FOLDS = 5  # of solvers without a closed form
EPSILON = 0.1  # of support vector regression, in standard deviations
LANDMARKS = 4000  # fewer were less accurate on folds within the training molecules of HIV
MOST_VALUES = 2**29  # kernel values with landmarks in memory, in single precision
AT_ONCE = 250  # landmarks that are compared with all graphs at a time
MOST_HELD = 5000  # graphs that are held out where that takes time
ROWS_AT_ONCE = 4096  # graphs whose products are summed at a time
JITTER = 1e-4  # of k(z, z): equal landmarks, and kernel values rounded to 24 bits


@dataclass(frozen=True, eq=False)
class Learned:
    """A trained rule.

    Attributes
    ----------
    settings : list of Setting
        Of the averaged kernels, the best first.
    kernels : list of estimators
        The same kernels, fitted.
    rule : Rule
        Decisions without intercepts.
    intercepts : ndarray, (columns,)
    held_out : ndarray, (n, columns)
        Decisions about the training graphs by rules that have not seen them; see ``choose``.
    costs : list of float
        The chosen C of each kernel, the inverse of its ridge.
    posterior : Posterior or None
        Of a Gaussian process.
    """

    settings: list[Setting]
    kernels: list[Any]
    rule: Rule
    intercepts: Values
    held_out: Matrix
    costs: list[float]
    posterior: Posterior | None = None


def learn(
    problem: Problem,
    kernels: Sequence[Any],
    settings: Sequence[Setting],
    solver: str,
    costs: Sequence[float],
    is_classification: bool,
    tell: Callable[[int], object],
) -> Learned:
    """Choose kernels and train on all graphs.

    Parameters
    ----------
    problem : Problem
    kernels, settings
        The candidates, as in :func:`~propkernels.models.choose.choose`.
    solver : {"ridge", "svm", "landmarks", "linear", "gp"}
    costs : sequence of float
        Candidates for C, in units of the kernel's mean diagonal.
    is_classification : bool
        Whether columns of the target are 1 and -1.
    tell : callable
        Called after each setting that is screened.
    """
    ridges = [1 / cost for cost in costs]
    if solver == "ridge":
        chosen, held_out = choose(problem, kernels, settings, ridges, tell=tell)
        return _mean_of([_dual(problem.graphs, found) for found in chosen], held_out)
    (best,), _ = choose(problem, kernels, settings, ridges, 1, tell, on_all=False)
    setting = best.setting
    kernel, wanted = redrawn(kernels[setting.kernel], problem.seed), setting._asdict()
    names = [name for name in ("normalize", "t_max") if wanted[name] is not None]
    kernel.set_params(**{name: wanted[name] for name in names if name in kernel.get_params(deep=False)})
    if solver == "landmarks":
        return _on_landmarks(
            problem, setting, kernel.fit(problem.graphs, problem.aligned_to), best.solution.ridge
        )
    if solver == "linear":
        return _on_features(
            problem, setting, kernel.fit(problem.graphs, problem.aligned_to), best.solution.ridge
        )
    fit: Fit = {
        ("svm", True): _support_vectors,
        ("svm", False): _support_vector_regression,
        ("gp", True): fit_classes,
        ("gp", False): fit_numbers,
    }[solver, is_classification]
    return _by_folds(problem, setting, kernel, fit, costs, is_classification)


def _dual(graphs: GraphDatabase, found: Found) -> Learned:
    kernel, solution = found.fitted(graphs), found.solution
    rule = Rule.of(dual_members(kernel, solution.coefficients))
    costs = [1 / solution.ridge]
    return Learned([found.setting], [kernel], rule, solution.intercepts, solution.held_out, costs)


def _mean_of(parts: Sequence[Learned], held_out: Matrix) -> Learned:
    """Return the mean of rules that were learned from different kernels, with these held-out decisions."""
    return Learned(
        [setting for part in parts for setting in part.settings],
        [kernel for part in parts for kernel in part.kernels],
        mean_rule([part.rule for part in parts]),
        np.mean([part.intercepts for part in parts], axis=0),
        held_out,
        [cost for part in parts for cost in part.costs],
    )


def without_own_class(problem: Problem, learned: Learned) -> Matrix:
    """Return the decisions about each graph by least squares without all graphs of its stratum."""
    groups = [np.flatnonzero(problem.strata == c) for c in np.unique(problem.strata)]
    parts = []
    for kernel, cost in zip(learned.kernels, learned.costs, strict=True):
        matrix = clone(kernel).fit_transform(problem.graphs, problem.aligned_to)
        matrix = np.asarray(matrix, dtype=np.float64)
        parts.append(solve(matrix, problem.targets, [1 / cost], problem.weights, groups)[0].held_out)
    return np.mean(parts, axis=0)


Fit = Callable[[Matrix, Values, float, "Values | None"], Coefficients]  # kernel, column, C, weights


def _support_vectors(kernel: Matrix, column: Values, cost: float, weights: Values | None) -> Coefficients:
    """Return scikit-learn's C-SVM of one class against the rest."""
    machine = SVC(kernel="precomputed", C=cost).fit(kernel, column > 0, weights)
    return _placed(machine, len(kernel))


def _support_vector_regression(
    kernel: Matrix, column: Values, cost: float, weights: Values | None
) -> Coefficients:
    """Return scikit-learn's epsilon-SVR."""
    machine = SVR(kernel="precomputed", C=cost, epsilon=EPSILON).fit(kernel, column, weights)
    return _placed(machine, len(kernel))


def _placed(machine: SVC | SVR, n: int) -> Coefficients:
    dual = np.zeros(n)
    dual[machine.support_] = machine.dual_coef_[0]
    return Coefficients(dual, float(machine.intercept_[0]))


def _by_folds(
    problem: Problem, setting: Setting, kernel: Any, fit: Fit, costs: Sequence[float], is_class: bool
) -> Learned:
    """Choose C by the held-out decisions of folds, and train on all graphs.

    Classes are right or wrong first: margins of support vectors and latent functions are not targets.
    """
    matrix = np.asarray(kernel.fit_transform(problem.graphs, problem.aligned_to), dtype=np.float64)
    unit = float(matrix.diagonal().mean()) or 1.0
    matrix /= unit
    targets, weights = problem.targets, problem.weights
    parts = problem.parts(FOLDS)

    def solved(cost: float, rows: Indices) -> list[tuple[Indices, Coefficients]]:
        found = []
        for column in targets.T:
            known = rows[~np.isnan(column[rows])]
            block = np.ascontiguousarray(matrix[np.ix_(known, known)])
            if np.ptp(column[known]) == 0:  # nothing to learn: the constant itself
                found.append((known, Coefficients(np.zeros(len(known)), float(column[known[0]]))))
            else:
                own = None if weights is None else weights[known]
                found.append((known, fit(block, column[known], cost, own)))
        return found

    def held_out(cost: float) -> Matrix:
        decisions = np.full_like(targets, np.nan)
        for part in parts:
            rest = np.setdiff1d(np.arange(len(targets)), part)
            for number, (known, found) in enumerate(solved(cost, rest)):
                decisions[part, number] = matrix[np.ix_(part, known)] @ found.dual + found.intercept
        return decisions

    tried = [(cost, held_out(cost)) for cost in costs]
    cost, held = min(
        tried, key=lambda each: (problem.errors(each[1]) if is_class else 0, problem.loss(each[1]))
    )
    found = solved(cost, np.arange(len(targets)))
    dual = np.zeros_like(targets)
    for number, (known, one) in enumerate(found):
        dual[known, number] = one.dual / unit
    posteriors = [one.posterior for _, one in found if one.posterior is not None]
    return Learned(
        [setting],
        [kernel],
        Rule.of(dual_members(kernel, dual)),
        np.array([one.intercept for _, one in found]),
        held,
        [cost],
        Posterior.joined(posteriors, unit) if posteriors else None,
    )


def _on_landmarks(problem: Problem, setting: Setting, kernel: Any, ridge: float) -> Learned:
    """Least squares on kernel values with landmarks z_j (subset of regressors; Smola and Schoelkopf 2000).

    f(x) = sum_j a_j k(x, z_j) + b minimizes sum_i w_i (y_i - f(x_i))^2 + ridge a' K_mm a. With centered rows
    X = K_nm - mean and S = X' W X + ridge K_mm: a = S^-1 X' W y. A graph that is left out has the residual
    r_i / (1 - h_i), h_i = w_i (x_i' S^-1 x_i + 1 / sum(w)); landmarks stay landmarks.
    """
    n, weights = len(problem), np.ones(len(problem)) if problem.weights is None else problem.weights
    places = choose_landmarks(problem.strata, landmark_count(n), problem.seed)
    rows = np.empty((n, len(places)), dtype=np.float32)
    for start in range(0, len(places), AT_ONCE):
        some = places[start : start + AT_ONCE]
        rows[:, start : start + len(some)] = np.asarray(kernel.transform(problem.graphs[some])).T
    between = rows[places].astype(np.float64)
    unit = float(between.diagonal().mean()) or 1.0
    between[np.diag_indices_from(between)] += JITTER * unit
    penalty = ridge * unit * between
    dual, intercepts = np.zeros_like(problem.targets), np.zeros(problem.targets.shape[1])
    held_out = np.full_like(problem.targets, np.nan)
    some = problem.places(MOST_HELD)
    for columns, known in patterns_of(problem.targets):
        shares = np.where(known, weights, 0.0)
        total = shares.sum()
        middle = shares @ rows / total
        level = shares[known] @ problem.targets[np.ix_(known, columns)] / total
        system, sides = penalty.copy(), np.zeros((len(places), len(columns)))
        for start in range(0, n, ROWS_AT_ONCE):
            run = slice(start, start + ROWS_AT_ONCE)
            scaled = np.sqrt(shares[run])[:, None] * (rows[run] - middle)
            system += scaled.T @ scaled  # one array twice: half of the products
            right = np.where(known[run, None], problem.targets[run][:, columns] - level, 0.0)
            sides += scaled.T @ (np.sqrt(shares[run])[:, None] * right)
        factor = cholesky(system, lower=True, overwrite_a=True)
        solved = cho_solve((factor, True), sides)
        dual[np.ix_(places, columns)], intercepts[columns] = solved, level - middle @ solved
        own = rows[some] - middle
        squares = np.square(solve_triangular(factor, own.T, lower=True)).sum(axis=0)
        leverage = shares[some] * (squares + 1 / total)
        decisions = own @ solved + level
        wrong = (problem.targets[np.ix_(some, columns)] - decisions) / (1 - leverage)[:, None]
        left_out = problem.targets[np.ix_(some, columns)] - wrong
        held_out[np.ix_(some, columns)] = np.where(np.isnan(left_out), decisions, left_out)
    rule = Rule.of(dual_members(kernel, dual))
    return Learned([setting], [kernel], rule, intercepts, held_out, [1 / ridge])


def landmark_count(n_graphs: int) -> int:
    """Return the number of landmarks for so many graphs.

    Examples
    --------
    >>> landmark_count(100), landmark_count(50_000), landmark_count(1_000_000)
    (100, 4000, 536)
    """
    return max(1, min(LANDMARKS, n_graphs, MOST_VALUES // max(n_graphs, 1)))


def choose_landmarks(strata: Indices, n_landmarks: int, seed: int) -> Indices:
    """Return positions of landmarks, ascending: at random, equally many of each stratum if possible.

    Examples
    --------
    >>> found = choose_landmarks(np.array([0] * 90 + [1] * 10), 40, seed=0)
    >>> len(found), int(np.sum(found >= 90))
    (40, 10)
    """
    order = np.random.default_rng(seed).permutation(len(strata))
    members = sorted((order[strata[order] == c] for c in np.unique(strata)), key=len)
    chosen, left = list[Indices](), n_landmarks
    for number, own in enumerate(members):  # the rarest stratum first
        chosen.append(own[: left // (len(members) - number)])
        left -= len(chosen[-1])
    return np.sort(np.concatenate(chosen))


def _on_features(problem: Problem, setting: Setting, kernel: Any, ridge: float) -> Learned:
    """Least squares on sparse features, one column per bin: no matrix of all graphs is formed."""
    streams = [sort_bins(stream) for stream in kernel._training_counts]
    widths, scales = zip(*((len(s.codes), float(np.sqrt(s.weight))) for s in streams), strict=True)
    features = join_streams(streams, widths, scales)
    lengths = self_products(features)
    if setting.normalize:
        features = csr_array(diags_array(inverse_length(lengths)) @ features)
        lengths = (lengths > 0).astype(np.float64)
    penalty = ridge * (float(lengths.mean()) or 1.0)
    targets, weights = problem.targets, problem.weights

    def fit(rows: Indices) -> tuple[Matrix, Values]:
        coefficients, intercepts = np.zeros((features.shape[1], targets.shape[1])), np.zeros(targets.shape[1])
        for columns, known in patterns_of(problem.targets):
            own = rows[known[rows]]
            machine = Ridge(alpha=penalty, solver="sparse_cg", tol=1e-4)
            machine.fit(
                features[own],
                targets[np.ix_(own, columns)],
                None if weights is None else weights[own] / weights[own].mean(),
            )
            coefficients[:, columns] = machine.coef_.reshape(len(columns), -1).T
            intercepts[columns] = machine.intercept_
        return coefficients, intercepts

    held_out = np.full_like(targets, np.nan)
    parts = problem.parts(FOLDS)
    for part in parts if len(problem) <= MOST_HELD else parts[:1]:
        coefficients, intercepts = fit(np.setdiff1d(np.arange(len(targets)), part))
        held_out[part] = features[part] @ coefficients + intercepts
    coefficients, intercepts = fit(np.arange(len(targets)))
    rule = Rule.of(primal_members(kernel, coefficients))
    return Learned([setting], [kernel], rule, intercepts, held_out, [1 / ridge])


def has_explicit_counts(kernel: Any) -> bool:
    """Return whether a kernel is a dot product of counts, which linear machines can learn from."""
    return bool(getattr(kernel, "_is_dot_product", False))


def resolve_solver(solver: str, kernels: Sequence[Any], n_graphs: int) -> str:
    """Return the solver of "auto", or raise if kernels or the number of graphs forbid it."""
    other = next((kernel for kernel in kernels if not has_explicit_counts(kernel)), None)
    if solver == "linear" and other is not None:
        raise TypeError(
            f'solver="linear" needs kernels that are dot products of counts, which {other!r} is not: '
            'use base_kernel="linear", and no attributes in kernels that compare pairs of graphs'
        )
    too_many = n_graphs > MOST_FOR_KERNEL
    if solver in ("ridge", "svm", "gp") and too_many:
        raise ValueError(
            f'solver="{solver}" forms a matrix of {n_graphs} x {n_graphs}; '
            f'beyond {MOST_FOR_KERNEL} graphs use solver="landmarks" or "linear"'
        )
    if solver != "auto":
        return solver
    return "ridge" if not too_many else "linear" if other is None else "landmarks"
