"""Tables of edges, nodes and graphs: columns by usual names, by choice, and what is said about the others."""

import warnings

import pytest

from propkernels.cli.arguments import Input
from propkernels.datasets.graph_tables import read_edges, read_nodes
from propkernels.datasets.tables import Reading
from tests.datasets.tiny import write_files

pytest.importorskip("pandas")
OPTIONAL = Reading(target_required=False)

EDGES = "graph,source,target,kind,length\n1,a,b,x,1.5\n1,b,c,y,2\n2,a,b,x,3\n"
NODES = "graph,node,element,mass\n1,a,C,12\n1,b,N,14\n1,c,O,16\n2,a,C,12\n2,b,C,12\n"
GRAPHS = "graph,y,note\n2,1,good\n1,0,bad\n"


def files(folder, **texts):
    return write_files(folder, {f"{name}.csv": text for name, text in texts.items()})


def test_usual_columns_need_no_choice(tmp_path):
    data = read_edges(files(tmp_path, edges=EDGES, nodes=NODES, graphs=GRAPHS), Reading())
    assert data.graphs.node_labels.tolist() == ["C", "C", "C", "N", "O"]
    assert data.graphs.node_attributes.ravel().tolist() == [12, 12, 12, 14, 16]
    assert sorted(set(data.graphs.edge_labels.tolist())) == ["x", "y"]
    assert data.graphs.edge_attribute_names == ("length",)
    assert data.graphs.graph_sizes.tolist() == [2, 3], "in the order of the table of graphs"
    assert data.target.tolist() == [1, 0]
    assert data.extras["node_names"] == ["a", "b", "a", "b", "c"]
    assert data.name == tmp_path.name


def test_columns_are_chosen_by_name(tmp_path):
    how = Reading(node_labels=("mass", "element"), target_columns=("note",), id_column="note")
    data = read_edges(files(tmp_path, edges=EDGES, nodes=NODES, graphs=GRAPHS), how)
    assert data.graphs.node_labels[0] == (12, "C")
    assert data.target.tolist() == ["good", "bad"]
    assert data.graphs.ids.tolist() == ["good", "bad"]


def test_edges_without_a_graph_are_one_graph(tmp_path):
    data = read_edges(files(tmp_path, my_edges="from,to\n1,2\n2,3\n"), OPTIONAL)
    assert data.graphs.graph_sizes.tolist() == [3]
    assert data.name == "my"


def test_numbers_and_texts_are_one_kind_of_key(tmp_path):
    """Node 1 of the edges is node 1 of the nodes, also where another key is a text."""
    paths = files(tmp_path, edges="source,target\n1,2\n2,a\n", nodes="node,label\n1,x\n2,y\na,z\n")
    graphs = read_edges(paths, OPTIONAL).graphs
    assert graphs.n_nodes == 3
    assert graphs.node_labels.tolist() == ["x", "y", "z"]
    (twice,) = files(tmp_path, twice="from,to\na,b\na,b\nb,c\nc,b\n")  # an edge that is listed twice is one
    assert read_nodes(twice).graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_numbers_beside_the_first_two_columns_are_no_ends(tmp_path):
    (tmp_path / "nodes.csv").write_text("id\n0\n1\n2\n")
    (tmp_path / "edges.csv").write_text("a,b,count\n0,1,2\n1,2,1\n")
    with pytest.warns(UserWarning, match="'count' of edges is not used"):
        found = read_nodes(tmp_path / "edges.csv", tmp_path / "nodes.csv")
    assert found.graph.n_edges == 2


def test_a_column_says_whether_edges_are_directed(tmp_path):
    paths = files(tmp_path, edges="source,target,directed\n0,1,1\n")
    assert read_edges(paths, OPTIONAL).graphs.adjacency.toarray().tolist() == [[0, 1], [0, 0]]


def test_columns_that_are_not_used_are_named(tmp_path):
    rows = "".join(
        f"p{i},person {i},{'red' if i % 2 else 'blue'},{'box' if i % 3 else 'can'}\n" for i in range(30)
    )
    paths = files(tmp_path, edges="source,target\np0,p1\n", nodes=f"node,full name,color,shape\n{rows}")
    with pytest.warns(UserWarning, match="the column 'full name' of nodes is not used") as caught:
        graphs = read_edges(paths, OPTIONAL).graphs
    assert len(caught) == 1
    assert graphs.node_labels[1] == ("red", "box"), "columns of text make tuples"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen = read_edges(paths, Reading(node_labels=("color",), target_required=False))
    assert chosen.graphs.node_labels[:2].tolist() == ["blue", "red"]


def test_key_columns_are_named(tmp_path):
    """Columns of graphs, ends, nodes and weights with other names; also by commands."""
    paths = files(
        tmp_path,
        links="protein,a,b,km\nx,1,2,0.5\nx,2,3,1.5\ny,1,2,2\n",
        residues="protein,nr,aa\nx,1,ALA\nx,2,GLY\nx,3,ALA\ny,1,VAL\ny,2,VAL\n",
    )
    keys = {"graph": "protein", "source": "a", "target": "b", "node": "nr", "weight": "km"}
    graphs = read_edges(paths, Reading(key_columns=keys, target_required=False)).graphs
    assert graphs.ids.tolist() == ["x", "y"]
    assert graphs.node_labels.tolist() == ["ALA", "GLY", "ALA", "VAL", "VAL"]
    assert sorted(set(graphs.adjacency.data)) == [0.5, 1.5, 2.0]
    options = [f"{key}={column}" for key, column in keys.items()]
    assert Input(columns=options).open(",".join(map(str, paths))).graphs == graphs
    with pytest.raises(ValueError, match="such as source=from; got 'source'"):
        Input(columns=["source"]).open(str(paths[0]))
