"""Contacts: nodes, relations, labels over time, and times that would merge."""

import numpy as np
import pytest

import propkernels as pk

pd = pytest.importorskip("pandas")

STATES = ("graph", "node", "time", "label")


def contacts(*rows, names=("graph", "source", "target", "time")):
    return pd.DataFrame(list(rows), columns=list(names))


def edges(graphs):
    """Return (vertex and time of the receiver, relation, vertex and time of the sender) of all edges."""
    moments, matrix = graphs.moments, graphs.adjacency.tocoo()
    names = [f"{v}{t:g}" for v, t in zip(moments.vertices.to_array(), moments.times, strict=True)]
    rows, columns = matrix.coords
    labels = graphs.edge_labels
    return {(names[i], label, names[j]) for i, j, label in zip(rows, columns, labels, strict=True)}


def test_a_chain_of_contacts():
    graphs = pk.from_contacts(contacts((0, "a", "b", 1), (0, "c", "b", 3)))
    assert edges(graphs) == {
        ("a1", "contact", "b1"),
        ("b1", "contact", "a1"),
        ("b3", "contact", "c3"),
        ("c3", "contact", "b3"),
        ("b3", "earlier", "b1"),
        ("b1", "later", "b3"),
    }


def test_directed_contacts_are_received():
    graphs = pk.from_contacts(contacts((0, "a", "b", 1)), directed=True)
    assert edges(graphs) == {("b1", "received", "a1"), ("a1", "sent", "b1")}


def test_labels_hold_until_they_change_and_changes_are_nodes():
    labels = contacts(
        (0, "a", 2, "S"), (0, "a", 4, "I"), (0, "b", 0, "S"), names=("graph", "node", "time", "label")
    )
    graphs = pk.from_contacts(contacts((0, "a", "b", 1), (0, "a", "b", 3)), node_labels=labels)
    moments = graphs.moments
    found = dict(
        zip(zip(moments.vertices.to_array(), moments.times, strict=True), graphs.node_labels, strict=True)
    )
    assert found == {("a", 1): "S", ("a", 3): "S", ("a", 4): "I", ("b", 1): "S", ("b", 3): "S"}


def test_vertices_without_contacts_and_without_labels():
    labels = contacts((0, "lone", 7, "S"), names=STATES)
    graphs = pk.from_contacts(contacts((0, "a", "b", 1)), node_labels=labels)
    assert graphs.moments.vertices.to_array().tolist() == ["lone", "a", "b"]
    assert graphs.node_labels.tolist() == ["S", None, None]
    assert graphs.moments.times[0] == 7


def test_dates_one_graph_and_graphs_without_contacts():
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    table = pd.DataFrame({"source": ["a", "a"], "target": ["b", "c"], "time": days})
    graphs = pk.from_contacts(table, graph=None)
    assert len(graphs) == 1
    assert np.ptp(graphs.moments.times) == 86400
    graphs = pk.from_contacts(contacts((0, "a", "b", 1)), pd.DataFrame({"graph": [1, 0]}))
    assert graphs.graph_sizes.tolist() == [0, 2]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_dates_of_any_unit_and_zone_are_seconds(unit, zone, recwarn):
    dates = pd.Series(np.array(["1970-01-02", "2024-01-01"], dtype=f"M8[{unit}]")).dt.tz_localize(zone)
    table = pd.DataFrame({"source": "a", "target": "b", "time": dates})
    late = 9 * 3600 if zone == "Asia/Tokyo" else 0
    times = pk.from_contacts(table, graph=None).moments.times
    assert sorted(set(times)) == [86400.0 - late, 1704067200.0 - late]
    assert not recwarn.list


def test_dates_and_durations_beyond_nanoseconds_do_not_wrap():
    dates = np.array(["1600-01-01", "3000-01-01"], dtype="M8[s]")
    table = pd.DataFrame({"source": "a", "target": "b", "time": dates})
    times = pk.from_contacts(table, graph=None).moments.times
    assert sorted(set(times)) == [-11676096000.0, 32503680000.0]
    table["time"] = np.array([0, 10**12], dtype="m8[s]")
    assert sorted(set(pk.from_contacts(table, graph=None).moments.times)) == [0.0, 1e12]


@pytest.mark.parametrize(
    ("times", "apart"),
    [
        ([2**53, 2**53 + 1], [0, 1]),
        (pd.to_datetime(["2024-01-01 00:00:00.000000001", "2024-01-01 00:00:00.000000002"]), [0, 1e-9]),
        ([10**18, 10**18 + 1, 10**18], [0, 1, 0]),
    ],
    ids=["2^53", "nanoseconds", "nanoseconds since 1970"],
)
def test_times_that_would_merge_are_refused(times, apart):
    """Different times that are one number, to 53 bits, as they are; times since the first one are apart."""
    table = pd.DataFrame({"graph": 0, "source": list(range(len(times))), "target": 9, "time": times})
    with pytest.raises(ValueError, match=r"rows 0 and 1 of contacts have the times .* one number to 53 bits"):
        pk.from_contacts(table)
    later = pk.from_contacts(table.assign(time=table["time"] - table["time"].min()))
    np.testing.assert_allclose(np.unique(later.moments.times), np.unique(apart), rtol=1e-12)
    pk.from_contacts(table[:1])


def test_times_at_the_ends_of_the_range():
    """Their differences are infinite; warnings are errors in tests."""
    table = pd.DataFrame({"graph": 0, "source": [0, 1], "target": [1, 2], "time": [1e308, -1e308]})
    assert pk.from_contacts(table).n_nodes == 4


@pytest.mark.parametrize("name", ["node", "vertex", "time", "label", "relation", "key"])
def test_the_column_of_graphs_has_any_name(name):
    table = pd.DataFrame({name: list("xxy"), "source": 0, "target": 1, "when": [1, 2, 3], "note": "?"})
    with pytest.warns(UserWarning, match="the column 'note' of contacts is not used") as told:
        found = pk.from_contacts(table, pd.DataFrame({name: list("yxz")}), graph=name, time="when")
    assert told[0].filename == __file__
    assert found.ids.tolist() == ["y", "x", "z"]
    assert found.moments.times.tolist() == [3, 3, 1, 2, 1, 2]
