"""Parquet files: ranges of rows, labels of any kind, files that are wrong."""

import numpy as np
import pytest
from scipy import sparse

import propkernels as pk
from propkernels.convert.parquet import read_parquet, to_parquet
from propkernels.graphs import GraphDatabase


@pytest.fixture
def file(tmp_path):
    graphs = pk.datasets.make_molecules(25, random_state=0).graphs.with_ids([f"m{i}" for i in range(25)])
    to_parquet(graphs, tmp_path / "graphs.parquet", target=np.arange(25), row_group_size=10)
    return tmp_path / "graphs.parquet", graphs


def test_ranges_of_rows_and_row_groups(file):
    path, graphs = file
    assert GraphDatabase.from_parquet(path) == graphs
    part, target = read_parquet(path, rows=slice(7, 23))
    assert part == graphs[7:23]
    assert part.ids.tolist() == graphs.ids[7:23].tolist()
    assert target.tolist() == list(range(7, 23))
    assert len(GraphDatabase.from_parquet(path, rows=slice(3, 3))) == 0


def test_others_can_read_and_write_the_file(file):
    pandas = pytest.importorskip("pandas")
    path, graphs = file
    table = pandas.read_parquet(path)
    assert table["id"].tolist() == graphs.ids.tolist()
    assert table["n_nodes"].tolist() == graphs.graph_sizes.tolist()
    plain = {"n_nodes": [2], "source": [[0, 1]], "target": [[1, 0]], "node_label": [["C", None]]}
    pandas.DataFrame(plain).to_parquet(path)
    found = GraphDatabase.from_parquet(path)
    assert found == GraphDatabase([[0, 1], [1, 0]], [0, 2], ["C", None])


def test_labels_of_any_kind(tmp_path):
    labels = [(1, "a"), 2.5, "text", None]
    graphs = GraphDatabase(np.zeros((4, 4)), [0, 4], labels)
    to_parquet(graphs, tmp_path / "x")
    assert GraphDatabase.from_parquet(tmp_path / "x") == graphs
    with pytest.raises(TypeError, match="cannot be written to Parquet"):
        to_parquet(graphs.with_labels([frozenset([1]), 1, 2, 3]), tmp_path / "x")
    assert GraphDatabase.from_parquet(tmp_path / "x") == graphs  # the old file is whole


def test_files_that_are_wrong(tmp_path):
    pandas = pytest.importorskip("pandas")
    good = {"n_nodes": [2], "source": [[0, 1]], "target": [[1, 0]]}
    for changed, message in (
        ({"source": None}, "has no column 'source'"),
        ({"target": [[1]]}, "graph 0: target has 1 values instead of 2"),
        ({"target": [[1, 5]]}, r"graph 0: edge \(1, 5\) names a node that is not there"),
        ({"source": [[0.5, 1.0]]}, "the column 'source' must hold whole numbers"),
        ({"source": [7]}, "the column 'source' must hold lists"),
        ({"id": ["x"], "weight": [[1.0, -1.0]]}, r"graph 'x': edge \(1, 0\) has weight -1.0"),
        ({"id": ["x"], "node_label": [["C"]]}, "graph 'x': node_label has 1 values instead of 2"),
    ):
        columns = {name: value for name, value in (good | changed).items() if value is not None}
        pandas.DataFrame(columns).to_parquet(tmp_path / "wrong.parquet")
        with pytest.raises(ValueError, match=message):
            GraphDatabase.from_parquet(tmp_path / "wrong.parquet")
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(ValueError, match="is not a Parquet file, or it is damaged"):
        GraphDatabase.from_parquet(tmp_path / "text.parquet")
    with pytest.raises(FileNotFoundError, match=r"the file .* does not exist"):
        GraphDatabase.from_parquet(tmp_path / "nothing")


LIES = [
    ([2**63 - 1, 2**63 - 1, 5], r"n_nodes' must add up to less than 2\*\*62, got 1.8e\+19"),
    ([2**64 - 1], r"n_nodes' must add up to less than 2\*\*62"),
    ([2, -1], "n_nodes' must not be negative, got -1 at position 1"),
    ([10**8], "100,000,000 nodes without labels .* beside 1 graphs and edges, which allow 1,048,640"),
]


@pytest.mark.parametrize(("numbers", "message"), LIES)
def test_parquet_that_declares_nodes_that_cannot_be(tmp_path, numbers, message):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    none = pa.array([[]] * len(numbers), pa.list_(pa.int64()))
    kind = pa.uint64() if max(numbers) >= 2**63 else pa.int64()
    path = tmp_path / "graphs.parquet"
    pq.write_table(pa.table({"n_nodes": pa.array(numbers, kind), "source": none, "target": none}), path)
    with pytest.raises(ValueError, match=message):
        pk.GraphDatabase.from_parquet(path)


def test_parquet_that_could_not_be_read_is_not_written(tmp_path):
    pytest.importorskip("pyarrow")
    n = 2**20 + 65
    bare = pk.GraphDatabase(sparse.csr_array((n, n)), [0, n])
    with pytest.raises(ValueError, match="give them labels"):
        bare.to_parquet(tmp_path / "graphs.parquet")
    assert not list(tmp_path.iterdir())
    labelled = pk.GraphDatabase(sparse.csr_array((n, n)), [0, n], node_labels=np.ones(n, dtype=int))
    labelled.to_parquet(tmp_path / "graphs.parquet")
    assert pk.GraphDatabase.from_parquet(tmp_path / "graphs.parquet") == labelled
