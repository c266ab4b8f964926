"""Similarity: the kernel value of two graphs as a sum over shared bins."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.checks import check_choice, check_integer
from propkernels._utils.optional import data_frame
from propkernels._utils.text_tables import format_number, format_table
from propkernels._utils.typing import Record

if TYPE_CHECKING:
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
        k(g, h).
    sizes : (int, int)
        Numbers of nodes of the two graphs.
    n_steps : int
        Number of iterations, t_max + 1.

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
    >>> kernel = pk.WeisfeilerLehman(t_max=1)
    >>> why = pk.similar_because(kernel, graphs[0], graphs[1])
    >>> why.value == sum(shared.contribution for shared in why.bins)
    True
    """

    bins: tuple[SharedBin, ...]
    value: float
    sizes: tuple[int, int]
    n_steps: int

    @property
    def by_iteration(self) -> NDArray[np.float64]:
        """Contribution of each iteration to k(g, h), (t_max + 1,)."""
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
            Contributions, which add up to k(g, h).
        """
        check_choice(of, ("g", "h"), "of")
        shares = np.zeros((self.sizes[of == "h"], self.n_steps))
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
        return format_table(head, rows, left=("labels", "nodes of g", "nodes of h")) + more

    def _cells(self, n: int) -> tuple[list[str], list[list[str]]]:
        rows = [
            [
                str(shared.t),
                format_number(shared.contribution),
                f"{100 * shared.contribution / self.value:.1f} %",
                ", ".join(map(str, shared.labels)) or "-",
                _listed(shared.nodes_g),
                _listed(shared.nodes_h),
            ]
            for shared in self.bins[: check_integer(n, "n", 1)]
        ]
        return ["t", "adds", "share", "labels", "nodes of g", "nodes of h"], rows

    def __str__(self) -> str:
        return f"k(g, h) = {self.value:.6g}, from {len(self.bins)} shared bins\n{self.table()}"

    def _repr_html_(self) -> str:
        from propkernels.plotting.pages.fragments import Remark, Table, show_result

        head, texts = self._cells(10)
        numbers = [[shared.t, shared.contribution] for shared in self.bins]
        rows = [[*pair, *row[2:]] for pair, row in zip(numbers, texts, strict=False)]
        rest = len(self.bins) - len(rows)
        more = [Remark(f"and {rest} more shared bins")] if rest > 0 else []
        return show_result(repr(self), Table(head, rows), *more)

    def __repr__(self) -> str:
        return f"Similarity(k = {self.value:.6g}, {len(self.bins)} shared bins, t = 0..{self.n_steps - 1})"


def _listed(nodes: Nodes) -> str:
    """Return the first nodes, or pairs of nodes, as text, and their number if there are more."""
    texts = ["-".join(map(str, np.atleast_1d(node))) for node in nodes[:MOST_NODES_SHOWN].tolist()]
    more = f" ... ({len(nodes)})" if len(nodes) > MOST_NODES_SHOWN else ""
    return " ".join(texts) + more
