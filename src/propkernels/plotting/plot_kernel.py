"""plot_kernel: heat map of a kernel matrix, by class or cluster; plot_embedding: kernel PCA of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Number
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from propkernels._utils.arrays import offsets
from propkernels._utils.typing import Rows
from propkernels.plotting.panels import check_target, class_names, import_pyplot, one_axes

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
    refuse_graphs(X, "plot_embedding")
    given: Any = X
    array = np.asarray((given @ given.T).toarray() if issparse(given) else given, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(
            f"expected a kernel matrix, or features with one row per graph; got shape {array.shape}"
        )
    is_kernel = array.shape[0] == array.shape[1] and np.allclose(array, array.T, rtol=1e-6, atol=1e-9)
    matrix = check_kernel_matrix(array if is_kernel else array @ array.T)
    labels = None if target is None else check_target(target, len(matrix))
    points, shares = embed(matrix)
    ax = one_axes(ax)
    if labels is None:
        ax.scatter(points[:, 0], points[:, 1], s=22, alpha=0.8, linewidths=0)
    elif labels.dtype.kind != "f" and len(np.unique(labels)) <= MOST_CLASSES:
        names = class_names(labels, target_names)
        colors = import_pyplot().get_cmap("tab10" if len(names) <= 10 else "tab20")
        for i, (label, name) in enumerate(zip(np.unique(labels), names, strict=True)):
            members = points[labels == label]
            shade = colors(i % colors.N)
            ax.scatter(members[:, 0], members[:, 1], s=22, color=shade, alpha=0.8, linewidths=0, label=name)
        outside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(names) > 5 else {}
        ax.legend(fontsize=8, frameon=False, **cast(Any, outside))
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
