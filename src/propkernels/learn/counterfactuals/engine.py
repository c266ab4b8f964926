"""Decisions of edited graphs without the pipeline: folded rules of diffusion and Weisfeiler-Lehman.

An edit changes the codes of iteration t only within t steps of it (P_t = T^t P_0), and a decision is a sum of
weights of codes: what an edit does not touch stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from propkernels.counting.levels import LevelCounter
from propkernels.gram.linear import inverse_length
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn
from propkernels.hashing.codes import NO_BIN, in_key_order, stream_numbers
from propkernels.kernels.propagation import PropagationCoder
from propkernels.kernels.weisfeiler_lehman import RefinementCoder
from propkernels.learn.counterfactuals.alphabet import Alphabet

FoldedRule = object
from propkernels.propagation.edge_labels import EdgeFactors
from propkernels.propagation.initial import (
    InitialDistributions,
    initial_distributions,
    label_column,
    node_keys,
)
from propkernels.propagation.schemes import Diffusion, affine_weights, reciprocal
from propkernels.utils.arrays import power_of_two
from propkernels.utils.randomness import label_keys

MOST_VALUES = 2**25  # of all nodes, steps and streams: what is kept of the graph as it is
MOST_NEIGHBORS = 2**24
Matrix = NDArray[np.float64]
BY_DEGREE = ("degree", "log_degree")


def can_run(rule: Any, graph: GraphDatabase) -> bool:
    """Whether the compiled loops know what the rule and the graph are made of."""
    return False
    coder = rule.counter.counter if isinstance(rule.counter, LevelCounter) else rule.counter
    return _knows_coder(coder, len(rule.codes)) and _knows_graph(coder, graph)


def _knows_coder(coder: Any, n_streams: int) -> bool:
    if type(coder) is RefinementCoder:
        return not coder.edge_weights and n_streams == coder.n_iter + 1
    return (
        type(coder) is PropagationCoder
        and type(coder.scheme) is Diffusion
        and coder.attributes is None
        and not coder.lsh.takes_root
        and n_streams == (coder.t_max + 1) * coder.n_hashes
    )


def _knows_graph(coder: Any, graph: GraphDatabase) -> bool:
    adjacency, labels = graph.adjacency, graph.label_column
    n_steps = coder.n_iter + 1 if isinstance(coder, RefinementCoder) else coder.t_max + 1
    n_values = n_steps * coder.n_streams * (graph.n_nodes + 2)
    width = int(np.diff(adjacency.indptr).max(initial=0)) + 3
    if n_values > MOST_VALUES or width * graph.n_nodes > MOST_NEIGHBORS:
        return False
    if not graph.is_unweighted or graph.is_directed or graph.has_parallel_edges or adjacency.diagonal().any():
        return False
    if coder.source == "node" and not (labels is None or isinstance(labels, LabelColumn)):
        return False
    return not coder.edge_labels or _same_both_ways(graph)


def _same_both_ways(graph: GraphDatabase) -> bool:
    """Whether an edge has one label in both directions."""
    column, matrix = graph.edge_label_column, graph.adjacency.tocoo()
    if column is None:
        return True
    rows, columns = matrix.coords
    there, back = np.lexsort((columns, rows)), np.lexsort((rows, columns))
    return bool(np.array_equal(column.ids[there], column.ids[back]))


class Engine:
    """A graph, ready to be edited.

    Parameters
    ----------
    rule : FoldedRule
        One for which :func:`can_run` is true.
    graph : GraphDatabase
        One graph.
    alphabet : Alphabet
        Labels of nodes and edges that edits may use.
    """

    def __init__(self, rule: FoldedRule, graph: GraphDatabase, alphabet: Alphabet) -> None:
        from propkernels.learn.counterfactuals import compiled

        levels = isinstance(rule.counter, LevelCounter)
        coder: Any = rule.counter.counter if isinstance(rule.counter, LevelCounter) else rule.counter
        self.rule, n, n_streams = rule, graph.n_nodes, len(rule.codes)
        self.wiring = _wired(graph, alphabet)
        most_degree = self.wiring.neighbors.shape[1] + 1
        self.walk = self.refinement = None
        if isinstance(coder, RefinementCoder):
            self.refinement = _refinement(coder, graph, alphabet, most_degree)
        else:
            self.walk = _walk(coder, graph, alphabet, most_degree)
        self.weights = _weights(rule, levels)
        self.counts = _counts(n_streams, n)
        self.state = _state(n_streams, n, rule.weights[0].shape[1], self.walk)
        self.room = np.full(2, -1, dtype=np.int64), np.zeros(n_streams)
        compiled.begin(
            self.wiring, self.walk, self.refinement, self.state, self.weights, self.counts, self.room[0]
        )
        for values, before in (
            (self.state.walked, self.state.walked_before),
            (self.state.refined, self.state.refined_before),
        ):
            if values is not None:
                before[:] = values

    def decisions(self, edits: NDArray[np.int64], connected: bool) -> Matrix:
        """Return decisions without intercepts, (edits, decisions), NaN where an edit cannot be made.

        Parameters
        ----------
        edits : ndarray of int64, (m, 2, 5)
            One or two edits each.
        connected : bool
            Whether the ends of a removed edge must stay connected.
        """
        from propkernels.learn.counterfactuals.compiled import decide

        sums = np.empty((len(edits), self.rule.weights[0].shape[1]))
        squares = np.ones((len(edits), len(self.rule.codes) if self.rule.normalize else 0))
        decide(
            self.wiring, self.walk, self.refinement, self.state, self.weights, self.counts,
            np.ascontiguousarray(edits), connected, *self.room, sums, squares,
        )  # fmt: skip
        if not self.rule.normalize:
            return sums
        return sums * inverse_length(squares @ self.rule.stream_weights)[:, None]


def _wired(graph: GraphDatabase, alphabet: Alphabet) -> Any:
    """Rows of neighbors with room for more."""
    from propkernels.learn.counterfactuals.edits_compiled import Wiring

    n, adjacency = graph.n_nodes, graph.adjacency
    degree = np.zeros(n + 2, dtype=np.int64)
    degree[:n] = np.diff(adjacency.indptr)
    neighbors, bonds = np.zeros((2, n + 2, int(degree.max(initial=0)) + 3), dtype=np.int32)
    rows = np.repeat(np.arange(n), degree[:n])
    places = np.arange(adjacency.nnz) - np.repeat(adjacency.indptr[:-1], degree[:n])
    neighbors[rows, places] = adjacency.indices
    bonds[rows, places] = alphabet.edge_ids
    labels = np.zeros(n + 2, dtype=np.int64)
    labels[:n] = alphabet.node_ids
    return Wiring(neighbors, bonds, degree, labels, np.arange(n + 2) < n)


def _walk(coder: PropagationCoder, graph: GraphDatabase, alphabet: Alphabet, most_degree: int) -> Any:
    """Tables of diffusion; a node's share of its neighbors and of itself depends on its degree alone."""
    from propkernels.learn.counterfactuals.touched_compiled import Walk

    scheme: Any = coder.scheme
    degrees = np.arange(most_degree, dtype=np.float64)
    spread, keep = affine_weights(scheme.normalization, scheme.laziness, degrees)
    streams = stream_numbers(coder.t_max, coder.n_hashes)
    keys, steps = label_keys(alphabet.edge_values), np.arange(1, coder.t_max + 1)
    factors = np.ones((len(steps), len(keys), len(streams)))
    if coder.edge_labels:
        factors = EdgeFactors(coder.lsh.seed, coder.lsh.purpose).draw(keys, streams, steps)
    scaled = scheme.normalization == "symmetric"
    return Walk(
        _projected(coder, graph, alphabet, most_degree, streams),
        coder.source in BY_DEGREE,
        spread,
        np.where(degrees == 0, 1.0, keep),
        np.sqrt(reciprocal(degrees)) if scaled else np.ones(most_degree),
        scaled,
        np.ascontiguousarray(factors),
        not scaled and not coder.edge_labels,
        coder.lsh.offsets(streams),
        coder.n_hashes,
        scheme.isolated == "vanish",
    )


def _projected(
    coder: PropagationCoder,
    graph: GraphDatabase,
    alphabet: Alphabet,
    most_degree: int,
    streams: NDArray[np.int64],
) -> Matrix:
    """Projections of each label of the alphabet, or of each degree."""
    column = _start_column(coder.source, graph, alphabet, most_degree)
    initial, keys = in_key_order(initial_distributions(column, coder.prior))
    assert isinstance(initial, InitialDistributions)
    return np.asarray((initial.table @ coder.lsh.vectors(keys, streams))[initial.rows])


def _start_column(
    source: str | None, graph: GraphDatabase, alphabet: Alphabet, most_degree: int
) -> LabelColumn:
    """A label for each row of the tables: those of the alphabet, or of the degrees 0, 1, ..."""
    if source in BY_DEGREE:
        column = label_column(_stars(most_degree), source)
        assert isinstance(column, LabelColumn)
        return column.take(np.arange(most_degree))
    if source is None:
        return LabelColumn(np.zeros(len(alphabet.node_values), dtype=np.int32), (0,))
    values = alphabet.node_values
    ids = np.array([-1 if value is None else i for i, value in enumerate(values)], dtype=np.int32)
    return LabelColumn(ids, tuple(0 if value is None else value for value in values))


def _stars(most_degree: int) -> GraphDatabase:
    """A graph whose node d has the degree d, for d below ``most_degree``."""
    degrees = np.arange(most_degree)
    to_last = (degrees, np.full(most_degree, most_degree))
    matrix = coo_array((degrees.astype(np.float64), to_last), shape=(most_degree + 1, most_degree + 1))
    return GraphDatabase(matrix, [0, most_degree + 1])


def _refinement(coder: RefinementCoder, graph: GraphDatabase, alphabet: Alphabet, most_degree: int) -> Any:
    from propkernels.learn.counterfactuals.touched_compiled import Refinement

    by_degree = coder.source in BY_DEGREE
    if by_degree:
        keys = node_keys(_stars(most_degree), coder.source)[:most_degree]
    else:
        column = _start_column(coder.source, graph, alphabet, most_degree)
        empty = GraphDatabase(np.zeros((len(column), len(column))), [0, len(column)])
        keys = node_keys(empty.with_labels(column), None if coder.source is None else "node")
    edge_keys = label_keys(alphabet.edge_values)
    return Refinement(np.ascontiguousarray(keys), by_degree, edge_keys, coder.edge_labels)


def _weights(rule: FoldedRule, levels: bool) -> Any:
    """All weights in one table; a stream's slots are at least twice as many as its codes."""
    from propkernels.learn.counterfactuals.compiled import Weights, fill_weights

    sizes = np.array([power_of_two(2 * len(codes) + 1) for codes in rule.codes], dtype=np.int64)
    total = int(sizes.sum())
    weights = Weights(
        np.zeros(total, dtype=np.int64),
        np.full(total, -1, dtype=np.int32),
        np.cumsum(sizes) - sizes,
        sizes - 1,
        np.concatenate(rule.weights),
        levels,
        levels or rule.normalize,
    )
    first = 0
    for stream, codes in enumerate(rule.codes):
        fill_weights(weights, stream, codes, first)
        first += len(codes)
    return weights


def _counts(n_streams: int, n: int) -> Any:
    from propkernels.learn.counterfactuals.compiled import Counts

    size, most = power_of_two(6 * (n + 2)), n_streams * (2 * n + 8)
    numbers = np.full((n_streams, size), -1, dtype=np.int64)
    codes, log = np.zeros((n_streams, size), dtype=np.int64), np.zeros((most, 3), dtype=np.int64)
    return Counts(codes, numbers, log, np.zeros(1, dtype=np.int64))


def _state(n_streams: int, n: int, n_decisions: int, walk: Any) -> Any:
    from propkernels.learn.counterfactuals.touched_compiled import State

    n_steps = n_streams if walk is None else n_streams // walk.n_hashes
    none = (None, None)
    walked = none if walk is None else np.zeros((2, n_steps, n + 2, n_streams))
    refined = np.zeros((2, n_steps, n + 2), dtype=np.uint64) if walk is None else none
    return State(
        walked[0],
        walked[1],
        refined[0],
        refined[1],
        np.full((n_streams, n + 2), NO_BIN, dtype=np.int64),
        np.full((n_streams, n + 2), NO_BIN, dtype=np.int64),
        np.zeros(n + 2, dtype=np.int64),
        np.full(n + 2, n_steps, dtype=np.int64),
        np.zeros(n_steps, dtype=np.int64),
        np.zeros(n_decisions),
        np.zeros(n_streams),
    )
