"""Trackers: changes of the counts of one graph by edits.

An edit changes the codes of iteration t only within t steps of it (P_t = T^t P_0), so its cost is
proportional to the ball of radius t_max around it. Shortest paths are recounted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from propkernels._utils.arrays import power_of_two
from propkernels._utils.randomness import label_keys
from propkernels.codes.attribute_codes import JoinedAttributes
from propkernels.codes.codes import (
    NO_BIN,
    CodeStreams,
    LocalitySensitiveHash,
    in_key_order,
    join_codes,
    stream_numbers,
)
from propkernels.counts.entries import Changes, Vocabulary
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import LabelColumn, entry_of
from propkernels.propagation.edge_labels import EdgeFactors
from propkernels.propagation.initial import (
    Prior,
    initial_distributions,
    label_column,
    label_column_keys,
)
from propkernels.propagation.schemes import Diffusion, affine_weights, reciprocal
from propkernels.tracking.alphabet import NEW_NODES, Alphabet

MOST_VALUES = 2**25  # stored values of the unedited graph: nodes * steps * streams
LINE = 8  # words in a cache line
BY_DEGREE = ("degree", "log_degree")
Keys = NDArray[np.uint64]


def is_trackable(graph: GraphDatabase) -> bool:
    """Whether a graph is unweighted, undirected and simple, with one label per edge."""
    adjacency = graph.adjacency
    if not graph.is_unweighted or graph.is_directed:
        return False
    return not graph.has_parallel_edges and not adjacency.diagonal().any() and _same_both_ways(graph)


def _same_both_ways(graph: GraphDatabase) -> bool:
    """Whether every edge has the same label in both directions."""
    column, matrix = graph.edge_label_column, graph.adjacency.tocoo()
    if column is None:
        return True
    rows, columns = matrix.coords
    there, back = np.lexsort((columns, rows)), np.lexsort((rows, columns))
    return bool(np.array_equal(column.ids[there], column.ids[back]))


def wired(graph: GraphDatabase, alphabet: Alphabet) -> Any:
    """Return the graph as a ``Wiring``, with room for further neighbors and nodes."""
    from propkernels.tracking.wiring_compiled import UNTOUCHED, Wiring

    n, adjacency, more = graph.n_nodes, graph.adjacency, alphabet.n_new
    room = np.full(n + more, NEW_NODES + 1)
    room[:n] += np.diff(adjacency.indptr)
    used = int(room.sum())
    spare = used + more if more > NEW_NODES else 0  # rows of graphs that stay edited move when they are full
    # what belongs to a node is in one cache line
    first, degree, labels, depth = np.full((n + more, 4), 0, np.int32 if used + spare < 2**31 else np.int64).T
    first[:] = np.cumsum(room) - room
    degree[:n] = np.diff(adjacency.indptr)
    places = np.repeat(first[:n] - adjacency.indptr[:-1].astype(np.int64), degree[:n]) + np.arange(
        adjacency.nnz
    )
    neighbors, bonds = np.full((2, used + spare), 0, dtype=np.int32)
    neighbors[places] = adjacency.indices
    bonds[places] = alphabet.edge_ids
    labels[:n] = alphabet.node_ids
    depth[:] = UNTOUCHED
    alive = np.arange(n + more) < n
    return Wiring(first, room, neighbors, bonds, np.array([used]), degree, labels, alive, depth)


def most_degrees(graph: GraphDatabase, alphabet: Alphabet) -> int:
    """Return the number of possible degrees of a node after edits, 0 included."""
    return int(np.diff(graph.adjacency.indptr).max(initial=0)) + alphabet.n_new + 2


class Tracker(ABC):
    """Tracks the counts of one graph in the bins of a vocabulary.

    Attributes
    ----------
    most_changes : int
        Largest number of changes by one row of edits.
    """

    most_changes: int
    _rows: NDArray[np.int32] = np.empty((0, 4), dtype=np.int32)

    def changes(self, edits: NDArray[np.int64], counted: bool = True) -> Changes:
        """Return the changes of counts by each row of edits, (m, 2, 5), all of which must be possible.

        Without ``counted``, which is faster, only the differences of counts, summed over the rows of a bin,
        are valid, and bins not seen in training are left out. The next call reuses the memory of the changes.
        """
        if len(self._rows) < len(edits) * self.most_changes:
            self._rows = np.empty((len(edits) * self.most_changes, 4), dtype=np.int32)
        changes = Changes(np.zeros(len(edits) + 1, dtype=np.int64), self._rows)
        self._follow(edits, counted, changes)
        return changes

    @abstractmethod
    def _follow(self, edits: NDArray[np.int64], counted: bool, changes: Changes) -> None:
        """Write the changes by each row of edits."""


class NodeTracker(Tracker):
    """Tracks counts of node codes; see :class:`propkernels.tracking.touched_compiled.Walk`.

    Parameters
    ----------
    vocabulary : Vocabulary
    graph : GraphDatabase
    alphabet : Alphabet
    walk, refinement : Walk or None, Refinement or None
        Exactly one of the two is given.
    iterations : ndarray of int64, (rows,)
        Iteration of each row of codes.
    rows : ndarray of int64, (streams,)
        Row of codes of each stream.
    salts : ndarray of int64, (streams, nodes), or None
        Attribute codes to join with the codes of each stream.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        graph: GraphDatabase,
        alphabet: Alphabet,
        *,
        walk: Any = None,
        refinement: Any = None,
        iterations: NDArray[np.int64],
        rows: NDArray[np.int64],
        salts: NDArray[np.int64] | None = None,
    ) -> None:
        from propkernels.tracking.bins_compiled import Coding
        from propkernels.tracking.touched_compiled import settle_nodes

        n = graph.n_nodes + alphabet.n_new
        codes, new_codes = np.full((2, len(iterations), n), NO_BIN, dtype=np.int64)
        coding = Coding(rows, iterations, salts, codes, new_codes)
        touched = _all_touched(graph.n_nodes, n, iterations)
        self.most_changes = len(rows) * 2 * (n + 2)
        bins = _bins(len(rows), n, 4 * n, 2 * (n + 2))
        self._parts = (wired(graph, alphabet), walk, refinement, coding, touched, bins, vocabulary.table)
        settle_nodes(*self._parts)

    def _follow(self, edits: NDArray[np.int64], counted: bool, changes: Changes) -> None:
        from propkernels.tracking.touched_compiled import follow_nodes

        follow_nodes(*self._parts, edits, counted, changes)


class NodeCodes:
    """Codes of the nodes of a graph that stays edited; see :class:`NodeTracker` for the other parameters.

    Parameters
    ----------
    codes : ndarray of int64, (rows, nodes and room for more)
        Room for the codes; they are those of the last :meth:`update`.
    """

    def __init__(
        self,
        graph: GraphDatabase,
        alphabet: Alphabet,
        *,
        walk: Any = None,
        refinement: Any = None,
        iterations: NDArray[np.int64],
        rows: NDArray[np.int64],
        salts: NDArray[np.int64] | None = None,
        codes: NDArray[np.int64],
    ) -> None:
        from propkernels.tracking.touched_compiled import code_edited, code_nodes

        self.rows, self.salts, self.iterations, self.codes = rows, salts, iterations, codes
        codes[:] = NO_BIN
        touched = _all_touched(graph.n_nodes, codes.shape[1], iterations)
        code_nodes(wired(graph, alphabet), walk, refinement, codes, touched)
        self._parts = plain(walk), plain(refinement), codes, plain(touched)
        self._code_edited = code_edited

    def update(self, wiring: Any, edits: NDArray[np.int64], n_edits: int) -> None:
        """Compute the codes that change by the first edits of (m, 3), kind and two nodes, made already.

        ``wiring`` is a plain tuple (see :func:`plain`).
        """
        self._code_edited(wiring, *self._parts, edits, n_edits)

    def streams(self, n_nodes: int, n_hashes: int) -> CodeStreams:
        """Return the codes of the first nodes as those of the counter of a vocabulary."""
        codes = self.codes[self.rows, :n_nodes]
        if self.salts is not None:
            codes = join_codes(codes, self.salts[:, :n_nodes])
        iterations = self.iterations[self.rows]
        return CodeStreams(np.ascontiguousarray(codes), iterations, np.full(len(iterations), 1.0 / n_hashes))


def _all_touched(n_nodes: int, room: int, iterations: NDArray[np.int64]) -> Any:
    """Return a ``Touched`` that lists all nodes."""
    from propkernels.tracking.touched_compiled import Touched

    n_steps = int(iterations[-1]) + 1
    return Touched(np.arange(room), np.full(n_steps, n_nodes), np.full(2, -1), np.zeros(2, dtype=np.int64))


def plain(record: Any) -> Any:
    """Return a record as a plain tuple, whose type numba finds faster; None stays None."""
    return None if record is None else tuple(record)


def node_tracker(
    vocabulary: Vocabulary | None, graph: GraphDatabase, alphabet: Alphabet, **parts: Any
) -> Any:
    """Return a tracker of counts in a vocabulary; without a vocabulary, of codes alone."""
    if vocabulary is None:
        return NodeCodes(graph, alphabet, **parts)
    del parts["codes"]
    return NodeTracker(vocabulary, graph, alphabet, **parts)


class PairTracker(Tracker):
    """Tracks counts of pairs of nodes joined by a shortest path.

    Parameters
    ----------
    vocabulary : Vocabulary
    graph : GraphDatabase
    alphabet : Alphabet
    start : ndarray of uint64
        Key of each label of the alphabet, or of each degree.
    by_degree : bool
    edge_labels : bool
        Whether edge labels along a path count.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        graph: GraphDatabase,
        alphabet: Alphabet,
        start: Keys,
        by_degree: bool,
        edge_labels: bool,
    ) -> None:
        from propkernels.tracking.tracked_paths_compiled import Paths, edge_words, settle_pairs

        n = graph.n_nodes + alphabet.n_new
        keys = label_keys(alphabet.edge_values)
        words = np.empty_like(keys)
        edge_words(keys, words)
        room = np.zeros(n, np.int64), np.zeros(n, np.uint64), np.zeros(n, np.int64), np.zeros(2, np.int64)
        paths = Paths(start, by_degree, words, edge_labels, *room)
        self.most_changes = 2 * n * n
        bins = _bins(1, 0, 4 * n * n, 4 * n * n)
        self._parts = (wired(graph, alphabet), paths, bins, vocabulary.table)
        settle_pairs(*self._parts)

    def _follow(self, edits: NDArray[np.int64], counted: bool, changes: Changes) -> None:
        from propkernels.tracking.tracked_paths_compiled import follow_pairs

        follow_pairs(*self._parts, edits, changes)


def _bins(n_streams: int, n_nodes: int, n_cells: int, n_touched: int) -> Any:
    from propkernels.tracking.bins_compiled import Bins

    size = power_of_two(n_cells)
    return Bins(
        np.zeros((n_streams, size, 4), dtype=np.int64),
        np.full((n_streams, n_nodes), -1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros(n_touched, dtype=np.int64),
    )


class Stored(NamedTuple):
    """Arrays with an entry per node: values, (nodes, values); values to restore; codes, (rows, nodes).

    Trackers of counts keep their codes elsewhere. Live graphs restore nothing and may be large: codes and
    values of a node are next to each other in memory, in one cache line where they fit.
    """

    values: Any
    before: Any
    codes: Any


def _stored(n_nodes: int, n_values: int, n_codes: int, dtype: Any, is_live: bool) -> Stored:
    """Return room for numbers of values and codes per node."""
    if not is_live:
        values, before = np.zeros((2, n_nodes, n_values), dtype=dtype)
        return Stored(values, before, None)
    width = n_values + n_codes
    width = power_of_two(width) if width < LINE else width
    room = np.full(n_nodes * width + LINE, 0)  # unlike zeros, in large pages
    first = -room.ctypes.data // room.itemsize % LINE
    rows = room[first : first + n_nodes * width].reshape(n_nodes, width)
    values = rows[:, n_codes : n_codes + n_values].view(dtype)
    return Stored(values, np.zeros((1, n_values), dtype=dtype), rows[:, :n_codes].T)


# Start tables: one row per label of an alphabet, or per degree.


def start_column(source: str | None, graph: GraphDatabase, alphabet: Alphabet) -> LabelColumn:
    """Return one label per label of the alphabet or, if nodes start with degrees, per degree."""
    if source in BY_DEGREE:
        most = most_degrees(graph, alphabet)
        column = label_column(_stars(most), source)
        assert isinstance(column, LabelColumn)
        return column.take(np.arange(most))
    if source is None:
        return LabelColumn(np.zeros(len(alphabet.node_values), dtype=np.int32), (0,))
    values = alphabet.node_values
    ids = np.array([-1 if value is None else i for i, value in enumerate(values)], dtype=np.int32)
    return LabelColumn(ids, tuple(0 if value is None else value for value in values))


def _stars(most_degree: int) -> GraphDatabase:
    """Return a graph whose node d has degree d, for d < ``most_degree``."""
    degrees = np.arange(most_degree)
    to_last = (degrees, np.full(most_degree, most_degree))
    matrix = coo_array((degrees.astype(np.float64), to_last), shape=(most_degree + 1, most_degree + 1))
    return GraphDatabase(matrix, [0, most_degree + 1])


def start_keys(
    source: str | None, graph: GraphDatabase, alphabet: Alphabet, entry: int | None = None
) -> Keys:
    """Return the keys of the start labels, or of one entry of each."""
    column = start_column(source, graph, alphabet)
    return np.ascontiguousarray(label_column_keys(column if entry is None else entry_of(column, entry)))


def diffusion_tracker(
    vocabulary: Vocabulary | None,
    graph: GraphDatabase,
    alphabet: Alphabet,
    scheme: Diffusion,
    source: str | None,
    prior: Prior,
    lsh: LocalitySensitiveHash,
    t_max: int,
    n_hashes: int,
    edge_labels: bool,
    attributes: JoinedAttributes | None,
) -> Any:
    """Return a tracker of diffused labels joined with attribute codes; None if memory would not suffice."""
    from propkernels.tracking.touched_compiled import Walk

    iterations = np.repeat(np.arange(t_max + 1), n_hashes)
    rows, salts = (np.arange(len(iterations)), None) if attributes is None else attributes
    n, begins = graph.n_nodes + alphabet.n_new, _begins(t_max, n_hashes)
    if vocabulary is not None and (n * begins[-1] > MOST_VALUES or len(rows) * n > MOST_VALUES // 16):
        return None
    degrees = np.arange(most_degrees(graph, alphabet), dtype=np.float64)
    spread, keep = affine_weights(scheme.normalization, scheme.laziness, degrees)
    streams = stream_numbers(t_max, n_hashes)
    factors = np.ones((t_max, len(alphabet.edge_values), len(streams)))
    if edge_labels:
        keys, steps = label_keys(alphabet.edge_values), np.arange(1, t_max + 1)
        factors = EdgeFactors(lsh.seed, lsh.purpose).draw(keys, streams, steps)
    initial, label_order = in_key_order(initial_distributions(start_column(source, graph, alphabet), prior))
    scaled = scheme.normalization == "symmetric"
    stored = _stored(n, int(begins[-1]), len(iterations), np.float64, vocabulary is None)
    walk = Walk(
        np.asarray((initial.table @ lsh.vectors(label_order, streams))[initial.rows]),
        source in BY_DEGREE,
        spread,
        np.where(degrees == 0, 1.0, keep),
        np.sqrt(reciprocal(degrees)) if scaled else np.ones(len(degrees)),
        scaled,
        np.ascontiguousarray(factors),
        not scaled and not edge_labels,
        lsh.offsets(streams),
        n_hashes,
        scheme.isolated == "vanish",
        begins,
        stored.values,
        stored.before,
    )
    return node_tracker(
        vocabulary,
        graph,
        alphabet,
        walk=walk,
        iterations=iterations,
        rows=rows,
        salts=salts,
        codes=stored.codes,
    )


def _begins(t_max: int, n_hashes: int) -> NDArray[np.int64]:
    """Return where the values after t steps begin: columns of iterations after t, none at t = 0."""
    sizes = n_hashes * (t_max - np.arange(t_max))
    sizes[:1] = 0
    return np.concatenate([[0], np.cumsum(sizes)])


def refinement_tracker(
    vocabulary: Vocabulary | None,
    graph: GraphDatabase,
    alphabet: Alphabet,
    starts: Sequence[Keys],
    by_degree: bool,
    t_max: int,
    edge_labels: bool,
) -> Any:
    """Return a tracker of refined labels, one row of start keys per view; None if too large."""
    from propkernels.tracking.touched_compiled import Refinement

    iterations = np.repeat(np.arange(t_max + 1), len(starts))
    n, rows = graph.n_nodes + alphabet.n_new, np.arange(len(iterations))
    if vocabulary is not None and n * len(rows) > MOST_VALUES // 16:
        return None
    edge_keys = label_keys(alphabet.edge_values)
    stored = _stored(n, len(rows), len(rows), np.uint64, vocabulary is None)
    refinement = Refinement(np.stack(starts), by_degree, edge_keys, edge_labels, stored.values, stored.before)
    return node_tracker(
        vocabulary,
        graph,
        alphabet,
        refinement=refinement,
        iterations=iterations,
        rows=rows,
        codes=stored.codes,
    )


def pair_tracker(
    vocabulary: Vocabulary | None,
    graph: GraphDatabase,
    alphabet: Alphabet,
    source: str | None,
    edge_labels: bool,
    entry: int | None = None,
) -> PairTracker | None:
    """Return a tracker of shortest paths; None if memory would not suffice, or without a vocabulary."""
    if vocabulary is None or (graph.n_nodes + alphabet.n_new) ** 2 > MOST_VALUES // 64:
        return None
    start = start_keys(source, graph, alphabet, entry)
    return PairTracker(vocabulary, graph, alphabet, start, source in BY_DEGREE, edge_labels)
