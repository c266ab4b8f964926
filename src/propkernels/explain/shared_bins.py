"""Shared bins of two graphs: contributions to their kernel value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels._utils.typing import Estimator
from propkernels.codes.codes import NO_BIN
from propkernels.convert.check import check_graphs
from propkernels.counts.counters import Occurrences
from propkernels.counts.products import inverse_length
from propkernels.explain.members import SharedBins
from propkernels.explain.similarity import SharedBin, Similarity
from propkernels.graphs.accepted import OneGraph
from propkernels.graphs.labels import LabelColumn
from propkernels.search.index import GraphIndex


def countings_of(kernel: Any, graphs: Any) -> list[SharedBins]:
    """Return how a kernel, model or index counts, one item per part of a sum.

    An unfitted kernel is copied and fitted on the graphs.
    """
    if hasattr(kernel, "rule_"):
        shared: list[SharedBins] = kernel.rule_.shared_bins()
        return shared
    if isinstance(kernel, GraphIndex) and hasattr(kernel, "_counter"):
        ratio = kernel._measure.is_ratio
        return [SharedBins(kernel._counter, False, ratio, not ratio, together=ratio)]
    if hasattr(kernel, "kernel_"):
        return countings_of(kernel.kernel_, graphs)
    if not hasattr(type(kernel), "_counter"):
        raise TypeError(f"similar_because needs a kernel of this library, got {_called(kernel)}")
    if getattr(kernel, "n_features", None) is not None:
        raise ValueError("similar_because needs a column for each bin: n_features must be None")
    return [_of_fitted(kernel if hasattr(kernel, "_counter") else clone(kernel).fit(graphs))]


def _of_fitted(kernel: Any) -> SharedBins:
    counting = getattr(kernel, "_counting", None)
    if counting is not None:
        return SharedBins(counting.counter, counting.assigned, counting.ratio, counting.normalize)
    if getattr(kernel, "_counter", None) is None:
        raise TypeError(f"{kernel!r} is not a dot product or a ratio of counts: it has no shared bins")
    return SharedBins(kernel._counter, False, False, bool(kernel.normalize))


def _called(kernel: Any) -> str:
    return kernel.__name__ if isinstance(kernel, type) else type(kernel).__name__


def similar_because(kernel: Estimator, g: OneGraph, h: OneGraph) -> Similarity:
    """Return the shared bins of two graphs, with their nodes on each side and contributions to k(g, h).

    Parameters
    ----------
    kernel : estimator
        A dot product or a ratio of counts: :class:`PropagationKernel`, :class:`P2K`,
        :class:`WeisfeilerLehman` and :class:`LabelHistogram` with all base kernels but "rbf",
        :class:`ShortestPath`, :class:`GraphHopper` and :class:`SubgraphMatching` without attributes, and
        their features. A fitted kernel is used as it is; an unfitted one is fitted on the two graphs. A
        classifier or regressor stands for its fitted kernel, an index for its similarity.
    g, h : graph
        An item of a database, a networkx graph, or a tuple; see :func:`propkernels.check_graphs`.

    Returns
    -------
    Similarity

    See Also
    --------
    propkernels.explain.Similarity : The result.
    propkernels.plotting.plot_similarity : Draws both graphs.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> g, h = (path, ["C", "O", "C"]), (path, ["C", "O", "N"])
    >>> print(pk.similar_because(pk.WeisfeilerLehman(t_max=1), g, h))
    k(g, h) = 5, from 3 shared bins
    t  adds   share  labels  nodes of g  nodes of h
    0    +2  40.0 %  C       0 2         0
    1    +2  40.0 %  C       0 2         0
    0    +1  20.0 %  O       1           1
    """
    graphs = check_graphs([g, h])
    n_jobs = getattr(kernel, "n_jobs", None)
    merged: dict[Any, _Merged] = {}
    last = 0
    for counting in countings_of(kernel, graphs):
        found = islice(counting.counter.occurrences(graphs, n_jobs), counting.n_streams)
        streams = [
            _compared(replace(one, assigned=one.assigned or counting.assigned), graphs) for one in found
        ]
        last = max(last, *(stream.t for stream in streams))
        for stream, scale in zip(streams, _scales(streams, counting), strict=True):
            _merge(stream, scale, merged)
    bins = [_bin(entry, graphs) for entry in merged.values()]
    bins.sort(key=lambda shared: (-shared.contribution, shared.t, shared.nodes_g.ravel().tolist()))
    value = math.fsum(shared.contribution for shared in bins)
    sizes = int(graphs.graph_sizes[0]), int(graphs.graph_sizes[1])
    return Similarity(tuple(bins), value, sizes, last + 1)


@dataclass(frozen=True)
class _Group:
    """Items of one graph in one bin: their nodes, numbered in the graph, and the count of the bin."""

    nodes: NDArray[np.int64]
    count: float


class _Stream(NamedTuple):
    """Two graphs in one stream: shared bins with their contributions, and the two self-similarities."""

    t: int
    weight: float
    shared: list[tuple[_Group, _Group, float]]
    squares: NDArray[np.float64]


def _compared(found: Occurrences, graphs: Any) -> _Stream:
    sides = _groups(found, graphs)
    squares = [sum(_agreement(found, own, own, (i, i)) for own in sides[i].values()) for i in (0, 1)]
    pairs = [(sides[0][code], sides[1][code]) for code in sides[0] if code in sides[1]]
    shared = [(left, right, _agreement(found, left, right, (0, 1))) for left, right in pairs]
    return _Stream(found.iteration, found.weight, shared, np.array(squares, dtype=np.float64))


def _scales(streams: list[_Stream], counting: SharedBins) -> list[float]:
    """Factors of the bins of each stream, from ratios and normalization."""
    own = [stream.squares for stream in streams]
    scales = [1.0] * len(streams)
    if counting.together:
        union = float(np.sum(own)) - sum(value for stream in streams for *_, value in stream.shared)
        return [1.0 / union if union > 0 else 0.0] * len(streams)
    if counting.ratio:
        own = [np.where(stream.squares > 0, stream.weight, 0.0) for stream in streams]
        unions = [s.squares.sum() - sum(value for *_, value in s.shared) for s in streams]
        scales = [s.weight / union if union > 0 else 0.0 for s, union in zip(streams, unions, strict=True)]
    unit = float(np.prod(inverse_length(np.sum(own, axis=0)))) if counting.normalize else 1.0
    return [unit * scale for scale in scales]


def _merge(stream: _Stream, scale: float, merged: dict[Any, _Merged]) -> None:
    """Add the contributions of a stream's bins to bins with the same nodes, or as new bins."""
    for left, right, value in stream.shared:
        key = (stream.t, left.nodes.tobytes(), right.nodes.tobytes())
        entry = merged.setdefault(key, _Merged(stream.t, left.nodes, right.nodes))
        entry.total += scale * value
        entry.n_hashes += 1


@dataclass
class _Merged:
    """Bins of one iteration that hold the same items of the two graphs."""

    t: int
    nodes_g: NDArray[np.int64]
    nodes_h: NDArray[np.int64]
    total: float = 0.0
    n_hashes: int = 0


def _groups(found: Occurrences, graphs: Any) -> list[dict[int, _Group]]:
    """Group the items of each of the two graphs by code."""
    of_graph, ptr = found.graphs_of_items(graphs), graphs.graph_ptr
    groups: list[dict[int, _Group]] = []
    for graph in (0, 1):
        items = np.flatnonzero((of_graph == graph) & (found.codes != NO_BIN))
        order = items[np.argsort(found.codes[items], kind="stable")]
        codes, starts = np.unique(found.codes[order], return_index=True)
        several = np.split(order, starts[1:]) if len(codes) else []
        nodes = [some if found.nodes is None else found.nodes[some] for some in several]
        nodes = [own[:, 0] if own.ndim == 2 and own.shape[1] == 1 else own for own in nodes]
        counts = [len(some) if found.numbers is None else found.numbers[some].sum() for some in several]
        groups.append(
            {
                code: _Group(own - ptr[graph], float(np.rint(count)))
                for code, own, count in zip(codes.tolist(), nodes, counts, strict=True)
            }
        )
    return groups


def _agreement(found: Occurrences, left: _Group, right: _Group, sides: tuple[int, int]) -> float:
    """Contribution of one bin to the kernel of two graphs."""
    shared = min(left.count, right.count) if found.assigned else left.count * right.count
    scale = 1.0 if found.scales is None else float(found.scales[sides[0]] * found.scales[sides[1]])
    return found.weight * scale * shared


def _bin(entry: _Merged, graphs: Any) -> SharedBin:
    nodes = entry.nodes_g, entry.nodes_h
    column, labels = graphs.label_column, set()
    if isinstance(column, LabelColumn):
        for side, own in enumerate(nodes):
            labels |= set(column.ids[graphs.graph_ptr[side] + own.ravel()].tolist())
        names = tuple(column.values[i] for i in sorted(labels) if i >= 0)
    else:
        names = ()
    return SharedBin(entry.t, *nodes, entry.total, entry.n_hashes, names)
