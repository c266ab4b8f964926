"""What graphs carry beside nodes and edges is kept: descriptors, moments, names, sparse attributes."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import propkernels as pk
from propkernels.graphs import GraphDatabase
from propkernels.graphs.database import pack, unpack
from propkernels.graphs.descriptors import descriptors_of
from propkernels.graphs.names import Names
from tests.zoo import one

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
MET = pd.DataFrame({"graph": [0, 0, 1], "source": list("abx"), "target": list("bcy"), "time": [1, 2, 5]})
LABELS, EDGE_LABELS = {0: "C", 1: "O"}, {(1, "a"): "single"}


def paths(**parts):
    return GraphDatabase(np.kron(np.eye(2), PATH), [0, 3, 6], **parts)


def named():
    graphs = paths(node_labels=[0, 1, 0] * 2, edge_labels=[1] * 8)
    return graphs.with_names(LABELS, EDGE_LABELS, {np.int64(1): "passes"})


CARRYING = {
    "descriptors": lambda: paths().with_descriptors([[1.0, 2.0], [np.nan, 3.0]], ["mass", "charge"]),
    "moments": lambda: pk.from_contacts(MET),
    "names": named,
    "sparse": lambda: paths(node_attributes=sparse.eye_array(6, format="csr")),
    "distributions": lambda: paths(node_labels=pk.LabelDistributions(np.eye(6) / 2 + 1 / 12)),
    "edges": lambda: paths(edge_attributes=[1.0, 2.0, np.nan, 0.0] * 2, edge_attribute_names=["length"]),
    "ids": lambda: paths(ids=["x", 7]),
}


def twins(graphs, folder):
    yield pickle.loads(pickle.dumps(graphs))
    yield copy.deepcopy(graphs)
    yield unpack(pack(graphs))
    yield GraphDatabase.concat([graphs[:1], graphs[1:]])
    yield graphs[[1, 0]][[1, 0]]
    pk.save_model(graphs, folder / "graphs.pk")
    yield pk.load_model(folder / "graphs.pk")
    if graphs.attribute_matrix is None and not isinstance(graphs.label_column, pk.LabelDistributions):
        graphs.with_ids(["a", "b"]).to_parquet(folder / "graphs.parquet")
        yield GraphDatabase.from_parquet(folder / "graphs.parquet").with_ids(graphs.ids)


@pytest.mark.parametrize("part", CARRYING)
def test_copies_parts_and_files_keep_everything(part, tmp_path):
    graphs = CARRYING[part]()
    for twin in twins(graphs, tmp_path):
        assert twin == graphs
        assert twin.names == graphs.names
        assert twin.edge_attribute_names == graphs.edge_attribute_names
        assert (twin.ids is None) == (graphs.ids is None) or twin.ids.tolist() == graphs.ids.tolist()
        assert type(twin.attribute_matrix) is type(graphs.attribute_matrix)
    assert graphs[[1, 0]] != graphs or part in ("names", "edges", "ids")


def test_descriptors_of_graphs_or_of_their_structure():
    graphs = CARRYING["descriptors"]()
    assert graphs[[1, 0]].descriptors.values[1].tolist() == [1.0, 2.0]
    assert graphs[[0]].descriptors.names == ("mass", "charge")
    assert graphs.with_descriptors(None).descriptors is None
    two = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    graphs = pk.check_graphs([two, np.ones((3, 3)) - np.eye(3), np.zeros((0, 0))])
    np.testing.assert_array_equal(descriptors_of(graphs).values, [[4, 2, 2, 0], [3, 3, 1, 1], [0, 0, 0, 0]])


def test_other_edges_keep_what_belongs_to_graphs_and_nodes():
    molecules = pk.from_smiles(["CCO", "C=C"], standardize="charge", descriptors=["amw"])
    contacts = CARRYING["moments"]()
    for graphs in (molecules, contacts):
        for changed in (graphs.with_weights(None), graphs.with_edge_attributes(graphs.adjacency.data)):
            for part in ("descriptors", "moments", "sources", "standardized"):
                assert getattr(changed, part) == getattr(graphs, part)
    with pytest.raises(ValueError, match="edges of graphs in time need relations as labels"):
        contacts.with_edge_labels(None)


def test_moments_of_graphs():
    graphs = CARRYING["moments"]()
    moments = graphs[1:].moments
    assert moments.times.tolist() == [5.0, 5.0]
    assert moments.vertices.to_array().tolist() == ["x", "y"]
    assert graphs.with_moments(graphs.moments.vertices, graphs.moments.times + 1) != graphs
    with pytest.raises(ValueError, match="has no times"):
        GraphDatabase.concat([graphs, paths()])


def test_names_merge_vanish_with_their_labels_and_change_no_kernel():
    graphs = named()
    both = GraphDatabase.concat([graphs, graphs.with_names({0: "N", 2: "S"})])
    assert both.names.labels == {0: "C", 1: "O", 2: "S"}
    assert graphs.with_labels(list("xyxxyx")).names == Names({}, EDGE_LABELS, {1: "passes"})
    assert graphs.with_edge_labels([2] * 8).names == Names(LABELS, {}, {1: "passes"})
    assert graphs.with_weights(None).names == graphs.names
    plain, kernel = graphs.with_names(), pk.WeisfeilerLehman(t_max=2)
    assert np.array_equal(kernel.fit_transform(graphs), kernel.fit_transform(plain))
    assert graphs == plain
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    explanation = model.fit(GraphDatabase.concat([graphs] * 3), [0, 1] * 3).explain(graphs)
    assert {record["label"] for record in explanation.top_nodes(0)} == {"C", "O"}
    assert "O<" in graphs[0]._repr_html_()


def test_grids_have_names_too():
    grids = pk.GridDatabase([np.zeros((2, 2), dtype=int)] * 2).with_names(classes={0: "leaf"})
    for some in (grids[[1]], pk.GridDatabase.concat([grids, grids]), grids.to_graphs()):
        assert some.names.class_name(0) == "leaf"


def test_attributes_in_many_guises():
    expected = np.array([[1.0, 2.0], [3.0, np.nan]])
    frame = pd.DataFrame({"a": [1, 3], "b": [2, None]})
    masked = np.ma.array([[1, 2], [3, 9]], mask=[[0, 0], [0, 1]])
    arrays, lists = (expected, masked, np.asfortranarray(expected)), (expected.tolist(), [[1, 2], [3, None]])
    for given in (*arrays, frame, *lists):
        found = one(2, attributes=given).node_attributes
        assert found.dtype == np.float64
        assert found.flags.c_contiguous
        assert np.array_equal(found, expected, equal_nan=True)
        if given is not frame and not isinstance(given, list):
            edges = one(2, [(0, 1)]).with_edge_attributes(given)
            assert np.array_equal(edges.edge_attributes, expected, equal_nan=True)


def test_sparse_attributes_are_the_same_numbers():
    values = np.array([[0.0, 2.0, 5.0], [0.0, 0.0, 1.0], [3.0, 0.0, 0.0]])
    graphs, dense = (one(3, [(0, 1)], attributes=kind(values)) for kind in (sparse.coo_array, np.array))
    assert isinstance(graphs.attribute_matrix, sparse.csr_array)
    assert isinstance(graphs[[0]].attribute_matrix, sparse.csr_array)
    assert (graphs.node_attributes == dense.node_attributes).all()
    assert graphs == dense != one(3, [(0, 1)], attributes=sparse.csr_array((3, 3)))
    joined = GraphDatabase.concat([graphs, dense])
    assert isinstance(joined.attribute_matrix, sparse.csr_array)
    assert joined.attribute_matrix.shape == (6, 3)
    assert "3 attributes" in repr(graphs)
    whole = one(2, attributes=sparse.csr_array(np.eye(2, dtype=int)))
    assert whole.node_attributes.tolist() == [[1, 0], [0, 1]]


def test_without_labels_or_attributes_beside_some_is_unobserved():
    joined = GraphDatabase.concat([one(2, labels=None), one(2, labels=[5, 6]), one(1, labels=None)])
    assert joined.node_labels.tolist() == [-1, -1, 5, 6, -1]
    joined = GraphDatabase.concat([one(1, labels=["a"]), one(1, labels=None)])
    assert joined.node_labels.tolist() == ["a", None]
    joined = GraphDatabase.concat([one(2, labels=[1, -1]), one(1, labels=["1"])])
    assert joined.node_labels.tolist() == [1, None, "1"]
    assert GraphDatabase.concat([one(2, labels=None), one(1, labels=None)]).node_labels is None
    assert len(GraphDatabase.concat([])) == 0
    edge, plain = one(2, [(0, 1)], edge_labels=["x"]).with_edge_attributes([1.0, 2.0]), one(2, [(0, 1)])
    joined = GraphDatabase.concat([plain, edge])
    assert joined.edge_labels.tolist() == [None, None, "x", "x"]
    assert np.isnan(joined.edge_attributes[:2]).all()
    assert joined.edge_attributes[2:].tolist() == [[1.0], [2.0]]


def test_graphs_without_nodes_agree_with_any_attributes():
    empty = GraphDatabase(np.zeros((0, 0)), [0, 0], node_attributes=np.zeros((0, 3)))
    assert GraphDatabase.concat([empty, one(1, attributes=[3])]).node_attributes.shape == (1, 1)
    assert GraphDatabase.concat([empty, one(1)]).node_attributes is None
    assert GraphDatabase.concat([empty, empty]).node_attributes.shape == (0, 3)
