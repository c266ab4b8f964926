"""PyTorch Geometric by objects that offer the same, so that torch is not needed."""

from types import SimpleNamespace

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert import pyg

EDGES = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])


class Tensor:
    """What a torch tensor offers, and no more of an array than torch's does."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values

    def __len__(self):
        return len(self.values)


def data(**fields):
    tensors = {
        name: Tensor(value) if isinstance(value, (list, np.ndarray)) else value
        for name, value in fields.items()
    }
    return SimpleNamespace(**({"edge_index": Tensor(EDGES), "num_nodes": 3} | tensors))


@pytest.mark.parametrize(
    ("table", "meaning", "labels", "attributes"),
    [
        ([[3], [4]], "auto", [3, 4], None),
        ([[1, 0], [0, 1]], "auto", [0, 1], None),
        (np.eye(3, 4)[::-1], "auto", [2, 1, 0], None),
        ([[1.0, 0.0, 0.0]], "auto", [0], None),
        ([[1, 2], [0, 4], [1, 2]], "auto", [(1, 2), (0, 4), (1, 2)], None),
        ([[0, 0], [0, 1]], "auto", [(0, 0), (0, 1)], None),  # not one-hot
        ([[2, -1], [0, 1]], "labels", [(2, -1), (0, 1)], None),
        ([[1.0], [1.0]], "auto", None, [[1.0], [1.0]]),  # one column tells nothing
        ([[0.5, 1.0], [2.0, 3.0]], "auto", None, [[0.5, 1.0], [2.0, 3.0]]),
        ([[3], [4]], "attributes", None, [[3.0], [4.0]]),
        ([[3], [4]], "ignore", None, None),
        (np.empty((2, 0)), "labels", None, None),
    ],
)
def test_the_meaning_of_x(table, meaning, labels, attributes):
    x = np.array(table)
    graphs, target = pk.from_pyg(
        [data(x=x, num_nodes=len(x), edge_index=EDGES[:, :0], y=[1])], x=meaning, target="y"
    )
    assert (None if graphs.node_labels is None else graphs.node_labels.tolist()) == labels
    assert (None if graphs.node_attributes is None else graphs.node_attributes.tolist()) == attributes
    assert target.tolist() == [1]


def test_edge_attributes_and_weights():
    assert pk.from_pyg([data(edge_attr=[[1], [1], [2], [2]])]).edge_labels.tolist() == [1, 1, 2, 2]
    graphs = pk.from_pyg([data(edge_attr=np.linspace(0, 1, 4), edge_weight=[1.0, 1.0, 3.0, 3.0])])
    assert graphs.edge_attributes.shape == (4, 1)
    assert graphs.adjacency.data.tolist() == [1, 1, 3, 3]
    one_hot = pk.from_pyg([data(edge_attr=np.eye(2)[[0, 0, 1, 1]])])
    assert one_hot.edge_labels.tolist() == [0, 0, 1, 1]


def test_types_are_labels():
    graphs = pk.from_pyg([data(x=np.eye(3), node_type=[4, 5, 4], edge_type=[0, 0, 1, 1])])
    assert graphs.node_labels.tolist() == [4, 5, 4]
    assert graphs.node_attributes.shape == (3, 3)
    assert graphs.edge_labels.tolist() == [0, 0, 1, 1]


def test_a_batch_is_several_graphs():
    several = [data(x=np.eye(3), y=[0]), data(x=np.eye(3)[::-1], y=[1])]
    batch = data(to_data_list=lambda: several)
    graphs, target = pk.from_pyg(batch, target="y")
    assert graphs == pk.check_graphs(batch) == pk.from_pyg(several)
    assert target.tolist() == [0, 1]


def test_numbers_of_nodes():
    assert pk.from_pyg([data(num_nodes=5)]).n_nodes == 5
    assert pk.from_pyg([data(num_nodes=None, x=np.eye(4))]).n_nodes == 4
    assert pk.from_pyg([data(num_nodes=None)]).n_nodes == 3


def test_dictionaries_of_ogb():
    edges = np.array([[0, 1], [1, 0]])
    graph = {"edge_index": edges, "num_nodes": 2, "node_feat": np.eye(2), "edge_feat": None}
    same = SimpleNamespace(edge_index=edges, num_nodes=2, x=np.eye(2))
    assert pk.check_graphs([graph]) == pk.from_pyg([graph]) == pk.from_pyg([same])


def test_there_and_back(monkeypatch):
    """With stand-ins for torch and its Data: labels by number, attributes and weights as they are."""
    torch, geometric = SimpleNamespace(as_tensor=Tensor), SimpleNamespace(Data=SimpleNamespace)
    monkeypatch.setattr(pyg, "import_optional", lambda name, **_: torch if name == "torch" else geometric)
    graphs = pk.GraphDatabase(
        [[0, 2, 0], [2, 0, 1], [0, 1, 0]], [0, 3], ["O", "C", None], edge_labels=["y", "y", "x", "x"]
    )
    (twin,) = pk.convert.to_pyg(graphs, target=[7])
    assert twin.node_type.numpy().tolist() == [1, 0, -1]
    assert twin.x.numpy().tolist() == [[0, 1], [1, 0], [0, 0]]
    assert twin.edge_type.numpy().tolist() == [1, 1, 0, 0]
    assert twin.y.numpy().tolist() == [7]
    rows = graphs.with_labels(None).with_attributes(np.eye(3, 2) / 2).with_edge_labels(None)
    rows = rows.with_edge_attributes([0.5, 0.5, 1.5, 1.5])
    assert pk.from_pyg(pk.convert.to_pyg(rows)) == rows


def test_numbers_of_nodes_that_are_not_used_are_named(recwarn):
    places = {
        "pos": np.zeros((3, 2)),
        "z": np.array([6, 8, 6]),
        "mask": np.zeros(3, bool),
        "edge_age": np.ones(3),
    }
    graph = SimpleNamespace(edge_index=EDGES, num_nodes=3, x=np.eye(3), name="three", **places)
    with pytest.warns(UserWarning, match=r"the columns \['pos', 'z'\] of nodes are not used: make it x"):
        pk.check_graphs([graph])
    pk.from_pyg([{"edge_index": EDGES, "node_feat": np.eye(3), "num_nodes": 3}])
    assert len(recwarn) == 0
