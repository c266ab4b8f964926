"""Members of a trained model: the contribution of each kernel to the decisions, bin by bin.

A decision is a sum over members. A folded member has one weight per bin, the same for all graphs,

    sum_i a_i <phi(x), phi(x_i)> = <phi(x), sum_i a_i phi(x_i)>,

so that no training graph is kept, and a decision takes time linear in the number of nodes. A ratio of counts
keeps the training graphs with a_i != 0; the weights of its bins differ between graphs. All members have the
same methods, and no code outside this package depends on their classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.arrays import sum_in_order
from propkernels._utils.locks import derived
from propkernels._utils.stored import Offsets
from propkernels.counts.counters import Counter, StreamCounts, Values
from propkernels.counts.entries import Entries, Vocabulary
from propkernels.counts.levels import LevelCounter, level_codes, levels_of
from propkernels.counts.products import inverse_length
from propkernels.graphs.database import GraphDatabase

Matrix = NDArray[np.float64]
POPULAR = 1 / 8  # share of the kept graphs above which a column is also stored as a row of bytes
LARGEST_BYTE = 255


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


class Member(ABC):
    """Contribution of one kernel to the decisions."""

    @property
    def compares_bins(self) -> bool:
        """Whether decisions are sums over bins, and so over nodes."""
        return True

    @property
    def is_explained(self) -> bool:
        """Whether decisions are sums of contributions of nodes, and of descriptors of whole graphs."""
        return self.compares_bins

    @property
    @abstractmethod
    def n_decisions(self) -> int:
        """Number of decision columns."""

    @property
    @abstractmethod
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabularies of the training graphs; empty if graphs are compared without bins."""

    @abstractmethod
    def scaled(self, unit: float | Values) -> Self:
        """Return a member with decisions multiplied by ``unit``."""

    @abstractmethod
    def decide(self, counted: Counted) -> Matrix:
        """Return decisions without intercepts, (graphs, decisions)."""

    @abstractmethod
    def contributions(self, counted: Counted, sums: Sums) -> Matrix:
        """Return the terms of the weighted sum of each graph, (nodes, iterations)."""

    def descriptor_terms(self, counted: Counted, sums: Sums) -> Values:
        """Return the terms of the weighted sum of each graph that belong to no node, (graphs,)."""
        return np.zeros(len(counted.graphs))

    @abstractmethod
    def bin_weights(self, counted: Counted, share: Values) -> list[WeightedBins]:
        """Return weights of bins in a weighted sum of decisions, averaged over the graphs if they differ."""

    @abstractmethod
    def shared_bins(self) -> list[SharedBins]:
        """Return how the member compares two graphs."""

    @abstractmethod
    def lengths(self, counted: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the kernel is normalized."""

    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> Self:
        """Return the same member with vocabularies replaced."""
        return self


@dataclass(frozen=True, eq=False)
class FoldedMember(Member):
    """Decisions that are sums of weights of bins.

    Attributes
    ----------
    vocabulary : Vocabulary
        Only the first ``len(stream_weights)`` streams are used.
    weights : ndarray, (columns, decisions), or (levels, decisions)
        Weights of bins, multiplied by the weight of their stream.
    level_ptr : ndarray of int64, (columns + 1,), or None
        For base kernels of smaller counts: the levels of column c are ``level_ptr[c]`` to
        ``level_ptr[c + 1] - 1``, and an entry with count n adds the weights of the first n.
    stream_weights : ndarray, (streams,)
        Weight of each stream in k(x, x).
    normalize : bool
        Whether decisions are divided by sqrt(k(x, x)).
    """

    vocabulary: Vocabulary
    weights: Matrix
    level_ptr: Annotated[NDArray[np.int64] | None, Offsets("weights")]
    stream_weights: Values
    normalize: bool

    def _check_parts(self) -> None:
        """Raise if the number of weights is not that of the bins, or levels."""
        n_columns = _n_columns(self.vocabulary, self.stream_weights)
        n_bins = len(self.weights) if self.level_ptr is None else len(self.level_ptr) - 1
        if self.weights.ndim != 2 or self.weights.shape[1] < 1 or n_bins != n_columns:
            raise ValueError("every bin, or level, needs a row of weights")

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(self.weights.shape[1])

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabulary of the training graphs."""
        return [self.vocabulary]

    def scaled(self, unit: float | Values) -> FoldedMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, weights=unit * self.weights)

    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> FoldedMember:
        """Return the same member with a vocabulary that has more streams."""
        return replace(self, vocabulary=vocabularies[self.vocabulary])

    def decide(self, counted: Counted) -> Matrix:
        """Return the sums of the weights of all entries."""
        entries, sums = counted.entries(self.vocabulary), np.empty((len(counted.graphs), self.n_decisions))
        weights = np.ascontiguousarray(self.weights)
        _core.decide_folded(entries.arrays, len(self.stream_weights), self.level_ptr, weights, sums)
        return sums * self._inverse_lengths(entries)[:, None] if self.normalize else sums

    def contributions(self, counted: Counted, sums: Sums) -> Matrix:
        """Return the weight of the entry of each node, (nodes, iterations)."""
        entries = counted.entries(self.vocabulary)
        n_streams, values = len(self.stream_weights), np.empty(len(entries.counts))
        weights = np.stack([self.weights @ share for share in sums.weights], axis=1)
        _core.folded_values(entries.arrays, n_streams, self.level_ptr, weights, sums.chosen, values)
        added = entries.by_node(values, n_streams)
        if self.normalize:
            added *= self._inverse_lengths(entries)[counted.graphs.graph_ids][:, None]
        return added

    def bin_weights(self, counted: Counted, share: Values) -> list[WeightedBins]:
        """Return the weights of the bins, or of their levels."""
        weights = self.weights @ share
        return [weighted_bins(self.vocabulary, len(self.stream_weights), self.level_ptr, weights)]

    def shared_bins(self) -> list[SharedBins]:
        """Return the comparison: products or smaller counts, bin by bin."""
        n_streams, assigned = len(self.stream_weights), self.level_ptr is not None
        return [SharedBins(self.vocabulary.counter, assigned, False, self.normalize, n_streams)]

    def lengths(self, counted: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the kernel is normalized."""
        squares = self._squares(counted.entries(self.vocabulary))
        return (squares > 0).astype(np.float64) if self.normalize else squares

    def _inverse_lengths(self, entries: Entries) -> Values:
        return inverse_length(self._squares(entries))

    def _squares(self, entries: Entries) -> Values:
        """Return k(x, x) of each graph over all of its bins, before normalization."""
        squares = np.empty(len(entries.graphs))
        _core.square_lengths(entries.arrays, self.stream_weights, self.level_ptr is not None, squares)
        return squares


@dataclass(frozen=True, eq=False)
class RatioMember(Member):
    """Decisions that are sums over kept training graphs of ratios s / (l + r - s) of counts per stream.

    For one graph x, the factors f_i(x) = 1 / (l + r_i - s_i) are constants, and the decision is
    ``<x, sum_i a_i f_i(x) y_i>``: a sum of weights of bins that hold for x only.

    Attributes
    ----------
    vocabulary : Vocabulary
        Only the first ``len(stream_weights)`` streams are used.
    kept : csr_array, (columns, kept graphs)
        Counts of the training graphs with nonzero coefficients.
    own_sums : ndarray, (streams, kept graphs)
        Sum of each kept graph with itself, r in the ratio.
    coefficients : ndarray, (kept graphs, decisions)
    stream_weights : ndarray, (streams,)
    assigned : bool
        Whether bins share the smaller counts (Jaccard) rather than products of counts (Tanimoto).
    normalize : bool
        Whether decisions are divided by sqrt(k(x, x)).
    """

    vocabulary: Vocabulary
    kept: csr_array
    own_sums: Matrix
    coefficients: Matrix
    stream_weights: Values
    assigned: bool
    normalize: bool

    def _check_parts(self) -> None:
        """Raise if counts and coefficients do not match the bins and the kept graphs."""
        n_columns, n_kept = _n_columns(self.vocabulary, self.stream_weights), self.kept.shape[1]
        if self.kept.format != "csr" or self.kept.shape[0] != n_columns or self.kept.dtype != np.float64:
            raise ValueError("every bin needs a row of counts")
        counts = self.kept.data
        if not ((counts >= 1) & (counts < 2**31) & (counts == np.floor(counts))).all():
            raise ValueError("counts must be positive integers below 2**31")
        if self.own_sums.shape != (len(self.stream_weights), n_kept) or not (self.own_sums >= 0).all():
            raise ValueError("every kept graph needs a nonnegative sum with itself in each stream")
        if self.coefficients.ndim != 2 or len(self.coefficients) != n_kept or self.coefficients.shape[1] < 1:
            raise ValueError("every kept graph needs a row of coefficients")

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(self.coefficients.shape[1])

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabulary of the training graphs."""
        return [self.vocabulary]

    def scaled(self, unit: float | Values) -> RatioMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, coefficients=unit * self.coefficients)

    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> RatioMember:
        """Return the same member with a vocabulary that has more streams."""
        return replace(self, vocabulary=vocabularies[self.vocabulary])

    def decide(self, counted: Counted) -> Matrix:
        """Return sums over the kept graphs."""
        sums = np.empty((len(counted.graphs), self.n_decisions))
        _core.decide_ratios(*self._arguments(counted), np.ascontiguousarray(self.coefficients), sums)
        return sums * self._inverse_lengths(counted)[:, None] if self.normalize else sums

    def contributions(self, counted: Counted, sums: Sums) -> Matrix:
        """Return the weight of the entry of each node, (nodes, iterations)."""
        entries = counted.entries(self.vocabulary)
        values = np.empty(len(entries.counts))
        coefficients = np.stack([self.coefficients @ share for share in sums.weights])
        _core.ratio_values(*self._arguments(counted), coefficients, sums.chosen, values)
        added = entries.by_node(values, len(self.stream_weights))
        if self.normalize:
            added *= self._inverse_lengths(counted)[counted.graphs.graph_ids][:, None]
        return added

    def bin_weights(self, counted: Counted, share: Values) -> list[WeightedBins]:
        """Return the weights sum_i a_i f_i(x) y_i averaged over the graphs x, from mean factors."""
        factors = np.zeros_like(self.own_sums)
        _core.sum_factors(*self._arguments(counted), self.coefficients @ share, factors)
        factors /= max(len(counted.graphs), 1)
        starts, parts, most = self.vocabulary.starts, [], []
        for s in range(len(self.stream_weights)):
            counts = csr_array(self.kept[starts[s] : starts[s + 1]].T)
            (stream,) = [StreamCounts(counts, self.vocabulary.codes[s], s, 1.0)]
            if self.assigned:
                most.append(np.asarray(counts.max(axis=0).todense()).ravel().astype(np.int64))
                (stream,) = levels_of([stream])
            parts.append(stream.counts.T @ factors[s])
        ptr = np.concatenate([[0], np.cumsum(np.concatenate(most))]) if self.assigned else None
        n_streams = len(self.stream_weights)
        return [weighted_bins(self.vocabulary, n_streams, ptr, np.concatenate(parts))]

    def shared_bins(self) -> list[SharedBins]:
        """Return the comparison: ratios of shared counts."""
        n_streams = len(self.stream_weights)
        return [SharedBins(self.vocabulary.counter, self.assigned, True, self.normalize, n_streams)]

    def lengths(self, counted: Counted) -> Values:
        """Return k(x, x) of each graph: the sum of the weights of its nonempty streams."""
        sizes = counted.entries(self.vocabulary).sizes[: len(self.stream_weights)]
        squares = np.asarray(self.stream_weights @ (sizes > 0))
        return (squares > 0).astype(np.float64) if self.normalize else squares

    def _inverse_lengths(self, counted: Counted) -> Values:
        return inverse_length(replace(self, normalize=False).lengths(counted))

    def _arguments(self, counted: Counted) -> tuple[Any, ...]:
        entries = counted.entries(self.vocabulary)
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
class JointMember(Member):
    """Normalized sum of members: their decisions, divided by the square root of k(x, x) of the sum.

    Attributes
    ----------
    members : list of Member
    weights : ndarray, (members,)
        Weight of each member's kernel in the sum.
    """

    members: list[Member]
    weights: Values

    def _check_parts(self) -> None:
        """Raise if members or weights do not match."""
        check_members(self.members)
        if self.weights.shape != (len(self.members),) or not (self.weights >= 0).all():
            raise ValueError("every member needs a nonnegative weight")

    @property
    def compares_bins(self) -> bool:
        """Whether all members compare graphs bin by bin."""
        return all(member.compares_bins for member in self.members)

    @property
    def is_explained(self) -> bool:
        """Whether the decisions of all members are explained."""
        return all(member.is_explained for member in self.members)

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return self.members[0].n_decisions

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabulary of the training graphs."""
        return [v for member in self.members for v in member.vocabularies]

    def scaled(self, unit: float | Values) -> JointMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, members=[member.scaled(unit) for member in self.members])

    def sharing(self, vocabularies: dict[Vocabulary, Vocabulary]) -> JointMember:
        """Return the same member with vocabularies replaced."""
        return replace(self, members=[member.sharing(vocabularies) for member in self.members])

    def decide(self, counted: Counted) -> Matrix:
        """Return the sum of the members' decisions, divided by the length of the graph."""
        total = sum_in_order(member.decide(counted) for member in self.members)
        return total * inverse_length(self._squares(counted))[:, None]

    def contributions(self, counted: Counted, sums: Sums) -> Matrix:
        """Return the contributions of all members, divided by the length of the graph."""
        total = add_columns([member.contributions(counted, sums) for member in self.members])
        return total * inverse_length(self._squares(counted))[counted.graphs.graph_ids][:, None]

    def descriptor_terms(self, counted: Counted, sums: Sums) -> Values:
        """Return the terms of descriptors of all members, divided by the length of the graph."""
        total = sum_in_order([member.descriptor_terms(counted, sums) for member in self.members])
        return total * inverse_length(self._squares(counted))

    def bin_weights(self, counted: Counted, share: Values) -> list[WeightedBins]:
        """Return the weights of the bins of all members."""
        return [bins for member in self.members for bins in member.bin_weights(counted, share)]

    def shared_bins(self) -> list[SharedBins]:
        """Return how each member compares two graphs."""
        return [bins for member in self.members for bins in member.shared_bins()]

    def lengths(self, counted: Counted) -> Values:
        """Return 1 for each graph with bins, else 0."""
        return (self._squares(counted) > 0).astype(np.float64)

    def _squares(self, counted: Counted) -> Values:
        parts = zip(self.weights, self.members, strict=True)
        return sum_in_order(weight * member.lengths(counted) for weight, member in parts)


@dataclass(frozen=True, eq=False)
class KernelMember(Member):
    """Decisions that are sums over all training graphs, for kernels that do not compare bin by bin.

    Attributes
    ----------
    kernel : estimator
        Fitted.
    coefficients : ndarray, (training graphs, decisions)
    """

    kernel: Any
    coefficients: Matrix

    @property
    def compares_bins(self) -> bool:
        """Whether decisions are sums over bins: no."""
        return False

    def _check_parts(self) -> None:
        """Raise if coefficients do not match the training graphs."""
        n_graphs = getattr(self.kernel, "_n_features_out", len(self.coefficients))
        if not hasattr(self.kernel, "transform") or self.coefficients.ndim != 2:
            raise ValueError("a kernel and a matrix of coefficients are needed")
        if len(self.coefficients) != n_graphs or self.coefficients.shape[1] < 1:
            raise ValueError("every training graph needs a row of coefficients")

    @property
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(self.coefficients.shape[1])

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabulary of the training graphs; empty if the kernel does not count."""
        if not hasattr(self.kernel, "_coder") or not hasattr(self.kernel, "_counts"):
            return []
        return [derived(self, "vocabulary", self._vocabulary)]

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.kernel._coder, [stream.codes for stream in self.kernel._counts])

    def scaled(self, unit: float | Values) -> KernelMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, coefficients=unit * self.coefficients)

    def decide(self, counted: Counted) -> Matrix:
        """Return sums over the training graphs.

        A sparse product adds in the order of the training graphs and skips zero coefficients. The order of
        BLAS depends on the number of graphs, and so would the rounding.
        """
        rows = np.asarray(self.kernel.transform(counted.graphs), dtype=np.float64)
        return np.asarray((csr_array(self.coefficients.T) @ rows.T).T)

    def contributions(self, counted: Counted, sums: Sums) -> Matrix:
        """Raise TypeError: kernel values are not sums over bins."""
        raise TypeError(self._why())

    def bin_weights(self, counted: Counted, share: Values) -> list[WeightedBins]:
        """Raise TypeError: kernel values are not sums over bins."""
        raise TypeError(self._why())

    def shared_bins(self) -> list[SharedBins]:
        """Raise TypeError: kernel values are not sums over bins."""
        raise TypeError(self._why())

    def lengths(self, counted: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the kernel is normalized."""
        squares = np.asarray(self.kernel.self_similarities(counted.graphs), dtype=np.float64)
        return (squares > 0).astype(np.float64) if self.kernel.normalize else squares

    def _why(self) -> str:
        return f"{type(self.kernel).__name__} compares graphs without counting bins"


@dataclass(frozen=True, eq=False)
class DescriptorMember(KernelMember):
    """Decisions of a kernel that compares whole graphs by their descriptors, not by their nodes."""

    @property
    def is_explained(self) -> bool:
        """Whether decisions are explained: they are terms of the whole graph."""
        return True

    def contributions(self, counted: Counted, sums: Sums) -> Matrix:
        """Return zeros: nodes contribute nothing."""
        return np.zeros((counted.graphs.n_nodes, 1))

    def descriptor_terms(self, counted: Counted, sums: Sums) -> Values:
        """Return the weighted sum of each graph's decisions, (graphs,)."""
        return np.einsum("gd,gd->g", self.decide(counted), sums.weights[sums.chosen])

    def bin_weights(self, counted: Counted, share: Values) -> list[WeightedBins]:
        """Return an empty list: descriptors have no bins."""
        return []

    def shared_bins(self) -> list[SharedBins]:
        """Return an empty list: descriptors have no bins."""
        return []


def weighted_bins(
    vocabulary: Vocabulary, n_streams: int, level_ptr: NDArray[np.int64] | None, weights: Values
) -> WeightedBins:
    """Return the bins, or levels of bins, of the first streams with their weights."""
    codes = np.concatenate(vocabulary.codes[:n_streams])
    stream = np.repeat(np.arange(n_streams), [len(part) for part in vocabulary.codes[:n_streams]])
    if level_ptr is None:
        return WeightedBins(vocabulary.counter, stream, codes, weights)
    most = np.diff(level_ptr)
    return WeightedBins(
        LevelCounter(vocabulary.counter), np.repeat(stream, most), level_codes(codes, most), weights
    )


def add_columns(parts: Sequence[Matrix]) -> Matrix:
    """Return the sum of matrices with equally many rows; missing columns are 0."""
    total = np.zeros((len(parts[0]), max(part.shape[1] for part in parts)))
    for part in parts:
        total[:, : part.shape[1]] += part
    return total


def check_members(members: Sequence[Any]) -> None:
    """Raise unless there are members, all with the same number of decisions."""
    if not members or not all(isinstance(member, Member) for member in members):
        raise ValueError("a sum needs at least one member, and only members")
    if len({member.n_decisions for member in members}) != 1:
        raise ValueError("members have different numbers of decisions")


def _n_columns(vocabulary: Vocabulary, stream_weights: Values) -> int:
    """Return the number of bins of the first streams; raise if weights of streams are invalid."""
    n_streams = len(stream_weights)
    if stream_weights.ndim != 1 or not 1 <= n_streams <= len(vocabulary.codes):
        raise ValueError("every stream needs a weight")
    if not (np.isfinite(stream_weights) & (stream_weights >= 0)).all():
        raise ValueError("weights of streams must be finite and nonnegative")
    return int(vocabulary.starts[n_streams])
