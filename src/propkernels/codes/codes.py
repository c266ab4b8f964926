"""Codes of nodes: hashes of distributions (Algorithm 2), the loops over t (3, on grids 5), and refinement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.arrays import offsets as offsets_of
from propkernels._utils.parallel import (
    equal_work,
    run_threads,
    stage_pieces,
    thread_count,
    threads_for,
    whole_runs,
)
from propkernels._utils.randomness import GOLDEN, OTHER_FACTOR, cauchy, gaussian, label_keys, uniform
from propkernels._utils.stored import require
from propkernels.graphs.database import GraphDatabase
from propkernels.propagation.convolution import GridOperator
from propkernels.propagation.initial import InitialDistributions
from propkernels.propagation.schemes import (
    AffineOperator,
    EdgeFactors,
    PropagationScheme,
    check_step,
    edges_of_operator,
)

NO_BIN = np.iinfo(np.int64).min  # the code of a node that is not counted
METRICS = ("tv", "hellinger", "l1", "l2")
LARGEST_FLOOR = 2.0**36  # codes of larger values are leading bits of the float
KEPT_BITS = np.int64(-(2**16))  # mask of these leading bits
_VECTOR, _OFFSET, _OWN_OFFSET = 1, 2, 3


@dataclass(frozen=True)
class LocalitySensitiveHash:
    """Family of hash functions ``h(x) = floor((v . x + b) / w)``, one per iteration t and repetition.

    ``v`` has independent p-stable entries (Cauchy for tv and l1, normal for hellinger and l2) and ``b``
    is uniform in [0, w]; hellinger takes the square root of x first (Algorithm 2).

    Attributes
    ----------
    metric : {"tv", "hellinger", "l1", "l2"}
    bin_width : float
        The width w.
    seed : int
    purpose : int
        Separates families with the same seed (labels, attributes, ...).
    """

    metric: str
    bin_width: float
    seed: int
    purpose: int = 0

    def _check_parts(self) -> None:
        """Raise an error if the metric is unknown or the bin width is not positive."""
        require(self.metric in METRICS and 0 < self.bin_width < np.inf, "metric or bin width is unknown")

    @property
    def takes_root(self) -> bool:
        """Whether coordinates are replaced by square roots, which do not commute with linear steps."""
        return self.metric == "hellinger"

    def vectors(self, keys: NDArray[np.uint64], streams: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return v / w: one row per key (label, dimension), one column per stream."""
        draw = cauchy if self.metric in ("tv", "l1") else gaussian
        words = (self.seed, self.purpose, _VECTOR, streams[None, :], keys[:, None])
        return draw(*words) / self.bin_width

    def offsets(self, streams: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return b / w for each stream: uniform in (0, 1)."""
        return uniform(self.seed, self.purpose, _OFFSET, streams)

    def own_offsets(self, keys: NDArray[np.uint64], stream: int) -> NDArray[np.float64]:
        """Return b / w for each key of one stream, for dimensions that are hashed separately."""
        return uniform(self.seed, self.purpose, _OWN_OFFSET, stream, keys)


def stream_numbers(t_max: int, n_hashes: int) -> NDArray[np.int64]:
    """Return the number of each stream (t, hash), independent of t_max and n_hashes.

    Streams are ordered by t, then by hash. The streams of a smaller t_max or n_hashes are a subset.
    """
    t, h = np.divmod(np.arange((t_max + 1) * n_hashes, dtype=np.int64), n_hashes)
    return (t << np.int64(32)) + h


def floor_codes(values: Any) -> NDArray[np.int64]:
    """Return the floor as int64; from ``LARGEST_FLOOR`` on, the leading bits of the float.

    The floor of a large value would depend on its last bits, and so on the order in which neighbors were
    summed. Keeping 36 of its 52 binary digits drops those bits; such codes never equal a floor.
    """
    array = np.ascontiguousarray(values, dtype=np.float64)
    small = np.abs(array) < LARGEST_FLOOR
    floors = np.floor(np.where(small, array, 0.0)).astype(np.int64)
    return np.where(small, floors, array.view(np.int64) & KEPT_BITS)


def join_codes(codes: NDArray[np.int64], other: Any) -> NDArray[np.int64]:
    """Return one code per node, equal if and only if both codes are (h = h_l and h_a, Algorithm 4).

    Nodes that are not counted keep ``NO_BIN``. The compiled loops join two numbers in the same way.
    """
    with np.errstate(over="ignore"):
        word = codes.view(np.uint64) * GOLDEN + np.asarray(other, dtype=np.int64).view(np.uint64)
        word = (word ^ (word >> np.uint64(32))) * OTHER_FACTOR
        joined = (word ^ (word >> np.uint64(29))).view(np.int64)
    return np.where(codes == NO_BIN, codes, joined)


NODES_IN_CACHE = 256  # nodes of a block of graphs
ENTRIES_OF_A_LARGE_GRAPH = 2**16  # edges and nodes from which threads may share a graph
VALUES_IN_MEMORY = 2**24  # probabilities or projections per run of graphs
LARGEST_EXPONENT = 1020.0  # values below 2 to this power do not overflow


@dataclass(frozen=True)
class CodeStreams:
    """Hash codes of all nodes; a stream is one hash, of labels or labels and attributes, at one iteration.

    Attributes
    ----------
    codes : ndarray of int64, (rows, N)
        Codes, usually one row per stream.
    iterations : ndarray of int64, (streams,)
        The iteration t of each stream, ascending.
    weights : ndarray, (streams,)
        Weight of each stream's kernel in the sum: 1 / n_hashes.
    shared_rows : ndarray of int64, (streams,), or None
        The row of ``codes`` that stores each stream; None: stream s is row s.
    salts : ndarray of int64, (streams,), or None
        Streams whose attribute hash is constant reuse the row of their label hash; their codes
        are that row's codes joined with this one attribute code (``NO_BIN``: not joined).
    """

    codes: NDArray[np.int64]
    iterations: NDArray[np.int64]
    weights: NDArray[np.float64]
    shared_rows: NDArray[np.int64] | None = None
    salts: NDArray[np.int64] | None = None

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of ``codes`` that stores each stream."""
        return np.arange(len(self.iterations)) if self.shared_rows is None else self.shared_rows

    def streams(self) -> Iterator[tuple[int, float, NDArray[np.int64]]]:
        """Yield the iteration, weight and codes of all nodes for each stream."""
        for s, row in enumerate(self.rows):
            yield int(self.iterations[s]), float(self.weights[s]), self.salted(self.codes[row], s)

    def by_stream(self) -> NDArray[np.int64]:
        """Return the codes of all nodes, one row per stream."""
        if self.shared_rows is None and self.salts is None:
            return self.codes
        return np.stack([codes for _, _, codes in self.streams()])

    def salted(self, codes: NDArray[np.int64], stream: int) -> NDArray[np.int64]:
        """Return the codes of a stored row, of nodes or bins, as codes of one of its streams."""
        if self.salts is None or self.salts[stream] == NO_BIN:
            return codes
        return join_codes(codes, self.salts[stream])


def label_codes(
    graphs: GraphDatabase,
    scheme: PropagationScheme,
    initial: InitialDistributions,
    lsh: LocalitySensitiveHash,
    t_max: int,
    n_hashes: int,
    edge_factors: EdgeFactors | None = None,
) -> CodeStreams:
    """Return the label codes of all nodes: Algorithms 1 and 3 up to the codes.

    If the scheme is affine and the metric takes no root, P_0 is projected first and the projections
    are propagated, ``P_t v_t = T^t (P_0 v_t)``; otherwise P_t is formed, one run of graphs at a
    time. ``edge_factors``, if edge labels count, multiply the projections that cross an edge.
    """
    streams = stream_numbers(t_max, n_hashes)
    initial, keys = in_key_order(initial)
    vectors, offsets = lsh.vectors(keys, streams), lsh.offsets(streams)
    project = scheme.affine and not lsh.takes_root
    if project:
        prepared = scheme.prepare(graphs, initial)
        if isinstance(prepared, AffineOperator):
            labels = None
            if edge_factors is not None:
                edges = edges_of_operator(graphs, prepared, getattr(scheme, "direction", "follow"))
                labels = edges.kinds, edge_factors.draw(edges.keys, streams, np.arange(1, t_max + 1))
            codes = _fused(graphs, prepared, initial, vectors, offsets, n_hashes, labels)
            return _as_streams(codes, t_max, n_hashes)
        if isinstance(prepared, GridOperator) and prepared.path != "fourier" and edge_factors is None:
            codes = grid_codes(prepared, initial, vectors, offsets, n_hashes)
            return _as_streams(codes, t_max, n_hashes)
    if edge_factors is not None:
        raise ValueError(
            f"edge_labels=True needs a propagation scheme of affine steps along edges; got {scheme}"
        )
    codes = _stepwise(graphs, scheme, initial, vectors, offsets, lsh.takes_root, n_hashes)
    return _as_streams(codes, t_max, n_hashes)


def _stepwise(
    graphs: GraphDatabase,
    scheme: PropagationScheme,
    initial: InitialDistributions,
    vectors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    takes_root: bool,
    n_hashes: int,
) -> NDArray[np.int64]:
    """Return codes by the two methods of any scheme, one run of graphs at a time.

    Values are projections P_t v, one column per stream that is left, or probabilities P_t, one per label.
    """
    project = scheme.affine and not takes_root
    width = len(offsets) if project else len(initial.values)
    runs = whole_runs(graphs.graph_ptr, VALUES_IN_MEMORY / max(width, 1))

    def codes_at(t: int, current: NDArray[np.float64]) -> NDArray[np.int64]:
        streams = slice(t * n_hashes, (t + 1) * n_hashes)
        if project:
            return floor_codes(current[:, :n_hashes] + offsets[streams]).T
        points = np.sqrt(np.maximum(current, 0.0)) if takes_root else current
        projected = np.zeros((len(points), n_hashes))
        # label by label, in the order of their keys: labels of other batches do not change the rounding
        for label in range(points.shape[1]):
            projected += points[:, label, None] * vectors[label, streams]
        return floor_codes(projected + offsets[streams]).T

    def one_run(run: int) -> NDArray[np.int64]:
        part, nodes = graphs[runs[run] : runs[run + 1]], graphs.graph_ptr[runs[run : run + 2]]
        own = initial.block(*nodes)
        prepared = scheme.prepare(part, own)
        start = np.asarray((own.table @ vectors)[own.rows], np.float64) if project else own.to_dense()
        current, codes = start, [codes_at(0, start)]
        for t in range(1, len(offsets) // n_hashes):
            if project:
                current, start = current[:, n_hashes:], start[:, n_hashes:]
            current = np.asarray(scheme.step(prepared, current, start), dtype=np.float64)
            check_step(current, t, scheme)
            codes.append(codes_at(t, current))
            if (vanished := getattr(prepared, "vanished", None)) is not None:
                codes[-1][:, vanished] = NO_BIN
        return np.concatenate(codes)

    parts = run_threads(one_run, range(len(runs) - 1))
    return np.concatenate([np.empty((len(offsets), 0), dtype=np.int64), *parts], axis=1)


def in_key_order(initial: InitialDistributions) -> tuple[InitialDistributions, NDArray[np.uint64]]:
    """Return P_0 with labels sorted by key, so that rounding does not depend on label order; and the keys."""
    keys = label_keys(initial.values)
    order = np.argsort(keys)
    table = csr_array(initial.table[:, order])
    table.sort_indices()
    values = tuple(initial.values[i] for i in order)
    return InitialDistributions(initial.rows, table, values, initial.observed), keys[order]


def _as_streams(codes: NDArray[np.int64], t_max: int, n_hashes: int) -> CodeStreams:
    """Return codes, one row per stream, with iterations and the weight 1 / n_hashes."""
    iterations = np.repeat(np.arange(t_max + 1), n_hashes)
    return CodeStreams(codes, iterations, np.full(len(iterations), 1.0 / n_hashes))


def _fused(
    graphs: GraphDatabase,
    operator: AffineOperator,
    initial: InitialDistributions,
    vectors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_hashes: int,
    edge_labels: tuple[NDArray[np.int32], NDArray[np.float64]] | None = None,
) -> NDArray[np.int64]:
    """Return codes by the compiled loop, which makes all steps of a block of graphs while it is in the cache.

    ``edge_labels``: label number of each edge, and factors of shape (steps, labels, streams), if they count.
    """
    unused = -len(offsets) % _core.LANES
    projected = np.zeros((initial.table.shape[0], unused + len(offsets)))
    projected[:, unused:] = initial.table @ vectors
    _check_growth(operator, projected, (len(offsets) - 1) // n_hashes)
    codes = np.empty((len(offsets), graphs.n_nodes), dtype=np.int64)
    kinds = factors = None
    if edge_labels is not None:  # factors as (column group, step, label, lane), unused columns first
        kinds, drawn = edge_labels
        padded = np.pad(drawn, ((0, 0), (0, 0), (unused, 0)), constant_values=1.0)
        groups = padded.reshape(*drawn.shape[:2], padded.shape[2] // _core.LANES, _core.LANES)
        factors = np.ascontiguousarray(np.moveaxis(groups, 2, 0))
    step = Step.of(operator, kinds, factors)
    work = Work.of(graphs, operator.adjacency.indptr, codes.size)
    _core.propagate_and_hash(step, (initial.rows, projected, offsets, n_hashes), work, codes)
    if operator.vanished is not None:
        codes[n_hashes:, operator.vanished] = NO_BIN
    return codes


class Step(NamedTuple):
    """The affine step x'_i = spread_i * sum_j A_ij x_j + keep_i x_i + restart_i x0_i, for compiled loops.

    Attributes
    ----------
    indptr, indices : ndarray of int32 or int64
        CSR structure of A.
    weights : ndarray of float64, (entries,), or None
        CSR values of A; None: all 1.
    spread, keep : ndarray of float64, (N,)
    restart : ndarray of float64, (N,), or None
        None: all 0.
    pushed_back : ndarray of bool, (N,), or None
        Nodes that are reset to x0 before each step.
    kinds : ndarray of int32, (entries,), or None
        Number of the edge label of each entry of A.
    factors : ndarray of float64, (groups, steps, labels, lanes), or None
        ``factors[g, k - 1, label, lane]`` multiplies A_ij with that label in step k, column g * lanes + lane.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float64] | None
    spread: NDArray[np.float64]
    keep: NDArray[np.float64]
    restart: NDArray[np.float64] | None
    pushed_back: NDArray[np.bool_] | None
    kinds: NDArray[np.int32] | None
    factors: NDArray[np.float64] | None

    @classmethod
    def of(
        cls,
        operator: AffineOperator,
        kinds: NDArray[np.int32] | None = None,
        factors: NDArray[np.float64] | None = None,
    ) -> Step:
        """Return the step of an operator."""
        a = operator.adjacency
        weights = None if operator.is_unweighted else a.data
        parts = a.indptr, a.indices, weights, operator.spread, operator.keep, operator.restart
        return cls(*parts, operator.pushed_back, kinds, factors)


class Work(NamedTuple):
    """Work of threads over graphs, cut by edges: runs of blocks of whole graphs, and large graphs.

    Attributes
    ----------
    threads : int
    blocks : ndarray of int64, (blocks, 2)
        First node and last node + 1 of each block, a run of graphs that fits the cache.
    runs : ndarray of int64, (runs + 1,)
        First block of each run.
    large : list of ndarray of int64
        Nodes of each large graph, cut into parts for threads.
    """

    threads: int
    blocks: NDArray[np.int64]
    runs: NDArray[np.int64]
    large: list[NDArray[np.int64]]

    @classmethod
    def of(cls, graphs: GraphDatabase, indptr: NDArray[Any], size: int) -> Work:
        """Return the work on these graphs for ``size`` codes."""
        ptr, threads = graphs.graph_ptr, threads_for(size)
        cuts = whole_runs(ptr, NODES_IN_CACHE)
        if threads == 1:
            return cls(1, np.stack([ptr[cuts[:-1]], ptr[cuts[1:]]], axis=1), np.arange(len(cuts)), [])
        cost = indptr[ptr] + ptr  # entries and nodes before each graph
        is_large = np.diff(cost) > max(float(cost[-1]) / (2 * threads), ENTRIES_OF_A_LARGE_GRAPH)
        large = np.flatnonzero(is_large)
        cuts = np.unique(np.concatenate([cuts, large, large + 1]))
        blocks = np.stack([ptr[cuts[:-1]], ptr[cuts[1:]]], axis=1)[~is_large[cuts[:-1]]]
        work = offsets_of(np.diff(blocks).ravel() + np.diff(indptr[blocks]).ravel())
        parts = []  # of the nodes of each large graph, cut by edges
        for first, last in zip(ptr[large], ptr[large + 1], strict=True):
            own = indptr[first : last + 1] + np.arange(first, last + 1)
            parts.append(first + equal_work(own, stage_pieces(threads)))
        return cls(threads, blocks, equal_work(work, stage_pieces(threads)), parts)


def _check_growth(operator: AffineOperator, projected: NDArray[np.float64], n_steps: int) -> None:
    """Raise an error if values could become infinite, and so fall into one bin.

    In a step, values grow at most by the factor ``max_i(spread_i sum_j A_ij + keep_i + restart_i)``. A coarse
    bound from the largest weight and the largest number of neighbors suffices for nearly all graphs.
    """
    adjacency, counts = operator.adjacency, np.diff(operator.adjacency.indptr)
    weight = 1.0 if operator.is_unweighted else float(adjacency.data.max(initial=0.0))
    most = int(counts.max(initial=0))
    spread, keep = float(operator.spread.max(initial=0.0)), float(operator.keep.max(initial=0.0))
    growth = weight * most * spread + keep + 1.0
    start = max(float(projected.max(initial=0.0)), -float(projected.min(initial=0.0)), 1.0)
    if n_steps * math.log2(growth) + math.log2(start) < LARGEST_EXPONENT:
        return
    sums = np.asarray(adjacency.sum(axis=1)).ravel() * operator.spread + operator.keep
    growth = max(float(sums.max(initial=0.0)), 1.0) + (0.0 if operator.restart is None else 1.0)
    if not n_steps * math.log2(growth) + math.log2(start) < LARGEST_EXPONENT:
        raise ValueError(
            f"propagated values may grow up to {growth:g} times in each of {n_steps} steps and overflow: "
            "divide the weights by a constant, or reduce t_max"
        )


ANY_OTHER = 0x5851F42D4C957F2D  # replaces the code that means "not counted"


def multiset_codes(
    graphs: GraphDatabase,
    node_keys: NDArray[np.uint64],
    edge_keys: NDArray[np.uint64] | None,
    t_max: int,
) -> CodeStreams:
    """Return codes after 0 .. t_max refinements; each hashes a node's code with its neighbors' multiset.

    Codes are pure functions of keys and structure, equal in all batches, processes and machines. Two
    different neighborhoods have the same code with probability about 2^-64.

    Parameters
    ----------
    graphs : GraphDatabase
        Neighbors of a node are the targets of its edges.
    node_keys : ndarray of uint64, (N,)
    edge_keys : ndarray of uint64, one per stored entry of the adjacency, or None
    t_max : int

    Returns
    -------
    CodeStreams
        Iterations t = 0, ..., t_max, one stream each.
    """
    codes = np.empty((t_max + 1, graphs.n_nodes), dtype=np.uint64)
    codes[0] = node_keys
    edges = graphs.adjacency.indptr, graphs.adjacency.indices, edge_keys
    work = Work.of(graphs, graphs.adjacency.indptr, codes.size)
    _core.refine(edges, work, codes)
    return as_streams(codes)


def as_streams(codes: NDArray[np.uint64]) -> CodeStreams:
    """Return one stream per row, with weight 1; the code that means "not counted" is replaced."""
    signed = codes.view(np.int64)
    signed[signed == NO_BIN] = ANY_OTHER
    return CodeStreams(signed, np.arange(len(codes)), np.ones(len(codes)))


PIXELS_OF_A_RUN = 2**18


def grid_codes(
    operator: GridOperator,
    initial: InitialDistributions,
    vectors: NDArray[np.float64],
    offsets: NDArray[np.float64],
    n_hashes: int,
) -> NDArray[np.int64]:
    """Return the codes of all counted pixels, (streams, N), by sums over taps."""
    grids, threads = operator.grids, thread_count()
    codes = np.empty((len(offsets), grids.n_nodes), dtype=np.int64)
    share = max(grids.n_nodes / stage_pieces(threads), 1024)
    bounds = np.union1d(whole_runs(grids.graph_ptr, min(share, PIXELS_OF_A_RUN)), operator.changes)
    start, images = (initial.rows, np.asarray(initial.table @ vectors)), (operator.images, operator.taps)
    _core.convolve_and_hash(*images, *start, offsets, n_hashes, bounds, codes, threads)
    return codes
