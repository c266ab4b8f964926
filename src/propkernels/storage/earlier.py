"""Decision rules in files of version 0.1, converted to sums of members when loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from propkernels._utils.randomness import mix
from propkernels._utils.stored import ANY_NUMBER
from propkernels.counts.counters import Codes, Counter
from propkernels.counts.entries import Vocabulary
from propkernels.counts.joined import JoinedCounter
from propkernels.counts.levels import LevelCounter
from propkernels.explain.members import FoldedMember, JointMember, Member
from propkernels.explain.rule import Rule, dual_members

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class FoldedRule:
    """Weights of bins, or of levels of bins, in the format of version 0.1."""

    counter: Counter
    codes: Annotated[list[NDArray[np.int64]], ANY_NUMBER]
    weights: list[NDArray[np.float64]]
    stream_weights: NDArray[np.float64]
    normalize: bool

    def _check_parts(self) -> None:
        """Raise ValueError if codes and weights have inconsistent shapes."""
        n_streams = {len(self.codes), len(self.weights), len(self.stream_weights)}
        if len(n_streams) != 1 or not self.codes:
            raise ValueError("every stream needs codes, weights and a weight")
        streams = zip(self.codes, self.weights, strict=True)
        shapes = [(codes.shape, table.ndim, len(table)) for codes, table in streams]
        if any(shape != (n,) or ndim != 2 for shape, ndim, n in shapes):
            raise ValueError("every code needs a row of weights")
        if len({table.shape[1] for table in self.weights}) != 1:
            raise ValueError("streams have different numbers of decisions")
        if isinstance(self.counter, JoinedCounter) and len(self.counter.parts) != len(self.codes):
            raise ValueError("every stream belongs to a part of the sum")

    def restored(self) -> Rule:
        """Return the rule as a sum of members."""
        streams = list(zip(self.codes, self.weights, self.stream_weights.tolist(), strict=True))
        if not isinstance(self.counter, JoinedCounter):
            return Rule.of([_member(self.counter, streams, self.normalize)])
        members: list[Member] = []
        for (counter, part), weight, flag in zip(
            self.counter.split(streams), self.counter.weights.tolist(), self.counter.normalized, strict=True
        ):
            unit = weight if weight > 0 else 1.0
            scaled = [(codes, table, stream_weight / unit) for codes, table, stream_weight in part]
            members.append(_member(counter, scaled, bool(flag)))
        return Rule.of([JointMember(members, self.counter.weights)] if self.normalize else members)


@dataclass(frozen=True)
class KernelRule:
    """Kernel and coefficients of the training graphs, in the format of version 0.1."""

    kernel: Any
    coefficients: NDArray[np.float64]

    def _check_parts(self) -> None:
        """Raise ValueError unless there is one row of coefficients per training graph."""
        n_graphs = getattr(self.kernel, "_n_features_out", len(self.coefficients))
        if self.coefficients.ndim != 2 or len(self.coefficients) != n_graphs:
            raise ValueError("every training graph needs a row of coefficients")

    def restored(self) -> Rule:
        """Return the rule as a sum of members."""
        return Rule.of(dual_members(self.kernel, self.coefficients))


@dataclass(frozen=True)
class SumRule:
    """Sum of rules, in the format of version 0.1."""

    rules: list[Rule]

    def _check_parts(self) -> None:
        """Raise ValueError unless there are two or more rules."""
        if len(self.rules) < 2 or not all(isinstance(rule, Rule) for rule in self.rules):
            raise ValueError("a sum needs two or more rules")

    def restored(self) -> Rule:
        """Return the rule as a sum of members."""
        return Rule.of([member for rule in self.rules for member in rule.members])


def _member(
    counter: Counter, streams: Sequence[tuple[Codes, Matrix, float]], normalize: bool
) -> FoldedMember:
    """Return the folded member of streams; weights of levels are sorted by bin."""
    stream_weights = np.array([weight for _, _, weight in streams])
    if not isinstance(counter, LevelCounter):
        table = np.concatenate([table for _, table, _ in streams])
        return FoldedMember(
            Vocabulary(counter, [codes for codes, _, _ in streams]), table, None, stream_weights, normalize
        )
    bins, orders, most = zip(*(_bins_of_levels(codes) for codes, _, _ in streams), strict=True)
    table = np.concatenate([table[order] for (_, table, _), order in zip(streams, orders, strict=True)])
    ptr = np.concatenate([[0], np.cumsum(np.concatenate(most))]).astype(np.int64)
    return FoldedMember(Vocabulary(counter.counter, list(bins)), table, ptr, stream_weights, normalize)


def _bins_of_levels(codes: Codes) -> tuple[Codes, NDArray[np.int64], NDArray[np.int64]]:
    """Return codes of bins, the order of all codes by bin and level, and the number of levels per bin.

    Level 1 of a bin has the code of the bin; level k has the hash of that code and k.
    """
    by_code = np.argsort(codes)
    owner, level = np.arange(len(codes)), np.ones(len(codes), dtype=np.int64)
    several, k = np.arange(len(codes)), 2
    while len(several):
        expected = mix(codes[several].view(np.uint64), k).view(np.int64)
        at = np.minimum(np.searchsorted(codes, expected, sorter=by_code), len(codes) - 1)
        candidate = by_code[at]
        is_level = codes[candidate] == expected
        owner[candidate[is_level]], level[candidate[is_level]] = several[is_level], k
        several, k = several[is_level], k + 1
        several = several[level[several] == 1]
    order = np.lexsort((level, owner))
    bins = np.flatnonzero(level == 1)
    return codes[bins], order, np.bincount(owner, minlength=len(codes))[bins]
