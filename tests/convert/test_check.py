"""check_graphs: everything it accepts, mixed, and everything it refuses."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse

import propkernels as pk
from propkernels.convert.check import ACCEPTED, check_graph, check_graphs
from propkernels.graphs import GraphDatabase
from tests.strategies import databases
from tests.zoo import labelled_zoo, one, path_edges, zoo, zoo_databases

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


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form):
    assert check_graphs([FORMS[form]]) == EXPECTED


def test_all_forms_mixed():
    assert check_graphs(list(FORMS.values())) == GraphDatabase.concat([EXPECTED] * len(FORMS))


@pytest.mark.parametrize("container", [list, tuple, iter, lambda graphs: (graph for graph in graphs)])
def test_any_sequence_will_do(container):
    assert len(check_graphs(container([FORMS["networkx"], EXPECTED[0]]))) == 2


def test_arrays_and_series_of_graphs_are_sequences():
    pandas = pytest.importorskip("pandas")
    array = np.empty(2, dtype=object)
    array[:] = [EXPECTED[0], FORMS["networkx"]]
    assert check_graphs(array) == check_graphs(pandas.Series(array)) == GraphDatabase.concat([EXPECTED] * 2)


def test_a_database_is_itself():
    database = labelled_zoo()
    assert check_graphs(database) is database


@pytest.mark.parametrize(("name", "database"), zoo_databases())
def test_lists_of_the_zoo(name, database):
    assert check_graphs(list(database)) == database


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


def test_attributes_in_tuples():
    database = check_graphs([(PATH, LABELS, [[1, 2], [3, 4], [5, 6]]), (PATH, None, np.zeros((3, 2)))])
    assert database.node_attributes.shape == (6, 2)
    assert database.node_labels.tolist() == ["a", "b", "a", None, None, None]


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
    "graph",
    [
        (np.zeros((1, 1)), ["a"]),
        (np.zeros((3, 3)), LABELS),
        (np.eye(3), LABELS),
        (np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), LABELS),
        (np.kron(np.eye(2), PATH), LABELS * 2),
    ],
    ids=["one node", "no edges", "self-loops", "isolated node", "two components"],
)
def test_not_bad_input(graph):
    assert len(check_graphs([graph, graph])) == 2


# refused

WANTED = f"expected {ACCEPTED}"


def refused(kind, message, graphs):
    with pytest.raises(kind) as error:
        check_graphs(graphs)
    assert str(error.value) == message
    assert type(error.value) is kind


@pytest.mark.parametrize("nothing", [[], (), iter([]), GraphDatabase.concat([]), np.array([], dtype=object)])
def test_no_graphs(nothing):
    refused(ValueError, "at least one graph is needed, got none (0 graphs)", nothing)


@pytest.mark.parametrize(
    "graph",
    [
        EXPECTED[0],
        as_networkx(),
        nx.MultiDiGraph(),
        nx.subgraph_view(as_networkx()),
        "CCO",
        [(0, 1)],
        nx.node_link_data(as_networkx(), edges="links"),
    ],
)
def test_one_graph_alone(graph):
    name = type(graph).__name__
    refused(TypeError, f"expected several graphs, got one {name}: put it into a list, [graph]", graph)


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (b"MUTAG", "bytes"),
        ({1, 2}, "set"),
        (5, "int"),
        (None, "None"),
        (sparse.csr_array(PATH), "csr_array"),
        (PATH, "an array of float64 numbers"),
        (np.zeros((4, 3, 3, 3), dtype=int), "an array of int64 numbers"),
    ],
)
def test_no_sequence_of_graphs(thing, name):
    refused(TypeError, f"{WANTED}; got {name}", thing)


def test_frames_are_not_sequences_of_graphs():
    pandas = pytest.importorskip("pandas")
    message = "a table is read by pk.from_pandas(edges, nodes), which takes the names of its columns"
    refused(TypeError, message, pandas.DataFrame(PATH))


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (3.5, "a float"),
        (None, "None"),
        ([PATH, LABELS], "a list"),
        ({"adjacency": PATH}, "a dict"),
        ([{(0, 1), (1, 0)}, {0: "C", 1: "O"}], "a list"),
        ({(0, 1), (1, 0)}, "a set"),
        ((), "a tuple of 0 items"),
        ((PATH, LABELS, None, None), "a tuple of 4 items"),
    ],
)
def test_wrong_things_in_the_list(thing, name):
    refused(TypeError, f"graph 1 is {name}; {WANTED}", [(PATH, LABELS), thing])


def test_texts_are_smiles():
    pytest.importorskip("rdkit")
    assert check_graphs(["CCO", "CC"]).n_nodes == 5
    refused(ValueError, "graph 1: 'MUTAG' cannot be read as SMILES", ["CCO", "MUTAG"])


EDGES = "it may be an adjacency matrix or a list of two edges"
PICTURE = "it may be the adjacency matrix of a directed graph with loops, or an image"
LIST = "it is not square; it looks like a list of edges, two node numbers in each row"


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.array([[0, 1], [1, 2]]), EDGES),
        (np.array([[0, 1], [2, 0]]), EDGES),
        (np.array([[0, 1], [1, 2], [2, 3]]), LIST),
        (np.random.default_rng(0).random((8, 8)), PICTURE),
        (np.arange(64).reshape(8, 8), PICTURE),
    ],
)
def test_bare_arrays_that_may_be_something_else(array, reason):
    message = (
        f"graph 1 is an array of shape {array.shape}, and {reason}: pass pk.from_adjacency(arrays) if they "
        "are adjacency matrices, pk.from_edges(arrays) if they are lists of edges, "
        "pk.images.GrayLevels().fit_transform(images) for images"
    )
    refused(ValueError, message, [PATH, array])
    if array.shape[0] == array.shape[1]:
        assert len(check_graphs([(array, None)])) == 1  # in a tuple, it is said what it is
        refused(ValueError, message.replace("graph 1", "graph 0"), np.stack([array, array]))


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


def test_databases_in_the_list():
    assert check_graphs([EXPECTED, EXPECTED[0]]) == GraphDatabase.concat([EXPECTED] * 2)
    message = f"graph 1 is a GraphDatabase; {WANTED} (GraphDatabase.concat joins databases)"
    refused(TypeError, message, [EXPECTED, GraphDatabase.concat([EXPECTED] * 2)])


def test_a_dict_of_graphs_gives_ids():
    database = check_graphs({"a": as_networkx(), "b": PATH.tolist()})
    assert database.ids.tolist() == ["a", "b"]
    assert database[[0]].with_ids(None) == EXPECTED
    refused(ValueError, "at least one graph is needed, got none (0 graphs)", {})


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("links", ["links", "edges"])
def test_node_link_dictionaries_are_their_graphs(kind, links):
    graph = kind([("x", "y", {"label": "s"}), ("y", "z", {"label": "d", "weight": 2.0})])
    nx.set_node_attributes(graph, {"x": "C", "y": "O"}, "element")
    assert check_graphs([nx.node_link_data(graph, edges=links)]) == check_graphs([graph])
    refused(ValueError, "graph 1 cannot be read ('id' is missing)", [graph, {"nodes": [{}], links: []}])


@pytest.mark.parametrize(
    ("graph", "kind", "message"),
    [
        ((PATH, ["a"]), ValueError, "graph 1: node_labels has 1 values for 3 nodes"),
        ((PATH, ["a", "b", []]), TypeError, "graph 1: node_labels: the label [] of node 2 is not hashable"),
        (
            (PATH, "abc"),
            TypeError,
            "graph 1: node_labels must be a list or array with one label each, got 'abc'",
        ),
        ((PATH, None, [1.0]), ValueError, "graph 1: node_attributes has 1 rows for 3 nodes"),
        (
            (PATH, None, [0, 1, np.inf]),
            ValueError,
            "graph 1: node 2 has an infinite attribute in dimension 0: inf",
        ),
        (
            (PATH, None, ["x", "y", "z"]),
            TypeError,
            "graph 1: node_attributes must be an array of numbers, one row per node",
        ),
        (
            (-PATH, LABELS),
            ValueError,
            "graph 1: edge (0, 1) has weight -1.0: weights must be finite and not negative",
        ),
        (
            (sparse.csr_array(PATH * np.nan), LABELS),
            ValueError,
            "graph 1: edge (0, 0) has weight nan: weights must be finite and not negative",
        ),
        ((PATH[:2], LABELS), ValueError, "graph 1: adjacency must be a square matrix, got shape (2, 3)"),
        (PATH[0], ValueError, "graph 1: adjacency must be a square matrix, got shape (3,)"),
        ((3, LABELS), ValueError, "graph 1: adjacency must be a square matrix, got shape ()"),
        (
            ([[0, 1], [1]], None),
            ValueError,
            "graph 1: adjacency must be a matrix, got rows of different lengths",
        ),
        (
            (as_networkx(), LABELS),
            TypeError,
            "graph 1: a networkx graph stands in the list alone, its node labels are its node data",
        ),
        (
            ("ab", LABELS),
            TypeError,
            "graph 1: adjacency must be a matrix of numbers, dense or scipy sparse, got str",
        ),
    ],
)
def test_bad_graphs_are_named(graph, kind, message):
    refused(kind, message, [(PATH, LABELS), graph, (PATH, LABELS)])


def test_attributes_must_agree():
    refused(
        ValueError,
        "graph 1 has no node attributes but graph 0 has some",
        [(PATH, LABELS, [1, 2, 3]), (PATH, LABELS)],
    )
    refused(
        ValueError,
        "graph 2 has 2 attribute dimensions but graph 0 has 1",
        [(PATH, None, [1, 2, 3]), nx.Graph(), (PATH, None, np.zeros((3, 2)))],
    )


def test_networkx_graphs_are_named_by_their_position():
    graph = nx.Graph()
    graph.add_edge("x", "y", weight=-2)
    refused(
        ValueError,
        "graph 1: edge ('x', 'y') has weight -2: weights must be finite and not negative",
        [as_networkx(), graph],
    )


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
    import pandas as pd

    edges = pd.DataFrame({"from": ["a", "b", "c"], "to": ["b", "c", "a"], "weight": [1.0, 2.0, 3.0]})
    nodes = pd.DataFrame(
        {"name": list("cab"), "size": [1.0, 2.0, 3.0], "label": list("xyx"), "word": list("uvw")}
    )
    with pytest.warns(UserWarning, match="the column 'word' of nodes is not used"):
        graph = check_graph((edges, nodes))
    assert graph.n_nodes == 3
    assert graph.node_attributes.ravel().tolist() == [1.0, 2.0, 3.0]
    assert graph.adjacency.toarray().tolist() == [[0, 3, 2], [3, 0, 1], [2, 1, 0]]
    assert graph.label_column.values == ("x", "y")
    assert check_graph(edges).n_nodes == 3
    with pytest.raises(ValueError, match="two columns"):
        check_graph(edges[["from"]])


def test_a_table_of_triples_is_one_graph():
    import pandas as pd

    facts = [("Ada", "wrote", "Notes"), ("Ada", "knew", "Babbage")]
    graph = check_graph(pd.DataFrame(facts, columns=["head", "relation", "tail"]))
    assert graph.adjacency.toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert graph.edge_labels.tolist() == ["wrote", "knew", "wrote", "knew"]


def pyg(**data):
    return lambda: pk.from_pyg([{"edge_index": np.array([[0, 1], [1, 0]]), "num_nodes": 2, **data}])


def edges(**columns):
    table = pd.DataFrame({"graph": [0, 0], "source": [0, 1], "target": [1, 2], **columns})
    return {
        "weight": lambda: pk.from_pandas(table, weight="w"),
        "attributes": lambda: pk.from_pandas(table, edge_attributes=["w"]),
    }


DATES = np.array(["2020", "2021"], dtype="datetime64[s]")
NOT_GRAPHS = {
    "edges": (lambda: pk.check_graphs([np.zeros((36, 2), dtype=int)]), "it looks like a list of edges"),
    "color": (lambda: pk.check_graphs([np.zeros((6, 8, 3))]), r"color image: pass pk\.images\.GrayLevels"),
    "gray": (lambda: pk.images.GrayLevels().fit_transform([np.full((8, 8), 16.0)]), "divide floats by the"),
    "complex x": (pyg(x=np.array([[1j], [2]])), "graph 0 .*attributes must be numbers, got .* complex"),
    "texts as x": (pyg(x=np.array([["a"], ["b"]])), "graph 0 .*attributes must be numbers"),
    "complex weight": (edges(w=[1j, 2])["weight"], "row 0 of edges has w .*which is not a number"),
    "date as weight": (edges(w=DATES)["weight"], "row 0 of edges has w .*which is not a number"),
    "date as attribute": (edges(w=DATES)["attributes"], "row 0 of edges has w .*which is not a number"),
}


@pytest.mark.parametrize("name", NOT_GRAPHS)
def test_what_is_no_graph_is_refused_with_a_way_out(name):
    call, sentence = NOT_GRAPHS[name]
    with pytest.raises(ValueError, match=sentence):
        call()
