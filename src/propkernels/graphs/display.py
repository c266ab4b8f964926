"""HTML for notebooks: a table of a database, a drawing of a graph."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from propkernels.graphs.container import count, describe, one_line

if TYPE_CHECKING:
    from propkernels.graphs.container import Graph
    from propkernels.graphs.database import GraphDatabase

MOST_LABELS = 12


def show_database(database: GraphDatabase, most_rows: int = 5) -> str:
    """Return HTML for a database: a summary and drawings of the first graphs."""
    from propkernels.graphs.drawing import graph_svg
    from propkernels.plotting.pages.fragments import Drawing, Table, show_result

    rows: list[list[Any]] = []
    for i in range(min(len(database), most_rows)):
        drawing = Drawing(graph_svg(database[i], size=(120, 84)))
        name = i if database.ids is None else str(database.ids[i])
        rows.append([name, drawing, describe(database[i].database)])
    rest = len(database) - most_rows
    if rest > 0:
        rows.append(["\N{HORIZONTAL ELLIPSIS}", "", count(rest, "more graph")])
    return show_result(one_line(database), Table(["graph", "", "contents"], rows))


def show_graph(graph: Graph) -> str:
    """Return HTML for a graph: a drawing and the number of nodes per label."""
    from propkernels.graphs.drawing import MOST_DRAWN, graph_svg
    from propkernels.plotting.pages.fragments import Drawing, Remark, Table, show_result

    title = repr(graph) if graph.id is None else f"{graph.id}: {graph!r}"
    if graph.n_nodes > MOST_DRAWN:
        return show_result(title, Remark(f"Graphs of more than {MOST_DRAWN} nodes are not drawn here."))
    rows = [list(pair) for pair in label_numbers(graph)[:MOST_LABELS]]
    table = [Table(["label", "nodes"], rows)] if rows else []
    return show_result(title, Drawing(graph_svg(graph, size=(420, 280))), *table)


def plain_drawing(database: Any, i: int, size: tuple[int, int] = (200, 140)) -> str:
    """Return a drawing of one graph, or of one image."""
    from propkernels.graphs.drawing import graph_svg
    from propkernels.graphs.grid_display import thumbnail

    if hasattr(database, "adjacency"):
        return graph_svg(database[i], size=size)
    return thumbnail(database, i, side=size[1])


def drawn(
    database: Any,
    i: int,
    values: NDArray[np.float64],
    edges: Any = None,
    size: tuple[int, int] = (240, 170),
) -> tuple[str, str]:
    """Return a drawing of one graph or image with values of its nodes, and what these are called."""
    import propkernels  # drawings of molecules are in a later package: use their public name
    from propkernels.graphs.drawing import graph_svg
    from propkernels.graphs.grid_display import thumbnail

    if not hasattr(database, "adjacency"):
        return thumbnail(database, i, values, size[1]), "pixels"
    graph, title = database[i], repr(database[i])
    formula = propkernels.molecules.formula_svg(graph, values=values, edges=edges, size=size, title=title)
    return (graph_svg(graph, values=values, size=size), "nodes") if formula is None else (formula, "atoms")


def label_numbers(graph: Graph) -> list[tuple[str, int]]:
    """Return labels and their numbers of nodes, most frequent first."""
    column = graph.database.label_column
    if column is None or not hasattr(column, "ids"):
        return []
    numbers: Counter[str] = Counter()
    for i, number in enumerate(np.bincount(column.ids[column.observed], minlength=len(column.values))):
        numbers[graph.database.names.label(column.values[i])] += int(number)
    return [pair for pair in numbers.most_common() if pair[1]]
