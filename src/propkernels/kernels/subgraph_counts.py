"""Subgraph matching on labels as a dot product of counts, without comparing pairs of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counts import StreamCounts
from propkernels.gram.base_kernels import Linear
from propkernels.gram.linear import square_gram
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import CountedComparison
from propkernels.kernels.subgraph_counter import SubgraphCounter

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class SubgraphCounts(CountedComparison):
    """Subgraph matching where node kernels are 0 or 1.

    Two subgraphs with s nodes of one kind have as many bijections that keep labels and edges as the kind
    has symmetries, others have none. So the sum over all pairs of subgraphs is that over all kinds of
    (symmetries x occurrences here x occurrences there), weighted by lambda_s.

    Attributes
    ----------
    counter : SubgraphCounter
    lambdas : ndarray, (k,)
        Weight of each size.
    """

    counter: SubgraphCounter
    lambdas: NDArray[np.float64]

    def square(self, counts: list[StreamCounts], n_jobs: int | None) -> Matrix:
        """Kernel among training graphs; sizes of one weight go through a single product."""
        total: Matrix | None = None
        for weight in np.unique(self.lambdas):
            some = [s for s in counts if self.lambdas[s.iteration] == weight]
            gram = _gram(some, n_jobs)
            gram *= weight
            total = gram if total is None else np.add(total, gram, out=total)
        assert total is not None
        return total

    def cumulative(self, counts: list[StreamCounts], n_jobs: int | None) -> Matrix:
        """Kernels among training graphs for every smaller maximum size, (k, n, n)."""
        kernels = np.stack([_gram(some, n_jobs) for some in self._sizes(counts)])
        kernels *= self.lambdas[:, None, None]
        return np.asarray(np.cumsum(kernels, axis=0, out=kernels))

    def diagonal(self, counts: list[StreamCounts]) -> Matrix:
        """Self-similarities."""
        return self._sum(Linear().diagonal(some) for some in self._sizes(counts))

    def cross(
        self, graphs: GraphDatabase, train: list[StreamCounts], n_jobs: int | None
    ) -> tuple[Matrix, Matrix]:
        """Kernel of new graphs against training graphs, and the new graphs' self-similarities."""
        new = self.counter.count(graphs, train, n_jobs)
        sides = zip(self._sizes(new[: len(train)]), self._sizes(train), strict=True)
        return self._sum(Linear().cross(a, b, n_jobs) for a, b in sides), self.diagonal(new)

    def _sizes(self, counts: list[StreamCounts]) -> list[list[StreamCounts]]:
        """Streams of subgraphs with 1, 2, ... nodes."""
        return [[s for s in counts if s.iteration == size] for size in range(len(self.lambdas))]

    def _sum(self, kernels: Any) -> Matrix:
        return np.asarray(sum(weight * kernel for weight, kernel in zip(self.lambdas, kernels, strict=True)))


def _gram(streams: list[StreamCounts], n_jobs: int | None) -> Matrix:
    """Sum over streams of <Phi, Phi>, each as often as its kinds have symmetries."""
    symmetries = np.array([int(stream.weight) for stream in streams])
    return square_gram([stream.counts for stream in streams], n_jobs, symmetries)
