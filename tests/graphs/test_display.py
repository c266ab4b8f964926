"""What a person sees: one line, or a small table."""

import pytest

from propkernels.graphs import GraphDatabase
from tests.zoo import one, zoo


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


def test_html_shows_a_few_graphs_and_counts_the_rest():
    html = GraphDatabase.concat([one(1)] * 8)._repr_html_()
    assert html.count("<tr>") == 1 + 5 + 1
    assert "3 more graphs" in html
