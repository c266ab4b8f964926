"""Invalid input of every converter: one sentence that names the graph and the reason."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import propkernels as pk
from propkernels.convert.build import Faults, FlatGraphs, build
from propkernels.convert.check import check_graph, check_graphs

PATH = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
GOOD, ONE = (PATH, ["a", "b", "a"]), (PATH, None, [1, 2, 3])
TABLE = pd.DataFrame({"graph": list("bab"), "source": ["u", 1, "v"], "target": ["v", 2, "w"], "w": [1, 2, 3]})
NODES = pd.DataFrame({"graph": list("abbab"), "node": [2, "w", "v", 1, "u"], "l": list("CNCOO")})
MET = pd.DataFrame({"graph": 0, "source": ["a", "b"], "target": ["b", "c"], "time": [1, 2]})
ENDS = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])


def weighted(value):
    return nx.Graph([("a", "b", {"weight": value})])


def node(**values):
    graph = nx.path_graph(2)
    graph.nodes[1].update(values)
    return graph


def data(**fields):
    return SimpleNamespace(**({"edge_index": ENDS, "num_nodes": 3, "x": np.eye(3)} | fields))


def broken(indptr):
    matrix = sparse.csr_array(PATH)
    matrix.indptr = np.array(indptr)
    return matrix


def in_check(graph):
    return lambda: check_graphs([GOOD, graph, GOOD])


def in_networkx(graph, **options):
    return lambda: pk.from_networkx([nx.path_graph(2), graph], **options)


def in_adjacency(matrix):
    return lambda: pk.from_adjacency([PATH, matrix])


def in_pandas(nodes=NODES, edges=TABLE, **options):
    return lambda: pk.from_pandas(edges, nodes, **options)


def in_contacts(table=MET, **changed):
    return lambda: pk.from_contacts(table.assign(**changed))


def in_points(cloud, **options):
    return lambda: pk.from_points([np.eye(2), cloud], **options)


DATES = np.array(["2020", "2021", "2022"], dtype="datetime64[s]")
TWO_WAYS = pd.DataFrame({"source": [0, 1], "target": [1, 0], "weight": [2.0, 3.0]})
EDGES_OR = "may be an adjacency matrix or a list of two edges"
INVALID = [
    # check_graphs
    (lambda: check_graphs([]), ValueError, "at least one graph is needed, got none"),
    (lambda: check_graphs({}), ValueError, "at least one graph is needed"),
    (lambda: check_graphs(nx.path_graph(2)), TypeError, r"one Graph: put it into a list, \[graph\]"),
    (lambda: check_graphs("CCO"), TypeError, "the text 'CCO': put SMILES into a list"),
    (lambda: check_graphs([(0, 1)]), TypeError, "one list: put it into a list"),
    (lambda: check_graphs({"nodes": [], "links": []}), TypeError, "one dict: put it into a list"),
    (lambda: check_graphs(b"MUTAG"), TypeError, "got bytes"),
    (lambda: check_graphs(PATH), TypeError, "got an array of float64 numbers"),
    (lambda: check_graphs(pd.DataFrame(PATH)), TypeError, "a table is read by pk.from_pandas"),
    (lambda: check_graphs(np.stack([np.ones((2, 2)), np.eye(2) * 2])), ValueError, f"graph 0 .* {EDGES_OR}"),
    (lambda: check_graph(pd.DataFrame({"from": [1]})), ValueError, "two columns"),
    (lambda: check_graph(nx.to_pandas_adjacency(nx.star_graph(3))), ValueError, "pk.from_adjacency"),
    (in_check(3.5), TypeError, "graph 1 is a float; expected a GraphDatabase, or a list"),
    (in_check(None), TypeError, "graph 1 is None"),
    (in_check(TWO_WAYS), ValueError, "^graph 1: rows 0 and 1 of edges list the same edge"),
    (in_check([PATH, ["a"]]), TypeError, "graph 1 is a list"),
    (in_check((PATH, None, None, None)), TypeError, "graph 1 is a tuple of 4 items"),
    (in_check(pk.from_adjacency([PATH, PATH])), TypeError, "graph 1 is a GraphDatabase of 2 graphs"),
    (in_check(np.array([[0, 1], [2, 0]])), ValueError, f"graph 1 .* {EDGES_OR}"),
    (in_check(np.array([[0, 1], [1, 2], [2, 3]])), ValueError, "looks like a list of edges"),
    (in_check(np.arange(64).reshape(8, 8)), ValueError, "a directed graph with loops, or an image"),
    (in_check(np.zeros((6, 8, 3))), ValueError, r"may be a color image: .*pk\.images\.GrayLevels"),
    (in_check(np.full((6, 8), 0.5)), ValueError, r"it is not square: .*pk\.images\.GrayLevels"),
    (in_check((PATH, ["a"])), ValueError, "graph 1: node_labels has 1 values for 3 nodes"),
    (in_check((PATH, ["a", "b", []])), TypeError, r"graph 1: .* label \[\] of node 2 is not hashable"),
    (in_check((PATH, None, [0, 1, np.inf])), ValueError, "graph 1: node 2 has an infinite attribute"),
    (in_check((-PATH, None)), ValueError, r"graph 1: edge \(0, 1\) has weight -1.0"),
    (in_check((PATH[:2], None)), ValueError, "graph 1: adjacency must be a square matrix"),
    (in_check((nx.path_graph(2), ["a"])), TypeError, "graph 1: pass networkx graphs directly"),
    (in_check((PATH, None, [1, 2, 3])), ValueError, "graph 0 has no node attributes but graph 1 has some"),
    (in_check(weighted(-2)), ValueError, r"graph 1: edge \('a', 'b'\) has weight -2"),
    (in_check({"nodes": [{}], "links": []}), ValueError, r"graph 1 cannot be read \('id' is missing\)"),
    (lambda: check_graphs([ONE, nx.Graph(), (PATH, None, np.zeros((3, 2)))]), ValueError, "2 has 2 node"),
    # networkx
    (lambda: pk.from_networkx(nx.Graph()), TypeError, r"wrap the one graph: \[graph\]"),
    (in_networkx(5), TypeError, "graph 1 is a int, not a networkx graph"),
    (in_networkx(weighted("heavy")), ValueError, r"\('a', 'b'\) has weight 'heavy': weights must be"),
    (in_networkx(weighted(np.nan)), ValueError, "has weight nan: weights must be finite"),
    (in_networkx(weighted(10**400)), ValueError, "weights must be finite"),
    (in_networkx(node(x=1.0), node_attributes="x"), ValueError, "graph 1: node 0 has no 'x'"),
    (in_networkx(node(label=["O"])), TypeError, r"graph 1: .* label \['O'\] of node 1 is not hashable"),
    (in_networkx(weighted(1.0), edge_attributes=["w", "v"], weight="W"), ValueError, "weight='W': there are"),
    (in_networkx(weighted("x"), weight=None, edge_attributes=["weight"]), ValueError, "'x', not a num"),
    (in_networkx(node(kind="a"), node_label="Kind"), ValueError, "node_label='Kind': there are 'kind'"),
    (in_networkx(node(), target="y"), ValueError, "no graph has target='y': there are none"),
    # adjacency
    (lambda: pk.from_adjacency(PATH), TypeError, r"wrap the one matrix: \[matrix\]"),
    (in_adjacency(np.zeros((2, 3))), ValueError, r"graph 1: adjacency must be a square matrix, .*\(2, 3\)"),
    (in_adjacency([[1, 2], [3]]), ValueError, "graph 1: adjacency must be a matrix, got rows of different"),
    (in_adjacency(PATH.astype(complex)), TypeError, "graph 1: adjacency must hold real numbers"),
    (in_adjacency(broken([0, 2, 1, 4])), ValueError, "graph 1: adjacency"),
    (lambda: pk.from_adjacency([PATH], node_labels=[["a"]]), ValueError, "has 1 values for 3 nodes"),
    (lambda: pk.from_adjacency([PATH], node_labels=3), TypeError, "expected a list of node_labels"),
    (lambda: pk.from_adjacency([PATH], node_labels=[]), ValueError, "one sequence for each of 1 graphs"),
    (lambda: pk.from_adjacency([PATH], node_attributes=[["a"]]), TypeError, "must be an array of numbers"),
    (lambda: pk.from_adjacency([PATH], node_attributes=[[1.0]]), ValueError, "must have one row for each"),
    (lambda: pk.from_adjacency([PATH], ids=0.5), TypeError, r"ids must list one id per graph, got 0\.5"),
    (lambda: pk.from_adjacency([PATH], ids=[[1]]), TypeError, r"ids must be hashable, .* got \[1\]"),
    # edges
    (lambda: pk.from_edges([[(0, 1), (1,)]]), TypeError, r"graph 0: an edge is a pair .* got \(1,\)"),
    (lambda: pk.from_edges([("a", "b", 2.0), ("b", "a", 3.0)]), ValueError, "graph 0.* not agree: .*=True"),
    (lambda: pk.from_edges([(0, 1), (0, 1, 2)]), ValueError, r"\(0, 1\) has the weights 1.0 and 2.0: add"),
    (lambda: pk.from_edges([[(0, 1, {})]]), TypeError, r"must be hashable, got the edge \(0, 1, {}\)"),
    (lambda: pk.from_edges([[(0, 1, -2.0)]]), ValueError, r"graph 0: edge \(0, 1\) has weight -2.0"),
    (lambda: pk.from_edges([[(0, 1)]], node_labels=[{}, {}]), ValueError, "2 node_labels for 1 lists"),
    # pandas
    (lambda: pk.from_pandas([(0, 1)]), TypeError, "edges must be a pandas DataFrame, got list"),
    (in_pandas(None, label="l"), ValueError, "columns of nodes, which is not given"),
    (in_pandas(graph_target="y"), ValueError, "column of graphs, which is not given"),
    (in_pandas(edges=TABLE.assign(target="zz")), ValueError, "'b': row 0 of edges names node 'zz'"),
    (in_pandas(pd.concat([NODES, NODES[1:2]])), ValueError, "row 5 of nodes lists node 'w' again, .* row 1"),
    (in_pandas(edges=TABLE.assign(graph=["b", None, "b"])), ValueError, "row 1 of edges names no graph"),
    (in_pandas(edges=TABLE.assign(source=["u", 1, None])), ValueError, "row 2 of edges names no node"),
    (in_pandas(edges=TABLE.assign(source=[[1], 1, 1])), TypeError, "row 0 of edges names a node by a value"),
    (in_pandas(edges=TABLE.set_axis([list(TABLE)] * 2, axis=1)), ValueError, "edges has columns of 2 levels"),
    (in_pandas(None, graphs=pd.DataFrame({"graph": list("aba")})), ValueError, "row 2 of graphs lists .*"),
    (in_pandas(weight="weight"), ValueError, "edges has no column 'weight'; its columns are"),
    (in_pandas(pd.concat([NODES, NODES[["l"]]], axis=1)), ValueError, "nodes has several columns 'l'"),
    (in_pandas(NODES.assign(l=[[1], 2, 3, 4, 5]), label="l"), TypeError, "row 0 of nodes has l .*hashable"),
    (in_pandas(edges=TABLE.assign(w=DATES), edge_attributes=["w"]), ValueError, "which is not a number"),
    (in_pandas(edges=TABLE.assign(w=[1j, 2, 3]), weight="w"), ValueError, "row 0 .*which is not a number"),
    (in_pandas(edges=TABLE.assign(w=[1, 2, "x"]), weight="w"), ValueError, "'b': row 2 of edges has w 'x'"),
    (in_pandas(None, graphs=pd.DataFrame({"graph": [], "y": []}), graph_target="y"), ValueError, "no row"),
    (lambda: pk.convert.to_pandas(pk.from_adjacency([PATH, PATH], ids=["a"] * 2)), ValueError, "the same id"),
    # contacts
    (in_contacts(time=[None, 1]), ValueError, "row 0 of contacts needs a finite number or a date as 'time'"),
    (in_contacts(time=["2020", "2021"]), ValueError, "got '2020': pd.to_datetime reads dates"),
    (in_contacts(target=["b", None]), ValueError, "row 1 of contacts names no vertex"),
    (in_contacts(MET.rename(columns={"time": "when"})), ValueError, "no column 'time'"),
    (lambda: pk.from_contacts(3), TypeError, "contacts must be a pandas DataFrame, got int"),
    (lambda: pk.from_contacts(MET, node_labels=MET), ValueError, "node_labels has no column 'node'"),
    # points
    (lambda: pk.from_points(np.eye(3)), ValueError, r"shape \(n, d\), .*; pass one cloud in a list"),
    (in_points([[1, 2], [3]]), ValueError, "cloud 1: points must be rows of numbers, all of one length"),
    (in_points([[1.0, np.nan]]), ValueError, r"cloud 1: point 0 is not finite: \[1.0, nan\]"),
    (in_points([[1.0, 1e200]]), ValueError, "cloud 1: point 0 has coordinates beyond"),
    (in_points(np.zeros((2, 3))), ValueError, "cloud 1 has 3 coordinates but cloud 0 has 2"),
    (lambda: pk.convert.knn_graph([1.0, 2.0]), ValueError, "must be of shape"),
    (lambda: pk.convert.knn_graph([[0.0], [np.nan]]), ValueError, "point 1 is"),
    (lambda: pk.convert.knn_graph([[0.0]], 0), ValueError, "n_neighbors"),
    (lambda: pk.convert.curvature(np.zeros((2, 2)), np.zeros((3, 3))), ValueError, "do not fit"),
    # PyTorch Geometric
    (lambda: pk.from_pyg(data()), TypeError, r"wrap the one graph: \[data\]"),
    (lambda: pk.from_pyg([data(), 5], ids=["a", "b"]), TypeError, "graph 'b' is a int without an edge_index"),
    (lambda: pk.from_pyg([data(edge_index=ENDS + 2)]), ValueError, r"graph 0: edge \(2, 3\) names a node"),
    (lambda: pk.from_pyg([data(edge_index=ENDS[0])]), ValueError, "must hold whole numbers in two rows"),
    (lambda: pk.from_pyg([data(), data(x=np.eye(2, 3))]), ValueError, r"x must have one row .* shape \(2"),
    (lambda: pk.from_pyg([data(), data(x=None)]), ValueError, "graph 1 has no node attributes"),
    (lambda: pk.from_pyg([data(x=np.array([["a"]] * 3))]), ValueError, "graph 0: x must be numbers"),
    (lambda: pk.from_pyg([data(num_nodes=2**63 - 1)]), ValueError, "graph 0: 9,223,372,036,854,775,807 nod"),
    (lambda: pk.from_pyg([data(num_nodes=-1)]), ValueError, "a whole number from 0 on, got -1"),
    (lambda: pk.from_pyg([data(num_nodes=2.7)]), ValueError, "a whole number from 0 on, got 2.7"),
    (lambda: pk.from_pyg([data()], target="Y"), ValueError, "no graph has target='Y': there are 'edge_index"),
]


@pytest.mark.parametrize(("call", "kind", "words"), INVALID)
def test_invalid_input_is_one_sentence(call, kind, words):
    with pytest.raises(kind, match=words) as error:
        call()
    assert type(error.value) is kind
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", [name for name in dir(pk) if name.startswith("from_")])
@pytest.mark.parametrize("what", [5.0, None, np.float64(3)])
def test_what_is_not_a_collection_is_refused_in_one_sentence(name, what):
    with pytest.raises((TypeError, ImportError), match=r"^(expected|edges must|.* must be|.* needs)"):
        getattr(pk, name)(what)


# One vocabulary for invalid graphs in every reader: raise an error, skip, or leave empty.


def molecules(errors):
    pytest.importorskip("rdkit")
    return pk.from_smiles(["CC", "C(C", "CCCC"], errors=errors)


def tables(errors):
    edges = pd.DataFrame({"graph": [0, 1, 2, 2, 2], "source": [0, 0, 0, 1, 2], "target": [1, 1, 1, 2, 3]})
    return pk.from_pandas(edges.assign(weight=[1.0, -1.0, 1.0, 1.0, 1.0]), errors=errors)


CLOUDS = [np.eye(2), np.full((3, 2), np.inf), np.random.default_rng(0).random((4, 2))]
GRAPHS = [nx.path_graph(2), weighted(-1.0), nx.path_graph(4)]
SQUARES = [np.ones((2, 2)), np.full((3, 3), -1.0), np.ones((4, 4))]
PATHS = [[(0, 1)], [(0, 1, -1.0)], [(0, 1), (1, 2), (2, 3)]]
DATA = [data(num_nodes=n, x=None, edge_index=ENDS[:, :0]) for n in (2, -1, 4)]
READERS = {
    "networkx": lambda errors: pk.from_networkx(GRAPHS, errors=errors),
    "adjacency": lambda errors: pk.from_adjacency(SQUARES, errors=errors),
    "edges": lambda errors: pk.from_edges(PATHS, errors=errors),
    "pandas": tables,
    "pyg": lambda errors: pk.from_pyg(DATA, errors=errors),
    "smiles": molecules,
    "points": lambda errors: pk.from_points(CLOUDS, k=1, errors=errors),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_knows_the_same_words(reader):
    read = READERS[reader]
    with pytest.raises(ValueError, match=r"(graph|molecule|cloud) 1"):
        read("raise")
    with pytest.warns(UserWarning, match="skipped 1 of 3"):
        skipped = read("skip")
    assert skipped.graph_sizes.tolist() == [2, 4]
    assert skipped.ids.tolist() == [0, 2]
    assert list(skipped.skipped) == [1]
    with pytest.warns(UserWarning, match="left empty 1 of 3"):
        emptied = read("empty")
    assert emptied.graph_sizes.tolist() == [2, 0, 4]
    assert list(emptied.skipped) == [1]
    with pytest.raises(ValueError, match="errors must be one of 'raise', 'skip', 'empty'"):
        read("ignore")


def test_the_first_fault_is_raised_and_lack_of_memory_is_none():
    faults = Faults("raise", 3, None, first=10)
    with pytest.raises(ValueError, match=r"^graph 12 cannot be read \(.*why.*\)$"), faults.reading(2):
        raise KeyError("why")
    with pytest.raises(MemoryError), faults.reading(0):
        raise MemoryError


@pytest.mark.parametrize(("name", "number"), [("weights", 2), ("node_labels", 3)])
def test_parts_of_a_wrong_length_are_refused(name, number):
    flat = FlatGraphs(np.array([2]), np.array([1]), np.array([0]), np.array([1]), **{name: np.ones(number)})
    with pytest.raises(ValueError, match=f"{name} must have .* values, got {number}"):
        build(flat, Faults("raise", 1))
