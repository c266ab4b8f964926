"""One graph, with the targets of its nodes, from a table of edges and a table of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from propkernels._utils.optional import import_optional
from propkernels.convert.pandas import from_pandas
from propkernels.convert.table_columns import column_roles, warn_unused
from propkernels.datasets.graph_tables import NODE, SOURCE, TARGET, renamed, typed_tables
from propkernels.datasets.reading import Reading
from propkernels.datasets.tables import find_column, listed_names, read_table
from propkernels.graphs.database import GraphDatabase

KEYS = ("graph", "node", "source", "target")
ENDS = {"source": SOURCE, "target": TARGET}


class NodeTables(NamedTuple):
    """A graph, and targets of its nodes.

    Attributes
    ----------
    graph : GraphDatabase
    names : list
        Key of each node.
    columns : dict of str to list of str
        Columns of "attributes" and "labels" of nodes, and of "weight" and "relation" of edges.
    target : list of str or None
        Cell of the target column per node; None where it is blank or the node is in no table.
    """

    graph: GraphDatabase
    names: list[Any]
    columns: dict[str, list[str]]
    target: list[str | None]


def read_nodes(
    edges: Path,
    nodes: Path | None = None,
    target: str | None = None,
    columns: Mapping[str, list[str]] | None = None,
    directed: bool = False,
) -> NodeTables:
    """Return the graph of a table of edges; nodes are those of their table, then those of edges alone.

    The ends of edges are columns with usual names, or the first two; the key of nodes is a column with a
    usual name, or the first. An edge that is listed twice is one edge.

    Parameters
    ----------
    edges, nodes : Path
    target : str, optional
        Column of the table of nodes that is left out of the graph.
    columns : mapping, optional
        Columns to use, as ``NodeTables.columns`` or some of its entries; others by the rule of all tables.
    directed : bool, default=False
    """
    pd = import_optional("pandas", extra="pandas", purpose="tables need")
    wanted = dict(columns or {})
    links = read_table(edges)
    if len(links) < 2:
        raise ValueError(f"{edges} needs two columns: the nodes at both ends of an edge")
    ends = {end: find_column(list(links), None, usual, edges) for end, usual in ENDS.items()}
    first, second, *_ = links
    links = renamed(links, ends if all(ends.values()) else {"source": first, "target": second})
    table: dict[str, list[str]] = {"node": []} if nodes is None else read_table(nodes)
    table = renamed(table, {"node": find_column(list(table), None, NODE, edges) or next(iter(table))})
    listed = set(table["node"])
    if len(listed) < len(table["node"]):
        raise ValueError(f"{nodes} names a node twice")
    _check_columns(wanted, {**links, **table}, links, nodes or edges, nodes is not None)
    if target is not None and target not in table:
        raise ValueError(f"{nodes or 'without a table of nodes there'} has no column {target!r}")
    others = [end for end in dict.fromkeys([*links["source"], *links["target"]]) if end not in listed]
    blank = [""] * len(others)
    table = {name: [*cells, *(others if name == "node" else blank)] for name, cells in table.items()}
    cells = [""] * len(table["node"]) if target is None else table.pop(target)
    labels, relation = wanted.get("labels", "auto"), wanted.get("relation", "auto")
    how = Reading(
        node_labels=() if labels == "auto" else tuple(labels),
        edge_labels=relation[0] if relation and relation != "auto" else None,
    )
    typed = typed_tables({"edges": links, "nodes": table}, how)
    weight: Any = next(iter(wanted["weight"]), None) if "weight" in wanted else "auto"
    of_edges = column_roles(typed["edges"], "edges", KEYS, relation, None, weight)
    used = column_roles(typed["nodes"], "nodes", KEYS, labels, wanted.get("attributes", "auto"))
    kept = ["source", "target", *of_edges.labels, *([of_edges.weight] if of_edges.weight else [])]
    numbers = [c for c, values in typed["edges"].items() if c not in kept and values.dtype.kind in "bif"]
    if numbers and not wanted:
        warn_unused(numbers, "edges", "name one as weight to weigh edges by it")
    graph: Any = from_pandas(
        pd.DataFrame({name: typed["edges"][name] for name in kept}).drop_duplicates(),
        pd.DataFrame(typed["nodes"]),
        graph=None,
        label=used.labels,
        attributes=used.attributes,
        weight=of_edges.weight,
        edge_label=of_edges.labels,
        edge_attributes=(),
        directed=directed,
    )
    chosen = {"attributes": used.attributes, "labels": used.labels, "relation": of_edges.labels}
    chosen |= {"weight": [of_edges.weight] if of_edges.weight else []}
    known = [cell.strip() or None for cell in cells]
    return NodeTables(graph, typed["nodes"]["node"].tolist(), chosen, known)


def _check_columns(
    wanted: Mapping[str, list[str]],
    tables: Mapping[str, Any],
    links: Mapping[str, Any],
    place: Path,
    has_nodes: bool,
) -> None:
    """Raise ValueError for a column that no table has."""
    for kind, names in wanted.items():
        known = links if kind in ("weight", "relation") else tables
        for name in names:
            if name not in known and kind in ("attributes", "labels") and not has_nodes:
                raise ValueError(f"the column {name!r} is needed: give the table of nodes, too")
            if name not in known:
                raise ValueError(
                    f"{place} has no column {name!r}; its columns are {listed_names(list(known))}"
                )
