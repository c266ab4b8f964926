"""page_contents: graphs as arrays, names of labels."""

import numpy as np

import propkernels as pk
from propkernels.explorer.page_contents import graph_arrays, short_names
from tests.explorer.conftest import embedded, unpacked


def test_the_page_holds_the_graphs(data, model):
    html = pk.explore(data.graphs, data.target, model).html
    arrays = unpacked(embedded(html, "ex-data")["graphs"])
    ptr = np.concatenate([[0], np.cumsum(arrays["sizes"])])
    np.testing.assert_array_equal(ptr, data.graphs.graph_ptr)
    rows = np.repeat(np.arange(len(arrays["degrees"])), arrays["degrees"])
    matrix = np.zeros((len(arrays["degrees"]),) * 2)
    matrix[rows, rows + arrays["steps"]] = matrix[rows + arrays["steps"], rows] = 1
    np.testing.assert_array_equal(matrix, data.graphs.adjacency.toarray())


def test_directed_edges_are_listed_both_ways():
    path = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    directed, arrays = graph_arrays(pk.check_graphs([path]))
    assert directed
    assert arrays["steps"].tolist() == [1, 1]
    ring = pk.check_graphs([(np.ones((3, 3)) - np.eye(3), ["C", "C", "O"])])
    assert graph_arrays(ring)[0] is False


def test_a_node_is_called_by_the_first_of_its_views():
    column = pk.check_graphs([(np.eye(2, k=1), [("C", "ring"), ("N", "chain")])]).label_column
    assert short_names(column, None) == {("C", "ring"): "C", ("N", "chain"): "N"}
    assert short_names(column, {("C", "ring"): "carbon"})["C", "ring"] == "carbon"
    assert short_names(None, None) == {}
