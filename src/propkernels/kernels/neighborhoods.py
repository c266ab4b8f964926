"""Kernels by name; and what ``similarity`` counts: neighborhoods with everything that graphs carry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_whole, require
from propkernels.codes.codes import CodeStreams, multiset_codes
from propkernels.codes.contents import Words, bits, contents_by_value
from propkernels.counts.counters import Coder
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.grid_database import GridDatabase
from propkernels.kernels.count_kernel import IteratedKernel, learn_in_time
from propkernels.kernels.propagation_kernel import PropagationKernel

NUMBERS = ("weights", "attributes")


def rounded_bits(table: Any) -> Words:
    """Return numbers, rounded to the nearest of 0, 1, 1.5, 2, 3, 4, 6, 8, ..., as words.

    Examples
    --------
    >>> bool((rounded_bits([[2.9]]) == bits([[3.0]])).all())
    True
    """
    mantissas, exponents = np.frexp(np.asarray(table, dtype=np.float64))
    return bits(np.ldexp(np.rint(4 * mantissas), exponents - 2))


@dataclass(frozen=True)
class NeighborhoodCoder(Coder):
    """Refinement of labels, edge labels and directions; where there are numbers, with these as well.

    A node without a label has its number of neighbors instead. Each edge is seen from both ends. Numbers
    (weights, and attributes of nodes and edges) count in two more views: rounded, and exactly. Codes are
    functions of a graph alone: nothing is learned from other graphs.

    Attributes
    ----------
    t_max : int
    numbers : bool
        Whether the training graphs have attributes, or weights other than 1.
    """

    t_max: int
    numbers: bool

    def _check_parts(self) -> None:
        """Raise if the number of iterations is out of range."""
        require(is_whole(self.t_max, 0), "the number of iterations is out of range")

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> NeighborhoodCoder:
        """Return a coder for graphs like the training graphs."""
        tables = (graphs.attribute_matrix, graphs.edge_attributes)
        numbers = any(table is not None for table in tables) or bool((graphs.adjacency.data != 1).any())
        return cls(parameters.t_max, numbers)

    def restricted(self, t_max: int) -> NeighborhoodCoder:
        """Return a coder of the first iterations."""
        return replace(self, t_max=t_max)

    def codes(self, graphs: GraphDatabase) -> list[CodeStreams]:
        """Return codes of all nodes for t = 0..t_max, in each view."""
        column, n_neighbors = graphs.label_column, np.diff(graphs.adjacency.indptr)
        known = np.zeros(graphs.n_nodes, dtype=bool) if column is None else column.observed
        rows = np.repeat(np.arange(graphs.n_nodes), n_neighbors)
        columns = graphs.adjacency.indices
        order = np.argsort(np.concatenate([rows, columns]), kind="stable")  # entries seen from both ends
        ends = np.concatenate([columns, rows])[order]
        indptr = np.concatenate([[0], np.cumsum(n_neighbors + np.bincount(columns, minlength=len(known)))])
        matrix = csr_array((np.ones(len(ends)), ends, indptr), shape=graphs.adjacency.shape)
        both_ways = GraphDatabase._assemble(matrix, graphs.graph_ptr, None, None, None)
        found = []
        for ignored, words in ((NUMBERS, bits), ((), rounded_bits), ((), bits))[: 3 if self.numbers else 1]:
            contents = contents_by_value(graphs, ignored, words)
            nodes, edges = contents.node_keys, mix(*contents.edges.T)
            nodes = np.where(known, nodes, mix(nodes, n_neighbors))
            keys = np.concatenate([edges, mix(edges, 1)])[order]
            found.append(multiset_codes(both_ways, nodes, keys, self.t_max))
        return found

    @property
    def n_streams(self) -> int:
        """Number of codes per node."""
        return (self.t_max + 1) * (3 if self.numbers else 1)


class Neighborhoods(IteratedKernel):
    """Kernel of :func:`propkernels.similarity`: neighborhoods of up to ``t_max`` steps, counted.

    Everything that graphs carry makes neighborhoods different: labels, edge labels, directions, weights and
    attributes (:class:`NeighborhoodCoder`). Pixels of grids have the codes of a propagation kernel.

    Parameters
    ----------
    t_max : int, default=3
    normalize : bool, default=False
    n_jobs : int or None, default=None
    """

    edge_labels, time = True, "auto"  # of graphs in time

    def __init__(self, *, t_max: int = 3, normalize: bool = False, n_jobs: int | None = None) -> None:
        self.t_max = t_max
        self.normalize = normalize
        self.n_jobs = n_jobs

    def _learn_coder(self, graphs: Any) -> Coder:
        if isinstance(graphs, GridDatabase):
            kernel: Any = PropagationKernel(t_max=self.t_max, random_state=0)
            return kernel._learn_coder(graphs)
        return learn_in_time(graphs, self, NeighborhoodCoder.learn)


KERNELS = {
    "propagation": "PropagationKernel",
    "p2k": "P2K",
    "wl": "WeisfeilerLehman",
    "shortest-path": "ShortestPath",
    "graph-hopper": "GraphHopper",
    "labels": "LabelHistogram",
}


def named_kernel(kernel: Any, **settings: Any) -> Any:
    """Return the kernel of a name, with the settings that it has; anything but a text as it is.

    Raises
    ------
    ValueError
        If no kernel has the name.

    Examples
    --------
    >>> named_kernel("wl", t_max=2, random_state=0)
    WeisfeilerLehman(t_max=2)
    """
    if not isinstance(kernel, str):
        return kernel
    if kernel not in KERNELS:
        listed = ", ".join(map(repr, KERNELS))
        raise ValueError(f"no kernel is called {kernel[:40]!r}: the names are {listed}")
    from propkernels import kernels

    made = getattr(kernels, KERNELS[kernel])()
    known = made.get_params(deep=False)
    return made.set_params(**{name: value for name, value in settings.items() if name in known})
