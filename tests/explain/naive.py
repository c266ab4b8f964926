"""A slow second implementation: edit a networkx graph, make a database of it, and ask the model."""

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

import propkernels as pk

DIGITS = 12


def single(graph: nx.Graph, labels: list[Any], bonds: list[Any], kinds: Any) -> list[tuple[Any, ...]]:
    """All single edits, by kind: (kind, node, other or None, label or None, edge label or None)."""
    nodes, found = sorted(graph), []
    labels = labels or [None]
    for a in nodes:
        found += [("relabel", a, None, x, None) for x in labels if x != graph.nodes[a].get("label")]
        found += [("add_leaf", a, None, x, bond) for x in labels for bond in bonds]
        if graph.degree(a) == 1:
            found.append(("remove_leaf", a, next(iter(graph[a])), None, None))
    for a, b in combinations(nodes, 2):
        if graph.has_edge(a, b):
            found.append(("remove_edge", a, b, None, None))
        else:
            found += [("add_edge", a, b, None, bond) for bond in bonds]
    return [edit for edit in found if edit[0] in kinds]


def apply(graph: nx.Graph, edit: tuple[Any, ...]) -> nx.Graph:
    """A copy with one edit made; new nodes have the next number."""
    kind, a, b, label, bond = edit
    new = graph.copy()
    if kind == "relabel":
        new.nodes[a]["label"] = label
    elif kind == "add_edge":
        new.add_edge(a, b, **({} if bond is None else {"label": bond}))
    elif kind == "remove_edge":
        new.remove_edge(a, b)
    elif kind == "add_leaf":
        leaf = graph.graph["next"]
        new.graph["next"] = leaf + 1
        new.add_node(leaf, **({} if label is None else {"label": label}))
        new.add_edge(a, leaf, **({} if bond is None else {"label": bond}))
    else:
        new.remove_node(a)
    return new


def apply_all(graph: nx.Graph, edits: list[tuple[Any, ...]]) -> nx.Graph | None:
    """Edits made one after the other; None if one of them is impossible."""
    for kind, a, b, label, bond in edits:
        if a not in graph or (b is not None and b not in graph):
            return None
        if kind == "relabel" and graph.nodes[a].get("label") == label:
            return None
        if kind == "add_edge" and (graph.has_edge(a, b) or a == b):
            return None
        if kind in ("remove_edge", "remove_leaf") and not graph.has_edge(a, b):
            return None
        if kind == "remove_leaf" and graph.degree(a) != 1:
            return None
        graph = apply(graph, (kind, a, b, label, bond))
    return graph


def to_database(graphs: list[nx.Graph], like: pk.GraphDatabase) -> pk.GraphDatabase:
    """A database with nodes in the order of their numbers."""
    ordered = []
    for graph in graphs:
        new = nx.Graph()
        new.add_nodes_from((v, graph.nodes[v]) for v in sorted(graph))
        new.add_edges_from((a, b, graph.edges[a, b]) for a, b in sorted(map(sorted, graph.edges)))
        ordered.append(new)
    labeled = {} if like.label_column is None else {"node_label": "label"}
    labeled |= {} if like.edge_label_column is None else {"edge_label": "label"}
    return pk.from_networkx(ordered, **labeled)


def from_database(graph: Any) -> nx.Graph:
    """The one graph of a database as networkx graph with labels called "label"."""
    new, matrix = nx.Graph(), graph.adjacency.tocoo()
    labels, bonds = graph.node_labels, graph.edge_labels
    for v in range(graph.n_nodes):
        new.add_node(v, **({} if labels is None else {"label": labels[v]}))
    for e, (a, b) in enumerate(zip(*matrix.coords, strict=True)):
        new.add_edge(int(a), int(b), **({} if bonds is None else {"label": bonds[e]}))
    new.graph["next"] = graph.n_nodes
    return new


def decisions(model: Any, graphs: list[nx.Graph], like: pk.GraphDatabase) -> np.ndarray[Any, Any]:
    """What the model itself says."""
    return np.asarray(model.decision_function(to_database(graphs, like)))
