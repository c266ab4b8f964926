"""Why two graphs are similar: the bins that they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.gram.base_kernels import Intersection, Linear
from propkernels.gram.normalize import inverse_length
from propkernels.graphs.check import check_graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.hashing.codes import CodeStreams
from propkernels.hashing.lsh import NO_BIN
from propkernels.kernels.base import CountFeatures, CountKernel
from propkernels.kernels.pairwise.base import PairwiseKernel
from propkernels.kernels.shortest_path import TripletCoder
from propkernels.learn.explain.similarity import SharedBin, Similarity
from propkernels.learn.machines.rules import FoldedRule
from propkernels.learn.retrieval.index import GraphIndex

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


def similar_because(kernel: Any, g: Any, h: Any) -> Similarity:
    """List the bins that two graphs share, with the nodes on each side and what they add to k(g, h).

    Parameters
    ----------
    kernel : estimator
        One that counts (:class:`PropagationKernel`, :class:`P2K`, :class:`WeisfeilerLehman`,
        :class:`LabelHistogram`, :class:`ShortestPath` without attributes, and their features), with the
        linear or intersection base kernel. A fitted one is used as it is, with what it has learned; another
        is fitted on the two graphs. A classifier, regressor or index stands for the kernel that it has
        learned; an index compares by normalised kernel.
    g, h : graph
        Each as taken from a database, a networkx graph, or a tuple; see :func:`propkernels.check_graphs`.

    Returns
    -------
    Similarity

    See Also
    --------
    Similarity : What it returns.
    plot_similarity : Draws both graphs.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> g, h = (path, ["C", "O", "C"]), (path, ["C", "O", "N"])
    >>> print(pk.similar_because(pk.WeisfeilerLehman(n_iter=1), g, h))
    k(g, h) = 5, from 3 shared bins
    t  adds   share  labels  nodes of g  nodes of h
    0    +2  40.0 %  C       0 2         0
    1    +2  40.0 %  C       0 2         0
    0    +1  20.0 %  O       1           1
    """
    graphs = check_graphs([g, h])
    parts = counting_parts(kernel, graphs, clone)
    merged: dict[Any, list[Any]] = {}
    squares, last = np.zeros(2), 0
    for stream in streams_of(parts.coder, graphs, getattr(kernel, "n_jobs", None)):
        last = max(last, stream.t)
        groups = [_groups(part) for part in np.split(stream.codes, [stream.ends[1]])]
        squares += [stream.weight * _own(parts.base_kernel, groups[side]) for side in (0, 1)]
        for left, right in _shared(*groups):
            key = stream.t, left.tobytes(), right.tobytes()
            entry = merged.setdefault(key, [stream, left, right, 0.0, 0])
            entry[3] += stream.weight * _product(parts.base_kernel, len(left), len(right))
            entry[4] += 1
    scale = float(np.prod(inverse_length(squares))) if parts.normalize else 1.0
    bins = [_bin(entry, scale, graphs) for entry in merged.values()]
    bins.sort(key=lambda shared: (-shared.contribution, shared.t, shared.nodes_g.ravel().tolist()))
    value = math.fsum(shared.contribution for shared in bins)
    sizes = int(graphs.graph_sizes[0]), int(graphs.graph_sizes[1])
    return Similarity(tuple(bins), value, sizes, last + 1)


Groups = dict[int, Codes]


def _groups(codes: Codes) -> Groups:
    """Which items have which code."""
    counted = np.flatnonzero(codes != NO_BIN)
    order = counted[np.argsort(codes[counted], kind="stable")]
    values, starts = np.unique(codes[order], return_index=True)
    ends = [*starts[1:].tolist(), len(order)]
    return {code: order[first:last] for code, first, last in zip(values.tolist(), starts, ends, strict=False)}


def _shared(left: Groups, right: Groups) -> Iterator[tuple[Codes, Codes]]:
    return ((left[code], right[code]) for code in left if code in right)


def _product(base_kernel: type, first: int, second: int) -> float:
    """What a bin adds to the kernel of two graphs with so many nodes in it."""
    return float(first * second if base_kernel is Linear else min(first, second))


def _own(base_kernel: type, groups: Groups) -> float:
    """k(x, x) of one stream."""
    return sum(_product(base_kernel, len(nodes), len(nodes)) for nodes in groups.values())


def _bin(entry: list[Any], scale: float, graphs: Any) -> SharedBin:
    stream, left, right, total, n_hashes = entry
    nodes = stream.named(left, 0), stream.named(right, 1)
    column, labels = graphs.label_column, set()
    if isinstance(column, LabelColumn):
        for side, own in enumerate(nodes):
            labels |= set(column.ids[graphs.graph_ptr[side] + own.ravel()].tolist())
        names = tuple(column.values[i] for i in sorted(labels) if i >= 0)
    else:
        names = ()
    return SharedBin(stream.t, *nodes, scale * total, n_hashes, names)
