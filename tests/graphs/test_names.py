"""Names of labels travel with the graphs."""

import pickle

import numpy as np

import propkernels as pk
from propkernels.graphs.names import Names
from propkernels.graphs.packing import pack, unpack

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def named():
    graphs = pk.GraphDatabase(PATH, [0, 3], node_labels=[0, 1, 0], edge_labels=[1, 1, 1, 1])
    return graphs.with_names({0: "C", 1: "O"}, {1: "single"})


def test_concatenations_merge_names():
    both = pk.GraphDatabase.concat([named(), named().with_names({0: "N", 2: "S"})])
    assert both.names.labels == {0: "C", 1: "O", 2: "S"}


def test_other_labels_have_no_names():
    graphs = named()
    assert graphs.with_labels(["x", "y", "x"]).names == Names({}, {1: "single"})
    assert graphs.with_edge_labels([2, 2, 2, 2]).names == Names({0: "C", 1: "O"}, {})


def test_names_do_not_change_kernels_and_equality():
    plain = pk.GraphDatabase(PATH, [0, 3], node_labels=[0, 1, 0], edge_labels=[1, 1, 1, 1])
    kernel = pk.WeisfeilerLehman(t_max=2)
    assert np.array_equal(kernel.fit_transform(named()), kernel.fit_transform(plain))
    assert named() == plain


def test_tables_and_drawings_show_names():
    graphs = pk.GraphDatabase.concat([named(), named()])
    model = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1, random_state=0)
    explanation = model.fit(pk.GraphDatabase.concat([graphs] * 3), [0, 1] * 3).explain(graphs)
    assert {record["label"] for record in explanation.top_nodes(0)} == {"C", "O"}
    assert ">O<" in graphs[0]._repr_html_() or "<td>O</td>" in graphs[0]._repr_html_()


def test_names_survive_files_pickles_and_subsets(tmp_path):
    graphs = pk.GraphDatabase(np.ones((2, 2)) - np.eye(2), [0, 2], node_labels=[0, 1]).with_names(
        {0: "C", 1: "N"}, {(1, "a"): "single"}, {np.int64(1): "passes"}
    )
    graphs.to_parquet(tmp_path / "graphs.parquet")
    again = pk.GraphDatabase.from_parquet(tmp_path / "graphs.parquet")
    for copy in (
        again,
        unpack(pack(graphs)),
        pickle.loads(pickle.dumps(graphs)),
        graphs[[0]],
        graphs.with_weights(None),
    ):
        assert copy.names == graphs.names


def test_grids_have_names_too():
    grids = pk.GridDatabase([np.zeros((2, 2), dtype=int)] * 2).with_names(classes={0: "leaf"})
    assert grids[[1]].names.class_name(0) == "leaf"
    assert pk.GridDatabase.concat([grids, grids]).names.class_name(0) == "leaf"
    assert grids.to_graphs().names.class_name(0) == "leaf"
