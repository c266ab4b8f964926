"""LiveGraph: after any changes, graph, codes and bins are those of the changed graph from scratch."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.counts.entries import Vocabulary
from propkernels.tracking import live as live_module
from propkernels.tracking.live import ChangingGraph, LiveGraph

pytestmark = pytest.mark.compiled

GRAPHS = pk.datasets.make_molecules(12, random_state=3).graphs
COUNTERS = [
    kernel.fit(GRAPHS)._coder
    for kernel in (
        pk.PropagationKernel(t_max=2, n_hashes=2, random_state=0),
        pk.WeisfeilerLehman(t_max=2),
        pk.WeisfeilerLehman(t_max=1, exact=True),  # without a tracker: computed from scratch
    )
]


def scratch(counter, graph):
    return np.concatenate([block.by_stream() for block in counter.codes(graph, 1)])


def assert_codes_are_those_of_the_graph(live):
    for counter in COUNTERS:
        found = np.concatenate([block.by_stream() for block in live.codes(counter)])
        np.testing.assert_array_equal(found, scratch(counter, live.graph))


def bins_of(entries):
    """Return columns and counts of the graph, stream by stream; arrays have room for more."""
    starts, sizes, columns, counts = entries.arrays
    runs = [slice(a, a + n) for a, n in zip(starts[:, 0], sizes[:, 0], strict=True)]
    return [sorted(zip(columns[run].tolist(), counts[run].tolist(), strict=True)) for run in runs]


def absent_edge(live):
    return next((u, v) for u in range(live.n_nodes) for v in range(u) if not live.has_edge(u, v))


def present_edge(live):
    return tuple(np.argwhere(live.graph.adjacency.toarray())[0].tolist())


def test_single_changes_and_their_codes():
    live = LiveGraph(GRAPHS[[0]], COUNTERS)
    edge = present_edge(live)
    live.remove_edge(*edge)
    assert not live.has_edge(*edge)
    assert_codes_are_those_of_the_graph(live)
    live.set_label(0, "Xx")
    node = live.add_node("N")
    live.add_edge(node, 0)
    assert live.n_nodes == GRAPHS[0].n_nodes + 1
    assert live.graph.node_labels[[0, node]].tolist() == ["Xx", "N"]
    assert_codes_are_those_of_the_graph(live)
    live.remove_edge(0, node)
    live.add_edge(*edge)
    live.set_label(0, GRAPHS[0].node_labels[0])
    assert live.graph.adjacency.toarray()[:-1, :-1].tolist() == GRAPHS[0].adjacency.toarray().tolist()


def test_pending_changes_are_made_before_there_are_too_many(monkeypatch):
    monkeypatch.setattr(live_module, "MOST_PENDING", 3)
    live = LiveGraph(GRAPHS[[1]], COUNTERS)
    nodes = [live.add_node("C") for _ in range(8)]
    live.add_edges([(node, 0) for node in nodes])
    for node in nodes[:4]:
        live.remove_edge(0, node)
    assert live.graph.degrees[nodes].tolist() == [0] * 4 + [1] * 4
    assert_codes_are_those_of_the_graph(live)


def test_bins_are_those_of_the_changed_graph():
    live = LiveGraph(GRAPHS[[2]], COUNTERS)
    live.remove_edge(*present_edge(live))
    for counter in COUNTERS:
        vocabulary = Vocabulary(counter, [stream.codes for stream in counter.count(GRAPHS, None, 1)])
        assert bins_of(live.entries(vocabulary)) == bins_of(vocabulary.enter(live.graph, 1))


def test_impossible_changes_name_the_nodes_and_change_nothing():
    live = LiveGraph(GRAPHS[[0]], COUNTERS)
    before = live.graph
    (u, v), absent = present_edge(live), absent_edge(live)
    for change, message in (
        (lambda: live.add_edge(u, v), f"nodes {u} and {v}: an edge exists, or both ends are one node"),
        (lambda: live.remove_edge(*absent), "no edge exists; nothing was changed"),
        (lambda: live.add_edges([absent, (u, v)]), f"nodes {u} and {v}: an edge exists"),
        (lambda: live.add_edge(*absent, "double"), "the edges of this graph have no labels"),
    ):
        with pytest.raises(ValueError, match=message):
            change()
    with pytest.raises(IndexError, match=f"node {live.n_nodes} is out of range"):
        live.add_edges([(0, live.n_nodes)])
    with pytest.raises(TypeError, match="a label must be hashable"):
        live.set_label(0, [])
    assert live.graph == before


def test_graphs_that_cannot_change_are_refused():
    weighted = pk.GraphDatabase(np.array([[0, 2.0], [2.0, 0]]), [0, 2], ["a", "b"])
    for graphs, message in ((GRAPHS[:2], "one graph, got 2"), (weighted, "undirected, without weights")):
        with pytest.raises(ValueError, match=message):
            LiveGraph(graphs)
    described = LiveGraph(GRAPHS[[0]].with_attributes(np.ones((GRAPHS[0].n_nodes, 1))))
    with pytest.raises(ValueError, match="its attributes are unknown"):
        described.add_node("C")


def test_a_view_reads_and_changes_its_live_graph():
    view = ChangingGraph()
    view._live = LiveGraph(GRAPHS[[0]])
    edge = present_edge(view)
    view.remove_edges([edge])
    assert not view.has_edge(*edge)
    view.add_edges([edge])
    node = view.add_node("N")
    view.set_label(node, "O")
    view.add_edge(node, 0)
    assert view.n_nodes == view._live.n_nodes == node + 1
    assert view.graph == view._live.graph
    assert view.graph.node_labels[node] == "O"
