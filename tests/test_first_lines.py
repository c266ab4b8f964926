"""Ten first lines as a stranger writes them, each to a similarity."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from tests.convert.test_pyg import data  # stands for torch_geometric.data.Data

PATH = [(0, 1), (1, 2), (2, 3)]
CYCLE = [*PATH, (3, 0)]


def of_networkx():
    return pk.similarity(nx.path_graph(4), nx.cycle_graph(4))


def of_smiles():
    pytest.importorskip("rdkit")
    return pk.similarity("CCOC(=O)c1ccccc1", "CCOC(=O)C1CCCC1")


def of_adjacency():
    return pk.similarity(nx.to_numpy_array(nx.path_graph(4)), nx.to_numpy_array(nx.cycle_graph(4)))


def of_igraph():
    igraph = pytest.importorskip("igraph")
    return pk.similarity(igraph.Graph(PATH), igraph.Graph(CYCLE))


def of_pandas():
    pandas = pytest.importorskip("pandas")
    one, other = (pandas.DataFrame(edges, columns=["source", "target"]) for edges in (PATH, CYCLE))
    return pk.similarity(one, other)


def of_pyg():
    ends = (np.array([*edges, *((v, u) for u, v in edges)]).T for edges in (PATH, CYCLE))
    one, other = (data(edge_index=index, num_nodes=4) for index in ends)
    return pk.similarity(one, other)


def of_images():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, (12, 12))
    second = np.where(rng.random((12, 12)) < 0.05, 0, first)
    return pk.similarity(pk.GridDatabase([first, second]))[0, 1]


def of_node_link():
    one, other = (nx.node_link_data(nx.Graph(edges), edges="links") for edges in (PATH, CYCLE))
    return pk.similarity(one, other)


def of_edge_lists():
    return pk.similarity(PATH, CYCLE)


def of_tu(folder):
    pk.datasets.write_tu(pk.from_edges([PATH, CYCLE]), folder / "TWO", target=[0, 1])
    graphs = pk.datasets.read_tu(folder / "TWO").graphs
    return pk.similarity(graphs[0], graphs[1])


FIRST_LINES = (
    of_networkx,
    of_smiles,
    of_adjacency,
    of_igraph,
    of_pandas,
    of_pyg,
    of_images,
    of_node_link,
    of_edge_lists,
    of_tu,
)


@pytest.mark.parametrize("line", FIRST_LINES, ids=lambda line: line.__name__)
def test_a_first_line_gives_a_similarity(line, tmp_path):
    found = line(tmp_path) if line is of_tu else line()
    assert 0 < found < 1
    if line not in (of_smiles, of_images):  # the same two graphs
        assert found == of_networkx()
