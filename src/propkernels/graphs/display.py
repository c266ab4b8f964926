"""Text and HTML representations of a database: one line in a terminal, a small table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from propkernels.graphs.database import GraphDatabase


def count(number: int, noun: str) -> str:
    """Say "1 node", "2 nodes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def describe(database: GraphDatabase) -> str:
    """Nodes, edges, and what the nodes carry."""
    edge = "directed edge" if database.is_directed else "edge"
    parts = [count(database.n_nodes, "node"), count(database.n_edges, edge)]
    column = database.label_column
    if column is not None:
        parts.append(count(len(column.present), "node label"))
        missing = int(np.count_nonzero(~column.observed))
        if missing:
            parts.append(f"{missing} unobserved")
    if database.node_attributes is not None:
        parts.append(count(database.node_attributes.shape[1], "attribute"))
    if database.edge_label_column is not None:
        parts.append(count(len(database.edge_label_column.present), "edge label"))
    if database.edge_attributes is not None:
        parts.append(count(database.edge_attributes.shape[1], "edge attribute"))
    return ", ".join(parts)


def one_line(database: GraphDatabase) -> str:
    """Return the repr of a database."""
    return f"GraphDatabase({count(len(database), 'graph')}, {describe(database)})"


def html_table(database: GraphDatabase, most_rows: int = 5) -> str:
    """Return a small table for notebooks: the whole, then the first graphs."""
    rows = "".join(
        f"<tr><td>{i}</td><td>{escape(describe(database[i].database))}</td></tr>"
        for i in range(min(len(database), most_rows))
    )
    rest = len(database) - most_rows
    more = f"<tr><td>&hellip;</td><td>{count(rest, 'more graph')}</td></tr>" if rest > 0 else ""
    caption = escape(one_line(database))
    head = "<thead><tr><th>graph</th><th>contents</th></tr></thead>"
    return f"<table><caption>{caption}</caption>{head}<tbody>{rows}{more}</tbody></table>"
