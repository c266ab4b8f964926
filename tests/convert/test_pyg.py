"""PyTorch Geometric by objects that offer the same, so that torch is not needed."""

from types import SimpleNamespace

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.pyg import as_labels, is_one_hot, labels_or_attributes, to_numpy

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


def test_one_hot_rows_are_labels():
    graphs, target = pk.from_pyg([data(x=np.eye(3, 4), y=[1]), data(x=np.eye(3, 4)[::-1], y=[0])], target="y")
    assert graphs.node_labels.tolist() == [0, 1, 2, 2, 1, 0]
    assert graphs.node_attributes is None
    assert target.tolist() == [1, 0]
    assert not graphs.is_directed


def test_other_rows_are_attributes_and_whole_numbers_labels():
    graphs = pk.from_pyg([data(x=np.full((3, 2), 0.5), edge_attr=[[1], [1], [2], [2]])])
    assert graphs.node_labels is None
    assert graphs.node_attributes.tolist() == np.full((3, 2), 0.5).tolist()
    assert graphs.edge_labels.tolist() == [1, 1, 2, 2]
    several = pk.from_pyg([data(x=np.array([[1, 0], [1, 0], [2, 7]]))])
    assert several.node_labels.tolist() == [(1, 0), (1, 0), (2, 7)]
    assert pk.from_pyg([data(x=np.eye(3))], x="attributes").node_attributes.shape == (3, 3)
    assert pk.from_pyg([data(x=np.eye(3))], x="ignore").node_labels is None


def test_edge_attributes_and_weights():
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
    ends = np.concatenate([EDGES, EDGES + 3], axis=1)
    batch = data(edge_index=ends, num_nodes=6, ptr=[0, 3, 6], x=np.eye(6, 7), y=[0, 1])
    graphs, target = pk.from_pyg(batch, target="y")
    assert graphs == pk.from_pyg([data(x=np.eye(6, 7)[:3]), data(x=np.eye(6, 7)[3:])])
    assert target.tolist() == [0, 1]
    assert pk.check_graphs(batch) == graphs


def test_numbers_of_nodes():
    assert pk.from_pyg([data(num_nodes=5)]).n_nodes == 5
    assert pk.from_pyg([data(num_nodes=None, x=np.eye(4))]).n_nodes == 4
    assert pk.from_pyg([data(num_nodes=None)]).n_nodes == 3


def test_faults_are_named_or_skipped():
    good, wrong = data(x=np.eye(3)), data(x=np.eye(3), edge_index=EDGES + 2)
    with pytest.raises(
        ValueError, match=r"graph 1: edge \(2, 3\) names a node that is not there: it has 3 nodes"
    ):
        pk.from_pyg([good, wrong])
    with pytest.raises(ValueError, match=r"graph 1: x must be of shape \(3, 3\), got \(2, 3\)"):
        pk.from_pyg([good, data(x=np.eye(2, 3))])
    with pytest.raises(TypeError, match="graph 'b' is a int without an edge_index"):
        pk.from_pyg([good, 5], ids=["a", "b"])
    with pytest.raises(TypeError, match=r"wrap the one graph: \[data\]"):
        pk.from_pyg(good)
    with pytest.warns(UserWarning, match="skipped 2 of 4 graphs: 1"):
        graphs, target = pk.from_pyg([good, wrong, good, 5], errors="skip", target="edge_index")
    assert graphs == pk.from_pyg([good, good])
    assert graphs.ids.tolist() == [0, 2]
    assert list(graphs.skipped) == [1, 3]
    assert len(target) == 2


def test_estimators_take_them():
    several = [data(x=np.eye(3)), data(x=np.eye(3)[::-1])]
    gram = pk.PropagationKernel(t_max=1, random_state=0).fit_transform(several)
    assert (
        gram.tolist()
        == pk.PropagationKernel(t_max=1, random_state=0).fit_transform(pk.from_pyg(several)).tolist()
    )


WRAPPED = 2**63 - 1


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (
            (WRAPPED, WRAPPED, 5),
            r"graph 0: 9,223,372,036,854,775,807 nodes need .* GB of memory, and",
        ),
        ((5, 10**12), "graph 1: 1,000,000,000,000 nodes need 20000.0 GB of memory, and"),
        ((-1,), "graph 0: its number of nodes must be a whole number from 0 on, got -1"),
        ((2.7,), "graph 0: its number of nodes must be a whole number from 0 on, got 2.7"),
    ],
)
def test_numbers_of_nodes_that_cannot_be(numbers, message):
    with pytest.raises(ValueError, match=message):
        pk.from_pyg([data(num_nodes=number, edge_index=np.empty((2, 0), int)) for number in numbers])


def test_graphs_with_impossible_numbers_of_nodes_are_skipped():
    with pytest.warns(UserWarning, match="skipped 2 of 3 graphs"):
        graphs = pk.from_pyg([data(num_nodes=WRAPPED), data(), data(num_nodes=-1)], errors="skip")
    assert graphs == pk.from_pyg([data()])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ptr": [0, WRAPPED, -2, 3]}, "ptr falls from 9223372036854775807 to -2 at graph 1"),
        ({"ptr": [0, 5]}, "ptr must end at 3, got 5"),
        ({"ptr": [0.0, 3.0]}, "ptr must list whole numbers"),
        ({"ptr": [0, WRAPPED], "num_nodes": None}, "9,223,372,036,854,775,807 nodes need"),
        ({"ptr": [0, 3], "edge_index": EDGES + 2}, "edge_index must be numbers from 0 to 2, got 4"),
        ({"ptr": [0, 3], "edge_index": EDGES - 1}, "edge_index must be numbers from 0 to 2, got -1"),
        ({"ptr": [0, 3], "edge_index": EDGES[0]}, "edge_index must hold whole numbers in two rows"),
    ],
)
def test_batches_with_impossible_numbers(fields, message):
    with pytest.raises(ValueError, match=message):
        pk.from_pyg(data(**fields))


def test_a_target_that_no_graph_has_is_an_error():
    data = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2, y=np.array([1]))
    with pytest.raises(ValueError, match="no graph has target='Y': there are 'edge_index', 'num_nodes', 'y'"):
        pk.from_pyg([data], target="Y")


def test_dictionaries_of_ogb():
    graph = {
        "edge_index": np.array([[0, 1], [1, 0]]),
        "num_nodes": 2,
        "node_feat": np.eye(2),
        "edge_feat": None,
    }
    same = SimpleNamespace(edge_index=graph["edge_index"], num_nodes=2, x=np.eye(2))
    assert pk.check_graphs([graph]) == pk.from_pyg([graph]) == pk.from_pyg([same])


def values(column):
    return [column.values[i] for i in column.ids]


def test_tensors_of_any_device_and_arrays():
    table = np.eye(2)
    for given in (Tensor(table), table, table.tolist()):
        np.testing.assert_array_equal(to_numpy(given), table)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([[1, 0], [0, 1]], True),
        ([[1.0, 0.0, 0.0]], True),
        ([[1], [1]], False),  # one column tells nothing
        ([[0, 0], [0, 1]], False),
        ([[2, -1], [0, 1]], False),
        (np.empty((0, 3)), False),
        ([0, 1], False),
    ],
)
def test_one_hot_rows(table, expected):
    assert is_one_hot(np.array(table)) is expected


def test_labels_of_rows():
    assert values(as_labels(np.array([[0, 1], [1, 0]]))) == [1, 0]
    assert values(as_labels(np.array([[7], [5], [7]]))) == [7, 5, 7]
    assert values(as_labels(np.array([[1, 2], [0, 4], [1, 2]]))) == [(1, 2), (0, 4), (1, 2)]


def test_the_meaning_of_a_table():
    whole, one_hot, real = np.array([[3], [4]]), np.eye(2), np.array([[0.5, 1.0], [2.0, 3.0]])
    assert values(labels_or_attributes(whole, "auto")[0]) == [3, 4]
    assert values(labels_or_attributes(one_hot, "auto")[0]) == [0, 1]
    labels, attributes = labels_or_attributes(real, "auto")
    assert labels is None
    np.testing.assert_array_equal(attributes, real)
    assert labels_or_attributes(whole, "attributes")[1].dtype == np.float64
    for nothing in ((None, "auto"), (whole, "ignore"), (np.empty((2, 0)), "labels")):
        assert labels_or_attributes(*nothing) == (None, None)
