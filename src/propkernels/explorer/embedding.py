"""The map: exact nearest neighbors of all graphs, embedded in the plane by t-SNE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from propkernels._utils.arrays import sum_in_order
from propkernels._utils.parallel import thread_count
from propkernels._utils.progress import ProgressBar
from propkernels.counts.base_kernels import BaseKernel, resolve_base_kernel
from propkernels.counts.counters import StreamCounts
from propkernels.counts.levels import levels_of
from propkernels.counts.products import inverse_length
from propkernels.explain.rule import RatioMember
from propkernels.explorer.carried import CarriedRule, PageBins
from propkernels.search.nearest import largest

Values = NDArray[np.float64]
SHOWN = 8  # nearest neighbors whose mean similarity gives the novelty
PERPLEXITY = 20.0
BLOCK = 500  # rows of similarities computed at a time
MANY = 10_000  # with more graphs, t-SNE takes fewer and coarser iterations
ROUNDS, ROUNDS_OF_MANY = 750, 500
ANGLE_OF_MANY = 0.75  # coarser sums over distant points: half the time
FEW = 5  # fewer graphs are not embedded
# keys: whether the kernel is a ratio (shared / total), and whether it sums smaller counts
BASE_KERNELS = {
    (False, False): "linear",
    (False, True): "intersection",
    (True, False): "tanimoto",
    (True, True): "jaccard",
}
TINY = 1e-9  # squared distance of graphs with similarity 1


@dataclass(frozen=True, eq=False)
class Comparison:
    """The kernel of a member of a model, on the graphs of the page.

    Attributes
    ----------
    base : BaseKernel
    streams : list of StreamCounts
        Counts of the graphs of the page.
    """

    base: BaseKernel
    streams: Sequence[StreamCounts]

    @classmethod
    def of(cls, leaf: Any, bins: PageBins) -> Comparison:
        """Return the comparison by the kernel of a member."""
        name = BASE_KERNELS[isinstance(leaf, RatioMember), leaf.is_assigned]
        return cls(resolve_base_kernel(name), bins.streams[: len(leaf.stream_weights)])

    def similarities(self, rows: slice) -> Values:
        """Return normalized kernel values of the graphs ``rows`` with all graphs: (rows, n)."""
        part = [replace(stream, counts=stream.counts[rows]) for stream in self.streams]
        lengths = inverse_length(self.base.diagonal(self.streams))
        return self.base.cross(part, self.streams) * lengths[rows, None] * lengths

    def features(self) -> csr_array:
        """Return normalized counts, or levels for smaller counts: one row per graph."""
        streams = levels_of(list(self.streams)) if self.base.assigned else self.streams
        features = csr_array(hstack([np.sqrt(stream.weight) * stream.counts for stream in streams]))
        squares = np.asarray(features.multiply(features).sum(axis=1)).ravel()
        return csr_array(features.multiply(inverse_length(squares)[:, None]))


def comparisons(carried: CarriedRule) -> list[Comparison]:
    """Return one comparison per leaf of a model."""
    return [
        Comparison.of(leaf, carried.bins[v]) for leaf, v in zip(carried.leaves, carried.places, strict=True)
    ]


def nearest_graphs(compared: Sequence[Comparison], k: int) -> tuple[Values, NDArray[np.int64]]:
    """Return similarities and positions of the k most similar other graphs of each graph.

    Similarity is the mean of the normalized kernels of all members.

    Parameters
    ----------
    compared : sequence of Comparison
    k : int
    """
    n = compared[0].streams[0].counts.shape[0]
    similarities, neighbors = np.zeros((n, k)), np.zeros((n, k), dtype=np.int64)
    with ProgressBar("explore: nearest neighbors", n) as bar:
        for first in range(0, n, BLOCK):
            rows = slice(first, min(first + BLOCK, n))
            values = sum_in_order(kernel.similarities(rows) for kernel in compared) / len(compared)
            values[np.arange(len(values)), np.arange(rows.start, rows.stop)] = -np.inf
            order = np.stack([largest(row, k) for row in values])
            similarities[rows], neighbors[rows] = np.take_along_axis(values, order, axis=1), order
            bar.step(len(values))
    return similarities, neighbors


def embed(similarities: Values, neighbors: NDArray[np.int64], start: Values, seed: int) -> Values:
    """Return one point per graph by t-SNE from exact nearest neighbors.

    Parameters
    ----------
    similarities, neighbors : ndarray of shape (n, k)
        Normalized kernel values in descending order, and the positions of the neighbors.
    start : ndarray of shape (n, 2)
        Initial points, see :func:`spectral_start`.
    seed : int

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
    # scikit-learn expects each row to start with the graph itself (distance 0), sorted by distance
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
        angle=ANGLE_OF_MANY if n > MANY else 0.5,
        random_state=seed,
    )
    # with few points, threads only wait for each other
    with ProgressBar("explore: t-SNE"), threadpool_limits(thread_count() if n > MANY else 1):
        return np.asarray(machine.fit_transform(graph), dtype=np.float64)


def spectral_start(compared: Sequence[Comparison], seed: int) -> Values:
    """Return two coordinates per graph from the leading singular vectors of the normalized counts.

    The first singular vector is close to the mean of the rows, so the second and third are used.
    """
    features = csr_array(hstack([kernel.features() for kernel in compared]))
    n_graphs = features.shape[0]
    if min(features.shape) <= FEW:
        return np.column_stack([np.arange(n_graphs, dtype=np.float64), np.zeros(n_graphs)])
    from sklearn.decomposition import TruncatedSVD

    points = TruncatedSVD(3, n_iter=7, random_state=seed).fit_transform(features)[:, 1:]
    return np.asarray((points - points.mean(axis=0)) / np.maximum(points.std(axis=0), TINY))


def quantized(points: Values, frame: Values | None = None) -> NDArray[np.uint16]:
    """Return coordinates x0, y0, x1, y1, ... as 16-bit integers from 0 to 65535, with equal scales.

    ``frame``: points whose extent is scaled; by default the points themselves.
    """
    whole = points if frame is None else frame
    low, high = whole.min(axis=0), whole.max(axis=0)
    scale = 65535 / max(float((high - low).max()), TINY)
    middle = (low + high) / 2
    return np.clip(np.round((points - middle) * scale + 32767.5), 0, 65535).astype(np.uint16).ravel()
