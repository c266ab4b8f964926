"""Shortest-path distances between all pairs of nodes of each graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels import _core
from propkernels._utils.arrays import check_room, offsets
from propkernels._utils.locks import cached_property
from propkernels._utils.parallel import equal_work, run_threads, stage_pieces, thread_count, threads_for
from propkernels.graphs.database import GraphDatabase

PAIRS_IN_MEMORY = 2**22
PAIRS_OF_A_RUN = 2**16  # least number of pairs that a thread searches at a time: a millisecond or two
RUNS_OF_A_THREAD = 4  # of much work
STEPS_OF_A_PAIR = 8  # elementary steps of a search per pair of nodes
PAIRS_AT_ONCE = 4  # numbers per pair of nodes: distance, word, code, and a copy for sorting
WITHOUT_PAIRS = (
    "PropagationKernel and WeisfeilerLehman take graphs of any size, since they compare no pairs of nodes"
)


@dataclass(frozen=True)
class PathLengths:
    """Distances between the nodes of each graph of a database.

    Attributes
    ----------
    graphs : GraphDatabase
    weights : ndarray
        Length of each stored edge: its weight, or 1.
    has_hops : bool
        Whether all edges have length 1.
    pair_ptr : ndarray of int64, (n + 1,)
        Offsets of the graphs' distances.
    """

    graphs: GraphDatabase
    weights: NDArray[np.float64]
    has_hops: bool
    pair_ptr: NDArray[np.int64]

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Edges, their lengths, and offsets of nodes and pairs, as compiled loops take them."""
        a = self.graphs.adjacency
        return a.indptr, a.indices, self.weights, self.graphs.graph_ptr, self.pair_ptr

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """From u to v of graph i at ``pair_ptr[i] + u * size + v``; inf without a path.

        Found by breadth-first search if all edges have length 1, else by Dijkstra's algorithm. Rounded to 36
        binary digits, so that equal sums of weights in another order are equal.
        """
        found = np.empty(self.pair_ptr[-1])
        bounds, threads = runs_of_nodes(self.graphs)
        _core.path_distances(self.arrays, self.has_hops, bounds, found, threads)
        return found

    def words(self) -> NDArray[np.uint64]:
        """Return each distance as a 64-bit word; 0 without a path."""
        return np.where(np.isinf(self.distances), 0.0, self.distances).view(np.uint64)

    def pairs(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the two nodes of each distance, numbered through the database, (places, 2)."""
        graph = np.searchsorted(self.pair_ptr, places, side="right") - 1
        ends = np.divmod(places - self.pair_ptr[graph], self.graphs.graph_sizes[graph])
        return np.asarray(self.graphs.graph_ptr[graph][:, None] + np.stack(ends, axis=1))


def path_lengths(graphs: GraphDatabase, weighted: bool) -> PathLengths:
    """Return all distances, which are computed on first use.

    Examples
    --------
    >>> import propkernels as pk
    >>> path = pk.check_graphs([np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])])
    >>> path_lengths(path, True).distances.reshape(3, 3)
    array([[0., 1., 2.],
           [1., 0., 1.],
           [2., 1., 0.]])
    """
    check_pairs(graphs)
    has_hops = not weighted or graphs.is_unweighted
    weights = np.ones(graphs.adjacency.nnz) if has_hops else graphs.adjacency.data.astype(np.float64)
    return PathLengths(graphs, weights, has_hops, offsets(graphs.graph_sizes**2))


def runs_of_nodes(graphs: GraphDatabase) -> tuple[NDArray[np.int64], int]:
    """Return bounds of runs of nodes with about equal numbers of pairs, and threads to take them."""
    pairs = offsets(np.repeat(graphs.graph_sizes, graphs.graph_sizes))
    threads = threads_for(STEPS_OF_A_PAIR * int(pairs[-1]))
    return equal_work(pairs, stage_pieces(threads)), threads


def check_pairs(graphs: GraphDatabase) -> None:
    """Raise an error if the pairs of nodes do not fit into memory; nothing is allocated before."""
    pairs = sum(size * size for size in graphs.graph_sizes.tolist())
    check_room(pairs, PAIRS_AT_ONCE, ways_out=WITHOUT_PAIRS)


def runs_of_graphs(graphs: GraphDatabase, steps_of_a_pair: int = 1) -> Iterator[GraphDatabase]:
    """Yield runs of graphs whose pairs of nodes fit into memory; up to four per thread, by pairs."""
    most = pairs_of_a_run(int(np.square(graphs.graph_sizes).sum()), steps_of_a_pair)
    for first, last in run_bounds(graphs.graph_sizes**2, min(PAIRS_IN_MEMORY, most)):
        yield graphs[first:last]


def run_bounds(work: NDArray[Any], most: float) -> list[tuple[int, int]]:
    """Return bounds of runs of graphs with at most so much work each, or of one graph.

    Examples
    --------
    >>> run_bounds(np.array([2, 3, 9, 1, 1]), 5)
    [(0, 2), (2, 3), (3, 5)]
    """
    ends, bounds, first = np.append(0, np.cumsum(work)), list[tuple[int, int]](), 0
    while first < len(work):
        last = int(np.searchsorted(ends, ends[first] + most, side="right")) - 1
        last = min(max(last, first + 1), len(work))
        bounds.append((first, last))
        first = last
    return bounds


def threads_for_pairs(graphs: GraphDatabase, steps_of_a_pair: int = 1) -> int:
    """Return the number of threads worth starting for all pairs of nodes; see :func:`pairs_of_a_run`."""
    return threads_for(steps_of_a_pair * int(np.square(graphs.graph_sizes).sum()) // 4)


def pairs_of_a_run(n_pairs: int, steps_of_a_pair: int = 1) -> int:
    """Return the number of pairs of nodes of a run, up to four runs per thread; all pairs for one thread.

    ``steps_of_a_pair``: work per pair, in units of a breadth-first search.
    """
    threads = thread_count()
    if threads == 1:
        return n_pairs + 1
    return max(n_pairs // (RUNS_OF_A_THREAD * threads), PAIRS_OF_A_RUN // steps_of_a_pair, 1)


def by_size(function: Callable[[Any], Any], runs: Sequence[Any], sizes: Any) -> list[Any]:
    """Return the results of a function for all runs, in order; threads take the largest runs first."""
    order = np.argsort(-np.asarray(sizes), kind="stable")
    found = run_threads(lambda k: function(runs[k]), order.tolist())
    return [found[place] for place in np.argsort(order)]
