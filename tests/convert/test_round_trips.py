"""Every format that can hold a graph gives it back: all kinds of graphs, through every from_X and to_X."""

import numpy as np
import pytest

import propkernels as pk
from propkernels.convert.parquet import to_parquet
from propkernels.graphs import GraphDatabase
from tests.test_contract_discovery import the_zoo
from tests.zoo import one, zoo


def rich():
    """Graphs with everything: labels, attributes, weights, directions, parallel edges."""
    plain = one(3, [(0, 1), (1, 2)], ["C", "O", "C"], weights=[1.0, 2.5], edge_labels=["x", "y"])
    directed = one(3, [(0, 1), (2, 1)], ["N", None, "C"], directed=True, edge_labels=["x", None])
    parallel = one(2, [(0, 1), (0, 1), (1, 1)], ["C", "C"], edge_labels=["x", "y", "y"])
    return {"plain": plain, "directed": directed, "parallel": parallel}


def attributed(graphs):
    rng = np.random.default_rng(0)
    attributes = rng.normal(size=(graphs.n_nodes, 2))
    coo = graphs.adjacency.tocoo()
    lengths = 1.0 + np.minimum(*coo.coords) + 10 * np.maximum(*coo.coords)  # the same in both directions
    return graphs.with_attributes(attributes).with_edge_attributes(lengths[:, None], ["length"])


def through_networkx(graphs):
    return pk.from_networkx(pk.convert.to_networkx(graphs), edge_attributes=_names(graphs), ids=graphs.ids)


def through_igraph(graphs):
    igraph = pytest.importorskip("igraph")
    return pk.check_graphs([igraph.Graph.from_networkx(one) for one in pk.convert.to_networkx(graphs)])


def through_pandas(graphs):
    tables = pk.convert.to_pandas(graphs)
    columns = {"label": "label"} if graphs.node_labels is not None else {}
    columns |= {"edge_label": "label"} if graphs.edge_labels is not None else {}
    columns |= {"edge_attributes": _names(graphs)} if graphs.edge_attributes is not None else {}
    if graphs.node_attributes is not None:
        columns["attributes"] = [f"a{i}" for i in range(graphs.node_attributes.shape[1])]
    return pk.from_pandas(*tables, weight="weight", directed=tables.edges.attrs["directed"], **columns)


def through_parquet(graphs, path):
    to_parquet(graphs, path)
    return pk.GraphDatabase.from_parquet(path)


def _names(graphs):
    return None if graphs.edge_attributes is None else list(graphs.edge_attribute_names)


WAYS = {"networkx": through_networkx, "pandas": through_pandas}


def same(found, graphs):
    assert found == graphs
    assert found.edge_attribute_names == graphs.edge_attribute_names


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("more", [False, True])
def test_several_graphs_with_ids(way, more):
    graphs = GraphDatabase.concat(list(rich().values())).with_ids(["a", "b", "c"])
    graphs = attributed(graphs) if more else graphs
    found = WAYS[way](graphs)
    same(found, graphs)
    assert found.ids.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("more", [False, True])
def test_files(more, tmp_path):
    graphs = GraphDatabase.concat([*rich().values(), rich()["plain"]]).with_ids([5, 6, 7, 8])
    graphs = attributed(graphs) if more else graphs
    found = through_parquet(graphs, tmp_path / "graphs")
    same(found, graphs)
    assert found.ids.tolist() == [5, 6, 7, 8]


ZOO = {name: graphs for name, graphs in zoo().items() if len(graphs) and graphs.n_nodes}


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_through_every_format(name, tmp_path):
    graphs = ZOO[name]
    plain = graphs.with_edge_attributes(None)
    assert through_networkx(plain).adjacency.toarray().tolist() == plain.adjacency.toarray().tolist()
    assert through_igraph(plain).adjacency.toarray().tolist() == plain.adjacency.toarray().tolist()
    assert through_pandas(plain) == plain
    if not any(isinstance(value, (frozenset, bytes)) for value in plain.label_values):
        assert through_parquet(plain, tmp_path / "parquet") == plain


@pytest.mark.parametrize("first", [2**70, ("a", 1), "\ud800"])
def test_ids_that_parquet_cannot_hold_are_refused(first, tmp_path):
    graphs = the_zoo()[:3].with_ids([first, "b", "c"] if isinstance(first, str) else [first, 1, 2])
    with pytest.raises(TypeError, match="cannot be written to Parquet"):
        graphs.to_parquet(tmp_path / "g.parquet")
    assert not list(tmp_path.iterdir())
