"""Weisfeiler-Lehman refinement of labels that are tuples, entry by entry.

A label that is a tuple, such as the symbol of an atom and its invariants, holds several labels of one node.
Refinement of whole tuples is as fine as the finest entry. Refinement entry by entry has one stream of codes
per entry and iteration, and the kernel is the sum of the kernels of the entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propkernels._utils.checks import shown
from propkernels._utils.stored import is_whole, require
from propkernels.codes.codes import CodeStreams
from propkernels.codes.refinement import multiset_codes
from propkernels.graphs.database import GraphDatabase
from propkernels.graphs.labels import entry_of, number_of_entries
from propkernels.kernels.weisfeiler_lehman import RefinementCoder
from propkernels.propagation.initial import ENTRIES, edge_keys, node_keys, plain_labels


@dataclass(frozen=True)
class EntryCoder(RefinementCoder):
    """Settings of a Weisfeiler-Lehman kernel that refines entries of labels.

    Attributes
    ----------
    width : int
        Number of entries of every label.
    entries : tuple of int
        Entries that are refined.
    """

    width: int
    entries: tuple[int, ...]

    def _check_parts(self) -> None:
        """Raise if entries are out of range."""
        super()._check_parts()
        require(is_whole(self.width, 1) and self.entries, "an entry is needed")
        require(
            all(is_whole(entry, 0) and entry < self.width for entry in self.entries),
            "an entry is out of range",
        )

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> EntryCoder:
        """Return a coder from validated parameters of an estimator and the training graphs."""
        labels = parameters.labels
        settings = cls.settings(graphs, parameters, "node")
        width = number_of_entries(plain_labels(graphs, "node"))
        if labels != ENTRIES and not 0 <= labels < width:
            raise ValueError(f"labels={shown(labels)}: the node labels have entries 0 to {width - 1}")
        entries = tuple(range(width)) if labels == ENTRIES else (int(labels),)
        return cls(*settings, width, entries)

    def restricted(self, t_max: int) -> EntryCoder:
        """Return a coder for the first iterations."""
        return replace(self, t_max=t_max)

    def codes(self, graphs: GraphDatabase) -> list[CodeStreams]:
        """Return codes of all nodes, ordered by t = 0..t_max, then by entry."""
        column = plain_labels(graphs, "node")
        if len(graphs) and number_of_entries(column, self.width) != self.width:
            raise ValueError(
                f"node labels have {number_of_entries(column)} entries, but labels of the training graphs "
                f"have {self.width}"
            )
        edges = edge_keys(graphs, self.edge_labels, self.edge_weights)
        parts = []
        for entry in self.entries:
            keys = node_keys(graphs.with_labels(entry_of(column, entry)), "node")
            parts.append(multiset_codes(graphs, keys, edges, self.t_max).codes)
        codes = np.stack(parts, axis=1).reshape(self.n_streams, graphs.n_nodes)  # by t, then by entry
        iterations = np.repeat(np.arange(self.t_max + 1), len(self.entries))
        return [CodeStreams(codes, iterations, np.ones(len(iterations)))]

    def device_streams(self, graphs: GraphDatabase, runtime: Any) -> None:
        """Return None: entries are coded on the CPU only."""

    @property
    def n_streams(self) -> int:
        """Number of codes per node."""
        return (self.t_max + 1) * len(self.entries)
