"""page_contents: graphs as arrays, names of labels."""

import numpy as np

import propkernels as pk
from propkernels.counts.bins import Bin
from propkernels.explorer.page_contents import (
    graph_arrays,
    likely_ranges,
    page_words,
    pattern_name,
    short_names,
    telling_bins,
)
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


def test_patterns_that_separate_graphs_come_first_and_once(data, model):
    bins = model.top_bins(data.graphs, data.target, 60)
    named = [(pattern_name(bin_, data.graphs), bin_) for bin_ in bins]
    shown = telling_bins([*named, *named], 10, len(data.graphs))
    assert len({name for name, _ in shown}) == len(shown) == 10
    rare = [b.n_graphs < 5 for _, b in shown]
    assert rare == sorted(rare)
    n = len(data.graphs)
    common = [b.weight**2 * b.n_graphs * (n - b.n_graphs) for _, b in shown if b.n_graphs >= 5]
    assert common == sorted(common, reverse=True)
    assert telling_bins([], 3, 9) == []


def test_patterns_are_named_in_words():
    graphs = pk.from_smiles(["CCCO"])
    assert pattern_name(Bin(None, 2, 0.5, 9, None, None, neighborhood="N | C O | O"), graphs) == (
        "N with C O, then O"
    )
    path = Bin(None, 0, 0.5, 9, None, None, graph=0, node=0, nodes=(0, 3), neighborhood="C O")
    assert pattern_name(path, graphs) == "C and O, 3 apart"
    several = pk.PropagationClassifier(
        kernel=[pk.WeisfeilerLehman(t_max=1, base_kernel="intersection")], C=1, random_state=0
    )
    data = pk.datasets.make_molecules(40, random_state=0)
    page = pk.explore(data.graphs, data.target, several.fit(data.graphs, data.target)).html
    names = [bin_["name"] for bin_ in embedded(page, "ex-meta")["bins"][0]["bins"]]
    assert any(name.startswith("at least ") for name in names)


def test_ranges_are_those_of_python(data):
    numbers = data.graphs.graph_sizes.astype(float) + 0.5
    page = pk.explore(data.graphs[:30], numbers[:30])
    shown = embedded(page.html, "ex-meta")["ranges"]
    np.testing.assert_allclose(shown, page.model.predict_interval(data.graphs[:30], 0.9))
    classes = pk.explore(data.graphs, data.target)
    sets = classes.model.predict_set(data.graphs, 0.9)
    assert embedded(classes.html, "ex-meta")["ranges"] == [np.flatnonzero(row).tolist() for row in sets]


def test_models_without_held_out_predictions_have_no_ranges(data, model):
    class Found:
        def __init__(self, model):
            self.model = model

    bare = pk.PropagationClassifier(kernel=pk.WeisfeilerLehman(t_max=1), C=1.0, t_max=1)
    bare.fit(data.graphs, data.target).conformal_ = None
    assert likely_ranges(Found(bare), data.graphs) is None


def test_graphs_are_called_what_they_are(data):
    assert list(page_words(data.graphs, None).values()) == ["molecule", "atom", "bond"]
    assert page_words(data.graphs, 1)["node"] == "pixel"
    assert page_words(data.graphs.with_labels(np.arange(data.graphs.n_nodes)), None)["graph"] == "graph"
    crystal = pk.GraphDatabase(1 - np.eye(6), [0, 6], node_labels=["Na", "Cl"] * 3)
    assert page_words(crystal, None)["graph"] == "graph"
