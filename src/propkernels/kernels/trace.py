"""What a propagation kernel computes, step by step: P_t, codes and bins of all nodes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propkernels.codes.codes import label_codes
from propkernels.graphs.database import GraphDatabase


class Trace(NamedTuple):
    """P_t, codes and bins of all nodes, as :meth:`PropagationKernel.trace` returns them.

    Attributes
    ----------
    labels : tuple of length k
        Labels of the columns of P_t.
    nodes : ndarray of shape (N, 2)
        Graph of each node, and its number in the graph.
    distributions : ndarray of shape (t_max + 1, N, k)
        P_t.
    codes : ndarray of int64, shape (t_max + 1, N)
        Values of the (first) hash function at each t.
    bins : ndarray of int64, shape (t_max + 1, N)
        The same, numbered from 0 at each t in order of appearance.
    """

    labels: tuple[Hashable, ...]
    nodes: NDArray[np.int64]
    distributions: NDArray[np.float64]
    codes: NDArray[np.int64]
    bins: NDArray[np.int64]

    def rows(self) -> list[dict[str, Any]]:
        """Return one record per t and node, for example for ``pandas.DataFrame``."""
        names = [f"P({label})" for label in self.labels]
        return [
            {"t": t, "graph": graph, "node": node}
            | dict(zip(names, self.distributions[t, i].tolist(), strict=True))
            | {"code": int(self.codes[t, i]), "bin": int(self.bins[t, i])}
            for t in range(len(self.codes))
            for i, (graph, node) in enumerate(self.nodes.tolist())
        ]

    def __str__(self) -> str:
        records = self.rows()
        head = list(records[0]) if records else []
        cells = [[f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()] for row in records]
        widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in (head, *cells)
        )


def trace(coder: Any, graphs: GraphDatabase) -> Trace:
    """Return P_t, codes and bins of the label part of a fitted propagation coder."""
    initial = coder.initial(graphs)
    order = sorted(range(len(initial.values)), key=lambda i: repr(initial.values[i]))
    prepared, start = coder.scheme.prepare(graphs, initial), initial.to_dense()
    steps = [start]
    for _ in range(coder.t_max):
        steps.append(np.asarray(coder.scheme.step(prepared, steps[-1], start), dtype=np.float64))
    codes = label_codes(*coder.label_arguments(graphs)).codes[:: coder.n_hashes]
    places = np.arange(graphs.n_nodes) - graphs.graph_ptr[graphs.graph_ids]
    labels = tuple(initial.values[i] for i in order)
    bins = np.array([numbered(row) for row in codes])
    nodes = np.stack([graphs.graph_ids.astype(np.int64), places], axis=1)
    return Trace(labels, nodes, np.stack(steps)[:, :, order], codes, bins)


def numbered(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return equal numbers for equal codes, by first appearance."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.ravel()])
