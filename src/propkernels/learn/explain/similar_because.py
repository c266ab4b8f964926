"""Why two graphs are similar: the bins that they share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.counting.counters import Counter, Occurrences
from propkernels.gram.linear import inverse_length
from propkernels.graphs.check import check_graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.hashing.codes import NO_BIN
from propkernels.learn.explain.similarity import SharedBin, Similarity
from propkernels.learn.retrieval.index import GraphIndex


class Counting(NamedTuple):
    """Enough to write k(g, h) as a sum over bins."""

    counter: Counter
    normalize: bool


def counting_of(kernel: Any, graphs: Any) -> Counting:
    """How a kernel, model or index counts; a kernel that is not fitted is copied and fitted on the graphs."""
    rule: Any = getattr(kernel, "rule_", None)
    if hasattr(rule, "counter"):
        return Counting(rule.counter, rule.normalize)
    if isinstance(kernel, GraphIndex) and hasattr(kernel, "counter_"):
        return Counting(kernel.counter_, True)
    if hasattr(kernel, "kernel_"):
        return counting_of(kernel.kernel_, graphs)
    if not hasattr(type(kernel), "counter_"):
        raise TypeError(f"similar_because needs a kernel of this library, got {_called(kernel)}")
    if getattr(kernel, "n_features", None) is not None:
        raise ValueError("similar_because needs a column for each bin: n_features must be None")
    fitted = kernel if hasattr(kernel, "counter_") else clone(kernel).fit(graphs)
    if fitted.counter_ is None:
        raise TypeError(f"{kernel!r} is not a dot product of counts: there are no bins to share")
    return Counting(fitted.counter_, bool(fitted.normalize))


def _called(kernel: Any) -> str:
    return kernel.__name__ if isinstance(kernel, type) else type(kernel).__name__


def similar_because(kernel: Any, g: Any, h: Any) -> Similarity:
    """List the bins that two graphs share, with the nodes on each side and what they add to k(g, h).

    Parameters
    ----------
    kernel : estimator
        One that is a dot product of counts: :class:`PropagationKernel`, :class:`P2K`,
        :class:`WeisfeilerLehman` and :class:`LabelHistogram` with the linear or intersection base kernel,
        :class:`ShortestPath`, :class:`GraphHopper` and :class:`SubgraphMatching` without attributes, and
        their features. A fitted one is used as it is, with what it has learned; another
        is fitted on the two graphs. A classifier, regressor or index stands for the kernel that it has
        learned; an index compares by normalized kernel.
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
    counter, normalize = counting_of(kernel, graphs)
    merged: dict[Any, _Merged] = {}
    squares, last = np.zeros(2), 0
    for found in counter.occurrences(graphs, getattr(kernel, "n_jobs", None)):
        last = max(last, found.iteration)
        sides = _groups(found, graphs)
        squares += [sum(_agreement(found, own, own, (i, i)) for own in sides[i].values()) for i in (0, 1)]
        for left, right in ((sides[0][code], sides[1][code]) for code in sides[0] if code in sides[1]):
            entry = merged.setdefault(
                (found.iteration, left.nodes.tobytes(), right.nodes.tobytes()),
                _Merged(found.iteration, left.nodes, right.nodes),
            )
            entry.total += _agreement(found, left, right, (0, 1))
            entry.n_hashes += 1
    scale = float(np.prod(inverse_length(squares))) if normalize else 1.0
    bins = [_bin(entry, scale, graphs) for entry in merged.values()]
    bins.sort(key=lambda shared: (-shared.contribution, shared.t, shared.nodes_g.ravel().tolist()))
    value = math.fsum(shared.contribution for shared in bins)
    sizes = int(graphs.graph_sizes[0]), int(graphs.graph_sizes[1])
    return Similarity(tuple(bins), value, sizes, last + 1)


@dataclass(frozen=True)
class _Group:
    """Items of one graph in one bin: their nodes, numbered in the graph, and the graph's count of the bin."""

    nodes: NDArray[np.int64]
    count: float


@dataclass
class _Merged:
    """Bins of one iteration that hold the same items of both graphs."""

    t: int
    nodes_g: NDArray[np.int64]
    nodes_h: NDArray[np.int64]
    total: float = 0.0
    n_hashes: int = 0


def _groups(found: Occurrences, graphs: Any) -> list[dict[int, _Group]]:
    """For both graphs, which items have which code."""
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
    """What a bin adds to the kernel of two graphs."""
    shared = min(left.count, right.count) if found.assigned else left.count * right.count
    scale = 1.0 if found.scales is None else float(found.scales[sides[0]] * found.scales[sides[1]])
    return found.weight * scale * shared


def _bin(entry: _Merged, scale: float, graphs: Any) -> SharedBin:
    nodes = entry.nodes_g, entry.nodes_h
    column, labels = graphs.label_column, set()
    if isinstance(column, LabelColumn):
        for side, own in enumerate(nodes):
            labels |= set(column.ids[graphs.graph_ptr[side] + own.ravel()].tolist())
        names = tuple(column.values[i] for i in sorted(labels) if i >= 0)
    else:
        names = ()
    return SharedBin(entry.t, *nodes, scale * entry.total, entry.n_hashes, names)
