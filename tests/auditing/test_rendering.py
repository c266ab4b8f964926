"""Rendering: sections with tables, charts and drawings; Markdown, the page and the fragment."""

import json
import re
from html.parser import HTMLParser

import networkx as nx
import pytest

import propkernels as pk
from propkernels.auditing.rendering import outline

VOID = {"meta", "circle", "rect", "line", "path", "polyline", "br", "link"}


class Elements(HTMLParser):
    """Checks that elements are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def test_page(report):
    page = report.to_html()
    elements = Elements()
    elements.feed(page)
    assert elements.open == []
    assert elements.seen.count("svg") >= 12
    for sentence in report.sentences:
        assert sentence.text.split(":")[0].split("'")[0] in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    data = re.search(r'<script type="application/json" id="audit">(.*?)</script>', page, re.DOTALL).group(1)
    assert json.loads(data) == json.loads(report.to_json())


def test_fragment(report):
    fragment = report._repr_html_()
    assert fragment.startswith('<div class="pk">')
    assert "no method can exceed" in fragment
    assert "<script" not in fragment


def test_markdown(report):
    text = report.to_markdown()
    assert text.startswith("# Audit of graphs\n")
    assert "| 7, 60 |" in text
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(titles) == len(outline(report)) == 4


def test_strange_names_are_harmless():
    graphs = [nx.path_graph(3) for _ in range(4)]
    for graph in graphs:
        nx.set_node_attributes(graph, "<b>|*", "label")
    report = pk.audit(pk.from_networkx(graphs), ["</script>", "<i>", "<i>", "a|b"])
    page = report.to_html()
    assert "<i>" not in page
    assert "<b>" not in page
    assert page.count("</script>") == page.count("<script ")
    assert "a\\|b" in report.to_markdown()


@pytest.fixture(scope="module")
def sections(report):
    return {section.topic: section for section in outline(report)}


def test_every_sentence_is_in_its_section(report, sections):
    assert list(sections) == ["graphs", "sameness", "learning", "suspects"]
    listed = [sentence for section in sections.values() for sentence in section.sentences]
    assert listed == list(report.sentences)


def test_rows_of_tables_are_as_long_as_their_heads(sections):
    tables = [table for section in sections.values() for table in section.tables]
    assert len(tables) >= 6
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.head)}, table.title


def test_conflicts_and_steps_are_listed(report, sections):
    tables = {table.title: table for table in sections["sameness"].tables}
    assert tables["Duplicates with different targets"].rows[0][0] == "7, 60"
    steps = tables["Graphs that t steps distinguish"].rows
    assert [row[:2] for row in steps] == [(step.t, step.n_groups) for step in report.sameness.by_step]


def test_charts_are_svg(sections):
    charts = [chart for section in sections.values() for chart in section.charts]
    assert {"learning curve", "calibration", "graphs per class"} <= {title for title, _ in charts}
    assert all(draw().startswith("<svg") for _, draw in charts)


def test_captions_name_graph_class_and_size(report, sections):
    graph, caption = sections["graphs"].drawings[0]
    size = int(report.graphs.graph_sizes[graph])
    assert caption.startswith(f"graph {graph}, class ")
    assert caption.endswith(f": typical, {size} nodes")
