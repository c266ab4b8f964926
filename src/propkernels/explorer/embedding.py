"""The map: points of the plane for graphs, near for similar ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.base import clone
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from propkernels.graphs.database import GraphDatabase
from propkernels.learn.retrieval.index import GraphIndex
from propkernels.utils.progress import ProgressBar

Values = NDArray[np.float64]
SHOWN = 8  # neighbors of each graph that the page lists
PERPLEXITY = 20.0
BLOCK = 500  # queries at a time
MANY = 10_000  # graphs from which on fewer rounds of t-SNE are made
ROUNDS, ROUNDS_OF_MANY = 750, 500
FEW = 5  # graphs for which there is nothing to embed
TINY = 1e-9  # distance of graphs that the kernel cannot tell apart


def nearest_graphs(
    graphs: GraphDatabase, kernel: Any, k: int, n_jobs: int | None
) -> tuple[Values, NDArray[np.int64]]:
    """Return similarities and positions of the k graphs most similar to each, itself left out.

    Parameters
    ----------
    graphs : GraphDatabase
    kernel : estimator
        A dot product of counts; it is normalized.
    k : int
    n_jobs : int or None
    """
    index = GraphIndex(kernel=kernel, n_jobs=n_jobs).fit(graphs)
    similarities = np.zeros((len(graphs), k))
    neighbors = np.zeros((len(graphs), k), dtype=np.int64)
    with ProgressBar("explore: nearest neighbors", len(graphs)) as bar:
        for first in range(0, len(graphs), BLOCK):
            last = min(first + BLOCK, len(graphs))
            found = index.query(graphs[first:last], k=k + 1)
            for row, (values, ids) in enumerate(zip(found.similarities, found.ids, strict=True), first):
                others = np.flatnonzero(ids != row)[:k]
                similarities[row, : len(others)], neighbors[row, : len(others)] = values[others], ids[others]
            bar.step(last - first)
    return similarities, neighbors


def embed(
    similarities: Values, neighbors: NDArray[np.int64], start: Values, seed: int, n_jobs: int | None
) -> Values:
    """Return one point per graph by t-SNE from exact nearest neighbors.

    Parameters
    ----------
    similarities, neighbors : ndarray of shape (n, k)
        Normalized kernel values, largest first, and whose they are.
    start : ndarray of shape (n, 2)
        Where points start, see :func:`spectral_start`.
    seed : int
    n_jobs : int or None

    References
    ----------
    .. [1] L. van der Maaten (2014). Accelerating t-SNE using tree-based algorithms. Journal of Machine
       Learning Research 15, 3221-3245.
    .. [2] D. Kobak and G. C. Linderman (2021). Initialization is critical for preserving global data
       structure in both t-SNE and UMAP. Nature Biotechnology 39, 156-157. doi:10.1038/s41587-020-00809-z.
    """
    from sklearn.manifold import TSNE

    n, k = similarities.shape
    if n < FEW:
        return start
    # each row begins with the graph itself, at distance 0, and goes on by distance, as scikit-learn has it
    distances = np.sqrt(np.maximum(2.0 - 2.0 * similarities, TINY))
    distances = np.column_stack([np.zeros(n), distances])
    columns = np.column_stack([np.arange(n), neighbors])
    indptr = np.arange(0, n * (k + 1) + 1, k + 1)
    graph = csr_array((distances.ravel(), columns.ravel(), indptr), shape=(n, n))
    machine = TSNE(
        metric="precomputed",
        init=(1e-4 * start).astype(np.float32),
        perplexity=min(PERPLEXITY, (k - 1) / 3),
        learning_rate="auto",
        max_iter=ROUNDS_OF_MANY if n > MANY else ROUNDS,
        random_state=seed,
        n_jobs=n_jobs,
    )
    threads = (
        effective_n_jobs(n_jobs) if n > MANY else 1
    )  # few points: threads would only wait for each other
    with ProgressBar("explore: t-SNE"), threadpool_limits(threads):
        return np.asarray(machine.fit_transform(graph), dtype=np.float64)


def spectral_start(graphs: GraphDatabase, kernel: Any, seed: int) -> Values:
    """Return two coordinates per graph from the leading singular vectors of the normalized counts.

    The first singular vector is close to the mean, so that the second and the third are taken.
    """
    from sklearn.decomposition import TruncatedSVD

    streams = clone(kernel).fit(graphs).training_counts_
    features = csr_array(hstack([np.sqrt(stream.weight) * stream.counts for stream in streams]))
    if min(features.shape) <= FEW:
        return np.column_stack([np.arange(len(graphs), dtype=np.float64), np.zeros(len(graphs))])
    lengths = np.sqrt(np.maximum(np.asarray(features.multiply(features).sum(axis=1)).ravel(), TINY))
    features = csr_array(features.multiply(1 / lengths[:, None]))
    points = TruncatedSVD(3, n_iter=7, random_state=seed).fit_transform(features)[:, 1:]
    return np.asarray((points - points.mean(axis=0)) / np.maximum(points.std(axis=0), TINY))


def quantized(points: Values) -> NDArray[np.uint16]:
    """Coordinates in 16 bits each, x and y by turns, in one scale: 0 to 65535."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = 65535 / max(float((high - low).max()), TINY)
    middle = (low + high) / 2
    return np.clip(np.round((points - middle) * scale + 32767.5), 0, 65535).astype(np.uint16).ravel()
