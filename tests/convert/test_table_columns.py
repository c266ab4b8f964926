"""One rule for columns of tables: the same graph from DataFrames, files, models of nodes and commands."""

import warnings

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.check import check_graph
from propkernels.convert.table_columns import column_roles
from propkernels.datasets.graph_tables import read_nodes

pd = pytest.importorskip("pandas")
N = 40
RNG = np.random.default_rng(0)
EDGES = pd.DataFrame(
    {
        "source": [f"n{i}" for i in range(N - 1)],
        "target": [f"n{i + 1}" for i in range(N - 1)],
        "weight": RNG.uniform(1, 2, N - 1).round(3),
        "kind": [["road", "rail"][i % 2] for i in range(N - 1)],
    }
)
NODES = pd.DataFrame(
    {
        "node": [f"n{i}" for i in range(N)],
        "region": [["north", "south", "west"][i % 3] for i in range(N)],
        "size": RNG.normal(size=N).round(3),
        "full_name": [f"person {i}" for i in range(N)],
    }
)


def in_frames(tmp_path):
    return pk.from_pandas(EDGES, NODES, graph=None)


def as_one_graph(tmp_path):
    return check_graph((EDGES, NODES))


def in_files(tmp_path, suffix="csv"):
    write = {
        "csv": lambda t, p: t.to_csv(p, index=False),
        "parquet": lambda t, p: t.to_parquet(p, index=False),
    }
    for name, table in (("edges", EDGES), ("nodes", NODES)):
        write[suffix](table, tmp_path / f"{name}.{suffix}")
    how = {"target_required": False}
    paths = ",".join(str(tmp_path / f"{name}.{suffix}") for name in ("edges", "nodes"))
    return pk.datasets.open_source(paths, **how).graphs


def in_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    return in_files(tmp_path, "parquet")


def of_nodes(tmp_path):
    in_frames(tmp_path)
    EDGES.to_csv(tmp_path / "e.csv", index=False)
    NODES.to_csv(tmp_path / "n.csv", index=False)
    return read_nodes(tmp_path / "e.csv", tmp_path / "n.csv").graph


@pytest.mark.parametrize("read", [in_frames, as_one_graph, in_files, in_parquet, of_nodes])
def test_all_readers_use_columns_alike(read, tmp_path):
    """Numbers are attributes, text is the label, weights weigh; names are not used, and said so."""
    with pytest.warns(UserWarning, match="the column 'full_name' of nodes is not used"):
        graph = read(tmp_path)
    assert graph.node_labels.tolist() == NODES["region"].tolist()
    np.testing.assert_array_equal(graph.node_attributes[:, 0], NODES["size"])
    np.testing.assert_array_equal(graph.adjacency[[0], :].data, EDGES["weight"][:1])
    assert set(graph.edge_labels.tolist()) == {"road", "rail"}
    assert not graph.is_unweighted


@pytest.mark.parametrize(
    ("columns", "named", "labels", "attributes", "unused"),
    [
        ({"a": ["x", "y"], "b": [1, 2]}, {}, ["a"], ["b"], []),
        ({"a": ["x", "y"], "b": ["u", "v"]}, {}, ["a", "b"], [], []),
        ({"a": ["x", "y"], "Label": [1, 2]}, {}, ["Label"], [], ["a"]),
        ({"a": ["x", "y"], "b": [1, 2]}, {"label": None}, [], ["b"], []),
        ({"a": ["x", "y"], "b": [1, 2]}, {"label": "b"}, ["b"], [], []),
        ({"a": [[1], [2]], "b": [True, False]}, {}, [], ["b"], ["a"]),
        ({"a": pd.Series([1, 2], dtype="category")}, {}, ["a"], [], []),
        ({"a": pd.Series([1, None], dtype="Int64")}, {}, [], ["a"], []),
        ({"a": pd.to_datetime(["2020-01-01", "2020-01-02"])}, {}, [], [], ["a"]),
        ({"a": ["x", None], "b": [1.5, None]}, {"attributes": ()}, ["a"], [], []),
        ({"a": [1, "x"]}, {}, ["a"], [], []),
    ],
)
def test_roles(columns, named, labels, attributes, unused):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = column_roles(columns, "nodes", (), **named)
    assert (found.labels, found.attributes) == (labels, attributes)
    assert [name for name in columns for w in caught if repr(name) in str(w.message)] == unused


def test_a_column_equal_to_the_class_is_learned_from():
    """Of text columns, every one counts: neighbors alone say nothing here."""
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 300, (600, 2))
    edges = pd.DataFrame(ends[ends[:, 0] != ends[:, 1]], columns=["from", "to"])
    y = rng.integers(0, 2, 300)
    noise = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)]
    nodes = pd.DataFrame({"id": np.arange(300), "color": noise, "region": np.array(["n", "s"])[y]})
    known = pd.Series(np.where(rng.random(300) < 0.3, y, -1))
    model = pk.NodeClassifier(random_state=0).fit((edges, nodes), known)
    assert np.mean(model.predict() == y) > 0.95


def test_edges_say_what_they_do_not_use():
    table = EDGES.rename(columns={"weight": "amount"})
    with pytest.warns(UserWarning, match="column 'amount' of edges is not used: call a column \"weight\""):
        assert check_graph(table).is_unweighted
    graphs = pk.from_pandas(table, graph=None, weight="amount")
    assert not graphs.is_unweighted
