"""Tables: order and ids, keys of any kind, and every fault by its row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk

pd = pytest.importorskip("pandas")

EDGES = pd.DataFrame({"graph": list("bab"), "source": ["u", 1, "v"], "target": ["v", 2, "w"]})
EDGES = EDGES.assign(w=[1.0, 2.0, 3.0], l=["x", "y", "x"])
NODES = pd.DataFrame(
    {"graph": list("abbab"), "node": [2, "w", "v", 1, "u"], "l": [*"CNCO", None], "z": range(5)}
)


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


def test_every_graph_whose_directions_disagree_is_left_out():
    both = pd.DataFrame({"graph": [0, 0, 1, 1, 2, 2], "source": [0, 1] * 3, "target": [1, 0] * 3})
    both["w"] = [1, 2, 5, 5, 3, 4]
    with pytest.raises(ValueError, match="graph 0: rows 0 and 1 of edges list the same edge in both"):
        pk.from_pandas(both, weight="w")
    with pytest.warns(UserWarning, match="skipped 2 of 3 graphs: 0"):
        graphs = pk.from_pandas(both, weight="w", errors="skip")
    assert graphs.ids.tolist() == [1]
    assert graphs.adjacency.data.tolist() == [5, 5]
    uneven = both.assign(w=5)[[True, True, True, True, True, False]]
    again = pd.concat([uneven, uneven[:1]])
    with pytest.warns(UserWarning, match="skipped 1 of 3 graphs: 0"):  # listed twice there, once back
        assert pk.from_pandas(again, weight="w", errors="skip").ids.tolist() == [1, 2]
