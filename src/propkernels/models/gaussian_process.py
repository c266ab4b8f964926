"""Gaussian processes on kernel matrices, fitted by scikit-learn and stored as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import expit

from propkernels._utils.stored import require
from propkernels.models.support_vectors import Machine, Weights

Matrix = NDArray[np.float64]
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


@dataclass(frozen=True)
class ProcessClassification:
    """Gaussian process classification (Laplace approximation), each class against the rest.

    C is the variance of the latent function in units of the kernel's mean diagonal.
    """

    effort: str = "full"
    uses_features = False
    pairwise = False

    def fit(self, known: Matrix, target: NDArray[np.int64], cost: float, weights: Weights = None) -> Machine:
        """Return a machine fitted to a kernel matrix."""
        _refuse(weights)
        classes = np.unique(target)
        positive = classes[1:] if len(classes) == 2 else classes
        fitted = [_binary_process(cost * (known + BIAS), target == label) for label in positive]
        coefficients = cost * np.column_stack([process.y_train_ - process.pi_ for process in fitted])
        roots = np.sqrt(cost) * np.array([process.W_sr_ for process in fitted])
        details = Posterior(roots, np.array([process.L_ for process in fitted]), cost, 0.0)
        return Machine(coefficients, BIAS * coefficients.sum(axis=0), details=details)


@dataclass(frozen=True)
class ProcessRegression:
    """Gaussian process regression; C is the ratio of signal to noise variance.

    The amplitude maximizes the likelihood, in closed form.
    """

    effort: str = "full"
    uses_features = False
    pairwise = False

    def fit(
        self, known: Matrix, target: NDArray[np.float64], cost: float, weights: Weights = None
    ) -> Machine:
        """Return a machine fitted to a kernel matrix."""
        _refuse(weights)
        from sklearn.gaussian_process import GaussianProcessRegressor

        noise, n = 1 / cost, len(known)
        process = GaussianProcessRegressor(index_kernel(known + BIAS), alpha=noise + JITTER, optimizer=None)
        process.fit(np.arange(n)[:, None], target)
        alpha = process.alpha_.reshape(-1, 1)
        amplitude = float(target @ alpha[:, 0]) / n
        details = Posterior(np.ones((1, n)), process.L_[None], amplitude, noise)
        return Machine(alpha, BIAS * alpha.sum(axis=0), details=details)


def _refuse(weights: Weights) -> None:
    """Raise if weights are given."""
    if weights is not None:
        raise ValueError('solver="gp" takes no weights of graphs or classes: use "kernel" or "linear"')


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
