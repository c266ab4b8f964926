"""plot_kernel: heat map of a kernel matrix, ordered by class or by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from propkernels._utils.arrays import offsets
from propkernels.plotting.canvas import check_target, class_names, one_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Matrix = NDArray[np.float64]
MOST_NAMED = 30  # more classes are drawn without their names


def plot_kernel(
    K: ArrayLike,
    target: ArrayLike | None = None,
    *,
    target_names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a kernel matrix as a heat map.

    Rows and columns are ordered by hierarchical clustering (average linkage on kernel distances); with a
    target, by class first, with lines between classes and their names.

    Parameters
    ----------
    K : array of shape (n, n)
        Symmetric kernel matrix.
    target : array-like of shape (n,), optional
        One class per graph.
    target_names : sequence of str, optional
        Names of the classes, in the order of their sorted labels.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    See Also
    --------
    propkernels.plotting.plot_embedding : Scatter plot of graphs.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import propkernels as pk
    >>> data = pk.datasets.make_molecules(30, random_state=0)
    >>> K = pk.PropagationKernel(t_max=2, normalize=True, random_state=0).fit_transform(data.graphs)
    >>> ax = pk.plotting.plot_kernel(K, data.target, target_names=data.target_names)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['apart', 'bonded']
    """
    matrix = check_kernel_matrix(K)
    labels = None if target is None else check_target(target, len(matrix))
    order = _clustered(matrix)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    ax = one_axes(ax, (5.4, 4.6))
    picture = ax.imshow(matrix[np.ix_(order, order)], cmap="viridis", interpolation="nearest")
    ax.figure.colorbar(picture, ax=ax, shrink=0.85, label="k(g, h)")
    if labels is None:
        ax.set_xlabel("graphs, clustered")
    else:
        _mark_classes(ax, labels, class_names(labels, target_names))
    return ax


def refuse_graphs(X: Any, name: str) -> None:
    """Raise TypeError if a plot of a matrix is given graphs."""
    first = X[0] if isinstance(X, (list, tuple)) and X else X
    is_plain = isinstance(first, (Number, np.ndarray, list, tuple)) or hasattr(first, "__array__")
    if not is_plain and not issparse(first):
        raise TypeError(
            f"{name} takes a kernel matrix, or features with one row per graph, got graphs "
            f"({type(first).__name__}): pass WeisfeilerLehman(normalize=True).fit_transform(graphs)"
        )


def check_kernel_matrix(K: ArrayLike) -> Matrix:
    """Return K as a float64 matrix; raise ValueError unless it is square, symmetric and finite."""
    refuse_graphs(K, "this plot")
    matrix = np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(f"a kernel matrix must be square, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("the kernel matrix contains NaN or infinite values")
    if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-9):
        raise ValueError("the kernel matrix is not symmetric")
    return matrix


def kernel_distances(matrix: Matrix) -> Matrix:
    """Return sqrt(k(g, g) - 2 k(g, h) + k(h, h)) for all pairs of graphs."""
    diagonal = matrix.diagonal()
    squares = np.maximum(diagonal[:, None] - 2 * matrix + diagonal[None], 0.0)
    np.fill_diagonal(squares, 0.0)
    return np.sqrt((squares + squares.T) / 2)


def _clustered(matrix: Matrix) -> NDArray[np.int64]:
    """Return the positions of graphs in the leaf order of a hierarchical clustering."""
    from scipy.cluster.hierarchy import average, leaves_list
    from scipy.spatial.distance import squareform

    if len(matrix) < 3:
        return np.arange(len(matrix))
    tree = average(squareform(kernel_distances(matrix), checks=False))
    return np.asarray(leaves_list(tree), dtype=np.int64)


def _mark_classes(ax: Any, labels: NDArray[Any], names: list[str]) -> None:
    """Draw lines between classes, and write the name of each class at its middle."""
    counts = np.unique(labels, return_counts=True)[1]
    ends = offsets(counts) - 0.5
    for end in ends[1:-1]:
        ax.axhline(end, color="white", linewidth=1.2)
        ax.axvline(end, color="white", linewidth=1.2)
    if len(names) > MOST_NAMED:
        return
    middles = [(first + last) / 2 for first, last in pairwise(ends)]
    ax.set_yticks(middles, names)
    long = sum(map(len, names)) > 40
    ax.set_xticks(middles, names, rotation=90 if long else 0)
    ax.tick_params(length=0)
