"""Reports: Markdown, JSON, the page and the fragment."""

import json
import re
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.auditing.outline import outline


@pytest.fixture(scope="module")
def report():
    data = pk.datasets.make_molecules(60, random_state=0)
    graphs = pk.GraphDatabase.concat([data.graphs, data.graphs[[7]]])
    return pk.audit(graphs, np.append(data.target, 1 - data.target[7]), t_max=2)


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


def test_files(report, tmp_path):
    for name in ("report.html", "report.md", "report.json"):
        report.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert json.loads((tmp_path / "report.json").read_text())["name"] == "graphs"
    with pytest.raises(ValueError, match=r"ends with \.html, \.json, \.md"):
        report.save(tmp_path / "report.pdf")


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


def test_repr_and_str(report):
    assert repr(report) == "Audit(graphs: 61 graphs, 2 with a duplicate)"
    assert str(report).startswith("Audit of graphs\n- 61 graphs with ")
