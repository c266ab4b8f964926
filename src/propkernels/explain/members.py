"""Members of a trained model: the contribution of each kernel to the decisions, bin by bin.

A decision is a sum over members. A folded member has one weight per bin, the same for all graphs,

    sum_i a_i <phi(x), phi(x_i)> = <phi(x), sum_i a_i phi(x_i)>,

so that no training graph is kept, and a decision takes time linear in the number of nodes. A ratio of counts
keeps the training graphs with a_i != 0; the weights of its bins differ between graphs. All members have the
same methods. A rule is a sum of members, and itself one: that of a normalized sum of kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels import _core
from propkernels._utils.arrays import offsets
from propkernels._utils.locks import derived
from propkernels._utils.stored import Offsets, require
from propkernels.counts.counters import Counter, StreamCounts, Values
from propkernels.counts.entries import Entries, Vocabulary
from propkernels.counts.levels import LevelCounter, largest_counts, level_codes, levels_of
from propkernels.counts.products import inverse_length
from propkernels.graphs.database import GraphDatabase

Matrix = NDArray[np.float64]
S = TypeVar("S")
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


class Member(ABC, Generic[S]):
    """What one kernel, a sum of kernels, or one view of nodes adds to the decisions about what it sees."""

    @property
    @abstractmethod
    def n_decisions(self) -> int:
        """Number of decision columns."""

    @abstractmethod
    def scaled(self, unit: float | Values) -> Self:
        """Return a member with decisions multiplied by ``unit``."""

    @abstractmethod
    def decide(self, seen: S) -> Matrix:
        """Return decisions without intercepts, one row per graph or node."""


class GraphMember(Member[Counted]):
    """Contribution of one kernel, or of a sum of kernels, to the decisions about graphs."""

    @property
    @abstractmethod
    def compares_bins(self) -> bool:
        """Whether decisions are sums over bins, and so over nodes."""

    @property
    @abstractmethod
    def is_explained(self) -> bool:
        """Whether decisions are sums of contributions of nodes, and of descriptors of whole graphs."""

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
    def compares_bins(self) -> bool:
        """Whether decisions are sums over bins: yes."""
        return True

    @property
    def is_explained(self) -> bool:
        """Whether decisions are sums of contributions of nodes: yes."""
        return True

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
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(self.weights.shape[1])

    @property
    def is_assigned(self) -> bool:
        """Whether bins share the smaller counts rather than products of counts."""
        return self.level_ptr is not None

    def scaled(self, unit: float | Values) -> FoldedMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, weights=unit * self.weights)

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
        weights = self.weights @ share
        return [weighted_bins(self.vocabulary, len(self.stream_weights), self.level_ptr, weights)]


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
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(self.coefficients.shape[1])

    @property
    def is_assigned(self) -> bool:
        """Whether bins share the smaller counts rather than products of counts."""
        return self.assigned

    def scaled(self, unit: float | Values) -> RatioMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, coefficients=unit * self.coefficients)

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
        return [weighted_bins(self.vocabulary, len(self.stream_weights), ptr, np.concatenate(parts))]

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
    def n_decisions(self) -> int:
        """Number of decision columns."""
        return int(self.coefficients.shape[1])

    @property
    def vocabularies(self) -> list[Vocabulary]:
        """Vocabulary of the training graphs; empty if the kernel does not count."""
        if not isinstance(getattr(self.kernel, "_counts", None), list):
            return []
        codes = [stream.codes for stream in self.kernel._counts]
        return [derived(self, "vocabulary", lambda: Vocabulary(self.kernel._coder, codes))]

    def scaled(self, unit: float | Values) -> KernelMember:
        """Return a member with decisions multiplied by ``unit``."""
        return replace(self, coefficients=unit * self.coefficients)

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
        self._require_explained()
        terms = np.einsum("gd,gd->g", self.decide(seen), sums.weights[sums.chosen])
        return np.zeros((seen.graphs.n_nodes, 1)), terms

    def bin_weights(self, seen: Counted, share: Values) -> list[WeightedBins]:
        """Return an empty list: descriptors have no bins."""
        self._require_explained()
        return []

    def shared_bins(self) -> list[SharedBins]:
        """Return an empty list: descriptors have no bins."""
        self._require_explained()
        return []

    def lengths(self, seen: Counted) -> Values:
        """Return k(x, x) of each graph, 0 or 1 if the kernel is normalized."""
        return self_similarities(self.kernel, seen.graphs)

    def _require_explained(self) -> None:
        """Raise TypeError if kernel values are not sums."""
        if not self.is_explained:
            raise TypeError(f"{type(self.kernel).__name__} compares graphs without counting bins")


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
