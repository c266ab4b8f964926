"""What a fitted pairwise kernel knows: how graphs are prepared, and how they are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.stored import require
from propkernels.counting.counters import Counter, StreamCounts
from propkernels.gram.base_kernels import BaseKernel, Linear
from propkernels.gram.countings import Counting
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.node_kernel import NodeComparison, Nodes

Matrix = NDArray[np.float64]


class TiledComparison(ABC):
    """Graphs are compared pair by pair; many pairs, a tile, at once."""

    depth: int = 1  # number of kernels that one pass yields
    prepared_type: ClassVar[type]  # of what prepare returns
    nodes: NodeComparison

    def check_prepared(self, prepared: Any) -> None:
        """Refuse training graphs that are prepared otherwise, or have other attributes than new ones."""
        require(type(prepared) is self.prepared_type, "graphs are prepared for another comparison")
        nodes = prepared if isinstance(prepared, Nodes) else prepared.nodes
        require(nodes.points.shape[1] == self.nodes.dimensions, "nodes have other attributes")

    def explicit(self) -> Counter | None:
        """None: no counts have the kernel as their dot product."""
        return None

    def counting(self, prepared: Any, normalize: bool) -> Counting | None:
        """None: graphs are not compared bin by bin."""
        return None

    def matrices_at_once(self, prepared: Any) -> int:
        """How many kernel matrices are in memory at a time."""
        return self.depth

    @abstractmethod
    def prepare(self, graphs: GraphDatabase) -> Any:
        """All that is needed of each graph by itself."""

    @abstractmethod
    def tile(self, left: Any, rows: slice, right: Any, columns: slice) -> Matrix:
        """Compare prepared graphs, (depth, rows, columns); a pair's value depends on nothing but the pair."""

    def diagonal(self, prepared: Any, n_graphs: int) -> Matrix:
        """Self-similarities, (depth, n)."""
        own = [self.tile(prepared, slice(i, i + 1), prepared, slice(i, i + 1)) for i in range(n_graphs)]
        return np.concatenate([np.empty((self.depth, 0)), *(values[:, :, 0] for values in own)], axis=1)


@dataclass(frozen=True)
class CountedComparison:
    """Graphs are counted, and compared by a dot product of features of the counts."""

    counter: Counter
    base_kernel: BaseKernel = field(default=Linear(), kw_only=True)

    def check_prepared(self, counts: Any) -> None:
        """Refuse training graphs that are not counted."""
        streams = isinstance(counts, list) and all(isinstance(stream, StreamCounts) for stream in counts)
        require(streams, "training graphs are counted")

    def explicit(self) -> Counter | None:
        """How features are counted."""
        return self.base_kernel.counter(self.counter)

    def counting(self, counts: list[StreamCounts], normalize: bool) -> Counting:
        """How the counts of the training graphs are compared with those of others."""
        return Counting(self.counter, counts, bool(self.base_kernel.assigned), False, normalize)

    def explicit_counts(self, counts: list[StreamCounts]) -> list[StreamCounts]:
        """Counts of the training graphs, as the explicit counter counts them."""
        return self.base_kernel.features(counts)

    def matrices_at_once(self, counts: list[StreamCounts]) -> int:
        """How many kernel matrices are in memory at a time."""
        return self.base_kernel.matrices_at_once(counts)

    def prepare(self, graphs: GraphDatabase, n_jobs: int | None) -> list[StreamCounts]:
        """Count in the training graphs."""
        return self.counter.count(graphs, None, n_jobs)

    def square(self, counts: list[StreamCounts], n_jobs: int | None) -> Matrix:
        """Kernel among training graphs."""
        return self.base_kernel.square(counts, n_jobs)

    def diagonal(self, counts: list[StreamCounts]) -> Matrix:
        """Self-similarities."""
        return self.base_kernel.diagonal(counts)

    def cross(
        self, graphs: GraphDatabase, train: list[StreamCounts], n_jobs: int | None
    ) -> tuple[Matrix, Matrix]:
        """Kernel of new graphs against training graphs, and the new graphs' self-similarities."""
        new = self.counter.count(graphs, [stream.codes for stream in train], n_jobs)
        return self.base_kernel.cross(new, train, n_jobs), self.base_kernel.diagonal(new)
