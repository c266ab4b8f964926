"""A report as a page that stands alone, and as a fragment for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from propkernels.auditing.rendering.charts import draw_chart
from propkernels.auditing.rendering.markdown import about
from propkernels.auditing.rendering.outline import Drawing, Section, outline
from propkernels.graphs.drawing import MOST_DRAWN, graph_svg
from propkernels.pages import read_static, render_fragment, render_page

if TYPE_CHECKING:
    from markupsafe import Markup

    from propkernels.auditing.result import Audit

STYLE = "auditing/rendering/audit.css"
SIZE = (210, 170)  # of a drawing, in pixels


def page(found: Audit) -> str:
    """Return a whole page: sentences, charts, drawings, tables, and all numbers as JSON."""
    return render_page(
        "auditing/rendering/page.html.j2",
        title=f"Audit of {found.name}",
        styles=[read_static(STYLE)],
        data={"audit": found.to_dict()},
        **_context(found),
    )


def fragment(found: Audit) -> str:
    """Return what a notebook shows: figures and sentences."""
    return render_fragment("auditing/rendering/fragment.html.j2", **_context(found, drawn=False))


def _context(found: Audit, drawn: bool = True) -> dict[str, Any]:
    return {
        "name": found.name,
        "about": about(found).replace("`", ""),
        "figures_shown": _figures(found),
        "doubts": [sentence for sentence in found.sentences if sentence.kind == "bad"],
        "sections": [_section(found, section, drawn) for section in outline(found)],
        "seconds": found.seconds,
    }


def _figures(found: Audit) -> list[tuple[Any, str]]:
    s, same = found.statistics, found.sameness.duplicates
    figures: list[tuple[Any, str]] = [
        (s.n_graphs, "graphs"),
        (s.n_nodes, "nodes"),
        (s.n_edges, "edges"),
        (same.n_graphs, "with a duplicate"),
    ]
    if found.learning is not None:
        accuracy = found.learning.metric == "accuracy"
        score = found.learning.scores[-1].mean
        figures.append(
            (f"{100 * score:.1f} %" if accuracy else f"{score:.3f}", f"{found.learning.metric} of the kernel")
        )
        bound = same.bound if same.bound is not None else 1.0
        figures.append((f"{100 * bound:.1f} %" if accuracy else f"{bound:.3f}", "best possible"))
    if found.suspects is not None:
        figures.append((len(found.suspects.graphs), "always wrong"))
    return figures


def _section(found: Audit, section: Section, drawn: bool) -> dict[str, Any]:
    return {
        "topic": section.topic,
        "title": section.title,
        "sentences": section.sentences,
        "tables": section.tables,
        "charts": [(chart.title, draw_chart(chart)) for chart in section.charts] if drawn else [],
        "drawings": [(one.caption, _drawn(found, one)) for one in section.drawings] if drawn else [],
    }


def _drawn(found: Audit, one: Drawing) -> Markup:
    from markupsafe import Markup

    graph = found.graphs[one.graph]
    if graph.n_nodes > MOST_DRAWN:
        return Markup('<p class="pk-soft">too large to be drawn</p>')
    return Markup(graph_svg(graph, names=found.label_names, title=one.caption, size=SIZE))
