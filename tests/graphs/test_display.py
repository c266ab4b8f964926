"""What a person sees: one line, or a small table."""

from html.parser import HTMLParser

import numpy as np
import pytest

from propkernels.graphs import GraphDatabase, drawing
from tests.zoo import one, zoo, zoo_databases


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("single node", "1 graph, 1 node, 0 edges, 1 node label"),
        ("no nodes", "1 graph, 0 nodes, 0 edges, 0 node labels"),
        ("no labels", "1 graph, 5 nodes, 5 edges"),
        ("directed cycle", "1 graph, 4 nodes, 4 directed edges, 3 node labels"),
        ("partially observed labels", "1 graph, 5 nodes, 5 edges, 2 node labels, 2 unobserved"),
        ("attributes 1-d", "1 graph, 5 nodes, 5 edges, 3 node labels, 1 attribute"),
        ("attributes 3-d", "1 graph, 5 nodes, 5 edges, 3 node labels, 3 attributes"),
        ("edge labels", "1 graph, 4 nodes, 4 edges, 3 node labels, 3 edge labels"),
        ("two identical graphs", "2 graphs, 10 nodes, 10 edges, 3 node labels"),
    ],
)
def test_repr(name, expected):
    assert repr(zoo()[name]) == f"GraphDatabase({expected})"
    if len(zoo()[name]) == 1:
        assert repr(zoo()[name][0]) == f"Graph({expected.removeprefix('1 graph, ')})"


class Tags(HTMLParser):
    """Collect text and check that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.slow
@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_html_is_well_formed_and_says_what_repr_says(name, database):
    tags = Tags()
    tags.feed(database._repr_html_())
    assert tags.open == []
    assert repr(database) in tags.text
    assert tags.seen.count("tr") == 1 + len(database)


def test_html_shows_a_few_graphs_and_counts_the_rest():
    html = GraphDatabase.concat([one(1)] * 8)._repr_html_()
    assert html.count("<tr>") == 1 + 5 + 1
    assert "3 more graphs" in html


def test_labels_cannot_smuggle_html():
    database = one(2, [(0, 1)], ["<script>alert(1)</script>", "&"], edge_labels=["<b>"])
    html = database._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html


def test_large_graphs_are_not_drawn():
    n = drawing.MOST_DRAWN + 1
    graph = GraphDatabase(np.ones((n, n)) - np.eye(n), [0, n])[0]
    assert "<circle" not in drawing.graph_svg(graph)
    assert "not drawn" in graph._repr_html_()
    assert drawing.graph_svg(one(2, [(0, 1)])[0]).count("<circle") == 2
