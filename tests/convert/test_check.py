"""check_graphs: everything it accepts, alone and mixed."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse

from propkernels.convert.check import check_graph, check_graphs
from propkernels.graphs import GraphDatabase
from tests.strategies import databases
from tests.zoo import labelled_zoo, one, path_edges, zoo

PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
LABELS = ["a", "b", "a"]
EXPECTED = GraphDatabase(PATH, [0, 3], LABELS)


def as_networkx():
    graph = nx.Graph()
    graph.add_nodes_from([(node, {"label": label}) for node, label in enumerate(LABELS)])
    graph.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 2.0)])
    return graph


FORMS = {
    "graph of a database": EXPECTED[0],
    "networkx": as_networkx(),
    "dense and list": (PATH, LABELS),
    "nested lists": (PATH.tolist(), LABELS),
    "dense and array": (PATH, np.array(LABELS)),
    "with None for attributes": (PATH, LABELS, None),
    **{
        f"{f} array": (sparse.csr_array(PATH).asformat(f), LABELS)
        for f in ("csr", "csc", "coo", "lil", "dok")
    },
    **{f"{f} array": (sparse.coo_array(PATH).asformat(f), LABELS) for f in ("bsr", "dia")},
    "csr matrix": (sparse.csr_matrix(PATH), LABELS),
}


def test_every_form_alone_and_mixed():
    for name, form in FORMS.items():
        assert check_graphs([form]) == EXPECTED, name
    assert check_graphs(list(FORMS.values())) == GraphDatabase.concat([EXPECTED] * len(FORMS))


def test_any_sequence_will_do():
    array = np.empty(2, dtype=object)
    array[:] = [EXPECTED[0], FORMS["networkx"]]
    for several in (tuple(array), iter(array), array, pd.Series(array)):
        assert check_graphs(several) == GraphDatabase.concat([EXPECTED] * 2)
    database = labelled_zoo()
    assert check_graphs(database) is database


@pytest.mark.slow
@given(
    databases(labelled="any", partial=True, weighted=True, directed=True, n_attributes=1, edge_labels=True)
)
def test_a_list_of_graphs_is_the_database(database):
    assert check_graphs(list(database)) == database


@pytest.mark.slow
@given(databases(partial=True, weighted=True, directed=True, n_attributes=2))
def test_a_list_of_tuples_is_the_database(database):
    tuples = [(graph.adjacency, graph.node_labels, graph.node_attributes) for graph in database]
    assert check_graphs(tuples) == database
    assert check_graphs([(matrix.toarray(), *rest) for matrix, *rest in tuples]) == database


def test_bare_adjacency_matrices_have_no_labels():
    database = check_graphs([PATH, sparse.csr_array(PATH), (PATH,), (PATH, None)])
    assert len(database) == 4
    assert database.node_labels is None


@pytest.mark.parametrize(
    "empty",
    [(np.zeros((0, 0)), []), ([], []), (np.array([]), None), (sparse.csr_array((0, 0)), []), nx.Graph()],
    ids=["dense", "list", "1-d", "sparse", "networkx"],
)
def test_graphs_without_nodes(empty):
    assert len(check_graphs([empty])) == 1
    database = check_graphs([empty, (PATH, LABELS), empty])
    assert database.graph_sizes.tolist() == [0, 3, 0]
    assert database.node_labels.tolist() == LABELS


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0, 1], [1, 0]]),
        np.array([[0, 1], [0, 0]]),
        np.array([[0.0, 0.5], [0.5, 0.0]]),
        np.array([[1.0, 0.5], [0.5, 1.0]]),
        np.triu(np.ones((4, 4))),
        np.array([[0, 3, 1], [0, 0, 2], [5, 0, 0]]),
    ],
)
def test_bare_arrays_beyond_doubt(array):
    assert np.array_equal(check_graphs([array]).adjacency.toarray(), array)
    assert check_graphs(np.stack([array, array])) == check_graphs([array, array])


def test_databases_of_one_graph_dicts_and_texts():
    assert check_graphs([EXPECTED, EXPECTED[0]]) == GraphDatabase.concat([EXPECTED] * 2)
    database = check_graphs({"a": as_networkx(), "b": PATH.tolist()})
    assert database.ids.tolist() == ["a", "b"]
    assert database[[0]].with_ids(None) == EXPECTED
    pytest.importorskip("rdkit")
    assert check_graphs(["CCO", "CC"]).n_nodes == 5


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("links", ["links", "edges"])
def test_node_link_dictionaries_are_their_graphs(kind, links):
    graph = kind([("x", "y", {"label": "s"}), ("y", "z", {"label": "d", "weight": 2.0})])
    nx.set_node_attributes(graph, {"x": "C", "y": "O"}, "element")
    assert check_graphs([nx.node_link_data(graph, edges=links)]) == check_graphs([graph])


def test_mixtures_keep_labels_and_directions():
    directed = nx.DiGraph([(0, 1)])
    directed.nodes[0]["label"] = 3
    database = check_graphs(
        [directed, one(3, path_edges(3))[0], ([[0, 0.5], [0.5, 0]], [2, -1]), zoo()["star"][0]]
    )
    assert database.node_labels.tolist() == [3, -1, 0, 1, 2, 2, -1, 0, 1, 2, 0, 1, 2, 0]
    assert database.directed_graphs.tolist() == [True, False, False, False]
    assert database[2].adjacency.data.tolist() == [0.5, 0.5]


def test_tables_are_one_graph():
    edges = pd.DataFrame({"from": ["a", "b", "c"], "to": ["b", "c", "a"], "weight": [1.0, 2.0, 3.0]})
    nodes = pd.DataFrame(
        {"name": list("cab"), "size": [1.0, 2.0, 3.0], "label": list("xyx"), "word": list("uvw")}
    )
    with pytest.warns(UserWarning, match="the column 'word' of nodes is not used"):
        graph = check_graph((edges, nodes))
    assert graph.node_attributes.ravel().tolist() == [1.0, 2.0, 3.0]
    assert graph.adjacency.toarray().tolist() == [[0, 3, 2], [3, 0, 1], [2, 1, 0]]
    assert graph.label_column.values == ("x", "y")
    assert check_graph(edges).n_nodes == 3
    facts = [("Ada", "wrote", "Notes"), ("Ada", "knew", "Babbage")]
    graph = check_graph(pd.DataFrame(facts, columns=["head", "relation", "tail"]))
    assert graph.adjacency.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert graph.edge_labels.tolist() == ["wrote", "knew", "wrote", "knew"]
