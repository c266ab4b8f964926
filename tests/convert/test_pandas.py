"""Tables: order and ids, keys of any kind, and every fault by its row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk

pd = pytest.importorskip("pandas")

EDGES = pd.DataFrame(
    {
        "graph": ["b", "a", "b"],
        "source": ["u", 1, "v"],
        "target": ["v", 2, "w"],
        "w": [1.0, 2.0, 3.0],
        "l": ["x", "y", "x"],
    }
)
NODES = pd.DataFrame(
    {
        "graph": ["a", "b", "b", "a", "b"],
        "node": [2, "w", "v", 1, "u"],
        "l": ["C", "N", "C", "O", None],
        "z": range(5),
    }
)


def test_order_of_first_appearance():
    graphs = pk.from_pandas(EDGES, weight="w", edge_label="l")
    assert graphs.ids.tolist() == ["b", "a"]
    assert graphs.graph_sizes.tolist() == [3, 2]
    assert graphs[0].adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 3], [0, 3, 0]]
    assert graphs[1].edge_labels.tolist() == ["y", "y"]


def test_nodes_give_order_labels_and_attributes():
    graphs = pk.from_pandas(EDGES, NODES, label="l", attributes=["z"], weight="w")
    assert graphs.ids.tolist() == ["a", "b"]
    assert graphs.node_labels.tolist() == ["C", "O", "N", "C", None]
    assert graphs.node_attributes[:, 0].tolist() == [0, 3, 1, 2, 4]
    assert graphs[1].adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 1], [0, 1, 0]]


def test_graphs_without_edges_or_nodes():
    table = pd.DataFrame({"graph": ["c", "a", "b"], "y": [1, 2, 3]})
    graphs, target = pk.from_pandas(EDGES, NODES, table, graph_target="y")
    assert graphs.graph_sizes.tolist() == [0, 2, 3]
    assert target.tolist() == [1, 2, 3]


def test_directions():
    directed = pk.from_pandas(EDGES, directed=True)
    assert directed[0].adjacency.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    both = pd.concat([EDGES, EDGES.rename(columns={"source": "target", "target": "source"})])
    assert pk.from_pandas(both, weight="w", edge_label="l") == pk.from_pandas(
        EDGES, weight="w", edge_label="l"
    )
    twice = pd.concat([EDGES, EDGES])
    assert pk.from_pandas(twice, weight="w") == pk.from_pandas(EDGES.assign(w=2 * EDGES.w), weight="w")


def test_parallel_edges_of_different_labels():
    edges = pd.DataFrame(
        {"graph": 0, "source": [0, 0, 0], "target": [1, 1, 1], "l": ["x", "y", "x"], "w": [1, 2, 4]}
    )
    graphs = pk.from_pandas(edges, weight="w", edge_label="l")
    assert graphs.has_parallel_edges
    assert dict(zip(graphs.edge_labels, graphs.adjacency.data, strict=True)) == {"x": 5, "y": 2}


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=15))
def test_against_a_plain_loop(rows):
    table = pd.DataFrame(rows, columns=["graph", "source", "target"])
    found = pk.from_pandas(table, directed=True)
    nodes = {}
    for graph, source, target in rows:
        own = nodes.setdefault(graph, {})
        for node in (source, target):
            own.setdefault(node, len(own))
    assert found.ids.tolist() == list(nodes)
    for graph, (key, own) in zip(found, nodes.items(), strict=True):
        expected = np.zeros((len(own), len(own)))
        for name, source, target in rows:
            if name == key:
                expected[own[source], own[target]] += 1
        assert np.array_equal(graph.adjacency.toarray(), expected)


WRONG = {
    "a dangling edge": (
        {"edges": pd.concat([EDGES, EDGES.assign(target="zz")], ignore_index=True)},
        "graph 'b': row 3 of edges names node 'zz', which is not in nodes",
    ),
    "a node twice": (
        {"nodes": pd.concat([NODES, NODES.iloc[[1]]], ignore_index=True)},
        "graph 'b': row 5 of nodes lists node 'w' again, which is in row 1",
    ),
    "a missing graph": (
        {"edges": EDGES.assign(graph=["b", None, "b"])},
        "row 1 of edges names no graph: the value is missing",
    ),
    "a missing node": (
        {"edges": EDGES.assign(source=["u", 1, None])},
        "row 2 of edges names no node: the value is missing",
    ),
    "no such column": ({"weight": "weight"}, "edges has no column 'weight'; its columns are "),
    "a weight that is a text": (
        {"edges": EDGES.assign(w=["1", "2", "heavy"]), "weight": "w"},
        "graph 'b': row 2 of edges has w 'heavy', which is not a number",
    ),
    "a negative weight": (
        {"edges": EDGES.assign(w=[1, -2, 3]), "weight": "w"},
        r"graph 'a': edge \(1, 0\) has weight -2.0",
    ),
    "directions that disagree": (
        {
            "edges": pd.DataFrame({"graph": "b", "source": ["u", "v"], "target": ["v", "u"], "w": [1, 2]}),
            "nodes": NODES[NODES.graph == "b"],
            "weight": "w",
        },
        "graph 'b': rows 1 and 0 of edges list the same edge in both directions and do not agree",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_faults_are_named_by_row(name):
    changed, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        pk.from_pandas(**({"edges": EDGES, "nodes": NODES} | changed))


def test_faulty_graphs_are_skipped_on_request():
    edges = pd.concat([EDGES, EDGES.assign(target="zz")[:1]], ignore_index=True)
    with pytest.warns(UserWarning, match="skipped 1 of 2 graphs: 'b'"):
        graphs = pk.from_pandas(edges, NODES, label="l", errors="skip")
    assert graphs.ids.tolist() == ["a"]
    assert graphs == pk.from_pandas(EDGES[EDGES.graph == "a"], NODES[NODES.graph == "a"], label="l")
    assert graphs.skipped == {"b": "row 3 of edges names node 'zz', which is not in nodes"}


def test_things_that_are_not_tables():
    with pytest.raises(TypeError, match="edges must be a pandas DataFrame, got list"):
        pk.from_pandas([(0, 1)])
    with pytest.raises(ValueError, match="label and attributes are columns of nodes, which is not given"):
        pk.from_pandas(EDGES, label="l")
    with pytest.raises(ValueError, match="two graphs have the same id"):
        pk.convert.to_pandas(pk.GraphDatabase(np.zeros((2, 2)), [0, 1, 2], ids=["a", "a"]))
