"""Solvers: from chosen kernels to decisions, one column per class, label or number, and held-out decisions.

All choose kernels by least squares (:mod:`propkernels.models.choose`). "ridge" takes their solutions; the
others take the best kernel and learn its coefficients in another way: support vectors, a Gaussian process,
least squares on kernel values with some graphs ("landmarks"), or least squares on sparse features ("linear").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.sparse import csr_array, diags_array
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.svm import SVC, SVR

from propkernels._utils.stored import require
from propkernels._utils.typing import Indices, Matrix, Values
from propkernels.counts.columns import join_streams
from propkernels.counts.counters import rank_bins
from propkernels.counts.products import inverse_length, self_products
from propkernels.explain.rule import GraphMember, Rule, dual_members, primal_members
from propkernels.models.choose import Problem, Setting, choose, redrawn
from propkernels.models.least_squares import patterns_of, solve

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
BIAS = 1.0  # variance of the intercept, in units of the kernel's mean diagonal: counts have no constant
TINY_JITTER = 1e-8  # added to a kernel matrix of mean diagonal 1, so that its Cholesky factor exists
MOST_STEPS, CONVERGED = 100, 1e-10  # of Newton's method: steps, and the last gain of the log likelihood
QUADRATURE = 64  # points of the mean of a logistic function


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


class Coefficients(NamedTuple):
    """Coefficients of the training graphs, (n,), intercept, and the posterior of a Gaussian process."""

    dual: Values
    intercept: float
    posterior: Posterior | None = None


Fit = Callable[[Matrix, Values, float, "Values | None"], Coefficients]  # kernel, column, C, weights


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
        fitted, members = [], list[GraphMember]()
        for one in chosen:
            fitted.append(one.fitted(problem.graphs))
            own = dual_members(fitted[-1], one.solution.coefficients)
            members += [member.scaled(1 / len(chosen)) for member in own]
        intercepts = np.mean([one.solution.intercepts for one in chosen], axis=0)
        costs = [1 / one.solution.ridge for one in chosen]
        rule, own_settings = Rule.of(members), [one.setting for one in chosen]
        return Learned(own_settings, fitted, rule, intercepts, held_out, costs)
    if solver == "gp" and problem.weights is not None:
        raise ValueError('solver="gp" takes no weights of graphs or classes: use another solver')
    (best,), _ = choose(problem, kernels, settings, ridges, 1, tell, on_all=False)
    setting = best.setting
    kernel, wanted = redrawn(kernels[setting.kernel], problem.seed), setting._asdict()
    names = [name for name in ("normalize", "t_max") if wanted[name] is not None]
    kernel.set_params(**{name: wanted[name] for name in names if name in kernel.get_params(deep=False)})
    if solver in ("landmarks", "linear"):
        kernel.fit(problem.graphs)
        learn_all = _on_landmarks if solver == "landmarks" else _on_features
        return learn_all(problem, setting, kernel, best.solution.ridge)
    fit: Fit
    if solver == "gp":
        fit = fit_classes if is_classification else fit_numbers
    else:
        machine = (
            SVC(kernel="precomputed") if is_classification else SVR(kernel="precomputed", epsilon=EPSILON)
        )
        fit = partial(_support_vectors, machine)
    return _by_folds(problem, setting, kernel, fit, costs, is_classification)


def without_own_class(problem: Problem, learned: Learned) -> Matrix:
    """Return the decisions about each graph by least squares without all graphs of its stratum."""
    groups = [np.flatnonzero(problem.strata == c) for c in np.unique(problem.strata)]
    parts = []
    for kernel, cost in zip(learned.kernels, learned.costs, strict=True):
        matrix = clone(kernel).fit_transform(problem.graphs)
        matrix = np.asarray(matrix, dtype=np.float64)
        parts.append(solve(matrix, problem.targets, [1 / cost], problem.weights, groups)[0].held_out)
    return np.mean(parts, axis=0)


def _support_vectors(
    machine: SVC | SVR, kernel: Matrix, column: Values, cost: float, weights: Values | None
) -> Coefficients:
    """Return scikit-learn's C-SVM of one class against the rest, or its epsilon-SVR."""
    target = column > 0 if isinstance(machine, SVC) else column
    fitted = clone(machine).set_params(C=cost).fit(kernel, target, weights)
    dual = np.zeros(len(kernel))
    dual[fitted.support_] = fitted.dual_coef_[0]
    return Coefficients(dual, float(fitted.intercept_[0]))


def _by_folds(
    problem: Problem, setting: Setting, kernel: Any, fit: Fit, costs: Sequence[float], is_class: bool
) -> Learned:
    """Choose C by the held-out decisions of folds, and train on all graphs.

    Classes are right or wrong first: margins of support vectors and latent functions are not targets.
    """
    matrix = np.asarray(kernel.fit_transform(problem.graphs), dtype=np.float64)
    unit = float(matrix.diagonal().mean()) or 1.0
    matrix /= unit
    targets, weights = problem.targets, problem.weights
    learned_from, parts = problem.learned_from, problem.parts(FOLDS)

    def solved(cost: float, rows: Indices) -> list[tuple[Indices, Coefficients]]:
        found = []
        for number, column in enumerate(targets.T):
            known = rows[learned_from[rows, number]]
            block = np.ascontiguousarray(matrix[np.ix_(known, known)])
            if len(known) == 0 or np.ptp(column[known]) == 0:  # nothing to learn: the constant itself
                level = float(column[known[0]]) if len(known) else 0.0
                found.append((known, Coefficients(np.zeros(len(known)), level)))
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
        tried, key=lambda each: (problem.errors(each[1]) if is_class else 0, problem.losses(each[1]))
    )
    found = solved(cost, np.arange(len(targets)))
    dual = np.zeros_like(targets)
    for number, (known, one) in enumerate(found):
        dual[known, number] = one.dual / unit
    return Learned(
        [setting],
        [kernel],
        Rule.of(dual_members(kernel, dual)),
        np.array([one.intercept for _, one in found]),
        held,
        [cost],
        Posterior.joined(found, len(dual), unit),
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
        shares /= shares[shares > 0].mean()  # as in the choice of the ridge
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
        left = (1 - shares[some] * (squares + 1 / total)).clip(np.finfo(float).tiny)
        decisions = own @ solved + level
        wrong = (problem.targets[np.ix_(some, columns)] - decisions) / left[:, None]
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
    streams = [rank_bins(stream) for stream in kernel._training_counts]
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
        for columns, _ in patterns_of(targets):
            own = rows[problem.learned_from[rows, columns[0]]]
            if not len(own):
                continue
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


@dataclass(frozen=True)
class Posterior:
    """Posterior variance of a Gaussian process.

    The latent variance at x is ``amplitude * (k(x, x) + noise - |L^-1 (w * k(x))|^2)`` with k in units of
    ``scale``, and ``BIAS`` added to it, since the process has an intercept; L and w differ between
    decisions (Rasmussen and Williams, Algorithms 2.1 and 3.2).

    Attributes
    ----------
    roots : ndarray of shape (decisions, n)
        The weights w.
    factors : ndarray of shape (decisions, n, n)
        The lower triangular factors L.
    amplitude, noise : float
    scale : float
        Divisor of the kernel.
    """

    roots: Matrix
    factors: NDArray[np.float64]
    amplitude: float
    noise: float
    scale: float = 1.0

    def _check_parts(self) -> None:
        """Raise if the shapes of roots and factors do not match."""
        require(self.roots.ndim == 2, "roots must be a matrix")
        shape = (*self.roots.shape, self.roots.shape[1])
        require(self.factors.shape == shape, "every row of roots needs a factor")

    @classmethod
    def joined(cls, found: Sequence[tuple[Indices, Coefficients]], n: int, scale: float) -> Self | None:
        """Return the posterior of several decisions, for a kernel that is divided by ``scale``.

        Decisions are learned from some of n graphs; those without a posterior have the variance of the prior.
        """
        known = next((one.posterior for _, one in found if one.posterior is not None), None)
        if known is None:
            return None
        roots, factors = np.zeros((len(found), n)), np.tile(np.eye(n), (len(found), 1, 1))
        for number, (places, one) in enumerate(found):
            if one.posterior is not None:
                roots[number, places] = one.posterior.roots[0]
                factors[number][np.ix_(places, places)] = one.posterior.factors[0]
        return cls(roots, factors, known.amplitude, known.noise, scale)

    def variances(self, rows: Matrix, diagonal: NDArray[np.float64]) -> Matrix:
        """Return variances, (graphs, decisions), from kernel rows and k(x, x) of the graphs."""
        scaled = rows / self.scale + BIAS
        explained = []
        for root, factor in zip(self.roots, self.factors, strict=True):
            # row by row, since rounding in BLAS depends on the batch
            solved = (solve_triangular(factor, x, lower=True, check_finite=False) for x in root * scaled)
            explained.append(np.array([np.square(x).sum() for x in solved]))
        remaining = diagonal[:, None] / self.scale + BIAS + self.noise - np.column_stack(explained)
        return self.amplitude * np.maximum(remaining, 0.0)


def fit_classes(kernel: Matrix, column: Values, cost: float, weights: Values | None) -> Coefficients:
    """Return Gaussian process classification (Laplace approximation) of one class against the rest.

    C is the variance of the latent function in units of the kernel's mean diagonal. Newton's method finds the
    mode of the latent function (Rasmussen and Williams, Algorithm 3.1).
    """
    covariance, n = cost * (kernel + BIAS), len(kernel)
    covariance.flat[:: n + 1] += TINY_JITTER * max(float(covariance.diagonal().mean()), 1.0)
    truth, latent, likelihood = np.asarray(column > 0, dtype=np.float64), np.zeros(n), -np.inf
    for _ in range(MOST_STEPS):
        chances = expit(latent)
        roots = np.sqrt(chances * (1 - chances))
        scaled = roots[:, None] * covariance
        factor = cholesky(np.eye(n) + scaled * roots, lower=True)
        sides = chances * (1 - chances) * latent + (truth - chances)
        dual = sides - roots * cho_solve((factor, True), scaled @ sides)
        latent, before = covariance @ dual, likelihood
        certainty = np.log1p(np.exp(-(truth * 2 - 1) * latent)).sum() + np.log(factor.diagonal()).sum()
        likelihood = float(-0.5 * dual @ latent - certainty)
        if likelihood - before < CONVERGED:
            break
    dual = cost * (truth - chances)
    posterior = Posterior((np.sqrt(cost) * roots)[None], factor[None], cost, 0.0)
    return Coefficients(dual, BIAS * dual.sum(), posterior)


def fit_numbers(kernel: Matrix, column: Values, cost: float, weights: Values | None) -> Coefficients:
    """Return Gaussian process regression; C is the ratio of signal to noise variance.

    The amplitude maximizes the likelihood, in closed form.
    """
    system, noise, n = kernel + BIAS, 1 / cost, len(kernel)
    system.flat[:: n + 1] += noise + TINY_JITTER
    factor = cholesky(system, lower=True)
    dual = np.asarray(cho_solve((factor, True), column))
    posterior = Posterior(np.ones((1, n)), factor[None], float(column @ dual) / n, noise)
    return Coefficients(dual, BIAS * dual.sum(), posterior)


def mean_sigmoid(means: Matrix, variances: Matrix) -> Matrix:
    """Return the mean of the logistic function of a normal variable, by Gauss-Hermite quadrature.

    Examples
    --------
    >>> mean_sigmoid(np.zeros(1), np.ones(1)).round(12), mean_sigmoid(np.ones(1), np.zeros(1)).round(4)
    (array([0.5]), array([0.7311]))
    """
    nodes, weights = np.polynomial.hermite.hermgauss(QUADRATURE)
    spread = np.sqrt(2 * variances)[..., None] * nodes
    return np.asarray((expit(means[..., None] + spread) * weights).sum(axis=-1)) / np.sqrt(np.pi)
