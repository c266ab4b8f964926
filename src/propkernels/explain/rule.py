"""Decision rule of a trained model: a sum of members, made from fitted kernels and coefficients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from propkernels._utils.arrays import sum_in_order
from propkernels._utils.parallel import active_device, run_threads, thread_count, whole_runs
from propkernels._utils.stored import require
from propkernels.counts.counters import Coder, Counter, Values
from propkernels.counts.entries import Vocabulary
from propkernels.counts.levels import largest_counts, level_codes, levels_of
from propkernels.counts.products import Counting, inverse_length
from propkernels.explain.members import (
    Counted,
    FoldedMember,
    GraphMember,
    KernelMember,
    RatioMember,
    SharedBins,
    Sums,
    WeightedBins,
)
from propkernels.graphs.database import GraphDatabase

Matrix = NDArray[np.float64]
T = TypeVar("T")
CODES_AT_ONCE = 2**21  # codes (nodes times streams) in memory per run of graphs
NODES_OF_A_THREAD = 2**14  # smallest number of nodes worth a thread: a few milliseconds


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
        if same is None:
            groups.append([part])
        else:
            same.append(part)
    return [_sum_of_bins(group) for group in groups]


def _sum_of_bins(group: Sequence[WeightedBins]) -> WeightedBins:
    """Return one entry per stream and code, with the sum of its weights."""
    stream, codes, weights = (
        np.concatenate([getattr(part, name) for part in group]) for name in ("stream", "codes", "weights")
    )
    order = np.lexsort((codes, stream))
    stream, codes = stream[order], codes[order]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = (stream[1:] != stream[:-1]) | (codes[1:] != codes[:-1])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(is_first) - 1
    sums = np.asarray(np.bincount(place, weights), dtype=np.float64)
    return WeightedBins(group[0].counter, stream[is_first], codes[is_first], sums)


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
    weights = [np.asarray(stream.weight * (stream.counts.T @ coefficients)) for stream in streams]
    return _with_weights(counting, np.concatenate(weights))


def _with_weights(counting: Counting, weights: Matrix) -> FoldedMember:
    """Return a folded member from weights of bins or levels in the order of the training counts."""
    ptr = None
    if counting.assigned:
        most = [largest_counts(stream.counts) for stream in counting.counts]
        ptr = np.concatenate([[0], np.cumsum(np.concatenate(most))]).astype(np.int64)
    vocabulary = Vocabulary(counting.counter, [stream.codes for stream in counting.counts])
    return FoldedMember(
        vocabulary=vocabulary,
        stream_weights=counting.stream_weights,
        normalize=counting.normalize,
        weights=weights,
        level_ptr=ptr,
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

    Columns are grouped by stream, and sorted by code within a stream (``sort_bins``).
    """
    counts = kernel._training_counts
    ends = np.cumsum([len(stream.codes) for stream in counts])[:-1]
    tables = [np.sqrt(s.weight) * part for s, part in zip(counts, np.split(coefficients, ends), strict=True)]
    parts = getattr(kernel, "_weighted_parts", None)
    if parts is None:
        return [_with_weights(kernel._counting, _in_order(kernel._counting, tables))]
    owner = kernel._counter.parts
    members: list[GraphMember] = []
    for number, (_, part) in enumerate(parts):
        of_part = [table for table, i in zip(tables, owner, strict=True) if i == number]
        members.append(_with_weights(part._counting, _in_order(part._counting, of_part)))
    weights = np.array([weight for weight, _ in parts])
    return [Rule(members, weights)] if kernel.normalize else members


def _in_order(counting: Counting, tables: Sequence[Matrix]) -> Matrix:
    """Return weights that are sorted by code in the order of the bins, or levels, of the training counts."""
    ordered = []
    for stream, table in zip(counting.counts, tables, strict=True):
        codes = (
            level_codes(stream.codes, largest_counts(stream.counts)) if counting.assigned else stream.codes
        )
        weights = np.empty_like(table)
        weights[np.argsort(codes)] = table
        ordered.append(weights)
    return np.concatenate(ordered)


def mean_rule(rules: Sequence[Rule]) -> Rule:
    """Return the rule of the mean decisions of several rules."""
    return Rule.of([member.scaled(1 / len(rules)) for rule in rules for member in rule.members])
