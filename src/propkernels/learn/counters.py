"""How a kernel counts: what is needed of it to index graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.counting.counts import StreamCounts, count_blocks
from propkernels.gram.base_kernels import Linear, resolve_base_kernel
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.comparison import CountedComparison, Counter
from propkernels.kernels.count_estimator import Coder
from propkernels.kernels.count_kernel import CountKernel
from propkernels.kernels.options import check_options
from propkernels.kernels.pairwise import PairwiseKernel


@dataclass(frozen=True)
class CodeCounter:
    """Counts the codes that a coder gives."""

    coder: Coder

    def count(
        self, graphs: GraphDatabase, known: Sequence[NDArray[np.int64]] | None, n_jobs: int | None
    ) -> list[StreamCounts]:
        """Count; known codes own the first columns."""
        return count_blocks(self.coder.codes(graphs, n_jobs), graphs.graph_ptr, known, n_jobs)

    def extend(self, graphs: GraphDatabase) -> None:
        """Let the coder take note of further graphs, if it numbers what it meets."""
        extend = getattr(self.coder, "extend", None)
        if extend is not None:
            extend(graphs)


def learn_counter(kernel: Any, graphs: GraphDatabase) -> Counter:
    """Learn how a kernel counts; refuse one that is no dot product of counts.

    Parameters
    ----------
    kernel : estimator
        Not fitted; its parameters are checked here.
    graphs : GraphDatabase
        What attributes are standardised by, and all else that fit learns.

    Raises
    ------
    TypeError, ValueError
        If graphs are compared pair by pair, or counts are not compared by their dot product.
    """
    name = type(kernel).__name__
    if isinstance(kernel, CountKernel):
        if type(resolve_base_kernel(kernel.base_kernel)) is not Linear:
            raise ValueError(f"an index needs base_kernel='linear'; {name} has {kernel.base_kernel!r}")
        check_options(kernel)
        return CodeCounter(kernel._learn_coder(graphs))
    if isinstance(kernel, PairwiseKernel):
        check_options(kernel)
        comparison = kernel._learn(graphs)
        if isinstance(comparison, CountedComparison):
            return comparison.counter
        raise ValueError(f"{name} with these parameters compares graphs pair by pair: it cannot be indexed")
    raise TypeError(f"kernel must be a kernel of this library that counts, got {kernel!r}")
