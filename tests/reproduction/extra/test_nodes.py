"""Splits of nodes, and the page of results."""

import zipfile
from io import BytesIO

import numpy as np
import pytest
from scipy.sparse import csr_array

from reproduction.extra import nodes


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A graph of two classes under the name of a published one."""
    rng = np.random.default_rng(0)
    n = 160
    labels = np.repeat([0, 1], n // 2)
    edges = rng.integers(0, n, (2, 400))
    attributes = np.eye(2)[labels] + rng.random((n, 2))
    buffer = BytesIO()
    np.savez(
        buffer,
        n_nodes=n,
        edges=edges[:, edges[0] != edges[1]],
        labels=labels,
        x_data=attributes.ravel(),
        x_indices=np.tile([0, 1], n),
        x_indptr=np.arange(n + 1) * 2,
        x_shape=[n, 2],
    )
    with zipfile.ZipFile(tmp_path / "nodes.zip", "w") as file:
        file.writestr("amazon_photo.npz", buffer.getvalue())
        file.writestr("airports_usa.npz", buffer.getvalue())
    monkeypatch.setenv("PROPKERNELS_DATA", str(tmp_path))
    nodes.read.cache_clear()
    yield tmp_path
    nodes.read.cache_clear()


def test_ranks_count_earlier_labels():
    assert nodes.rank_in_class(np.array([1, 0, 1, 1, 0])).tolist() == [0, 0, 1, 2, 1]


def test_random_splits_have_twenty_and_thirty_nodes_per_class(archive):
    train, validation, test = nodes.split_of("amazon_photo", 0)
    labels = nodes.read("amazon_photo").labels
    assert np.bincount(labels[train]).tolist() == [20, 20]
    assert np.bincount(labels[validation]).tolist() == [30, 30]
    assert sorted([*train, *validation, *test]) == list(range(len(labels)))
    few, none, rest = nodes.few_of("amazon_photo", 0, 5)
    assert len(few) == 10
    assert len(none) == 0
    assert len(rest) == len(labels) - 10
    assert len(nodes.split_of("airports_usa", 3)[0]) == 128


def test_random_splits_are_drawn_from_the_largest_component():
    edges = np.zeros((7, 7))
    edges[:3, :3] = edges[3:6, 3:6] = 1 - np.eye(3)  # two triangles, joined by an edge, and a node alone
    edges[2, 3] = edges[3, 2] = 1
    adjacency = csr_array(edges)
    found = nodes.largest_component(nodes.Nodes(adjacency, csr_array(np.eye(7)), np.arange(7), None))
    assert found.labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.adjacency.nnz == 14
    assert (found.attributes.toarray() == np.eye(7)[:6]).all()


def test_large_graphs_and_our_model_are_measured_first(archive):
    few, many = ("amazon_photo", 0, 2, nodes.OURS), ("amazon_photo", 0, 0, nodes.OURS)
    assert nodes.effort(few) < nodes.effort(many)
    assert nodes.effort(("amazon_photo", 0, 0, nodes.SPREADING)) < nodes.effort(many)


def test_methods_are_compared_on_the_splits_that_all_have(tmp_path):
    results = [
        nodes.NodeResult("texas", split, 0, method, score, 1.0, "")
        for split, method, score in [
            (0, nodes.OURS, 0.8),
            (1, nodes.OURS, 0.6),
            (0, nodes.SPREADING, 0.3),
        ]
    ]
    nodes.write_page(results, tmp_path / "nodes.md")
    assert "| texas | 1 | 80.0 | - | 30.0 | - | - |" in (tmp_path / "nodes.md").read_text()


def test_the_page_has_the_last_large_fit_of_each_graph(tmp_path):
    result = nodes.NodeResult("cora", 0, 0, nodes.OURS, 0.847, 4.9, "attributes")
    fits = [
        nodes.LargeFit("planted", 10**6, 10**7, 100, seconds, 80.0, 2000, 3500, 0.99) for seconds in (99, 77)
    ]
    nodes.write_page([result], tmp_path / "nodes.md", fits)
    page = (tmp_path / "nodes.md").read_text()
    assert "| planted | 1,000,000 | 10,000,000 | 100 | 77.0 | 80.0 | 2,000 | 3,500 | 99.0 |" in page
    assert "99.0 | 80.0" not in page
    nodes.write_page([result], tmp_path / "nodes.md")
    assert "Time and memory" not in (tmp_path / "nodes.md").read_text()


@pytest.mark.slow
def test_a_run_continues_and_writes_its_page(archive, monkeypatch):
    monkeypatch.setattr(nodes, "CURVE", (2,))
    table = nodes.run(["amazon_photo"], 1, archive / "results", archive / "nodes.md", jobs=2)
    assert "| amazon_photo |" in table
    page = (archive / "nodes.md").read_text()
    assert "coinciding walks" in page
    assert (
        len((archive / "results" / "nodes.jsonl").read_text().splitlines()) == 7
    )  # five methods, two curves
    monkeypatch.setattr(nodes, "measure", None)  # nothing is measured again
    assert nodes.run(["amazon_photo"], 1, archive / "results", archive / "nodes.md") == table
