"""Rendering: Markdown, the page and the fragment."""

import json
import re
from html.parser import HTMLParser

import networkx as nx

import propkernels as pk
from propkernels.auditing.outline import outline

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
