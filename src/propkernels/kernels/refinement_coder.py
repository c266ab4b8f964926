"""What fit learns about Weisfeiler-Lehman refinement: by hashing, or exactly."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propkernels.checks import check_choice, check_integer
from propkernels.graphs.database import GraphDatabase
from propkernels.hashing.codes import CodeStreams
from propkernels.hashing.multiset import as_streams, multiset_codes
from propkernels.kernels.label_keys import (
    LABEL_SOURCES,
    check_edge_labels,
    edge_keys,
    node_keys,
    plain_labels,
    resolve_source,
)


@dataclass(frozen=True)
class RefinementCoder:
    """Settings of a fitted Weisfeiler-Lehman kernel, enough to give any graph its codes.

    Attributes
    ----------
    source : {"node", "degree", None}
        Where labels come from.
    edge_labels, edge_weights : bool
        What tells edges apart.
    n_iter : int
    """

    source: str | None
    edge_labels: bool
    edge_weights: bool
    n_iter: int

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> RefinementCoder:
        """Check an estimator's parameters and resolve them on the training graphs."""
        check_choice(parameters.labels, LABEL_SOURCES, "labels")
        for name in ("edge_labels", "edge_weights"):
            check_choice(getattr(parameters, name), (False, True), name)
        n_iter = check_integer(parameters.n_iter, "n_iter", 0)
        check_edge_labels(graphs, parameters.edge_labels)
        source = resolve_source(graphs, parameters.labels)
        return cls(source, parameters.edge_labels, parameters.edge_weights, n_iter)

    def codes(self, graphs: GraphDatabase, n_jobs: int | None) -> CodeStreams:
        """Codes of all nodes for t = 0..n_iter."""
        edges = edge_keys(graphs, self.edge_labels, self.edge_weights)
        return multiset_codes(graphs, node_keys(graphs, self.source), edges, self.n_iter, n_jobs)


@dataclass(frozen=True)
class ExactCoder(RefinementCoder):
    """Refinement by a dictionary of all neighbourhoods met in fit: no two ever share a code.

    Attributes
    ----------
    tables : list of dict
        For each t, the code of each label or neighbourhood; new ones are numbered on, and not kept.
    """

    tables: list[dict[Hashable, int]] = field(default_factory=list)

    @classmethod
    def learn(cls, graphs: GraphDatabase, parameters: Any) -> ExactCoder:
        """Check the parameters, and number what the training graphs hold."""
        settings = RefinementCoder.learn(graphs, parameters)
        coder = cls(settings.source, settings.edge_labels, settings.edge_weights, settings.n_iter)
        coder.tables.extend({} for _ in range(settings.n_iter + 1))
        coder._relabel(graphs, coder.tables)
        return coder

    def codes(self, graphs: GraphDatabase, n_jobs: int | None) -> CodeStreams:
        """Codes of all nodes for t = 0..n_iter."""
        return as_streams(self._relabel(graphs, [dict(table) for table in self.tables]))

    def extend(self, graphs: GraphDatabase) -> None:
        """Number what further graphs hold, and keep it."""
        self._relabel(graphs, self.tables)

    def _relabel(self, graphs: GraphDatabase, tables: list[dict[Hashable, int]]) -> NDArray[np.uint64]:
        column = plain_labels(graphs, self.source)
        labels = [None if i < 0 else column.values[i] for i in column.ids]
        codes = np.empty((self.n_iter + 1, graphs.n_nodes), dtype=np.uint64)
        codes[0] = _number(labels, tables[0])
        edges = edge_keys(graphs, self.edge_labels, self.edge_weights)
        for t in range(1, self.n_iter + 1):
            codes[t] = _number(_neighbourhoods(graphs, codes[t - 1], edges), tables[t])
        return codes


def _number(things: list[Any], table: dict[Hashable, int]) -> NDArray[np.uint64]:
    numbers = [table.setdefault(thing, len(table)) for thing in things]
    return np.array(numbers, dtype=np.uint64)


def _neighbourhoods(
    graphs: GraphDatabase, codes: NDArray[np.uint64], edges: NDArray[np.uint64] | None
) -> list[bytes]:
    """Each node's code and its sorted neighbours' (with the keys of the edges to them), as bytes."""
    indptr = graphs.adjacency.indptr
    rows = np.repeat(np.arange(graphs.n_nodes), np.diff(indptr))
    around = codes[graphs.adjacency.indices]
    pairs = around[:, None] if edges is None else np.column_stack([around, edges])
    pairs = np.ascontiguousarray(pairs[np.lexsort((*pairs.T, rows))])
    own, step = codes.tobytes(), 8 * pairs.shape[1]
    text, ends = pairs.tobytes(), (step * indptr.astype(np.int64)).tolist()
    return [own[8 * i : 8 * i + 8] + text[ends[i] : ends[i + 1]] for i in range(graphs.n_nodes)]
