"""The DOT language: statements, subgraphs, defaults, quotes and comments."""

import pytest

from propkernels.datasets.dot_files import DEEPEST, dot_graphs


def edges_of(text):
    (graph,) = dot_graphs(text)
    return [(source, target) for source, target, _ in graph.edges]


def test_a_chain_has_the_edges_of_its_pairs():
    assert edges_of("graph { a -- b -- c; d }") == [("a", "b"), ("b", "c")]


def test_edges_between_subgraphs_join_all_their_nodes():
    assert edges_of("digraph { {a b} -> subgraph s {c; d} }") == [
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
    ]


def test_defaults_hold_inside_their_braces_and_for_later_nodes():
    text = "graph { a; node [kind=x]; b; { node [kind=y]; c } d; b [kind=z]; edge [w=1]; a -- b -- d [w=2] }"
    (graph,) = dot_graphs(text)
    kinds = {name: data.get("kind") for name, data in graph.nodes.items()}
    assert kinds == {"a": None, "b": "z", "c": "y", "d": "x"}
    assert [data for _, _, data in graph.edges] == [{"w": "2"}, {"w": "2"}]


def test_quotes_ports_comments_and_sums_of_texts():
    text = '// one\n# two\ngraph "a b" { /* three\n */ "x\\"y":port:n -- z [label="u" + "v", "w x"=-1.5] }'
    (graph,) = dot_graphs(text)
    assert graph.name == "a b"
    assert list(graph.nodes) == ['x"y', "z"]
    assert graph.edges[0][2] == {"label": "uv", "w x": "-1.5"}


def test_data_of_the_graph():
    (graph,) = dot_graphs("strict digraph { target=7; graph [kind=x] }")
    assert graph.directed
    assert graph.data == {"target": "7", "kind": "x"}


def test_several_graphs_of_one_text():
    first, second = dot_graphs("graph a { x } digraph b { y -> y }")
    assert (first.name, first.directed, second.name, second.directed) == ("a", False, "b", True)


def test_keywords_are_names_inside_quotes_only():
    (graph,) = dot_graphs('GRAPH { "node" -- "edge" }')
    assert list(graph.nodes) == ["node", "edge"]


def test_nested_as_deep_as_allowed():
    inside = "{" * DEEPEST + "a -- b" + "}" * DEEPEST
    assert edges_of(f"graph {inside}") == [("a", "b")]
    with pytest.raises(ValueError, match=f"more than {DEEPEST} subgraphs are nested"):
        dot_graphs(f"graph {{{inside}}}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no graph"),
        ("{ a }", "'graph' or 'digraph' is expected instead of '{'"),
        ("graph a", "'{' is expected instead of 'the end'"),
        ("graph { a [b= ] }", "a name is expected instead of ']'"),
        ("graph {\n\n a -- <b> }", "line 3 has an unexpected '<'"),
    ],
)
def test_faults_say_where(text, message):
    with pytest.raises(ValueError, match=message):
        dot_graphs(text)
