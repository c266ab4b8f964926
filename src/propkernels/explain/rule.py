"""Decision rule of a trained model: a sum of members, each the contribution of one kernel, bin by bin.

A folded member has one weight per bin, the same for all graphs,

    sum_i a_i <phi(x), phi(x_i)> = <phi(x), sum_i a_i phi(x_i)>,

so that no training graph is kept, and a decision takes time linear in the number of nodes. A ratio of counts
keeps the training graphs with a_i != 0; the weights of its bins differ between graphs. All members have the
same methods. A rule is a sum of members, and itself one: that of a normalized sum of kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from propkernels import _core
from propkernels._utils.arrays import offsets, sum_in_order
from propkernels._utils.locks import derived
from propkernels._utils.parallel import active_device, run_threads, thread_count, whole_runs
from propkernels._utils.stored import Offsets, require
from propkernels._utils.typing import Matrix
from propkernels.counts.counters import Coder, Counter, StreamCounts, Values
from propkernels.counts.entries import Entries, Vocabulary
from propkernels.counts.levels import LevelCounter, largest_counts, level_codes, levels_of
from propkernels.counts.products import Counting, inverse_length
from propkernels.graphs.database import GraphDatabase

S = TypeVar("S")
T = TypeVar("T")
POPULAR = 1 / 8  # share of the kept graphs above which a column is also stored as a row of bytes
LARGEST_BYTE = 255
CODES_AT_ONCE = 2**21  # codes (nodes times streams) in memory per run of graphs
NODES_OF_A_THREAD = 2**14  # smallest number of nodes worth a thread: a few milliseconds


class Counted:
    """Graphs that are counted on demand, once per vocabulary.

    Parameters
    ----------
    graphs : GraphDatabase or GridDatabase
    """

    def __init__(self, graphs: GraphDatabase) -> None:
        self.graphs = graphs
        self._entries: dict[Vocabulary, Entries] = {}

    def entries(self, vocabulary: Vocabulary) -> Entries:
        """Return the entries of all graphs in a vocabulary."""
        if vocabulary not in self._entries:
            self._entries[vocabulary] = vocabulary.enter(self.graphs)
        return self._entries[vocabulary]


class WeightedBins(NamedTuple):
    """Weights of the bins of one member.

    Attributes
    ----------
    counter : Counter
        Counts the bins, or the levels of bins for base kernels of smaller counts.
    stream : ndarray of int64, (bins,)
    codes : ndarray of int64, (bins,)
    weights : ndarray of float64, (bins,)
    """

    counter: Counter
    stream: NDArray[np.int64]
    codes: NDArray[np.int64]
    weights: Values


class SharedBins(NamedTuple):
    """Comparison of two graphs by a member; see :class:`propkernels.counts.products.Counting`.

    Only the first ``n_streams`` streams of the counter are compared; None: all. If ``together``, the ratio is
    that of the sums over all streams, not a sum of ratios.
    """

    counter: Counter
    assigned: bool
    ratio: bool
    normalize: bool
    n_streams: int | None = None
    together: bool = False


class Sums(NamedTuple):
    """Weighted sums of decisions, one of which is explained for each graph.

    Attributes
    ----------
    weights : ndarray, (sums, decisions)
    chosen : ndarray of int64, (graphs,)
        Number of the sum of each graph.
    """

    weights: Matrix
    chosen: NDArray[np.int64]


class Member(ABC, Generic[S]):
    """What one kernel, a sum of kernels, or one view of nodes adds to the decisions about what it sees."""

    factors: ClassVar[str] = "weights"  # the attribute that decisions are linear in, one column for each

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(getattr(self, self.factors).shape[1])

    def scaled(self, unit: float | Values) -> Self:
        """Return a member with decisions multiplied by ``unit``."""
        member: Any = self  # a dataclass
        scaled: Self = replace(member, **{self.factors: unit * getattr(self, self.factors)})
        return scaled

    @abstractmethod
    def decide(self, seen: S) -> Matrix:
        """Return decisions without intercepts, one row per graph or node."""


class GraphMember(Member[Counted]):
    """Contribution of one kernel, or of a sum of kernels, to the decisions about graphs."""

    @property
    def compares_bins(self) -> bool:
        """Whether decisions are sums over bins, and so over nodes."""
        return True

    @property
    def is_explained(self) -> bool:
        """Whether decisions are sums of contributions of nodes, and of descriptors of whole graphs."""
        return True

    @property
    @abstractmethod
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabularies of the training graphs; empty if graphs are compared without bins."""

    @abstractmethod
    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> Self:
        """Return the same member with vocabularies replaced by some that have more streams."""

    @abstractmethod
    def contributions(self, seen: Counted, sums: Sums) -> tuple[Matrix, Values]:
        """Return the terms of the weighted sum of each graph.

        Those of nodes, (nodes, iterations), and those of descriptors, which belong to no node, (graphs,).
        """

    @abstractmethod
    def bin_weights(self, seen: Counted, share: Values) -> list[WeightedBins]:
        """Return weights of bins in a weighted sum of decisions, averaged over the graphs if they differ."""

    @abstractmethod
    def shared_bins(self) -> list[SharedBins]:
        """Return how the member compares two graphs."""

    @abstractmethod
    def lengths(self, seen: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the kernel is normalized."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedMember(GraphMember):
    """Decisions that are sums of weights of bins.

    Attributes
    ----------
    vocabulary : Vocabulary
        Only the first ``len(stream_weights)`` streams are used.
    stream_weights : ndarray, (streams,)
        Weight of each stream in k(x, x).
    normalize : bool
        Whether decisions are divided by sqrt(k(x, x)).
    """

    vocabulary: Vocabulary
    stream_weights: Values
    normalize: bool

    @property
    @abstractmethod
    def is_assigned(self) -> bool:
        """Whether bins share the smaller counts rather than products of counts."""

    @abstractmethod
    def _decide(self, entries: Entries, sums: Matrix) -> None:
        """Fill in decisions before normalization, (graphs, decisions)."""

    @abstractmethod
    def _fill(self, entries: Entries, sums: Sums, values: Values) -> None:
        """Fill in what each entry adds to the sum of its graph, before normalization."""

    @abstractmethod
    def _squares(self, entries: Entries) -> Values:
        """Return k(x, x) of each graph over all of its bins, before normalization."""

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabulary of the training graphs."""
        return [self.vocabulary]

    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> Self:
        """Return the same member with a vocabulary that has more streams."""
        return replace(self, vocabulary=vocabularies[self.vocabulary])

    def decide(self, seen: Counted) -> Matrix:
        """Return decisions without intercepts, (graphs, decisions)."""
        entries, sums = seen.entries(self.vocabulary), np.empty((len(seen.graphs), self.n_decisions))
        self._decide(entries, sums)
        return sums * inverse_length(self._squares(entries))[:, None] if self.normalize else sums

    def contributions(self, seen: Counted, sums: Sums) -> tuple[Matrix, Values]:
        """Return the weight of the entry of each node, (nodes, iterations), and zeros."""
        entries = seen.entries(self.vocabulary)
        values = np.empty(len(entries.counts))
        self._fill(entries, sums, values)
        added = entries.by_node(values, len(self.stream_weights))
        if self.normalize:
            added *= inverse_length(self._squares(entries))[seen.graphs.graph_ids][:, None]
        return added, np.zeros(len(seen.graphs))

    def shared_bins(self) -> list[SharedBins]:
        """Return the comparison: products, smaller counts or ratios, bin by bin."""
        is_ratio, n_streams = isinstance(self, RatioMember), len(self.stream_weights)
        return [SharedBins(self.vocabulary.counter, self.is_assigned, is_ratio, self.normalize, n_streams)]

    def lengths(self, seen: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the kernel is normalized."""
        squares = self._squares(seen.entries(self.vocabulary))
        return (squares > 0).astype(np.float64) if self.normalize else squares

    def _weighted(self, level_ptr: NDArray[np.int64] | None, weights: Values) -> list[WeightedBins]:
        """Return the bins, or levels of bins, of the streams with their weights."""
        counter, known = self.vocabulary.counter, self.vocabulary.codes[: len(self.stream_weights)]
        codes, stream = np.concatenate(known), np.repeat(np.arange(len(known)), [len(part) for part in known])
        if level_ptr is None:
            return [WeightedBins(counter, stream, codes, weights)]
        most = np.diff(level_ptr)
        levels = level_codes(codes, most)
        return [WeightedBins(LevelCounter(counter), np.repeat(stream, most), levels, weights)]

    def _n_columns(self) -> int:
        """Return the number of bins; raise if weights of streams are invalid."""
        n_streams = len(self.stream_weights)
        require(self.stream_weights.ndim == 1, "every stream needs a weight")
        require(1 <= n_streams <= len(self.vocabulary.codes), "every stream needs a weight")
        valid = np.isfinite(self.stream_weights) & (self.stream_weights >= 0)
        require(bool(valid.all()), "weights of streams must be finite and nonnegative")
        return int(self.vocabulary.starts[n_streams])


@dataclass(frozen=True, eq=False, kw_only=True)
class FoldedMember(CountedMember):
    """One weight per bin, the same for all graphs.

    Attributes
    ----------
    weights : ndarray, (columns, decisions), or (levels, decisions)
        Weights of bins, multiplied by the weight of their stream.
    level_ptr : ndarray of int64, (columns + 1,), or None
        For base kernels of smaller counts: the levels of column c are ``level_ptr[c]`` to
        ``level_ptr[c + 1] - 1``, and an entry with count n adds the weights of the first n.
    """

    weights: Matrix
    level_ptr: Annotated[NDArray[np.int64] | None, Offsets("weights")]

    def _check_parts(self) -> None:
        """Raise if the number of weights is not that of the bins, or levels."""
        n_bins = len(self.weights) if self.level_ptr is None else len(self.level_ptr) - 1
        fits = n_bins == self._n_columns() and self.weights.ndim == 2 and self.weights.shape[1] >= 1
        require(fits, "every bin, or level, needs a row of weights")

    @property
    def is_assigned(self) -> bool:
        """Whether bins share the smaller counts rather than products of counts."""
        return self.level_ptr is not None

    def _decide(self, entries: Entries, sums: Matrix) -> None:
        weights = np.ascontiguousarray(self.weights)
        _core.decide_folded(entries.arrays, len(self.stream_weights), self.level_ptr, weights, sums)

    def _fill(self, entries: Entries, sums: Sums, values: Values) -> None:
        weights = np.stack([self.weights @ share for share in sums.weights], axis=1)
        n_streams = len(self.stream_weights)
        _core.folded_values(entries.arrays, n_streams, self.level_ptr, weights, sums.chosen, values)

    def _squares(self, entries: Entries) -> Values:
        squares = np.empty(len(entries.graphs))
        _core.square_lengths(entries.arrays, self.stream_weights, self.is_assigned, squares)
        return squares

    def bin_weights(self, seen: Counted, share: Values) -> list[WeightedBins]:
        """Return the weights of the bins, or of their levels."""
        return self._weighted(self.level_ptr, self.weights @ share)


@dataclass(frozen=True, eq=False, kw_only=True)
class RatioMember(CountedMember):
    """Sums over kept training graphs of ratios s / (l + r - s) of counts per stream.

    For one graph x, the factors f_i(x) = 1 / (l + r_i - s_i) are constants, and the decision is
    ``<x, sum_i a_i f_i(x) y_i>``: a sum of weights of bins that hold for x only.

    Attributes
    ----------
    kept : csr_array, (columns, kept graphs)
        Counts of the training graphs with nonzero coefficients.
    own_sums : ndarray, (streams, kept graphs)
        Sum of each kept graph with itself, r in the ratio.
    coefficients : ndarray, (kept graphs, decisions)
    assigned : bool
        Whether bins share the smaller counts (Jaccard) rather than products of counts (Tanimoto).
    """

    factors = "coefficients"
    kept: csr_array
    own_sums: Matrix
    coefficients: Matrix
    assigned: bool

    def _check_parts(self) -> None:
        """Raise if counts and coefficients do not match the bins and the kept graphs."""
        n_columns, n_kept = self._n_columns(), self.kept.shape[1]
        is_csr = self.kept.format == "csr" and self.kept.dtype == np.float64
        require(is_csr and self.kept.shape[0] == n_columns, "every bin needs a row of counts")
        counts, shape = self.kept.data, (len(self.stream_weights), n_kept)
        whole = (counts >= 1) & (counts < 2**31) & (counts == np.floor(counts))
        require(bool(whole.all()), "counts must be positive integers below 2**31")
        fits = self.own_sums.shape == shape and bool((self.own_sums >= 0).all())
        require(fits, "every kept graph needs a nonnegative sum with itself in each stream")
        check_coefficients(self.coefficients, n_kept)

    @property
    def is_assigned(self) -> bool:
        """Whether bins share the smaller counts rather than products of counts."""
        return self.assigned

    def _decide(self, entries: Entries, sums: Matrix) -> None:
        _core.decide_ratios(*self._arguments(entries), np.ascontiguousarray(self.coefficients), sums)

    def _fill(self, entries: Entries, sums: Sums, values: Values) -> None:
        coefficients = np.stack([self.coefficients @ share for share in sums.weights])
        _core.ratio_values(*self._arguments(entries), coefficients, sums.chosen, values)

    def _squares(self, entries: Entries) -> Values:
        """Return the sum of the weights of each graph's nonempty streams."""
        return np.asarray(self.stream_weights @ (entries.sizes[: len(self.stream_weights)] > 0))

    def bin_weights(self, seen: Counted, share: Values) -> list[WeightedBins]:
        """Return the weights sum_i a_i f_i(x) y_i averaged over the graphs x, from mean factors."""
        factors = np.zeros_like(self.own_sums)
        entries = seen.entries(self.vocabulary)
        _core.sum_factors(*self._arguments(entries), self.coefficients @ share, factors)
        factors /= max(len(seen.graphs), 1)
        starts, parts, most = self.vocabulary.starts, [], []
        for s in range(len(self.stream_weights)):
            stream = StreamCounts(
                csr_array(self.kept[starts[s] : starts[s + 1]].T), self.vocabulary.codes[s], s, 1.0
            )
            if self.assigned:
                # bins of no kept graph have no level, but one if all counts are 1: columns are then kept
                most.append(largest_counts(stream.counts, int((stream.counts.data == 1).all())))
                (stream,) = levels_of([stream])
            parts.append(stream.counts.T @ factors[s])
        ptr = offsets(np.concatenate(most)) if self.assigned else None
        return self._weighted(ptr, np.concatenate(parts))

    def _arguments(self, entries: Entries) -> tuple[Any, ...]:
        return entries.arrays, derived(self, "kept", self._kept), self.stream_weights

    def _kept(self) -> tuple[NDArray[Any], ...]:
        """Return the counts of the kept graphs for compiled loops, with popular columns as rows of bytes."""
        numbers = self.kept.data.astype(np.int32 if self.assigned else np.float64)
        lengths = np.diff(self.kept.indptr)
        most = np.zeros(len(lengths), dtype=np.int64)
        np.maximum.at(most, np.repeat(np.arange(len(lengths)), lengths), numbers.astype(np.int64))
        popular = np.flatnonzero((lengths > POPULAR * self.kept.shape[1]) & (most <= LARGEST_BYTE))
        row = np.full(len(lengths), -1, dtype=np.int64)
        row[popular] = np.arange(len(popular))
        rows = self.kept[popular].toarray().astype(np.uint8)
        ptr, graphs = self.kept.indptr.astype(np.int64), self.kept.indices.astype(np.int32)
        return ptr, graphs, numbers, row, rows, self.own_sums


@dataclass(frozen=True, eq=False)
class KernelMember(GraphMember):
    """Sums over all training graphs, for kernels that compare pairs of graphs without bins.

    Attributes
    ----------
    kernel : estimator
        Fitted.
    coefficients : ndarray, (training graphs, decisions)
    """

    factors = "coefficients"
    kernel: Any
    coefficients: Matrix

    def _check_parts(self) -> None:
        """Raise if coefficients do not match the training graphs."""
        require(hasattr(self.kernel, "transform"), "a kernel is needed")
        check_coefficients(self.coefficients, getattr(self.kernel, "_n_features_out", len(self.coefficients)))

    @property
    def compares_bins(self) -> bool:
        """Whether decisions are sums over bins: no."""
        return False

    @property
    def is_explained(self) -> bool:
        """Whether the kernel compares descriptors of whole graphs: decisions are terms of these."""
        return bool(getattr(self.kernel, "_reads_whole_graphs", False))

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabulary of the training graphs; empty if the kernel does not count."""
        if not isinstance(getattr(self.kernel, "_counts", None), list):
            return []
        codes = [stream.codes for stream in self.kernel._counts]
        return [derived(self, "vocabulary", lambda: Vocabulary(self.kernel._coder, codes))]

    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> KernelMember:
        """Return the member itself: its kernel has its own vocabulary."""
        return self

    def decide(self, seen: Counted) -> Matrix:
        """Return sums over the training graphs.

        A sparse product adds in the order of the training graphs and skips zero coefficients. The order of
        BLAS depends on the number of graphs, and so would the rounding.
        """
        rows = np.asarray(self.kernel.transform(seen.graphs), dtype=np.float64)
        return np.asarray((csr_array(self.coefficients.T) @ rows.T).T)

    def contributions(self, seen: Counted, sums: Sums) -> tuple[Matrix, Values]:
        """Return zeros for nodes, and each graph's weighted sum of decisions as the term of descriptors."""
        self.shared_bins()
        terms = np.einsum("gd,gd->g", self.decide(seen), sums.weights[sums.chosen])
        return np.zeros((seen.graphs.n_nodes, 1)), terms

    def bin_weights(self, seen: Counted, share: Values) -> list[WeightedBins]:
        """Return an empty list: descriptors have no bins."""
        self.shared_bins()
        return []

    def shared_bins(self) -> list[SharedBins]:
        """Return no bins, which descriptors do not have; raise TypeError if kernel values are no sums."""
        if not self.is_explained:
            raise TypeError(f"{type(self.kernel).__name__} compares graphs without counting bins")
        return []

    def lengths(self, seen: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the kernel is normalized."""
        return self_similarities(self.kernel, seen.graphs)


def check_coefficients(coefficients: Matrix, n_graphs: int) -> None:
    """Raise unless there is one row of coefficients per graph."""
    fits = coefficients.ndim == 2 and len(coefficients) == n_graphs and coefficients.shape[1] >= 1
    require(fits, "every training graph needs a row of coefficients")


def self_similarities(kernel: Any, graphs: GraphDatabase) -> NDArray[np.float64]:
    """Return k(x, x) of new graphs, over all of their bins, for a fitted kernel of this library."""
    if not hasattr(kernel, "self_similarities"):
        raise TypeError(f"{type(kernel).__name__} has no method self_similarities for k(x, x) of new graphs")
    diagonal = kernel.self_similarities(graphs)
    return (diagonal > 0).astype(np.float64) if kernel.normalize else np.asarray(diagonal, dtype=np.float64)


class Terms(NamedTuple):
    """Terms of weighted sums of decisions, without intercepts.

    Attributes
    ----------
    nodes : ndarray, (nodes, iterations)
        Terms of nodes.
    descriptors : ndarray, (graphs,)
        Terms that belong to no node.
    chosen : ndarray of int64, (graphs,)
        Which of the sums is that of each graph.
    """

    nodes: Matrix
    descriptors: Values
    chosen: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rule(GraphMember):
    """Decisions without intercepts: the sum over members.

    Attributes
    ----------
    members : list of GraphMember
        Members with the same hash functions share a vocabulary, so that codes are computed once.
    weights : ndarray, (members,), or None
        Of a normalized sum: the weight of each member's kernel in k(x, x), by whose square root the sum of
        the members' decisions is divided. None: it is not divided.
    """

    members: list[GraphMember]
    weights: Values | None = None

    def _check_parts(self) -> None:
        """Raise unless there are members, all with the same number of decisions, and weights."""
        is_sum = bool(self.members) and all(isinstance(member, GraphMember) for member in self.members)
        require(is_sum, "a sum needs at least one member, and only members")
        is_plain = any(isinstance(member, Rule) and member.weights is None for member in self.members)
        require(not is_plain, "a sum that is a member is normalized")
        n_decisions = {member.n_decisions for member in self.members}
        require(len(n_decisions) == 1, "members have different numbers of decisions")
        if self.weights is not None:
            fits = self.weights.shape == (len(self.members),) and bool((self.weights >= 0).all())
            require(fits, "every member needs a nonnegative weight")

    @classmethod
    def of(cls, members: Sequence[GraphMember], known: Sequence[Vocabulary] = ()) -> Rule:
        """Return the rule of these members, with equal vocabularies merged, those of ``known`` first."""
        merged = merged_vocabularies([*known, *(v for member in members for v in member.vocabularies)])
        return cls([member.sharing(merged) for member in members])

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return self.members[0].n_decisions

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Distinct vocabularies of the members."""
        return list(dict.fromkeys(v for member in self.members for v in member.vocabularies))

    @property
    def compares_bins(self) -> bool:
        """Whether all members compare graphs bin by bin, which makes decisions sums over nodes."""
        return all(member.compares_bins for member in self.members)

    @property
    def is_explained(self) -> bool:
        """Whether decisions are sums of contributions of nodes, and of descriptors of whole graphs."""
        return all(member.is_explained for member in self.members)

    def scaled(self, unit: float | Values) -> Rule:
        """Return a rule with decisions multiplied by ``unit``."""
        return replace(self, members=[member.scaled(unit) for member in self.members])

    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> Rule:
        """Return the same rule with vocabularies replaced."""
        return replace(self, members=[member.sharing(vocabularies) for member in self.members])

    def decide(self, seen: Counted) -> Matrix:
        """Return the sum of the members' decisions, (graphs, decisions)."""
        total = sum_in_order([member.decide(seen) for member in self.members])
        return total if self.weights is None else total * inverse_length(self._squares(seen))[:, None]

    def contributions(self, seen: Counted, sums: Sums) -> tuple[Matrix, Values]:
        """Return the sums of the members' terms of nodes and of descriptors."""
        found = [member.contributions(seen, sums) for member in self.members]
        nodes = np.zeros((seen.graphs.n_nodes, max(part.shape[1] for part, _ in found)))
        for part, _ in found:
            nodes[:, : part.shape[1]] += part
        descriptors = sum_in_order([terms for _, terms in found])
        if self.weights is None:
            return nodes, descriptors
        scale = inverse_length(self._squares(seen))
        return nodes * scale[seen.graphs.graph_ids][:, None], descriptors * scale

    def bin_weights(self, seen: Counted, share: Values) -> list[WeightedBins]:
        """Return the weights of all bins, each bin once; weights that differ between graphs are averaged."""
        return merged_bins([bins for member in self.members for bins in member.bin_weights(seen, share)])

    def shared_bins(self) -> list[SharedBins]:
        """Return the comparison of two graphs of each member."""
        return [bins for member in self.members for bins in member.shared_bins()]

    def lengths(self, seen: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the sum is normalized."""
        squares = self._squares(seen)
        return squares if self.weights is None else (squares > 0).astype(np.float64)

    def _squares(self, seen: Counted) -> Values:
        weights = np.ones(len(self.members)) if self.weights is None else self.weights
        parts = zip(weights, self.members, strict=True)
        return sum_in_order(weight * member.lengths(seen) for weight, member in parts)

    def decisions(self, graphs: GraphDatabase) -> Matrix:
        """Return decisions, (graphs, decisions)."""
        return np.concatenate(self.by_runs(graphs, self.decide))

    def terms(
        self,
        graphs: GraphDatabase,
        weights: Matrix,
        choose: Callable[[Matrix], NDArray[np.int64]] | None = None,
    ) -> Terms:
        """Return the terms of one weighted sum of decisions per graph, in one pass over codes.

        Parameters
        ----------
        graphs : GraphDatabase
        weights : ndarray, (sums, decisions)
        choose : callable, optional
            Returns the number of the sum of each graph from decisions, (graphs, decisions); by default 0.
        """

        def one_run(seen: Counted) -> Terms:
            first = np.zeros(len(seen.graphs), dtype=np.int64)
            sums = Sums(weights, first if choose is None else choose(self.decide(seen)))
            return Terms(*self.contributions(seen, sums), sums.chosen)

        runs = self.by_runs(graphs, one_run)
        return runs[0] if len(runs) == 1 else Terms(*map(np.concatenate, zip(*runs, strict=True)))

    def by_runs(self, graphs: GraphDatabase, function: Callable[[Counted], T]) -> list[T]:
        """Return the results of a function on runs of graphs that fit in memory, in threads."""
        width = sum(len(v.codes) * v.counter.items_per_node(graphs) for v in self.vocabularies)
        if not self.is_explained or not width or active_device() is not None:
            return [function(Counted(graphs))]
        threads = thread_count()
        least = min(CODES_AT_ONCE / width, max(graphs.n_nodes / threads, NODES_OF_A_THREAD))
        runs = whole_runs(graphs.graph_ptr, least)
        if len(runs) <= 2:
            return [function(Counted(graphs))]
        parts = [slice(a, b) for a, b in pairwise(runs)]
        return run_threads(lambda part: function(Counted(graphs[part])), parts, uses_blas=True)


def merged_bins(parts: Sequence[WeightedBins]) -> list[WeightedBins]:
    """Return weighted bins with the weights of equal bins, or levels, of several members added."""
    groups: list[list[WeightedBins]] = []
    for part in parts:
        same = next((group for group in groups if _equal(group[0].counter, part.counter)), None)
        groups.append([part]) if same is None else same.append(part)
    merged = []
    for group in groups:
        columns = (np.concatenate(column) for column in zip(*(part[1:] for part in group), strict=True))
        stream, codes, weights = columns
        keys, place = np.unique(np.stack([stream, codes]), axis=1, return_inverse=True)
        sums = np.asarray(np.bincount(place.ravel(), weights), dtype=np.float64)
        merged.append(WeightedBins(group[0].counter, keys[0], keys[1], sums))
    return merged


def merged_vocabularies(vocabularies: Sequence[Vocabulary]) -> dict[Vocabulary, Vocabulary]:
    """Return, for each vocabulary, the longest vocabulary that begins with its streams."""
    merged: dict[Vocabulary, Vocabulary] = {}
    kept: list[Vocabulary] = []
    for vocabulary in sorted(vocabularies, key=lambda v: -len(v.codes)):
        for other in kept:
            is_same = same_codes(other.counter, vocabulary.counter)
            if is_same and all(map(np.array_equal, other.codes, vocabulary.codes)):
                merged[vocabulary] = other
                break
        else:
            merged[vocabulary] = vocabulary
            kept.append(vocabulary)
    return merged


def same_codes(left: Counter, right: Counter) -> bool:
    """Return whether two counters give the same codes in the iterations that they share."""
    if isinstance(left, Coder) and isinstance(right, Coder):
        left, right = left.restricted(0), right.restricted(0)
    return _equal(left, right)


def _equal(left: Any, right: Any) -> bool:
    """Return whether two values have the same type and equal parts."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    if is_dataclass(left):
        return all(_equal(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    if hasattr(left, "get_params"):
        return _equal(vars(left), vars(right))
    return bool(left == right)


def dual_members(kernel: Any, coefficients: Matrix) -> list[GraphMember]:
    """Return members from a fitted kernel and dual coefficients, (training graphs, decisions).

    A sum of kernels gives one member per part, a normalized one a single member. A kernel that does not
    compare bin by bin keeps all training graphs.
    """
    if hasattr(kernel, "_weighted_parts"):
        if kernel.normalize:
            coefficients = coefficients * inverse_length(kernel.diagonal_)[:, None]
        parts = list(_parts(kernel))
        members = [m for weight, part in parts for m in dual_members(part, weight * coefficients)]
        return [Rule(members, np.array([weight for weight, _ in parts]))] if kernel.normalize else members
    counting: Counting | None = getattr(kernel, "_counting", None)
    if counting is None:
        return [KernelMember(kernel, coefficients)]
    coefficients = coefficients * counting.inverse_lengths()[:, None]
    return [(_ratio if counting.ratio else _folded)(counting, coefficients)]


def _parts(kernel: Any, unit: float = 1.0) -> Iterator[tuple[float, Any]]:
    """Yield the weight and kernel of each part of a sum; parts that are plain sums are taken apart."""
    for weight, part in kernel._weighted_parts:
        if hasattr(part, "_weighted_parts") and not part.normalize:
            yield from _parts(part, unit * weight)
        else:
            yield unit * weight, part


def _folded(counting: Counting, coefficients: Matrix) -> FoldedMember:
    """Return a member with one weight per bin, or per level of a bin, summed over the training graphs."""
    streams = levels_of(counting.counts, coded=False) if counting.assigned else counting.counts
    return _with_weights(counting, [stream.weight * (stream.counts.T @ coefficients) for stream in streams])


def _with_weights(counting: Counting, weights: Sequence[Matrix]) -> FoldedMember:
    """Return a folded member from weights of bins or levels of each stream, in the order of the counts."""
    counts = counting.counts
    most = [largest_counts(stream.counts) for stream in counts] if counting.assigned else []
    return FoldedMember(
        vocabulary=Vocabulary(counting.counter, [stream.codes for stream in counts]),
        stream_weights=counting.stream_weights,
        normalize=counting.normalize,
        weights=np.concatenate(weights),
        level_ptr=offsets(np.concatenate(most)) if counting.assigned else None,
    )


def _ratio(counting: Counting, coefficients: Matrix) -> RatioMember:
    """Return a member that keeps the training graphs with nonzero coefficients."""
    kept = np.flatnonzero(coefficients.any(axis=1))
    columns = [csr_array(stream.counts[kept].T) for stream in counting.counts]
    vocabulary = Vocabulary(counting.counter, [stream.codes for stream in counting.counts])
    return RatioMember(
        vocabulary=vocabulary,
        stream_weights=counting.stream_weights,
        normalize=counting.normalize,
        kept=csr_array(vstack(columns, format="csr")),
        own_sums=np.ascontiguousarray(counting.own_sums[:, kept]),
        coefficients=np.ascontiguousarray(coefficients[kept]),
        assigned=counting.assigned,
    )


def primal_members(kernel: Any, coefficients: Matrix) -> list[GraphMember]:
    """Return members from a fitted kernel and weights of its feature columns, (columns, decisions).

    Columns are grouped by stream, and sorted by code within a stream (``rank_bins``).
    """
    counts = kernel._training_counts
    ends = np.cumsum([len(stream.codes) for stream in counts])[:-1]
    tables = [np.sqrt(s.weight) * part for s, part in zip(counts, np.split(coefficients, ends), strict=True)]
    parts = getattr(kernel, "_weighted_parts", None)
    if parts is None:
        return [_of_sorted(kernel._counting, tables)]
    members: list[GraphMember] = []
    for number, (_, part) in enumerate(parts):
        of_part = [table for table, i in zip(tables, kernel._counter.parts, strict=True) if i == number]
        members.append(_of_sorted(part._counting, of_part))
    weights = np.array([weight for weight, _ in parts])
    return [Rule(members, weights)] if kernel.normalize else members


def _of_sorted(counting: Counting, tables: Sequence[Matrix]) -> FoldedMember:
    """Return a folded member from weights of bins, or levels, that are sorted by code."""
    ordered = []
    for stream, table in zip(counting.counts, tables, strict=True):
        codes = stream.codes
        if counting.assigned:
            codes = level_codes(codes, largest_counts(stream.counts))
        weights = np.empty_like(table)
        weights[np.argsort(codes)] = table
        ordered.append(weights)
    return _with_weights(counting, ordered)
