"""plot_embedding: a scatter plot of graphs by kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from propkernels._utils.typing import Rows
from propkernels.plotting.canvas import check_target, class_names, import_pyplot, one_axes
from propkernels.plotting.plot_kernel import check_kernel_matrix, refuse_graphs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Matrix = NDArray[np.float64]
MOST_CLASSES = 20  # more classes, or real numbers, get a color bar instead of a legend


def plot_embedding(
    X: Rows,
    target: ArrayLike | None = None,
    *,
    target_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw graphs as points, so that near points are similar graphs (kernel PCA in two dimensions).

    Parameters
    ----------
    X : array of shape (n, n), or sparse or dense features of shape (n, columns)
        Kernel matrix, or features whose dot products are the kernel. A symmetric square array is treated as
        a kernel matrix, a sparse matrix as features.
    target : array-like of shape (n,), optional
        One class or number per graph.
    target_names : sequence of str, optional
        Names of the classes, in the order of their sorted labels.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    propkernels.plotting.plot_kernel : Heat map of a kernel matrix.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola and K.-R. Müller (1998). Nonlinear component analysis as a kernel eigenvalue
       problem. Neural Computation 10, 1299-1319. doi:10.1162/089976698300017467.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> features = pk.PropagationFeatures(t_max=2, normalize=True, random_state=0).fit_transform(data.graphs)
    >>> ax = pk.plotting.plot_embedding(features, data.target, target_names=data.target_names)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['apart', 'bonded']
    """
    matrix = _as_kernel(X)
    labels = None if target is None else check_target(target, len(matrix))
    points, shares = embed(matrix)
    ax = one_axes(ax)
    if labels is None:
        ax.scatter(points[:, 0], points[:, 1], s=22, alpha=0.8, linewidths=0)
    elif labels.dtype.kind != "f" and len(np.unique(labels)) <= MOST_CLASSES:
        _scatter_classes(ax, points, labels, class_names(labels, target_names))
    else:
        drawn = ax.scatter(
            points[:, 0], points[:, 1], s=22, c=labels, cmap="viridis", alpha=0.9, linewidths=0
        )
        ax.figure.colorbar(drawn, ax=ax, label="target")
    ax.set_xlabel(f"first component ({100 * shares[0]:.0f} %)")
    ax.set_ylabel(f"second component ({100 * shares[1]:.0f} %)")
    return ax


def embed(matrix: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
    """Return two coordinates per graph, and the share of variance explained by each component."""
    from sklearn.decomposition import KernelPCA

    n = len(matrix)
    points, shares = np.zeros((n, 2)), np.zeros(2)
    total = matrix.trace() - matrix.sum() / n
    if n < 3 or total <= 1e-12 * max(matrix.trace(), 1e-300):
        return points, shares
    model = KernelPCA(2, kernel="precomputed", random_state=0).fit(matrix)
    values = np.maximum(model.eigenvalues_, 0.0)
    n_components = len(values)  # KernelPCA drops components with eigenvalue 0
    points[:, :n_components] = model.eigenvectors_ * np.sqrt(values)
    shares[:n_components] = values / total
    return points, shares


def _as_kernel(X: Any) -> Matrix:
    refuse_graphs(X, "plot_embedding")
    if issparse(X):
        return np.asarray((X @ X.T).toarray(), dtype=np.float64)
    array = np.asarray(X, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(
            f"expected a kernel matrix, or features with one row per graph; got shape {array.shape}"
        )
    if array.shape[0] == array.shape[1] and np.allclose(array, array.T, rtol=1e-6, atol=1e-9):
        return check_kernel_matrix(array)
    return check_kernel_matrix(array @ array.T)


def _scatter_classes(ax: Any, points: Matrix, labels: NDArray[Any], names: list[str]) -> None:
    pyplot = import_pyplot()
    colors = pyplot.get_cmap("tab10" if len(names) <= 10 else "tab20")
    for i, (label, name) in enumerate(zip(np.unique(labels), names, strict=True)):
        members = points[labels == label]
        ax.scatter(*members.T, s=22, color=colors(i % colors.N), alpha=0.8, linewidths=0, label=name)
    outside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(names) > 5 else {}
    ax.legend(fontsize=8, frameon=False, **outside)
