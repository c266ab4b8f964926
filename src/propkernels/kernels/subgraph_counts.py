"""Subgraph matching on labels by counting connected induced subgraphs up to isomorphism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import factorial, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array

from propkernels import _core
from propkernels._utils.arrays import index_dtype, offsets
from propkernels._utils.parallel import threads_for, whole_runs
from propkernels._utils.progress import ProgressBar
from propkernels._utils.randomness import mix
from propkernels._utils.stored import is_whole, require
from propkernels.counts.base_kernels import Linear
from propkernels.counts.counters import Counter, Known, Occurrences, StreamCounts, count_codes, looked_up
from propkernels.counts.products import Counting, square_gram
from propkernels.graphs.database import GraphDatabase
from propkernels.kernels.pairwise_kernel import CountedComparison
from propkernels.propagation.initial import edge_keys, node_keys

# a kind of subgraph in a graph, as ``count_subgraphs`` returns it
FOUND = np.dtype([("code", np.int64), ("count", np.float64), ("size", np.int64), ("symmetries", np.int64)])
STEPS_OF_A_NODE = 2**8  # estimated steps per node
NODES_OF_A_BATCH = 2**9
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class SubgraphCounts(CountedComparison):
    """Subgraph matching by counts, for node kernels with values 0 and 1.

    Two isomorphic subgraphs have as many bijections that preserve labels and edges as symmetries; other pairs
    have none. So the sum over all pairs of subgraphs is the sum over all kinds of subgraphs of (symmetries x
    occurrences in one graph x occurrences in the other), weighted by lambda_s for s nodes.

    Attributes
    ----------
    counter : SubgraphCounter
    lambdas : ndarray, (k,)
        Weight of each size.
    """

    counter: SubgraphCounter
    lambdas: NDArray[np.float64]

    def _check_parts(self) -> None:
        """Raise unless there is one weight per size."""
        require(self.lambdas.shape == (self.counter.k,), "every size needs a weight")

    def check_prepared(self, counts: Any) -> None:
        """Raise unless each size has counts, and each number of symmetries occurs once per size."""
        super().check_prepared(counts)
        kinds = [(stream.iteration, stream.weight) for stream in counts]
        whole = all(weight >= 1 and float(weight).is_integer() for _, weight in kinds)
        require(whole and len(set(kinds)) == len(kinds), "numbers of symmetries must be distinct integers")
        require({size for size, _ in kinds} == set(range(self.counter.k)), "every size needs counts")

    def explicit(self) -> Counter:
        """Return the counter, with streams weighted by lambda as well."""
        return replace(self.counter, lambdas=self.lambdas)

    def counting(self, counts: list[StreamCounts], normalize: bool) -> Counting:
        """Return counts and their comparison, with streams weighted by lambda as well."""
        return Counting(self.explicit(), self.explicit_counts(counts), False, False, normalize)

    def explicit_counts(self, counts: list[StreamCounts]) -> list[StreamCounts]:
        """Return the counts of the training graphs, with streams weighted by lambda as well."""
        by_kind = {_kind_of(stream): stream for stream in counts}
        no_columns = csr_array((counts[0].counts.shape[0], 0))
        streams = []
        for size, symmetries in self.counter.kinds():
            empty = StreamCounts(no_columns, np.empty(0, dtype=np.int64), size - 1, float(symmetries))
            stream = by_kind.get((size, symmetries), empty)
            streams.append(replace(stream, weight=float(self.lambdas[size - 1] * symmetries)))
        return streams

    def square(self, counts: list[StreamCounts]) -> Matrix:
        """Return the kernel matrix of the training graphs; one product per distinct weight."""
        return self._by_weight(_gram(streams) for streams in self._groups(counts))

    def _groups(self, counts: list[StreamCounts]) -> list[list[StreamCounts]]:
        """Return the streams of sizes with equal weights, by weight."""
        return [[s for s in counts if self.lambdas[s.iteration] == w] for w in np.unique(self.lambdas)]

    def _by_weight(self, grams: Iterable[Matrix]) -> Matrix:
        """Return the weighted sum of one matrix per distinct weight."""
        total: Matrix | None = None
        for weight, gram in zip(np.unique(self.lambdas), grams, strict=True):
            gram *= weight
            total = gram if total is None else np.add(total, gram, out=total)
        assert total is not None
        return total

    def cumulative(self, counts: list[StreamCounts]) -> Matrix:
        """Return the kernel matrices of the training graphs for every maximum size, (k, n, n)."""
        kernels = np.stack([_gram(streams) for streams in self._sizes(counts)])
        kernels *= self.lambdas[:, None, None]
        return np.asarray(np.cumsum(kernels, axis=0, out=kernels))

    def diagonal(self, counts: list[StreamCounts]) -> Matrix:
        """Return self-similarities."""
        return self._sum(Linear().diagonal(streams) for streams in self._sizes(counts))

    def cross(self, graphs: GraphDatabase, train: list[StreamCounts]) -> tuple[Matrix, Matrix]:
        """Return the kernel of new graphs against training graphs, and k(x, x) of the new graphs."""
        known = {_kind_of(stream): stream.codes for stream in train}
        no_codes = np.empty(0, dtype=np.int64)
        new = self.counter.count(graphs, [known.get(kind, no_codes) for kind in self.counter.kinds()])
        shared = [stream for stream in new if _kind_of(stream) in known]
        sides = zip(self._sizes(shared), self._sizes(train), strict=True)
        return self._sum(Linear().cross(a, b) for a, b in sides), self.diagonal(new)

    def _sizes(self, counts: list[StreamCounts]) -> list[list[StreamCounts]]:
        """Return the streams of subgraphs with 1, 2, ... nodes."""
        return [[s for s in counts if s.iteration == size] for size in range(len(self.lambdas))]

    def _sum(self, kernels: Any) -> Matrix:
        return np.asarray(sum(weight * kernel for weight, kernel in zip(self.lambdas, kernels, strict=True)))


def _gram(streams: list[StreamCounts]) -> Matrix:
    """Return the sum over streams of <Phi, Phi>, times the number of symmetries."""
    nonempty = [stream for stream in streams if stream.counts.nnz] or streams[:1]
    symmetries = np.array([int(stream.weight) for stream in nonempty])
    return square_gram([stream.counts for stream in nonempty], symmetries)


Kind = tuple[int, int]  # number of nodes, number of symmetries


@dataclass(frozen=True)
class SubgraphCounter(Counter):
    """Counter of the connected induced subgraphs of each graph, up to isomorphism.

    There is one stream per number of nodes and number of symmetries. Its iteration is the number of nodes
    minus 1, its weight the number of symmetries, times lambda of its size.

    Attributes
    ----------
    source : {"node", "degree", None}
        Source of labels.
    k : int
        Largest number of nodes.
    edge_labels, edge_weights : bool
        Whether edge labels, and edge weights, distinguish subgraphs.
    lambdas : ndarray, (k,), or None
        Weight of each size; None: 1.
    """

    source: str | None
    k: int
    edge_labels: bool
    edge_weights: bool
    lambdas: NDArray[np.float64] | None = None

    def _check_parts(self) -> None:
        """Raise if k is below 1."""
        require(is_whole(self.k, 1), "k must be at least 1")

    def kinds(self) -> list[Kind]:
        """Return all possible pairs (number of nodes, number of symmetries).

        The symmetries of s nodes form a subgroup of the s! permutations, so their number divides s!.
        """
        return [(size, number) for size in range(1, self.k + 1) for number in _divisors(factorial(size))]

    def count(self, graphs: GraphDatabase, known: Known) -> list[StreamCounts]:
        """Return the counts of all graphs; known codes have the first columns."""
        lengths, found = self._search(graphs, graphs.graph_ptr, None)
        graph = np.repeat(np.arange(len(lengths)), lengths)
        streams = []
        for s, kind in enumerate(self.kinds()):
            chosen = _of_kind(found, kind)
            ptr = offsets(np.bincount(graph[chosen], minlength=len(lengths)))
            codes = found["code"][chosen]
            counted, bins = count_codes(codes, ptr, None if known is None else known[s])
            index = index_dtype(len(counted.indices))
            parts = found["count"][chosen], counted.indices.astype(index), ptr.astype(index)
            matrix = csr_array(parts, shape=(len(ptr) - 1, len(bins)))
            streams.append(StreamCounts(matrix, bins, kind[0] - 1, self._weight(kind)))
        return streams

    def _search(
        self,
        graphs: GraphDatabase,
        ptr: NDArray[np.int64],
        nodes: NDArray[Any] | None,
    ) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """Return numbers of kinds, and the kinds themselves, of the graphs that sets of nodes induce.

        Set g is ``nodes[ptr[g]:ptr[g + 1]]``, ascending, or without ``nodes`` all from ``ptr[g]`` on.
        """
        there, back = self._edges(graphs)
        if nodes is not None:
            nodes = nodes.astype(there.indices.dtype)
        wiring = there.indptr, there.indices, there.data, back.data, node_keys(graphs, self.source)
        bounds, lengths = whole_runs(ptr, NODES_OF_A_BATCH), np.empty(len(ptr) - 1, dtype=np.int64)
        threads = threads_for(int(ptr[-1]) * STEPS_OF_A_NODE)
        with ProgressBar("SubgraphMatching", len(bounds) - 1) as bar:
            found = _core.count_subgraphs(wiring, ptr, nodes, self.k, bounds, lengths, bar.step, threads)
        return lengths, np.frombuffer(found, FOUND)

    def occurrences(self, graphs: GraphDatabase) -> Iterator[Occurrences]:
        """Yield nodes with the number of their subgraphs of each kind, divided by the number of nodes."""
        nodes, found = self._subgraphs_of_nodes(graphs)
        for kind in self.kinds():
            chosen = _of_kind(found, kind)
            codes, numbers = found["code"][chosen], found["count"][chosen] / kind[0]
            yield Occurrences(codes, nodes[chosen, None], kind[0] - 1, self._weight(kind), numbers)

    def _subgraphs_of_nodes(self, graphs: GraphDatabase) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """Return nodes, and the kinds of subgraphs that contain them.

        Subgraphs that contain node v are those of the graph, minus those of the graph without v. Nodes more
        than k - 1 edges away from v share no connected subgraph with v, and are left out.
        """
        near, n = _balls(self._edges(graphs)[0], self.k - 1), graphs.n_nodes
        is_other = near.indices != np.repeat(np.arange(n), np.diff(near.indptr))
        members = np.concatenate([near.indices, near.indices[is_other]])
        sizes = np.diff(near.indptr)
        lengths, found = self._search(graphs, offsets(np.concatenate([sizes, sizes - 1])), members)
        parts = np.split(found, np.cumsum(lengths)[:-1])
        rest = [_difference(parts[v], parts[n + v]) for v in range(n)]
        nodes = np.repeat(np.arange(n), [len(part) for part in rest])
        return nodes, np.concatenate([np.empty(0, FOUND), *rest])

    def _weight(self, kind: Kind) -> float:
        return float(kind[1] if self.lambdas is None else self.lambdas[kind[0] - 1] * kind[1])

    def _edges(self, graphs: GraphDatabase) -> tuple[csr_array, csr_array]:
        """Return matrices of words for the edges between u and v, as seen from u and as seen from v."""
        keys = edge_keys(graphs, self.edge_labels, self.edge_weights)
        entries: coo_array = csr_array(graphs.adjacency).tocoo()
        rows, columns = entries.coords
        words = mix(1, 0 if keys is None else keys) * np.ones(len(rows), dtype=np.uint64)
        is_edge = rows != columns  # self-loops are left out
        rows, columns, words = rows[is_edge], columns[is_edge], words[is_edge]
        ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        there = coo_array((np.concatenate([mix(2, words), mix(3, words)]), ends), shape=entries.shape).tocsr()
        there.sum_duplicates()
        return there, there.T.tocsr()


@cache
def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def _balls(there: csr_array, radius: int) -> csr_array:
    """Return, for each node, the nodes at most ``radius`` edges away, including the node."""
    steps = csr_array((np.ones(there.nnz, dtype=np.bool_), there.indices, there.indptr), shape=there.shape)
    near = csr_array(eye_array(there.shape[0], dtype=np.bool_))
    for _ in range(radius):
        near = csr_array(near + near @ steps)
    near.sort_indices()
    return near


def _difference(whole: NDArray[np.void], part: NDArray[np.void]) -> NDArray[np.void]:
    """Return the kinds of subgraphs of a graph, minus those of a part of it."""
    more = whole["count"] - looked_up(whole["code"], part["code"], part["count"])
    rest = whole[more != 0]
    rest["count"] = more[more != 0]
    return rest


def _of_kind(found: NDArray[np.void], kind: Kind) -> NDArray[np.int64]:
    """Return the places of a kind."""
    return np.flatnonzero((found["size"] == kind[0]) & (found["symmetries"] == kind[1]))


def _kind_of(stream: StreamCounts) -> Kind:
    return stream.iteration + 1, int(stream.weight)
