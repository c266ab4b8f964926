"""Outline of a report: sections of sentences, tables, charts and drawings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from propkernels.auditing.sentences import Sentence
from propkernels.auditing.statistics import AttributeRange, LabelCounts, Spread
from propkernels.plotting.pages import svg

if TYPE_CHECKING:
    from propkernels.auditing.learnability import Learning, Score
    from propkernels.auditing.refined_colors import Indistinguishable
    from propkernels.auditing.report import Audit

MOST_ROWS = 12


@dataclass(frozen=True)
class Table:
    """Rows of plain values under a head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Chart:
    """A title, and a function that returns the chart as SVG."""

    title: str
    draw: Callable[[], str]


@dataclass(frozen=True)
class Drawing:
    """A graph to draw, and its caption."""

    graph: int
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    topic: str
    title: str
    sentences: tuple[Sentence, ...]
    charts: tuple[Chart, ...]
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...]


def outline(found: Audit) -> list[Section]:
    """Return all sections with sentences or tables."""
    sections = [
        _section(found, "graphs", "Graphs", *_graphs(found)),
        _section(found, "sameness", "Duplicates and near duplicates", *_sameness(found)),
        _section(found, "learning", "Scores", *_learning(found)),
        _section(found, "suspects", "Suspected label errors", *_suspects(found)),
    ]
    return [part for part in sections if part.sentences or part.tables]


Parts = tuple[Sequence[Chart], Sequence[Table], Sequence[Drawing]]


def _section(found: Audit, topic: str, title: str, *parts: Any) -> Section:
    said = tuple(sentence for sentence in found.sentences if sentence.topic == topic)
    return Section(topic, title, said, *(tuple(part) for part in parts))


def _graphs(found: Audit) -> Parts:
    s = found.statistics
    spreads = [
        ("nodes per graph", s.nodes),
        ("edges per graph", s.edges),
        ("neighbors per node", s.degrees),
        ("components per graph", s.components),
    ]
    charts = [
        _histogram(title, spread, "nodes" if title.startswith("neighbors") else "graphs")
        for title, spread in spreads
        if spread is not None and spread.least < spread.most
    ]
    if s.target is not None and s.target.kind == "classes":
        bars = list(zip(s.target.classes, map(float, s.target.counts), strict=True))
        charts.append(Chart("graphs per class", partial(svg.bar_chart, "graphs per class", bars)))
    elif s.target is not None and s.target.spread is not None:
        charts.append(_histogram("target", s.target.spread, "graphs"))
    for title, counts in (("node labels", s.node_labels), ("edge labels", s.edge_labels)):
        if counts is not None and counts.counts:
            charts.append(Chart(title, partial(svg.bar_chart, title, _label_rows(counts))))
    tables = [
        Table(
            "Sizes",
            ("", *SPREAD_HEAD),
            tuple((title, *_numbers(spread)) for title, spread in spreads if spread is not None),
        )
    ]
    for title, ranges in (("Node attributes", s.node_attributes), ("Edge attributes", s.edge_attributes)):
        if ranges:
            rows = tuple(_attribute_row(one) for one in ranges)
            tables.append(Table(title, ("", *SPREAD_HEAD, "missing"), rows))
    drawings = [_drawing(found, graph, why) for graph, why in (*s.typical, *s.extreme)]
    return charts, tables, drawings


def _histogram(title: str, spread: Spread, unit: str) -> Chart:
    name = f"{title}: {svg.short(spread.least)} to {svg.short(spread.most)}"
    return Chart(title, partial(svg.histogram, name, spread.edges, spread.counts, title, unit))


SPREAD_HEAD = ("least", "quarter", "median", "three quarters", "most", "mean")


def _numbers(spread: Spread) -> tuple[float, ...]:
    return (spread.least, spread.lower, spread.median, spread.upper, spread.most, spread.mean)


def _attribute_row(one: AttributeRange) -> tuple[Any, ...]:
    numbers = (None,) * len(SPREAD_HEAD) if one.spread is None else _numbers(one.spread)
    return (one.name, *numbers, one.missing)


def _label_rows(counts: LabelCounts, most: int = 10) -> list[tuple[str, float]]:
    rows = [(v, float(n)) for v, n in zip(counts.values[:most], counts.counts[:most], strict=True)]
    rest = counts.n_texts - len(rows)
    return [*rows, (f"{rest} others", float(counts.total - sum(counts.counts[:most])))] if rest else rows


def _drawing(found: Audit, graph: int, why: str) -> Drawing:
    target = "" if found.target is None else f", {_target_text(found, graph)}"
    size = int(found.graphs.graph_sizes[graph])
    return Drawing(graph, f"graph {graph}{target}: {why}, {size:,} node{'' if size == 1 else 's'}")


def _target_text(found: Audit, graph: int) -> str:
    assert found.target is not None
    text = found.target.name(found.target.values[graph])
    if not found.target.known[graph]:
        return text
    return f"class {text}" if found.target.is_classes else f"target {text}"


def _sameness(found: Audit) -> Parts:
    same = found.sameness
    tables = [_steps_table("Graphs that t steps distinguish", same.by_step)]
    if same.by_step_without_edges:
        title = "The same without edge labels, attributes and weights"
        tables.append(_steps_table(title, same.by_step_without_edges))
    if same.duplicates.conflicts:
        rows = tuple(_group_row(found, group) for group in same.duplicates.conflicts[:MOST_ROWS])
        tables.append(Table("Duplicates with different targets", ("graphs", "targets"), rows))
    if same.duplicates.groups:
        rows = tuple(_group_row(found, group) for group in same.duplicates.groups[:MOST_ROWS])
        tables.append(Table("Largest groups of duplicates", ("graphs", "targets"), rows))
    if same.leaks is not None and same.leaks.exact:
        pairs = tuple((str(one), str(other)) for one, other in same.leaks.exact[:MOST_ROWS])
        tables.append(Table("Test graphs that are training graphs", ("test graph", "training graph"), pairs))
    if found.near.pairs:
        near = tuple((str(one), str(other), value) for one, other, value in found.near.pairs)
        tables.append(Table("Most similar pairs that differ", ("graph", "graph", "similarity"), near))
    shown = list(dict.fromkeys(i for pair in found.near.pairs[:2] for i in pair[:2]))
    return [], tables, [_drawing(found, int(i), "near duplicate") for i in shown]


def _steps_table(title: str, steps: Sequence[Indistinguishable]) -> Table:
    rows = tuple((one.t, one.n_groups, one.n_graphs, one.bound) for one in steps)
    return Table(title, ("t", "distinct graphs", "graphs like another one", "highest possible score"), rows)


def _group_row(found: Audit, group: tuple[int, ...]) -> tuple[str, str]:
    numbers = ", ".join(map(str, group[:MOST_ROWS])) + (", …" if len(group) > MOST_ROWS else "")
    if found.target is None:
        return numbers, "–"
    names = [found.target.name(found.target.values[graph]) for graph in group]
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    texts = [f"{name} ({n})" if n > 1 else name for name, n in counts.items()]
    return numbers, ", ".join(texts[:MOST_ROWS]) + (", …" if len(texts) > MOST_ROWS else "")


def _learning(found: Audit) -> Parts:
    learned = found.learning
    if learned is None:
        return [], [], []
    show, show_pair = (_percent, _percents) if learned.metric == "accuracy" else (svg.short, _decimals)
    scores = partial(svg.dot_chart, show=show, show_pair=show_pair)
    axes = "training graphs", learned.metric
    charts = [
        Chart(
            "baselines",
            partial(
                scores,
                f"{learned.metric} of baselines",
                _rows(learned.scores),
                reference=learned.scores[0].mean,
            ),
        ),
        Chart(
            f"{learned.metric} by number of steps",
            partial(scores, f"{learned.metric} by t", _rows(learned.by_step)),
        ),
        Chart("learning curve", partial(svg.line_chart, "learning curve", learned.curve, *axes, show)),
    ]
    if learned.calibration is not None:
        report = learned.calibration
        points = list(zip(report.confidence, report.observed, map(float, report.counts), strict=True))
        names = (
            ("predicted probability", "share of correct predictions")
            if learned.metric == "accuracy"
            else ("level of intervals", "share of targets inside")
        )
        charts.append(Chart("calibration", partial(svg.calibration_chart, "calibration", points, *names)))
    return charts, _score_tables(learned), []


def _rows(scores: Sequence[Score]) -> list[tuple[str, float, float]]:
    return [(score.name, score.mean, score.error) for score in scores]


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _percents(value: float, error: float) -> str:
    return f"{100 * value:.1f} ± {100 * error:.1f} %"


def _decimals(value: float, error: float) -> str:
    return f"{value:.3f} ± {error:.3f}"


def _score_tables(learned: Learning) -> list[Table]:
    head = ("", learned.metric, "standard error")
    points = tuple((str(n), mean, error) for n, mean, error in learned.curve)
    tables = [
        Table("Scores", head, tuple(_rows(learned.scores))),
        Table("Scores by t", head, tuple(_rows(learned.by_step))),
        Table("Learning curve", ("training graphs", *head[1:]), points),
    ]
    if learned.calibration is not None:
        report = learned.calibration
        rows = tuple(zip(report.confidence, report.observed, report.counts, strict=True))
        tables.append(Table("Calibration", ("predicted", "observed", "graphs"), rows))
    return tables


def _suspects(found: Audit) -> Parts:
    if found.suspects is None or not found.suspects.listed:
        return [], [], []
    rows = tuple(
        (
            str(one.graph),
            one.given,
            one.predicted,
            one.margin,
            "; ".join(f"{i} ({name}, {value:.2f})" for i, name, value in one.neighbors),
        )
        for one in found.suspects.listed[:MOST_ROWS]
    )
    nearest = "nearest of other classes (class, similarity)"
    if found.target is not None and not found.target.is_classes:
        nearest = "nearest (target, similarity)"
    head = ("graph", "given", "predicted", "margin", nearest)
    drawings = []
    for one in found.suspects.listed[:3]:
        drawings.append(_drawing(found, one.graph, f"predicted {one.predicted}"))
        if one.neighbors:
            other, _, value = one.neighbors[0]
            drawings.append(_drawing(found, other, f"similarity {value:.2f} to graph {one.graph}"))
    return [], [Table("Suspects, largest margin first", head, rows)], drawings
