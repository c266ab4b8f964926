"""Serialize a model for a page: members with bin weights, or with kept training graphs.

The bins of each stream are numbered in order of first appearance in the graphs of the page. The page
recomputes their codes, so only the codes of the model's other bins are stored, which follow in number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from propkernels.codes.codes import NO_BIN
from propkernels.counts.counters import StreamCounts, after_known, count_codes
from propkernels.counts.entries import Vocabulary
from propkernels.explain.rule import FoldedMember, GraphMember, RatioMember, Rule
from propkernels.explorer.page_codes import NotLive, code_function, words
from propkernels.graphs.database import GraphDatabase

Arrays = dict[str, NDArray[Any]]
Numbers = NDArray[np.int64]
CARRIED = (
    "it can show models of Weisfeiler-Lehman, propagation and shortest-path kernels on labels, degrees and "
    "fixed attributes of unweighted graphs, with the base kernels linear, intersection, tanimoto and jaccard"
)


@dataclass(frozen=True, eq=False)
class PageBins:
    """Bins of a vocabulary, numbered for the page.

    Attributes
    ----------
    vocabulary : Vocabulary
    settings : dict
        Settings of the code function.
    arrays : dict of arrays
        Arrays of the code function, and the codes of bins that occur in the model only.
    streams : list of StreamCounts
        Counts of the graphs of the page, with bins in order of first appearance.
    columns : list of ndarray
        Per stream, the column of each bin in the vocabulary; -1: not in the vocabulary.
    all_columns : list of ndarray
        The same, with the bins that occur in the model only at the end.
    sum : int
        Checksum of all codes: the sum of their lower halves modulo 2^32, which the page recomputes.
    """

    vocabulary: Vocabulary
    settings: dict[str, Any]
    arrays: Arrays
    streams: list[StreamCounts]
    columns: list[Numbers]
    all_columns: list[Numbers]
    sum: int

    @classmethod
    def number(cls, vocabulary: Vocabulary, graphs: GraphDatabase) -> PageBins:
        """Number the bins of the graphs of a page."""
        settings, arrays = code_function(vocabulary.counter, graphs)
        listed = vocabulary.counter.listed(graphs)
        if listed is None:
            raise NotLive(f"{type(vocabulary.counter).__name__} does not list its codes")
        streams, total = [], 0
        for block in listed.blocks:
            for t, weight, codes in block.streams():
                total += int((codes & 0xFFFFFFFF).sum())
                counted = StreamCounts(*count_codes(codes, listed.ptr), t, weight)
                streams.append(after_known(counted, in_order(codes)))
        streams = streams[: len(vocabulary.codes)]
        columns = [
            vocabulary.columns_of(s, stream.codes).astype(np.int64) for s, stream in enumerate(streams)
        ]
        everything = []
        for s, (own, start) in enumerate(zip(columns, vocabulary.starts, strict=False)):
            absent = np.ones(len(vocabulary.codes[s]), dtype=bool)
            absent[own[own >= 0] - start] = False
            everything.append(np.concatenate([own, start + np.flatnonzero(absent)]))
            if absent.any():
                arrays[f"extra{s}"] = words(vocabulary.codes[s][absent])
        return cls(vocabulary, settings, arrays, streams, columns, everything, total % 2**32)

    @property
    def numbers(self) -> Numbers:
        """The bin number, within its stream, of each column of the vocabulary."""
        numbers = np.empty(int(self.vocabulary.starts[-1]), dtype=np.int64)
        for columns in self.all_columns:
            in_vocabulary = np.flatnonzero(columns >= 0)
            numbers[columns[in_vocabulary]] = in_vocabulary
        return numbers

    @property
    def are_those_of_training(self) -> bool:
        """Whether the graphs of the page have exactly the bins of the training graphs."""
        streams = zip(self.columns, self.vocabulary.codes, strict=True)
        return all(len(columns) == len(codes) and bool((columns >= 0).all()) for columns, codes in streams)

    def place(self, stream: int, code: int) -> int:
        """Return the number of a bin on the page; -1: in no graph of the page."""
        matches = np.flatnonzero(self.streams[stream].codes == code)
        return int(matches[0]) if len(matches) else -1


def in_order(codes: Numbers) -> Numbers:
    """Return the distinct codes of counted items in order of first appearance."""
    values, first = np.unique(codes[codes != NO_BIN], return_index=True)
    return np.asarray(values[np.argsort(first)])


@dataclass(frozen=True, eq=False)
class CarriedRule:
    """A rule, serialized for a page.

    Attributes
    ----------
    bins : list of PageBins
        One per vocabulary.
    members : list of dict
        Settings of each member, read by ``model.js``.
    arrays : dict of arrays
        Weights and kept training graphs.
    leaves : list of GraphMember
        Members with one vocabulary each, in the order of ``Rule.bin_weights``.
    places : list of int
        Number of the vocabulary of each leaf.
    """

    bins: list[PageBins]
    members: list[dict[str, Any]]
    arrays: Arrays
    leaves: list[Any]
    places: list[int]

    @property
    def codes(self) -> list[dict[str, Any]]:
        """Settings of the code functions."""
        return [bins.settings for bins in self.bins]

    @property
    def sections(self) -> dict[str, Arrays]:
        """Arrays of the code functions and of the members."""
        return {f"code{v}": bins.arrays for v, bins in enumerate(self.bins)} | {"model": self.arrays}


def carried_rule(rule: Rule, graphs: Any) -> CarriedRule:
    """Return a rule serialized for a page.

    Parameters
    ----------
    rule : Rule
    graphs : GraphDatabase
        The graphs of the page.

    Raises
    ------
    NotLive
        If the page cannot compute its decisions.
    """
    if not rule.compares_bins:
        raise NotLive("one of its kernels compares graphs without counting bins")
    bins = [PageBins.number(vocabulary, graphs) for vocabulary in rule.vocabularies]
    writer = _Writer(bins)
    members = [writer.member(member) for member in rule.members]
    return CarriedRule(bins, members, writer.arrays, writer.leaves, writer.places)


@dataclass(eq=False)
class _Writer:
    """Collects settings and arrays of the members of a rule."""

    bins: list[PageBins]
    arrays: Arrays = field(default_factory=dict)
    leaves: list[Any] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def member(self, member: GraphMember) -> dict[str, Any]:
        """Add the arrays of a member, and return its settings."""
        if isinstance(member, Rule):  # of a normalized sum
            parts = [self.member(part) for part in member.members]
            return {"kind": "joint", "members": parts, "weights": np.asarray(member.weights).tolist()}
        if not isinstance(member, (FoldedMember, RatioMember)):
            raise NotLive(f"the page has no rule for {type(member).__name__}")
        key, place = f"m{len(self.leaves)}", [bins.vocabulary for bins in self.bins].index(member.vocabulary)
        self.leaves.append(member)
        self.places.append(place)
        is_folded = isinstance(member, FoldedMember)
        write: Any = self._folded if is_folded else self._ratio
        arrays = write(member, place)
        self.arrays |= {f"{key}.{name}": array for name, array in arrays.items()}
        return {
            "kind": "folded" if is_folded else "ratio",
            "key": key,
            "vocabulary": place,
            "streamWeights": member.stream_weights.tolist(),
            "assigned": member.is_assigned,
            "normalize": bool(member.normalize),
            "columns": member.n_decisions,
        }

    def _folded(self, member: FoldedMember, place: int) -> Arrays:
        """Return the distinct rows of weights, and the row number of each bin or level."""
        zero = np.zeros((1, member.n_decisions))
        weights = np.ascontiguousarray(np.concatenate([member.weights, zero]))
        keys = weights.view(np.dtype((np.void, weights.itemsize * weights.shape[1])))  # compared bit by bit
        _, first, rows = np.unique(keys.ravel(), return_index=True, return_inverse=True)
        table = weights[first]
        arrays: Arrays = {"table": table.ravel()}
        for s in range(len(member.stream_weights)):
            columns = self.bins[place].all_columns[s]
            if member.level_ptr is None:
                arrays[f"rows{s}"] = rows[columns]
                continue
            # a bin has one row per level; levels of all bins are listed one bin after the other
            most = np.where(columns >= 0, np.diff(member.level_ptr)[columns], 0)
            levels = np.repeat(member.level_ptr[columns] - (np.cumsum(most) - most), most) + np.arange(
                int(most.sum())
            )
            arrays[f"most{s}"], arrays[f"rows{s}"] = most, rows[levels]
        return arrays

    def _ratio(self, member: RatioMember, place: int) -> Arrays:
        """Return coefficients and counts of the kept training graphs."""
        bins, kept = self.bins[place], csr_array(member.kept.T)
        starts, numbers = bins.vocabulary.starts, bins.numbers
        arrays: Arrays = {"coefficients": member.coefficients.ravel()}
        for s in range(len(member.stream_weights)):
            part = csr_array(kept[:, starts[s] : starts[s + 1]])
            arrays[f"ptr{s}"] = part.indptr
            arrays[f"bins{s}"] = numbers[starts[s] + part.indices]
            arrays[f"counts{s}"] = part.data.astype(np.int64)
        return arrays


def refusal(model: Any, reason: Exception, advice: Sequence[str] = (CARRIED,)) -> NotLive:
    """Return an error with the reason why a page cannot show a model, and the models that it can show."""
    return NotLive(f"a page cannot show this {type(model).__name__}: {reason}; {' '.join(advice)}")
