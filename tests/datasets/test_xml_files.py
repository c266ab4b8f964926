"""GraphML and GXL: graphs with their data, and nothing of XML that could do harm."""

import networkx as nx
import pytest

from propkernels.datasets.xml_files import graphml_graphs, gxl_graphs


def test_graphml_of_networkx():
    written = nx.DiGraph(target=3)
    written.add_node("a", kind="x", mass=1.5)
    written.add_edge("a", "b", type="single")
    (graph,) = graphml_graphs("".join(nx.generate_graphml(written)))
    assert graph.directed
    assert graph.nodes == {"a": {"kind": "x", "mass": "1.5"}, "b": {}}
    assert graph.edges == [("a", "b", {"type": "single"})]
    assert graph.data == {"target": "3"}


def test_several_graphs_keep_their_data_apart():
    text = (
        '<graphml><key id="d" attr.name="kind"/>'
        '<graph id="g"><node id="a"><data key="d">x</data></node><data key="d">of g</data></graph>'
        '<graph id="h" edgedefault="directed"><node id="a"/></graph></graphml>'
    )
    first, second = graphml_graphs(text)
    assert (first.name, first.directed, second.name, second.directed) == ("g", False, "h", True)
    assert (first.nodes, first.data) == ({"a": {"kind": "x"}}, {"kind": "of g"})
    assert (second.nodes, second.data) == ({"a": {}}, {})


def test_a_datum_without_a_key_has_its_own_name():
    text = '<graphml><graph><node id="a"><data key="d0"> x </data></node></graph></graphml>'
    (graph,) = graphml_graphs(text)
    assert graph.nodes == {"a": {"d0": "x"}}


def test_prefixes_of_names_are_ignored():
    (graph,) = graphml_graphs('<g:graphml xmlns:g="http://x"><g:graph><g:node id="a"/></g:graph></g:graphml>')
    assert list(graph.nodes) == ["a"]


def test_gxl_has_data_of_nodes_and_edges():
    text = (
        '<gxl><graph id="m" edgemode="directed"><node id="1"><attr name="symbol"><string>C</string></attr>'
        '<attr name="x"><float>0.5</float></attr></node>'
        '<edge from="1" to="2"><attr name="valence"><int>2</int></attr></edge></graph></gxl>'
    )
    (graph,) = gxl_graphs(text)
    assert (graph.name, graph.directed) == ("m", True)
    assert graph.nodes == {"1": {"symbol": "C", "x": "0.5"}, "2": {}}
    assert graph.edges == [("1", "2", {"valence": "2"})]


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (graphml_graphs, "<graphml><graph>", r"it is not valid XML \(no element found"),
        (graphml_graphs, "<graphml><graph><node/></graph></graphml>", "element node has no attribute 'id'"),
        (graphml_graphs, "<graphml><edge source='a' target='b'/></graphml>", "edge is outside of a graph"),
        (graphml_graphs, "<graphml><key/></graphml>", "an element key has no attribute 'id'"),
        (gxl_graphs, "<gxl><graph><edge from='a'/></graph></gxl>", "an element edge has no attribute 'to'"),
        (gxl_graphs, "<gxl><graph><attr/></graph></gxl>", "an element attr has no attribute 'name'"),
    ],
)
def test_faults_are_one_sentence(read, text, message):
    with pytest.raises(ValueError, match=message):
        read(text)


def test_entities_and_files_are_refused():
    bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><gxl><graph id="&b;"/></gxl>'
    file = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><gxl><graph id="g"/></gxl>'
    for text in (bomb, file):
        with pytest.raises(ValueError, match="it declares entities, which are not expanded"):
            gxl_graphs(text)
