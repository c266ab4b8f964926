"""Backend of networkx: ``optimize_graph_edit_distance(G, H, backend="propkernels")``, a small bound first.

networkx finds this module by its entry points and imports it together with itself, so that nothing is
imported here before it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

FUNCTION = "optimize_graph_edit_distance"
Cost = Callable[..., float] | None


def info() -> dict[str, Any]:
    """Return what networkx says of this backend in its documentation."""
    about = "The first bound is that of propkernels.edit_distance; networkx goes on from there."
    return {
        "backend_name": "propkernels",
        "project": "propkernels",
        "package": "propkernels",
        "url": "https://github.com/propkernels/propkernels",
        "short_summary": "Small bounds of graph edit distances, in a millisecond.",
        "functions": {FUNCTION: {"extra_docstring": about}},
    }


class Wrapped:
    """A networkx graph that networkx hands to this backend."""

    __networkx_backend__ = "propkernels"

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return bool(self.graph.is_directed())

    def is_multigraph(self) -> bool:
        """Whether edges may be parallel."""
        return bool(self.graph.is_multigraph())


def convert_from_nx(graph: Any, *args: object, **options: object) -> Wrapped:
    """Return a graph for this backend."""
    return Wrapped(graph)


def convert_to_nx(result: Any, **options: object) -> Any:
    """Return a result of this backend for networkx."""
    return result.graph if isinstance(result, Wrapped) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return whether the function is here, or why these graphs are not taken."""
    if name != FUNCTION:
        return f"propkernels has {FUNCTION} alone"
    graphs = [*args, *(kwargs[key] for key in ("G1", "G2") if key in kwargs)][:2]
    if any(graph.is_multigraph() for graph in graphs):
        return "graphs with parallel edges are not taken"
    if len({graph.is_directed() for graph in graphs}) > 1:
        return "one graph is directed and the other is not"
    return True


def optimize_graph_edit_distance(
    G1: Wrapped,
    G2: Wrapped,
    node_match: Cost = None,
    edge_match: Cost = None,
    node_subst_cost: Cost = None,
    node_del_cost: Cost = None,
    node_ins_cost: Cost = None,
    edge_subst_cost: Cost = None,
    edge_del_cost: Cost = None,
    edge_ins_cost: Cost = None,
    upper_bound: float | None = None,
) -> Iterator[float]:
    """Yield smaller and smaller bounds of the graph edit distance: ours first, then those of networkx.

    Parameters are networkx's. Whatever functions say which nodes and edges are equal and what edits cost, the
    first bound is the cost of edits that turn one graph into the other.
    """
    import networkx as nx

    g, h = (wrapped.graph for wrapped in (G1, G2))
    replace_node, replace_edge = (
        _replacing(node_match, node_subst_cost),
        _replacing(edge_match, edge_subst_cost),
    )
    nodes, edges = _path(g, h, replace_node, replace_edge)
    best = sum(_costs(nodes, g.nodes, h.nodes, replace_node, node_del_cost, node_ins_cost))
    best += sum(_costs(edges, g.edges, h.edges, replace_edge, edge_del_cost, edge_ins_cost))
    if upper_bound is None or best <= upper_bound:
        yield best
        upper_bound = best
    matches = (node_match, edge_match)
    costs = (node_subst_cost, node_del_cost, node_ins_cost, edge_subst_cost, edge_del_cost, edge_ins_cost)
    for bound in nx.optimize_graph_edit_distance(g, h, *matches, *costs, upper_bound, backend="networkx"):
        if bound < best:
            yield bound
            best = bound


def _replacing(match: Cost, cost: Cost) -> Callable[[Any, Any], float]:
    """Return the cost of replacing one node or edge by another, from their data, as networkx defines it."""
    if cost is not None:
        return cost
    return (lambda a, b: 0.0) if match is None else (lambda a, b: 1.0 - bool(match(a, b)))


def _path(g: Any, h: Any, replace_node: Any, replace_edge: Any) -> tuple[list[Any], list[Any]]:
    """Return pairs of nodes and of edges, by names; None where one is inserted or deleted."""
    import networkx as nx

    from propkernels.convert.networkx import from_networkx
    from propkernels.sets.alignment import edit_distance

    kinds: tuple[list[Any], list[Any]] = [], []
    twins = []
    for graph in (g, h):
        twin = nx.DiGraph() if graph.is_directed() else nx.Graph()
        twin.add_nodes_from(
            (v, {"label": _kind(data, kinds[0], replace_node)}) for v, data in graph.nodes(data=True)
        )
        for u, v, data in graph.edges(data=True):
            twin.add_edge(u, v, label=_kind(data, kinds[1], replace_edge))
        twins.append(twin)
    database = from_networkx(twins)
    _, pairs, _ = edit_distance(database[0], database[1], return_path=True)
    names = [[*twin, None] for twin in twins]
    nodes = [(names[0][-1 if i is None else i], names[1][-1 if j is None else j]) for i, j in pairs]
    image, back = dict(nodes), {v: u for u, v in nodes}
    edges: list[Any] = [
        ((u, v), (image[u], image[v]) if h.has_edge(image[u], image[v]) else None) for u, v in g.edges
    ]
    edges += [(None, (u, v)) for u, v in h.edges if not g.has_edge(back[u], back[v])]
    return nodes, edges


def _kind(data: Any, kinds: list[Any], replace: Any) -> int:
    """Return the number of the first kind that it costs nothing to replace; a new one if there is none."""
    for number, other in enumerate(kinds):
        if data == other or replace(other, data) == 0:
            return number
    kinds.append(data)
    return len(kinds) - 1


def _costs(
    pairs: list[Any], left: Any, right: Any, replace: Any, delete: Cost, insert: Cost
) -> Iterator[float]:
    """Yield the cost of each pair; None on a side is an insertion or a deletion."""
    for a, b in pairs:
        gone = 0.0 if a is None else 1.0 if delete is None else delete(left[a])
        new = 0.0 if b is None else 1.0 if insert is None else insert(right[b])
        yield gone + new if a is None or b is None else min(replace(left[a], right[b]), gone + new)
