"""Comparisons as HTML: a page with drawings of surroundings, and a fragment for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from propkernels.graphs.container import Graph
from propkernels.graphs.drawing import MOST_DRAWN, graph_svg
from propkernels.plotting.pages import read_static, render_page, svg
from propkernels.plotting.pages.fragments import Drawing, Drawings, Remark, Table, show_result

if TYPE_CHECKING:
    from propkernels.sets.comparing import Comparison, Surrounding
    from propkernels.sets.several import Comparisons

STYLE = "sets/comparison.css"
SIZE = (210, 170)  # of a drawing, in pixels
N_IN_NOTEBOOKS = 6
ABOUT = (
    "Surroundings are ordered by their contribution to MMD², over its standard deviation under random "
    "exchanges of graphs. Nodes of a surrounding are marked in the first graph that has it; "
    "contributions of all surroundings add up to MMD²."
)

ABOUT_MAP = (
    "Distances on the map are as close to the MMD, the square root of MMD², as a plane allows. Dashed lines "
    "join collections that the test does not tell apart (adjusted p above 0.05). Large dots have more graphs."
)
PAIR_HEAD = ["first", "second", "MMD²", "p, adjusted", "told apart"]


def page(found: Comparison, names: tuple[str, str], n: int) -> str:
    """Return a whole page: the test, a histogram, and drawings and a table of n surroundings."""
    listed = [found.witness[i] for i in range(min(n, len(found.witness)))]
    return render_page(
        "sets/comparison.html.j2",
        title=f"{names[0]} and {names[1]}",
        styles=[read_static(STYLE)],
        figures_shown=_figures(found, names),
        verdict=_verdict(found, names),
        kind="bad" if found.p_value <= 0.05 else "good",
        chart=_chart(found),
        sides=[
            {
                "name": name,
                "drawings": [_drawing(found, one, names) for one in listed if one.more_in == letter],
            }
            for letter, name in zip("AB", names, strict=True)
        ],
        head=["t", "contribution", "more in", f"of {names[0]}", f"of {names[1]}", "labels", "graph"],
        rows=[_row(found, one, names) for one in listed],
        about=ABOUT,
    )


def fragment(found: Comparison) -> str:
    """Return a fragment for notebooks: the test, and drawings of the first surroundings."""
    names = ("A", "B")
    listed = [found.witness[i] for i in range(min(N_IN_NOTEBOOKS, len(found.witness)))]
    drawn = [_drawing(found, one, names) for one in listed]
    drawings = [Drawing(picture.svg, caption) for caption, picture in drawn if isinstance(picture, Drawing)]
    head = ["t", "contribution", "more in", "of A", "of B", "labels", "graph"]
    table = Table(head, [_row(found, one, names) for one in listed])
    return show_result(repr(found), Drawings(drawings), table, Remark(_verdict(found, names)))


def _figures(found: Comparison, names: tuple[str, str]) -> list[tuple[Any, str]]:
    sizes = [(size, f"graphs of {name}") for size, name in zip(found.sizes, names, strict=True)]
    return [(found.statistic, "MMD²"), (found.p_value, "p-value"), *sizes]


def _verdict(found: Comparison, names: tuple[str, str]) -> str:
    """Return one sentence on what the p-value means."""
    if found.p_value <= 0.05:
        return f"{names[0]} and {names[1]} are not samples of one distribution (p = {found.p_value:.3g})."
    return (
        f"Nothing speaks against {names[0]} and {names[1]} being samples of one distribution "
        f"(p = {found.p_value:.3g})."
    )


def _chart(found: Comparison) -> Drawing | None:
    """Return a histogram of the statistics after exchanges; None if there are none."""
    if len(found.permuted) < 2:
        return None
    counts, edges = np.histogram(found.permuted, bins=24)
    title = f"MMD² after random exchanges of graphs; observed: {found.statistic:.3g}"
    return Drawing(svg.histogram(title, edges.tolist(), counts.tolist(), "MMD²", "exchanges"), title)


def _drawing(found: Comparison, one: Surrounding, names: tuple[str, str]) -> tuple[str, Drawing | str]:
    """Return caption and drawing of a surrounding in its example; a text if it cannot be drawn."""
    caption = (
        f"t = {one.t}: {100 * one.share_a:.1f} % of {names[0]}, {100 * one.share_b:.1f} % of {names[1]} "
        f"(graph {one.graph})"
    )
    is_b = one.more_in == "B"
    graph = found.witness._graphs[one.graph + is_b * found.sizes[0]]
    if not isinstance(graph, Graph) or graph.n_nodes > MOST_DRAWN:
        return caption, "not drawn"
    marked = set(np.asarray(one.nodes).ravel().tolist())
    return caption, Drawing(graph_svg(graph, marked=marked, title=caption, size=SIZE))


def _row(found: Comparison, one: Surrounding, names: tuple[str, str]) -> list[Any]:
    shares = [f"{100 * share:.1f} %" for share in (one.share_a, one.share_b)]
    labels = ", ".join(found.witness.label_names(one)) or "–"
    return [one.t, one.contribution, names["AB".index(one.more_in)], *shares, labels, one.graph]


def several_page(found: Comparisons) -> str:
    """Return a whole page of several collections: the map, and a table of all pairs."""
    return render_page(
        "sets/comparisons.html.j2",
        title=f"{len(found.names)} collections",
        styles=[read_static(STYLE)],
        figures_shown=[(n, f"graphs of {name}") for name, n in zip(found.names, found.sizes, strict=True)],
        verdict=_verdict_of_several(found),
        chart=_map(found),
        head=PAIR_HEAD,
        rows=_pair_rows(found),
        about=ABOUT_MAP,
    )


def several_fragment(found: Comparisons) -> str:
    """Return a fragment for notebooks: the map, and a table of all pairs."""
    table = Table(PAIR_HEAD, _pair_rows(found))
    return show_result(repr(found), Drawings([_map(found)]), table, Remark(ABOUT_MAP))


def _map(found: Comparisons) -> Drawing:
    title = "Map of the collections"
    radii = (4.0 + 5.0 * np.sqrt(np.array(found.sizes) / max(found.sizes))).tolist()
    return Drawing(svg.point_map(title, found.positions, found.names, radii, found.not_told_apart()), title)


def _pair_rows(found: Comparisons) -> list[list[Any]]:
    """Return one row per pair, the smallest p-value first."""
    ordered = sorted(found.records(), key=lambda one: (one["p_value"], -one["statistic"]))
    return [[*one.values(), one["p_value"] <= 0.05] for one in ordered]


def _verdict_of_several(found: Comparisons) -> str:
    n_pairs = len(found.names) * (len(found.names) - 1) // 2
    n_found = n_pairs - len(found.not_told_apart())
    return f"{n_found} of {n_pairs} pairs are not samples of one distribution (adjusted p at most 0.05)."
