"""Similarity: the kernel value of two graphs as a sum over the bins that they share."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from propkernels._utils.checks import check_choice, check_integer, format_number, format_table
from propkernels._utils.optional import data_frame
from propkernels._utils.typing import Estimator, Record
from propkernels.codes.codes import NO_BIN
from propkernels.convert.check import check_graphs, warn_of_missing_labels
from propkernels.counts.bins import bin_text
from propkernels.counts.counters import Occurrences
from propkernels.counts.products import inverse_length
from propkernels.explain.rule import SharedBins
from propkernels.graphs.container import count
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import OneGraph
from propkernels.graphs.labels import LabelColumn
from propkernels.kernels.neighborhoods import Neighborhoods, named_kernel
from propkernels.search.index import GraphIndex

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

Nodes = NDArray[np.int64]
MOST_NODES_SHOWN = 6


@dataclass(frozen=True, eq=False)
class SharedBin:
    """Nodes of two graphs with the same code at one iteration.

    Attributes
    ----------
    t : int
        The iteration.
    nodes_g, nodes_h : ndarray of int64
        Nodes of the first and of the second graph; for shortest paths, pairs of nodes, (pairs, 2).
    contribution : float
        Contribution of the bin to k(g, h).
    n_hashes : int
        Number of hash functions (or attributes) that put exactly these nodes into one bin.
    labels : tuple
        Labels of the nodes; missing labels are omitted.
    """

    t: int
    nodes_g: Nodes
    nodes_h: Nodes
    contribution: float
    n_hashes: int = 1
    labels: tuple[Hashable, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Similarity:
    """Shared bins of two graphs, returned by :func:`propkernels.similar_because`.

    Attributes
    ----------
    bins : tuple of SharedBin
        Shared bins, the largest contribution first; contributions add up to ``value``.
    value : float
        The similarity, or k(g, h) of the given kernel.
    graphs : GraphDatabase
        The two graphs.
    n_steps : int
        Number of iterations, t_max + 1.
    noun : {"similarity", "k(g, h)"}
        What the value is called.

    See Also
    --------
    similar_because : Returns this.
    propkernels.plotting.plot_similarity : Draws it.

    References
    ----------
    .. [1] M. Neumann, R. Garnett, C. Bauckhage and K. Kersting (2016). Propagation kernels: efficient graph
       kernels from propagated information. Machine Learning 102, 209-245. doi:10.1007/s10994-015-5517-9.
       Section 4.1: the kernel is a sum over shared bins.

    Examples
    --------
    >>> import propkernels as pk
    >>> graphs = pk.datasets.make_molecules(2, random_state=0).graphs
    >>> why = pk.similar_because(graphs[0], graphs[1], kernel=pk.WeisfeilerLehman(t_max=1))
    >>> why.value == sum(shared.contribution for shared in why.bins)
    True
    """

    bins: tuple[SharedBin, ...]
    value: float
    graphs: GraphDatabase
    n_steps: int
    noun: str

    @property
    def by_iteration(self) -> NDArray[np.float64]:
        """Contribution of each iteration to the value, (t_max + 1,)."""
        parts: list[list[float]] = [[] for _ in range(self.n_steps)]
        for shared in self.bins:
            parts[shared.t].append(shared.contribution)
        return np.array([math.fsum(part) for part in parts])

    def node_contributions(self, of: str) -> NDArray[np.float64]:
        """Divide each bin's contribution equally among its nodes in one graph.

        Parameters
        ----------
        of : {"g", "h"}
            The first or the second graph.

        Returns
        -------
        ndarray of shape (nodes, t_max + 1)
            Contributions, which add up to the value.
        """
        check_choice(of, ("g", "h"), "of")
        shares = np.zeros((self.graphs.graph_sizes[int(of == "h")], self.n_steps))
        for shared in self.bins:
            nodes = shared.nodes_g if of == "g" else shared.nodes_h
            np.add.at(shares[:, shared.t], nodes.ravel(), shared.contribution / nodes.size)
        return shares

    def records(self) -> list[Record]:
        """Return one record per bin: t, contribution, share, labels, nodes_g, nodes_h, n_hashes."""
        return [
            {
                "t": shared.t,
                "contribution": shared.contribution,
                "share": shared.contribution / self.value,
                "labels": shared.labels,
                "nodes_g": shared.nodes_g.tolist(),
                "nodes_h": shared.nodes_h.tolist(),
                "n_hashes": shared.n_hashes,
            }
            for shared in self.bins
        ]

    def to_frame(self) -> DataFrame:
        """Return the records as a pandas DataFrame."""
        columns = ["t", "contribution", "share", "labels", "nodes_g", "nodes_h", "n_hashes"]
        return data_frame(self.records(), columns=columns)

    def table(self, n: int = 10) -> str:
        """Return a text table of the bins with the largest contributions."""
        head, rows = self._cells(n)
        rest = len(self.bins) - len(rows)
        more = f"\n... and {rest} more" if rest > 0 else ""
        return format_table(head, rows, left=("labels", "smarts", "nodes of g", "nodes of h")) + more

    def _cells(self, n: int) -> tuple[list[str], list[list[str]]]:
        rows = [
            [
                str(shared.t),
                format_number(shared.contribution),
                f"{100 * shared.contribution / self.value:.1f} %",
                bin_text(self.graphs[[0]], shared.nodes_g, shared.t, shared.labels),
                _listed(shared.nodes_g),
                _listed(shared.nodes_h),
            ]
            for shared in self.bins[: check_integer(n, "n", 1)]
        ]
        column = "labels" if getattr(self.graphs, "sources", None) is None else "smarts"
        return ["t", "adds", "share", column, "nodes of g", "nodes of h"], rows

    def __str__(self) -> str:
        return f"{self.noun} = {self.value:.6g}, from {count(len(self.bins), 'shared bin')}\n{self.table()}"

    def plot(self, *, t: int | None = None, ax: Sequence[Axes] | None = None) -> list[Axes]:
        """Draw both graphs, nodes colored by contribution: :func:`propkernels.plotting.plot_similarity`."""
        from propkernels.plotting.plot_similarity import plot_similarity

        return plot_similarity(self, t=t, ax=ax)

    def _repr_html_(self) -> str:
        from propkernels.graphs.drawing import drawn
        from propkernels.plotting.pages.fragments import Drawing, Drawings, Remark, Table, show_result

        sides = [
            Drawing(drawn(self.graphs, i, self.node_contributions(side).sum(axis=1))[0], side)
            for i, side in enumerate("gh")
        ]
        head, texts = self._cells(10)
        numbers = [[shared.t, shared.contribution] for shared in self.bins]
        rows = [[*pair, *row[2:]] for pair, row in zip(numbers, texts, strict=False)]
        rest = len(self.bins) - len(rows)
        more = [Remark(f"and {rest} more shared bins")] if rest > 0 else []
        key = Remark("Red: what both graphs share.")
        return show_result(repr(self), Drawings(sides), key, Table(head, rows), *more)

    def __repr__(self) -> str:
        return (
            f"Similarity({self.value:.6g}, {count(len(self.bins), 'shared bin')}, t = 0..{self.n_steps - 1})"
        )


def _listed(nodes: Nodes) -> str:
    """Return the first nodes, or pairs of nodes, as text, and their number if there are more."""
    texts = ["-".join(map(str, np.atleast_1d(node))) for node in nodes[:MOST_NODES_SHOWN].tolist()]
    more = f" ... ({len(nodes)})" if len(nodes) > MOST_NODES_SHOWN else ""
    return " ".join(texts) + more


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
        name = kernel.__name__ if isinstance(kernel, type) else type(kernel).__name__
        raise TypeError(f"similar_because needs a kernel of this library, got {name}")
    if getattr(kernel, "n_features", None) is not None:
        raise ValueError("similar_because needs a column for each bin: n_features must be None")
    fitted = kernel if hasattr(kernel, "_counter") else clone(kernel).fit(graphs)
    counting = getattr(fitted, "_counting", None)
    if counting is not None:
        return [SharedBins(counting.counter, counting.assigned, counting.ratio, counting.normalize)]
    if getattr(fitted, "_counter", None) is None:
        raise TypeError(f"{fitted!r} is not a dot product or a ratio of counts: it has no shared bins")
    return [SharedBins(fitted._counter, False, False, bool(fitted.normalize))]


def similar_because(g: OneGraph, h: OneGraph, *, kernel: Estimator | str | None = None) -> Similarity:
    """Return why two graphs are similar: the neighborhoods that they share, with their nodes on each side.

    The similarity of two graphs is a sum over bins of nodes that have equal neighborhoods of t steps; what
    each bin adds is its contribution. ``print`` lists the largest, and ``plot`` draws both graphs in color.

    Parameters
    ----------
    g, h : graph
        As for :func:`similarity`: graphs of networkx, SMILES, adjacency matrices, items of a database, ...
    kernel : estimator or str, optional
        By default contributions add up to ``similarity(g, h)``, with a kernel to its value k(g, h). A dot
        product or a ratio of counts: :class:`PropagationKernel`, :class:`P2K`, :class:`WeisfeilerLehman` and
        :class:`LabelHistogram` with all base kernels but "rbf", :class:`ShortestPath`, :class:`GraphHopper`
        and :class:`SubgraphMatching` without attributes, and their features. A fitted kernel is used as it
        is; an unfitted one is fitted on the two graphs. A classifier or regressor stands for its fitted
        kernel, an index for its similarity.

    Returns
    -------
    Similarity

    See Also
    --------
    similarity : The value alone.
    propkernels.explain.Similarity : The result.
    propkernels.plotting.plot_similarity : Draws both graphs.

    Examples
    --------
    >>> import numpy as np, propkernels as pk
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> g, h = (path, ["C", "O", "C"]), (path, ["C", "O", "N"])
    >>> print(pk.similar_because(g, h))
    similarity = 0.142857, from 3 shared bins
    t      adds   share  labels  nodes of g  nodes of h
    0  +0.04762  33.3 %  C       0 2         0
    0  +0.04762  33.3 %  O       1           1
    1  +0.04762  33.3 %  C       0 2         0
    """
    graphs = check_graphs([g, h])
    if kernel is None:
        warn_of_missing_labels(graphs)
        parts = [SharedBins(Neighborhoods()._learn_coder(graphs), True, True, False, together=True)]
    else:
        parts = countings_of(named_kernel(kernel, random_state=0), graphs)
    merged: dict[tuple[int, bytes, bytes], SharedBin] = {}
    last = 0
    for counting in parts:
        found = islice(counting.counter.occurrences(graphs), counting.n_streams)
        streams = [_compared(one, graphs, one.assigned or counting.assigned) for one in found]
        last = max(last, *(stream.t for stream in streams))
        for stream, scale in zip(streams, _scales(streams, counting), strict=True):
            for left, right, value in stream.shared:
                key = (stream.t, left.tobytes(), right.tobytes())
                one = merged.get(key) or SharedBin(stream.t, left, right, 0.0, 0)
                total = one.contribution + scale * value
                merged[key] = replace(one, contribution=total, n_hashes=one.n_hashes + 1)
    bins = [replace(one, labels=_labels(one, graphs)) for one in merged.values()]
    bins.sort(key=lambda shared: (-shared.contribution, shared.t, shared.nodes_g.ravel().tolist()))
    value = math.fsum(shared.contribution for shared in bins)
    return Similarity(tuple(bins), value, graphs, last + 1, "similarity" if kernel is None else "k(g, h)")


class GraphBins(NamedTuple):
    """Bins of graphs in one stream, by graph and code.

    Attributes
    ----------
    entry : ndarray, (items,)
        The bin of each item; -1: none.
    graphs, codes, counts : ndarray, (bins,)
    """

    entry: Nodes
    graphs: Nodes
    codes: Nodes
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, items: Occurrences, graphs: GraphDatabase) -> GraphBins:
        """Count the items of each graph by code."""
        is_bin = items.codes != NO_BIN
        owner = items.graphs_of_items(graphs)[is_bin].astype(np.int64)
        pairs, within = np.unique(np.stack([owner, items.codes[is_bin]]), axis=1, return_inverse=True)
        numbers = None if items.numbers is None else items.numbers[is_bin]
        entry = np.full(len(items.codes), -1)
        entry[is_bin] = within.ravel()
        counts = np.rint(np.bincount(within.ravel(), numbers, pairs.shape[1]))
        return cls(entry, pairs[0], pairs[1], counts.astype(np.float64))


class _Stream(NamedTuple):
    """Two graphs in one stream: nodes and contributions of shared bins, and the two self-similarities."""

    t: int
    weight: float
    shared: list[tuple[Nodes, Nodes, float]]
    squares: NDArray[np.float64]


def _compared(found: Occurrences, graphs: GraphDatabase, assigned: bool) -> _Stream:
    bins = GraphBins.of(found, graphs)
    n, scales = int(np.searchsorted(bins.graphs, 1)), np.ones(2) if found.scales is None else found.scales
    _, left, right = np.intersect1d(bins.codes[:n], bins.codes[n:], True, return_indices=True)
    counts = bins.counts[left], bins.counts[n + right]
    agreements = np.minimum(*counts) if assigned else counts[0] * counts[1]
    values = found.weight * float(scales[0] * scales[1]) * agreements
    own = bins.counts if assigned else bins.counts**2
    squares = found.weight * scales**2 * np.bincount(bins.graphs, own, 2)
    order = np.argsort(bins.entry, kind="stable")
    items = np.split(order, np.searchsorted(bins.entry[order], np.arange(len(bins.codes))))[1:]

    def nodes_of(number: int) -> Nodes:
        own = items[number] if found.nodes is None else found.nodes[items[number]]
        own = own[:, 0] if own.ndim == 2 and own.shape[1] == 1 else own
        return np.asarray(own - graphs.graph_ptr[bins.graphs[number]])

    pairs = zip(left.tolist(), (n + right).tolist(), values.tolist(), strict=True)
    shared = [(nodes_of(a), nodes_of(b), value) for a, b, value in pairs]
    return _Stream(found.iteration, found.weight, shared, squares)


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


def _labels(shared: SharedBin, graphs: Any) -> tuple[Hashable, ...]:
    """Return the labels of the nodes in a bin, each once."""
    column = graphs.label_column
    if not isinstance(column, LabelColumn):
        return ()
    first, second = graphs.graph_ptr[:2]
    places = np.concatenate([first + shared.nodes_g.ravel(), second + shared.nodes_h.ravel()])
    return tuple(column.values[i] for i in np.unique(column.ids[places]) if i >= 0)
