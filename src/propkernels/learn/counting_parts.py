"""What a kernel that counts is made of: how graphs get their codes, and how counts are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.gram.base_kernels import Intersection, Linear
from propkernels.hashing.codes import CodeStreams
from propkernels.kernels.count_features import CountFeatures
from propkernels.kernels.count_kernel import CountKernel
from propkernels.kernels.pairwise import PairwiseKernel
from propkernels.kernels.triplet_coder import TripletCoder
from propkernels.learn.folding import FoldedRule
from propkernels.learn.index import GraphIndex

Codes = NDArray[np.int64]


class CountingParts(NamedTuple):
    """Enough to write k(g, h) as a sum over bins."""

    coder: Any
    base_kernel: type
    normalize: bool


def counting_parts(kernel: Any, graphs: Any, copy: Callable[[Any], Any]) -> CountingParts:
    """Take a kernel apart; one that is not fitted is copied and fitted on these graphs."""
    rule = getattr(kernel, "rule_", None)
    if isinstance(rule, FoldedRule):
        return CountingParts(rule.coder, Linear, rule.normalize)
    if isinstance(kernel, GraphIndex) and hasattr(kernel, "kernel_"):
        return counting_parts(kernel.kernel_, graphs, copy)._replace(normalize=True)
    if hasattr(kernel, "kernel_"):
        return counting_parts(kernel.kernel_, graphs, copy)
    if isinstance(kernel, CountKernel):
        fitted = kernel if hasattr(kernel, "coder_") else copy(kernel).fit(graphs)
        return CountingParts(fitted.coder_, _additive(fitted), bool(fitted.normalize))
    if isinstance(kernel, CountFeatures):
        if kernel.n_features is not None:
            raise ValueError("similar_because needs a column for each bin: n_features must be None")
        fitted = kernel if hasattr(kernel, "coder_") else copy(kernel).fit(graphs)
        return CountingParts(fitted.coder_, Linear, bool(fitted.normalize))
    if isinstance(kernel, PairwiseKernel):
        fitted = kernel if hasattr(kernel, "comparison_") else copy(kernel).fit(graphs)
        counter = getattr(fitted.comparison_, "counter", None)
        if isinstance(counter, TripletCoder):
            return CountingParts(counter, Linear, bool(fitted.normalize))
        raise TypeError(f"{_called(kernel)} does not give nodes or paths codes: no bins are shared")
    raise TypeError(f"similar_because needs a kernel of this library, got {_called(kernel)}")


def _additive(kernel: CountKernel) -> type:
    """The base kernel, if it is a sum over bins."""
    base_kernel = type(kernel.base_kernel_)
    if base_kernel not in (Linear, Intersection):
        raise TypeError(
            f"{_called(kernel)} with base_kernel={kernel.base_kernel!r} is no sum over bins: "
            "use 'linear' or 'intersection'"
        )
    return base_kernel


def _called(kernel: Any) -> str:
    return kernel.__name__ if isinstance(kernel, type) else type(kernel).__name__


@dataclass(frozen=True)
class Stream:
    """Codes of one stream.

    Attributes
    ----------
    codes : ndarray of int64
        One a node, or one an ordered pair of nodes.
    ends : ndarray of int64
        Where each graph's codes end, as graph_ptr.
    t : int
    weight : float
    sizes : ndarray of int64 or None
        Numbers of nodes of the graphs, where codes belong to pairs of nodes.
    """

    codes: Codes
    ends: Codes
    t: int
    weight: float
    sizes: Codes | None = None

    def named(self, items: Codes, graph: int) -> Codes:
        """Nodes of a graph that codes belong to: (items,), or (items, 2) for pairs."""
        if self.sizes is None:
            return items
        return np.stack(np.divmod(items, self.sizes[graph]), axis=1)


def streams_of(coder: Any, graphs: Any, n_jobs: int | None) -> Iterator[Stream]:
    """Codes of all streams, one after the other."""
    if isinstance(coder, TripletCoder):
        codes, ends = coder.pair_codes(graphs)
        yield Stream(codes, ends, 0, 1.0, graphs.graph_sizes)
        return
    coded = coder.codes(graphs, n_jobs)
    for block in [coded] if isinstance(coded, CodeStreams) else coded:
        for s in range(len(block.iterations)):
            own = block.salted(block.codes[block.row(s)], s)
            yield Stream(own, graphs.graph_ptr, int(block.iterations[s]), float(block.weights[s]))
