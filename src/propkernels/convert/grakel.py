"""Converters from and to GraKeL: edge sets or dictionaries, with dictionaries of labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, issparse

from propkernels._utils.arrays import check_sparse
from propkernels._utils.checks import shown
from propkernels._utils.typing import Column
from propkernels.convert.build import (
    Faults,
    FlatGraphs,
    build,
    guarded,
    integers,
    listed,
    numbers,
    owners,
)
from propkernels.convert.listing import list_edges
from propkernels.graphs.accepted import Graphs
from propkernels.graphs.database import GraphDatabase


class DanglingError(ValueError):
    """An edge names a node that does not exist."""


def from_grakel(
    graphs: Iterable[object], *, ids: Column | None = None, errors: str = "raise"
) -> GraphDatabase:
    """Convert graphs in GraKeL's formats to a GraphDatabase.

    Parameters
    ----------
    graphs : sequence
        Each graph is ``edges``, ``[edges, node_labels]`` or ``[edges, node_labels, edge_labels]``, or a
        ``grakel.Graph``. Edges are a set or list of pairs ``(u, v)`` or triples ``(u, v, weight)``, a
        dictionary ``{(u, v): weight}``, ``{u: [v, ...]}`` or ``{u: {v: weight}}``, or an adjacency matrix. As
        in GraKeL they lead from u to v: an undirected edge is listed in both directions. Labels are
        dictionaries by node and by pair of nodes; node labels that are vectors become attributes.
    ids : sequence, optional
        Ids of the graphs.
    errors : {"raise", "skip"}, default="raise"
        Raise an error for an invalid graph, or leave it out (see ``graphs.skipped``).

    Returns
    -------
    GraphDatabase

    See Also
    --------
    propkernels.convert.to_grakel : Back to GraKeL.

    Examples
    --------
    >>> import propkernels as pk
    >>> water = [{(0, 1), (1, 0), (0, 2), (2, 0)}, {0: "O", 1: "H", 2: "H"}]
    >>> pk.convert.from_grakel([water])
    GraphDatabase(1 graph, 3 nodes, 2 edges, 2 node labels)
    """
    several = listed(graphs, "graphs")
    return convert(several, Faults(errors, len(several), ids))


def is_grakel(thing: Any) -> bool:
    """Return whether an object is a graph in a GraKeL format other than a bare adjacency matrix."""
    if type(thing).__module__.startswith("grakel."):
        return True
    if isinstance(thing, (list, tuple)) and 1 <= len(thing) <= 3:
        labeled = len(thing) > 1 and isinstance(thing[1], Mapping)
        return _are_edges(thing[0]) or (labeled and isinstance(thing[0], (list, np.ndarray)))
    return _are_edges(thing)


def _are_edges(thing: Any) -> bool:
    return isinstance(thing, (Mapping, Set)) and not issparse(thing)


@guarded
def convert(graphs: list[Any], faults: Faults) -> GraphDatabase:
    """Return the database of a list of graphs in GraKeL's formats."""
    sizes, counts = np.zeros((2, len(graphs)), dtype=np.int64)
    source, target, weights, edge_labels = [], [], [], []
    labels: list[Any] = []
    for i, graph in enumerate(graphs):
        if i in faults.found:
            continue
        try:
            nodes, edges, own_labels, own_edge_labels = _one(graph)
        except DanglingError as error:
            faults.add(i, str(error))
            continue
        except MemoryError:
            raise
        except Exception:  # objects of the caller may raise any error
            expected = "edges as a set or dictionary, labels as dictionaries"
            faults.add(i, f"is not a graph in one of GraKeL's formats ({expected})", TypeError, " ")
            continue
        number = {node: at for at, node in enumerate(nodes)}
        sizes[i], counts[i] = len(nodes), len(edges)
        source += [number[u] for u, _, _ in edges]
        target += [number[v] for _, v, _ in edges]
        weights += [w for _, _, w in edges]
        labels += [own_labels.get(node) for node in nodes]
        edge_labels += [own_edge_labels.get((u, v)) for u, v, _ in edges]
    rows = _vectors(labels, sizes, faults)
    flat = FlatGraphs(
        sizes,
        counts,
        integers(source),
        integers(target),
        True,
        np.array(weights, dtype=np.float64),
        None if rows is not None or all(label is None for label in labels) else labels,
        rows,
        None if all(label is None for label in edge_labels) else edge_labels,
    )
    return build(flat, faults)


def _vectors(labels: list[Any], sizes: NDArray[np.int64], faults: Faults) -> NDArray[np.float64] | None:
    """Return attributes if all node labels are vectors, which must have equal lengths; else None."""
    if not labels or not all(isinstance(label, (list, np.ndarray)) for label in labels):
        return None
    vectors = [numbers(label) for label in labels]
    length = next((len(one) for one in vectors if one is not None and one.ndim == 1), 1)
    rows = np.full((len(labels), length), np.nan)
    for i, (graph, vector) in enumerate(zip(owners(sizes).tolist(), vectors, strict=True)):
        if vector is not None and vector.shape == (length,):
            rows[i] = vector
        elif graph not in faults.found:
            faults.add(
                graph, f"node labels that are vectors must be {length} numbers, got {shown(labels[i])}"
            )
    return rows


def _one(graph: Any) -> tuple[list[Any], list[Any], Mapping[Any, Any], Mapping[Any, Any]]:
    """Return nodes, edges (u, v, weight), node labels and edge labels of a graph."""
    if type(graph).__module__.startswith("grakel."):
        graph = _from_object(graph)
    bare = isinstance(graph, (Mapping, Set)) or hasattr(graph, "ndim")
    parts = (graph,) if bare else tuple(graph)
    edges = _edges(parts[0])
    labels, edge_labels = (_labels(part) for part in (*parts[1:], None, None)[:2])
    loose = parts[0] if isinstance(parts[0], Mapping) and not _has_pairs(parts[0]) else ()
    named = [*labels, *loose] if labels else [*loose, *(end for u, v, _ in edges for end in (u, v))]
    nodes = list(dict.fromkeys(named)) if labels else _in_order(named)
    known = set(nodes)
    for u, v, _ in edges:
        for node in (u, v):
            if node not in known:
                raise DanglingError(
                    f"edge ({shown(u)}, {shown(v)}) names node {shown(node)}, which has no label"
                )
    return nodes, edges, labels, edge_labels


def _in_order(nodes: list[Hashable]) -> list[Any]:
    """Return distinct nodes, sorted if they are comparable, else in order of appearance."""
    different: list[Any] = list(dict.fromkeys(nodes))
    try:
        return sorted(different)
    except TypeError:
        return different


def _labels(labels: Any) -> Mapping[Any, Any]:
    if labels is None:
        return {}
    return labels if isinstance(labels, Mapping) else dict(enumerate(labels))


def _has_pairs(edges: Mapping[Any, Any]) -> bool:
    return all(isinstance(key, tuple) and len(key) == 2 for key in edges) and not any(
        isinstance(value, (Mapping, Set, list)) for value in edges.values()
    )


def _edges(edges: Any) -> list[tuple[Any, Any, float]]:
    if hasattr(edges, "ndim") or hasattr(edges, "tocoo"):
        entries = coo_array(check_sparse(edges, "the adjacency matrix") if issparse(edges) else edges)
        return list(zip(*(axis.tolist() for axis in entries.coords), entries.data.tolist(), strict=True))
    if not isinstance(edges, Mapping):
        return [(*edge[:2], float(edge[2]) if len(edge) > 2 else 1.0) for edge in edges]
    if _has_pairs(edges):
        return [(u, v, float(weight)) for (u, v), weight in edges.items()]
    pairs = []
    for u, around in edges.items():
        several = around.items() if isinstance(around, Mapping) else ((v, 1.0) for v in around)
        pairs += [(u, v, float(weight)) for v, weight in several]
    return pairs


def _from_object(graph: Any) -> tuple[Any, ...]:
    """Return the parts of a grakel.Graph with a dictionary of edges, an adjacency matrix, or both."""
    try:
        edges, by = graph.get_edge_dictionary(), "dictionary"
    except (AttributeError, TypeError, ValueError):
        edges, by = graph.get_adjacency_matrix(), "adjacency"
    return (
        edges,
        graph.get_labels(purpose=by, label_type="vertex", return_none=True),
        graph.get_labels(purpose=by, label_type="edge", return_none=True),
    )


def to_grakel(graphs: Graphs) -> list[list[object]]:
    """Convert graphs to the input format of GraKeL's kernels.

    Parameters
    ----------
    graphs : GraphDatabase or sequence of graphs

    Returns
    -------
    list of [edges, node_labels, edge_labels]
        Edges are a dictionary ``{(u, v): weight}``, undirected ones in both directions; labels are
        dictionaries; where there are none, nodes are labeled by their attributes, or by 0.

    Raises
    ------
    ValueError
        If a graph has parallel edges, which this format cannot hold.

    See Also
    --------
    propkernels.convert.from_grakel : From GraKeL.

    Examples
    --------
    >>> import propkernels as pk
    >>> pair = pk.GraphDatabase([[0, 1], [1, 0]], [0, 2], node_labels=["C", "O"])
    >>> pk.convert.to_grakel(pair)
    [[{(0, 1): 1.0, (1, 0): 1.0}, {0: 'C', 1: 'O'}, {}]]
    """
    from propkernels.convert.check import check_graphs

    twins = []
    for i, graph in enumerate(check_graphs(graphs)):
        if graph.database.has_parallel_edges:
            raise ValueError(f"graph {i} has parallel edges, which GraKeL's format cannot hold")
        edges = list_edges(graph, both=True)
        pairs = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
        labels: Any = graph.node_labels
        if labels is None:
            labels = (
                np.zeros(graph.n_nodes, dtype=int) if graph.node_attributes is None else graph.node_attributes
            )
        named = {} if edges.labels is None else dict(zip(pairs, edges.labels.tolist(), strict=True))
        weighted = dict(zip(pairs, edges.weights.tolist(), strict=True))
        twins.append([weighted, dict(enumerate(labels.tolist())), named])
    return twins
