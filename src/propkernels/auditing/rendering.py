"""Render an audit as Markdown, as a self-contained page, and as a fragment for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from propkernels.auditing.outline import Drawing, Section, Table, outline
from propkernels.auditing.sentences import Sentence
from propkernels.graphs.drawing import MOST_DRAWN, graph_svg
from propkernels.plotting.pages import read_static, render_fragment, render_page
from propkernels.plotting.pages.fragments import Drawing as Picture

if TYPE_CHECKING:
    from propkernels.auditing.report import Audit

STYLE = "auditing/audit.css"
SIZE = (210, 170)  # of a drawing, in pixels
_MARKS = str.maketrans({mark: "\\" + mark for mark in "\\`*_{}[]<>#|"})


def markdown(found: Audit) -> str:
    """Return a report as Markdown."""
    parts = [f"# Audit of {plain(found.name)}", about(found)]
    for section in outline(found):
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def about(found: Audit) -> str:
    """Return one sentence on the method."""
    scored = "all graphs" if found.sample is None else f"a sample of {len(found.sample):,} graphs"
    return (
        f"Scores are those of nested cross-validation on {scored} with `{found.kernel}`, normalized, and "
        f"kernel ridge; t and C are chosen inside the training parts. Seed {found.random_state}."
    )


def _section(section: Section) -> list[str]:
    said = "\n".join(f"- {plain(sentence.text)}" for sentence in section.sentences)
    return [f"## {section.title}", *([said] if said else []), *(_table(table) for table in section.tables)]


def _table(table: Table) -> str:
    lines = [
        f"**{plain(table.title)}**",
        "",
        _row(table.head),
        "|" + "---|" * len(table.head),
        *(_row(row) for row in table.rows),
    ]
    return "\n".join(lines)


def _row(cells: tuple[Any, ...]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
    return plain(str(value))


def plain(text: str) -> str:
    r"""Return a text with the special characters of Markdown escaped.

    Examples
    --------
    >>> print(plain("<b>*C*\n"))
    \<b\>\*C\*
    """
    return " ".join(text.split()).translate(_MARKS)


def page(found: Audit) -> str:
    """Return a whole page: sentences, charts, drawings, tables, and all numbers as JSON."""
    return render_page(
        "auditing/page.html.j2",
        title=f"Audit of {found.name}",
        styles=[read_static(STYLE)],
        data={"audit": found.to_dict()},
        **_context(found),
    )


def fragment(found: Audit) -> str:
    """Return a fragment for notebooks: key figures and sentences."""
    return render_fragment("auditing/fragment.html.j2", **_context(found, drawn=False))


def _context(found: Audit, drawn: bool = True) -> dict[str, Any]:
    return {
        "name": found.name,
        "about": about(found).replace("`", ""),
        "figures_shown": _figures(found),
        "doubts": [sentence for sentence in found.sentences if _is_doubt(sentence)],
        "sections": [_section_parts(found, section, drawn) for section in outline(found)],
        "seconds": found.seconds,
    }


def _is_doubt(sentence: Sentence) -> bool:
    """Return whether a sentence belongs to the summary: a reason to doubt scores, or suspects."""
    return sentence.kind == "bad" or (sentence.topic == "suspects" and sentence.kind != "good")


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
        figures.append((f"{100 * bound:.1f} %" if accuracy else f"{bound:.3f}", "highest possible"))
    if found.suspects is not None:
        figures.append((len(found.suspects.graphs), "suspected label errors"))
    return figures


def _section_parts(found: Audit, section: Section, drawn: bool) -> dict[str, Any]:
    return {
        "topic": section.topic,
        "title": section.title,
        "sentences": section.sentences,
        "tables": section.tables,
        "charts": [(chart.title, Picture(chart.draw())) for chart in section.charts] if drawn else [],
        "drawings": [(one.caption, _picture(found, one)) for one in section.drawings] if drawn else [],
    }


def _picture(found: Audit, drawing: Drawing) -> Picture | str:
    """Return a graph as SVG, or a text if it has too many nodes."""
    graph = found.graphs[drawing.graph]
    if graph.n_nodes > MOST_DRAWN:
        return f"more than {MOST_DRAWN} nodes: not drawn"
    return Picture(graph_svg(graph, names=found.label_names, title=drawing.caption, size=SIZE))
