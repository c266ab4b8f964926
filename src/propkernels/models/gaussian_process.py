"""Gaussian processes on kernel matrices, fitted by scikit-learn and stored as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import expit

from propkernels._utils.stored import require

Matrix = NDArray[np.float64]
Values = NDArray[np.float64]
BIAS = 1.0  # variance of the intercept, in units of the kernel's mean diagonal: counts have no constant
JITTER = 1e-8  # added to a kernel matrix of mean diagonal 1, so that its Cholesky factor exists
QUADRATURE = 64


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
    def joined(cls, parts: Sequence[Self], scale: float) -> Self:
        """Return the posterior of several decisions, for a kernel that is divided by ``scale``."""
        roots, factors = (
            np.ascontiguousarray(np.concatenate([getattr(part, name) for part in parts]))
            for name in ("roots", "factors")  # in one order of memory: BLAS rounds otherwise after loading
        )
        return cls(roots, factors, parts[0].amplitude, parts[0].noise, scale)

    def variances(self, rows: Matrix, diagonal: NDArray[np.float64]) -> Matrix:
        """Return variances, (graphs, decisions), from kernel rows and k(x, x) of the graphs."""
        scaled = rows / self.scale + BIAS
        explained = [
            _squared_lengths(factor, root * scaled)
            for root, factor in zip(self.roots, self.factors, strict=True)
        ]
        remaining = diagonal[:, None] / self.scale + BIAS + self.noise - np.column_stack(explained)
        return self.amplitude * np.maximum(remaining, 0.0)


def _squared_lengths(factor: Matrix, rows: Matrix) -> NDArray[np.float64]:
    """Return |L^-1 x|^2 of each row x; row by row, since rounding in BLAS depends on the batch."""
    solved = (solve_triangular(factor, row, lower=True, check_finite=False) for row in rows)
    return np.array([np.square(x).sum() for x in solved])


class Coefficients(NamedTuple):
    """Coefficients of the training graphs, (n,), intercept, and the posterior of a Gaussian process."""

    dual: Values
    intercept: float
    posterior: Posterior | None = None


def fit_classes(kernel: Matrix, column: Values, cost: float, weights: Values | None) -> Coefficients:
    """Return Gaussian process classification (Laplace approximation) of one class against the rest.

    C is the variance of the latent function in units of the kernel's mean diagonal.
    """
    _refuse(weights)
    process = _binary_process(cost * (kernel + BIAS), column > 0)
    dual = cost * (process.y_train_ - process.pi_)
    roots = np.sqrt(cost) * process.W_sr_
    return Coefficients(dual, BIAS * dual.sum(), Posterior(roots[None], process.L_[None], cost, 0.0))


def fit_numbers(kernel: Matrix, column: Values, cost: float, weights: Values | None) -> Coefficients:
    """Return Gaussian process regression; C is the ratio of signal to noise variance.

    The amplitude maximizes the likelihood, in closed form.
    """
    _refuse(weights)
    from sklearn.gaussian_process import GaussianProcessRegressor

    noise, n = 1 / cost, len(kernel)
    process = GaussianProcessRegressor(index_kernel(kernel + BIAS), alpha=noise + JITTER, optimizer=None)
    process.fit(np.arange(n)[:, None], column)
    dual = process.alpha_.ravel()
    posterior = Posterior(np.ones((1, n)), process.L_[None], float(column @ dual) / n, noise)
    return Coefficients(dual, BIAS * dual.sum(), posterior)


def _refuse(weights: Values | None) -> None:
    """Raise if weights are given."""
    if weights is not None:
        raise ValueError('solver="gp" takes no weights of graphs or classes: use another solver')


def _binary_process(kernel: Matrix, target: NDArray[np.bool_]) -> Any:
    """Return scikit-learn's Laplace approximation for one class against the rest."""
    from sklearn.gaussian_process import GaussianProcessClassifier

    jittered = kernel + JITTER * max(float(kernel.diagonal().mean()), 1.0) * np.eye(len(kernel))
    process = GaussianProcessClassifier(index_kernel(jittered), optimizer=None)
    return process.fit(np.arange(len(kernel))[:, None], target).base_estimator_


def index_kernel(matrix: Matrix) -> Any:
    """Return a scikit-learn kernel whose inputs are positions in a kernel matrix."""
    from sklearn.gaussian_process.kernels import Kernel

    class IndexKernel(Kernel):
        def __init__(self, matrix: Any) -> None:
            self.matrix = matrix

        def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
            rows = X[:, 0]
            values = self.matrix[np.ix_(rows, rows if Y is None else Y[:, 0])]
            return (values, np.empty((*values.shape, 0))) if eval_gradient else values

        def diag(self, X: Any) -> Any:
            return self.matrix.diagonal()[X[:, 0]].copy()

        def is_stationary(self) -> bool:
            return False

        def __sklearn_clone__(self) -> Any:
            return self  # immutable, and a copy would double the memory

    return IndexKernel(matrix)


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
