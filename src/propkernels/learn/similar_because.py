"""similar_because: which nodes of two graphs make them similar."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels.gram.base_kernels import Linear
from propkernels.gram.normalize import inverse_length
from propkernels.graphs.check import check_graphs
from propkernels.graphs.labels import LabelColumn
from propkernels.hashing.lsh import NO_BIN
from propkernels.learn.counting_parts import counting_parts, streams_of
from propkernels.learn.similarity import SharedBin, Similarity

Codes = NDArray[np.int64]


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
