"""cut_windows: one graph per window, against a loop over nodes and edges."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from propkernels.convert import cut_windows


@st.composite
def streams(draw):
    """Graphs in time from random contacts of one or two graphs, with labels that change."""
    times, names = st.integers(0, 30), st.sampled_from("abcd")
    ends = st.tuples(names, names).filter(lambda pair: pair[0] != pair[1])
    rows = draw(st.lists(st.tuples(st.integers(0, 1), ends, times), min_size=1, max_size=12))
    table = pd.DataFrame(
        [(g, a, b, t) for g, (a, b), t in rows], columns=["graph", "source", "target", "time"]
    )
    states = pd.DataFrame(
        [
            (g, name, t, label)
            for g in set(table["graph"])
            for name in "abcd"
            for t, label in ((0, "x"), (9, "y"))
        ],
        columns=["graph", "node", "time", "label"],
    )
    return pk.from_contacts(table, node_labels=states, directed=draw(st.booleans()))


def naive_windows(graphs, length):
    """Per graph and window: the nodes as (vertex, time, label), and the edges between them."""
    start = graphs.moments.times.min()
    found = {}
    for g in range(len(graphs)):
        one = graphs[[g]]
        vertices, times, labels = one.moments.vertices, one.moments.times, one.node_labels
        nodes = [(vertices.values[vertices.ids[i]], times[i], labels[i]) for i in range(one.n_nodes)]
        window = [int((times[i] - start) // length) for i in range(one.n_nodes)]
        for i, node in enumerate(nodes):
            found.setdefault((g, window[i]), (set(), set()))[0].add(node)
        matrix = one.adjacency.tocoo()
        for i, j, kind in zip(matrix.row, matrix.col, one.edge_labels, strict=True):
            if window[i] == window[j]:
                found[g, window[i]][1].add((nodes[i], nodes[j], kind))
    return [found[key] for key in sorted(found)]


@given(streams(), st.sampled_from([1, 4, 10.5, 100]))
def test_windows_hold_their_nodes_and_the_edges_between_them(graphs, length):
    cut = cut_windows(graphs, length)
    assert naive_windows(cut, 1e9) == naive_windows(graphs, length)
    assert cut.n_nodes == graphs.n_nodes


def test_ids_are_begins_of_windows_of_one_graph_and_of_several():
    table = pd.DataFrame({"graph": [0, 0, 1], "source": "a", "target": "b", "time": [5.0, 26.0, 7.0]})
    assert cut_windows(pk.from_contacts(table), 10).ids.tolist() == ["0/5", "0/25", "1/5"]
    assert cut_windows(pk.from_contacts(table[:2], graph=None), 10, start=0).ids.tolist() == ["0", "20"]


def test_what_cannot_be_cut_is_refused():
    graphs = pk.from_contacts(pd.DataFrame({"source": ["a"], "target": ["b"], "time": [1e9]}), graph=None)
    with pytest.raises(TypeError, match="use from_contacts"):
        cut_windows(pk.datasets.make_molecules(3, random_state=0).graphs, 1)
    for length in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="above 0"):
            cut_windows(graphs, length)
    with pytest.raises(TypeError, match="must be a number"):
        cut_windows(graphs, "1h")
    with pytest.raises(ValueError, match="too short"):
        cut_windows(graphs, 1e-9, start=0)


@pytest.mark.parametrize("unit", [1.0, 0.1, 0.7, 1e-9, 3e12])
def test_the_unit_of_time_does_not_matter(unit):
    """0.3 / 0.1 is below 3 in floating-point numbers."""
    steps = np.arange(40)
    table = pd.DataFrame({"source": "a", "target": [f"b{i}" for i in steps]})
    one = cut_windows(pk.from_contacts(table.assign(time=steps), graph=None), 1)
    decimal = [float(f"{step * unit:.12g}") for step in steps]
    cut = cut_windows(pk.from_contacts(table.assign(time=decimal), graph=None), unit)
    assert cut.graph_sizes.tolist() == one.graph_sizes.tolist()
    assert len(set(cut.ids)) == len(cut)


def test_begins_of_many_digits_are_different_ids():
    table = pd.DataFrame({"source": "a", "target": list("bcd"), "time": 1.7e18 + np.arange(3) * 5e3})
    assert len(set(cut_windows(pk.from_contacts(table, graph=None), 5e3).ids)) == 3


@pytest.mark.parametrize(
    ("length", "start"), [(10**400, None), ("1", None), (True, None), (1.0, np.nan), (np.nan, None)]
)
def test_lengths_and_starts_that_are_no_numbers(length, start):
    table = pd.DataFrame({"source": ["a"], "target": ["b"], "time": [0.0]})
    with pytest.raises((TypeError, ValueError), match=r"length|start"):
        cut_windows(pk.from_contacts(table, graph=None), length, start=start)


def test_windows_shorter_than_the_rounding_of_times_are_refused():
    table = pd.DataFrame({"source": ["a", "a"], "target": ["b", "c"], "time": [1e18, 1e18 + 1024]})
    with pytest.raises(ValueError, match="too short"):
        cut_windows(pk.from_contacts(table, graph=None), 100.0)
