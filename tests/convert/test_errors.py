"""One vocabulary for invalid graphs in every reader: raise an error, skip, or leave empty."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk

pd = pytest.importorskip("pandas")


def networkx_graphs():
    wrong = nx.path_graph(3)
    wrong.edges[0, 1]["weight"] = -1.0
    return [nx.path_graph(2), wrong, nx.path_graph(4)]


def molecules(errors):
    pytest.importorskip("rdkit")
    return pk.from_smiles(["CC", "C(C", "CCCC"], errors=errors)


def tables(errors):
    edges = pd.DataFrame({"graph": [0, 1, 2, 2, 2], "source": [0, 0, 0, 1, 2], "target": [1, 1, 1, 2, 3]})
    edges["weight"] = [1.0, -1.0, 1.0, 1.0, 1.0]
    return pk.from_pandas(edges, errors=errors)


READERS = {
    "networkx": lambda errors: pk.from_networkx(networkx_graphs(), weight="weight", errors=errors),
    "adjacency": lambda errors: pk.from_adjacency(
        [np.ones((2, 2)), np.full((3, 3), -1.0), np.ones((4, 4))], errors=errors
    ),
    "pandas": tables,
    "smiles": molecules,
    "points": lambda errors: pk.from_points(
        [np.eye(2), np.full((3, 2), np.inf), np.random.default_rng(0).random((4, 2))], k=1, errors=errors
    ),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_knows_the_same_words(reader):
    read = READERS[reader]
    with pytest.raises(ValueError, match=r"(graph|molecule|cloud) 1"):
        read("raise")
    with pytest.warns(UserWarning, match="skipped 1 of 3"):
        skipped = read("skip")
    assert skipped.graph_sizes.tolist() == [2, 4]
    assert list(skipped.skipped) == [1]
    with pytest.warns(UserWarning, match="left empty 1 of 3"):
        emptied = read("empty")
    assert emptied.graph_sizes.tolist() == [2, 0, 4]
    assert list(emptied.skipped) == [1]
    with pytest.raises(ValueError, match="errors must be one of 'raise', 'skip', 'empty'"):
        read("ignore")
