"""Render an audit: sections of sentences, tables, charts and drawings, as a page or a fragment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from propkernels.auditing.report import called, percent, said
from propkernels.graphs.drawing import MOST_DRAWN, graph_svg, thumbnail
from propkernels.graphs.grid_database import GridDatabase
from propkernels.plotting.pages import read_static, render_fragment, render_page, svg
from propkernels.plotting.pages.fragments import Drawing as Picture

if TYPE_CHECKING:
    from propkernels.auditing.report import Audit, Sentence
    from propkernels.auditing.statistics import LabelCounts, Spread

STYLE = "auditing/audit.css"
SIZE = (210, 170)  # of a drawing, in pixels
MOST_ROWS, MOST_BARS = 12, 10


class Table(NamedTuple):
    """Rows of plain values under a head."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]


Chart = tuple[str, str]  # a title, and SVG
Drawing = tuple[int, str]  # a graph, and its caption
Parts = tuple[list[Chart], list[Table], list[Drawing]]


class Section(NamedTuple):
    """A part of a report."""

    topic: str
    title: str
    sentences: list[Sentence]
    charts: list[Chart]
    tables: list[Table]
    drawings: list[Drawing]


def outline(found: Audit) -> list[Section]:
    """Return all sections with sentences or tables."""
    sections = [
        Section(
            topic,
            said(found, title),
            [sentence for sentence in found.sentences if sentence.topic == topic],
            charts,
            [
                Table(said(found, title), tuple(said(found, name) for name in head), rows)
                for title, head, rows in tables
            ],
            drawings,
        )
        for topic, title, (charts, tables, drawings) in (
            ("graphs", "Graphs", _graphs(found)),
            ("sameness", "Duplicates and near duplicates", _sameness(found)),
            ("learning", "Scores", _learning(found)),
            ("suspects", "Suspected label errors", _suspects(found)),
        )
    ]
    return [section for section in sections if section.sentences or section.tables]


def _graphs(found: Audit) -> Parts:
    s = found.statistics
    spreads = {
        said(found, "nodes per graph"): s.nodes,
        said(found, "edges per graph"): s.edges,
        said(found, "neighbors per node"): s.degrees,
        said(found, "components per graph"): s.components,
    }
    charts = [
        _histogram(title, spread, said(found, "nodes" if title.startswith("neighbors") else "graphs"))
        for title, spread in spreads.items()
        if spread is not None and spread.least < spread.most
    ]
    bars = {}
    if s.target is not None and s.target.kind == "classes":
        bars[said(found, "graphs per class")] = list(
            zip(s.target.classes, map(float, s.target.counts), strict=True)
        )
    elif s.target is not None and s.target.spread is not None:
        charts.append(_histogram("target", s.target.spread, said(found, "graphs")))
    for title, counts in (("node labels", s.node_labels), ("edge labels", s.edge_labels)):
        if counts is not None and counts.counts:
            bars[said(found, title)] = _label_rows(counts)
    charts += [(title, svg.bar_chart(title, rows)) for title, rows in bars.items()]
    tables = []
    for title, ranges in (("Node attributes", s.node_attributes), ("Edge attributes", s.edge_attributes)):
        if ranges:
            rows = [(one.name, *_ends(one.spread), one.missing) for one in ranges]
            tables.append(Table(title, ("", "least", "median", "most", "missing"), rows))
    return charts, tables, [_drawing(found, graph, why) for graph, why in (*s.typical, *s.extreme)]


def _histogram(title: str, spread: Spread, unit: str) -> Chart:
    name = f"{title}: {svg.short(spread.least)} to {svg.short(spread.most)}"
    return title, svg.histogram(name, spread.edges, spread.counts, title, unit)


def _ends(spread: Spread | None) -> tuple[float | None, ...]:
    return (None,) * 3 if spread is None else (spread.least, spread.median, spread.most)


def _label_rows(counts: LabelCounts) -> list[tuple[str, float]]:
    """Return the most frequent labels, and the others as one."""
    rows = [(text, float(n)) for text, n in zip(counts.values, counts.counts, strict=True)][:MOST_BARS]
    rest = counts.n_texts - len(rows)
    return [*rows, (f"{rest} others", counts.total - sum(n for _, n in rows))] if rest else rows


def _drawing(found: Audit, graph: int, why: str) -> Drawing:
    """Return a graph with a caption that names its target and its size."""
    target, size = "", int(found.graphs.graph_sizes[graph])
    if found.target is not None:
        kind = "class " if found.target.is_classes else "target "
        text = found.target.name(found.target.values[graph])
        target = f", {kind if found.target.known[graph] else ''}{text}"
    rest = said(found, f"{why}, {size:,} node{'' if size == 1 else 's'}")
    name = called(found, graph)
    name = f"{said(found, 'graph')} {name}" if name == str(graph) else name
    return graph, f"{name}{target}: {rest}"


def _sameness(found: Audit) -> Parts:
    same, near = found.sameness, found.near.pairs
    head: tuple[str, ...] = ("t", "distinct graphs", "graphs like another one", "highest possible score")
    is_share = found.target is not None and found.target.is_classes
    rows: Any = [
        (one.t, one.n_groups, one.n_graphs, percent(one.bound) if is_share and one.bound else one.bound)
        for one in same.by_step
    ]
    tables = [Table("Graphs that t steps distinguish", head, rows)]
    for title, groups in (
        ("Duplicates with different targets", same.duplicates.conflicts),
        ("Largest groups of duplicates", same.duplicates.groups),
    ):
        if groups:
            rows = [(_listed([called(found, i) for i in g]), _targets(found, g)) for g in groups[:MOST_ROWS]]
            tables.append(Table(title, ("graphs", "targets"), rows))
    if same.leaks is not None and same.leaks.exact:
        rows = [(str(test), called(found, own)) for test, own in same.leaks.exact[:MOST_ROWS]]
        tables.append(Table("Test graphs that are training graphs", ("test graph", "training graph"), rows))
    if near:
        rows = [(called(found, one), called(found, other), value) for one, other, value in near]
        tables.append(Table("Most similar pairs that differ", ("graph", "graph", "similarity"), rows))
    shown = dict.fromkeys(int(i) for pair in near[:2] for i in pair[:2])
    return [], tables, [_drawing(found, i, "near duplicate") for i in shown]


def _targets(found: Audit, group: tuple[int, ...]) -> str:
    """Return the targets of some graphs, with the number of graphs that have them."""
    if found.target is None:
        return "–"
    names = [found.target.name(found.target.values[graph]) for graph in group]
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return _listed([f"{name} ({n})" if n > 1 else name for name, n in counts.items()])


def _listed(texts: list[str]) -> str:
    return ", ".join(texts[:MOST_ROWS]) + (", …" if len(texts) > MOST_ROWS else "")


def _learning(found: Audit) -> Parts:
    learned = found.learning
    if learned is None:
        return [], [], []
    metric, is_accuracy = learned.metric, learned.metric == "accuracy"

    def show(value: float) -> str:
        return f"{100 * value:.3g} %" if is_accuracy else svg.short(value)

    def show_pair(value: float, error: float) -> str:
        return f"{100 * value:.1f} ± {100 * error:.1f} %" if is_accuracy else f"{value:.3f} ± {error:.3f}"

    scores, steps = (
        [(said(found, one.name.removeprefix("counting ")), one.mean, one.error) for one in part]
        for part in (learned.scores, learned.by_step)
    )
    start, training = learned.scores[0].mean, said(found, "training graphs")
    charts = [
        (
            "baselines (counts) and the kernel",
            svg.dot_chart(f"{metric} of baselines", scores, show, show_pair, reference=start),
        ),
        (f"{metric} by number of steps", svg.dot_chart(f"{metric} by t", steps, show, show_pair)),
        ("learning curve", svg.line_chart("learning curve", learned.curve, training, metric, show)),
    ]
    return charts, [], []


def _suspects(found: Audit) -> Parts:
    if found.suspects is None or not found.suspects.listed:
        return [], [], []
    steps = f"similarity at t = {found.learning.chosen_t}" if found.learning is not None else "similarity"
    kinds = len(found.target.classes) if found.target is not None else 0
    nearest = {0: f"nearest (target, {steps})", 2: f"nearest of the other class ({steps})"}.get(
        kinds, f"nearest of other classes (class, {steps})"
    )
    rows, drawings = [], []
    for one in found.suspects.listed[:MOST_ROWS]:
        neighbors = "; ".join(
            f"{called(found, i)} ({'' if kinds == 2 else f'{name}, '}{value:.2f})"
            for i, name, value in one.neighbors
        )
        rows.append((called(found, one.graph), one.given, one.predicted, one.margin, neighbors))
    for one in found.suspects.listed[:3]:
        drawings.append(_drawing(found, one.graph, f"predicted {one.predicted}"))
        for other, _, value in one.neighbors[:1]:
            drawings.append(_drawing(found, other, f"similarity {value:.2f} to {called(found, one.graph)}"))
    head = ("graph", "given", "predicted", "margin", nearest)
    n_listed = len(found.suspects.graphs)
    title = f"{len(rows)} of {n_listed} suspects" if n_listed > len(rows) else "Suspects"
    return [], [Table(f"{title}, largest margin first", head, rows)], drawings


def about(found: Audit) -> str:
    """Return one sentence on the method."""
    scored = "all graphs" if found.sample is None else f"a sample of {len(found.sample):,} graphs"
    return said(
        found,
        f"Scores are those of nested cross-validation on {scored} with `{found.kernel.partition('(')[0]}`, "
        "normalized, and kernel ridge; t and C are chosen inside the training parts. "
        f"Seed {found.random_state}.",
    )


# HTML


def page(found: Audit) -> str:
    """Return a whole page: sentences, charts, drawings, tables, and all numbers as JSON."""
    sections = [section._asdict() for section in outline(found)]
    for section in sections:
        section["charts"] = [(title, Picture(drawn)) for title, drawn in section["charts"]]
        section["drawings"] = [(caption, _picture(found, i, caption)) for i, caption in section["drawings"]]
    # reasons to doubt scores, and suspects
    doubts = [s for s in found.sentences if s.kind == "bad" or (s.topic == "suspects" and s.kind != "good")]
    return render_page(
        "auditing/page.html.j2",
        title=f"Audit of {found.name}",
        styles=[read_static(STYLE)],
        data={"audit": found.to_dict()},
        about=about(found).replace("`", ""),
        figures_shown=_figures(found),
        doubts=doubts,
        sections=sections,
    )


def fragment(found: Audit) -> str:
    """Return a fragment for notebooks: key figures and sentences."""
    return render_fragment(
        "auditing/fragment.html.j2",
        name=found.name,
        figures_shown=_figures(found),
        sections=outline(found),
    )


def _figures(found: Audit) -> list[tuple[Any, str]]:
    s, same, learned = found.statistics, found.sameness.duplicates, found.learning
    figures: list[tuple[Any, str]] = [
        (s.n_graphs, said(found, "graphs")),
        (s.n_nodes, said(found, "nodes")),
        (s.n_edges, said(found, "edges")),
        (same.n_graphs, "with a duplicate"),
    ]
    if learned is not None:
        scores = learned.scores[-1].mean, 1.0 if same.bound is None else same.bound
        texts = [f"{100 * x:.1f} %" if learned.metric == "accuracy" else f"{x:.3f}" for x in scores]
        figures += zip(texts, (f"{learned.metric} of the kernel", "highest possible"), strict=True)
    if found.suspects is not None:
        figures.append((len(found.suspects.graphs), "suspected label errors"))
    return figures


def _picture(found: Audit, graph: int, caption: str) -> Picture | str:
    """Return a graph as SVG, or a text if it has too many nodes."""
    if isinstance(found.graphs, GridDatabase):
        return Picture(thumbnail(found.graphs, graph, side=SIZE[1]))
    drawn = found.graphs[graph]
    if drawn.n_nodes > MOST_DRAWN:
        return f"more than {MOST_DRAWN} nodes: not drawn"
    return Picture(graph_svg(drawn, names=found.label_names, title=caption, size=SIZE))
