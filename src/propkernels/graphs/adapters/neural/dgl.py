"""From DGL."""

from __future__ import annotations

from typing import Any

import numpy as np

from propkernels.graphs.adapters.build import Faults, FlatGraphs, build, listed
from propkernels.graphs.adapters.neural.tensors import Table, as_labels, to_numpy
from propkernels.graphs.database import GraphDatabase


def from_dgl(
    graphs: Any,
    *,
    node_label: str | None = "label",
    node_attributes: str | None = "attr",
    edge_label: str | None = "label",
    edge_attributes: str | None = "attr",
    weight: str | None = "weight",
    ids: Any = None,
    errors: str = "raise",
) -> GraphDatabase:
    """Convert DGL graphs to a GraphDatabase.

    Parameters
    ----------
    graphs : sequence of DGLGraph, or one batched DGLGraph
        Edges lead from source to destination; DGL lists an undirected edge in both directions. Batched graphs
        are taken apart.
    node_label, node_attributes : str or None
        Names in ``ndata``; those that no graph has are passed over. Labels may be one-hot.
    edge_label, edge_attributes, weight : str or None
        Names in ``edata``.
    ids : sequence, optional
        What the graphs are called.
    errors : {"raise", "skip"}, default="raise"
        Whether a faulty graph is an error, or left out (see ``graphs.skipped``).

    Returns
    -------
    GraphDatabase

    See Also
    --------
    from_pyg : From PyTorch Geometric.

    Examples
    --------
    >>> import dgl, torch, propkernels as pk                                       # doctest: +SKIP
    >>> graph = dgl.graph(([0, 1, 1, 2], [1, 0, 2, 1]))                            # doctest: +SKIP
    >>> graph.ndata["label"] = torch.tensor([0, 1, 0])                             # doctest: +SKIP
    >>> pk.from_dgl([graph])                                                       # doctest: +SKIP
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    """
    several = [graphs] if is_dgl(graphs) else listed(graphs, "graphs")
    total = sum(_number(graph) for graph in several)
    faults = Faults(errors, total, ids)
    return convert(several, faults, node_label, node_attributes, edge_label, edge_attributes, weight)


def is_dgl(thing: Any) -> bool:
    """Whether something offers what a DGLGraph does."""
    return all(hasattr(thing, name) for name in ("ndata", "edata", "num_nodes", "batch_num_nodes"))


def _number(graph: Any) -> int:
    return len(to_numpy(graph.batch_num_nodes())) if is_dgl(graph) else 1


def convert(
    graphs: list[Any],
    faults: Faults,
    node_label: str | None = "label",
    node_attributes: str | None = "attr",
    edge_label: str | None = "label",
    edge_attributes: str | None = "attr",
    weight: str | None = "weight",
) -> GraphDatabase:
    """Convert a list of DGL graphs; a batched one counts as several."""
    sizes, counts, source, target = [], [], [], []
    for i, graph in enumerate(graphs):
        if not is_dgl(graph):
            raise TypeError(f"graph {i} is a {type(graph).__name__}, not a DGL graph")
        own_sizes = to_numpy(graph.batch_num_nodes()).astype(np.int64)
        own_counts = to_numpy(graph.batch_num_edges()).astype(np.int64)
        starts = np.repeat(np.cumsum(own_sizes) - own_sizes, own_counts)
        first, second = (to_numpy(end).astype(np.int64) - starts for end in graph.edges())
        sizes.append(own_sizes)
        counts.append(own_counts)
        source.append(first)
        target.append(second)
    none = [np.empty(0, dtype=np.int64)]
    labels, edge_labels = (
        _stacked(graphs, "ndata", node_label),
        _stacked(graphs, "edata", edge_label),
    )
    weights = _stacked(graphs, "edata", weight)
    flat = FlatGraphs(
        np.concatenate(none + sizes),
        np.concatenate(none + counts),
        np.concatenate(none + source),
        np.concatenate(none + target),
        True,
        None if weights is None else weights.astype(np.float64).reshape(-1),
        None if labels is None else as_labels(labels),
        _floats(_stacked(graphs, "ndata", node_attributes)),
        None if edge_labels is None else as_labels(edge_labels),
        _floats(_stacked(graphs, "edata", edge_attributes)),
    )
    return build(flat, faults)


def _floats(table: Table | None) -> Table | None:
    return None if table is None else table.astype(np.float64).reshape(len(table), -1)


def _stacked(graphs: list[Any], where: str, name: str | None) -> Table | None:
    """A tensor of all graphs; None where no graph has it."""
    known = [name is not None and name in getattr(graph, where) for graph in graphs]
    if not any(known):
        return None
    if not all(known):
        raise ValueError(f"graph {known.index(False)} has no {name!r} in {where}, but others have")
    tables = [to_numpy(getattr(graph, where)[name]) for graph in graphs]
    try:
        return np.concatenate(tables)
    except ValueError:
        shapes = [table.shape[1:] for table in tables]
        odd = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
        raise ValueError(
            f"graph {odd}: {name!r} in {where} is of another shape than that of graph 0"
        ) from None
