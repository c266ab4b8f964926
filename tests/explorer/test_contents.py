"""What a page holds: graphs and models as arrays, names, columns, groups and drawings."""

import sys

import numpy as np
import pytest
from scipy.sparse import coo_array

import propkernels as pk
from propkernels.codes.codes import NO_BIN
from propkernels.counts.bins import Bin
from propkernels.explain.rule import Rule, dual_members
from propkernels.explorer.carried import carried_rule, in_order
from propkernels.explorer.depictions import depictions, quantized_places, read_molecules
from propkernels.explorer.embedding import comparisons, embed, nearest_graphs, quantized
from propkernels.explorer.exploration import pack, smallest
from propkernels.explorer.groups import map_groups
from propkernels.explorer.map_columns import MOST_NAMES, map_columns
from propkernels.explorer.page_codes import NotLive, start_values, words
from propkernels.explorer.page_contents import (
    WORDS,
    graph_arrays,
    page_words,
    pattern_name,
    short_names,
    telling_bins,
)
from tests.explorer.conftest import embedded, unpacked

# arrays


def test_arrays_survive_packing():
    rng = np.random.default_rng(0)
    arrays = {
        "small": rng.integers(0, 200, 7),
        "signed": rng.integers(-300, 300, 5),
        "large": rng.integers(0, 2**32, 3, dtype=np.uint64),
        "floats": rng.normal(size=4),
        "empty": np.empty(0),
    }
    for name, found in unpacked(pack(arrays)).items():
        np.testing.assert_array_equal(found, arrays[name])
    with pytest.raises(ValueError, match="32 bits"):
        smallest(np.array([2**32]))
    assert words(np.array([1 + 5 * 2**32, -1])).tolist() == [1, 5, 2**32 - 1, 2**32 - 1]


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
    directed, arrays = graph_arrays(pk.check_graphs([np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])]))
    assert directed
    assert arrays["steps"].tolist() == [1, 1]
    ring = pk.check_graphs([(np.ones((3, 3)) - np.eye(3), ["C", "C", "O"])])
    assert graph_arrays(ring)[0] is False


# models


@pytest.mark.parametrize("base_kernel", ["linear", "intersection", "tanimoto", "jaccard"])
def test_neighbors_are_exact(data, base_kernel):
    kernel = pk.PropagationKernel(t_max=2, normalize=True, base_kernel=base_kernel, random_state=0)
    K = kernel.fit_transform(data.graphs)
    np.fill_diagonal(K, -1)
    rule = Rule.of(dual_members(kernel, np.ones((len(data.graphs), 1))))
    similarities, neighbors = nearest_graphs(comparisons(carried_rule(rule, data.graphs)), 5)
    np.testing.assert_allclose(similarities, -np.sort(-K, axis=1)[:, :5])
    np.testing.assert_allclose(np.take_along_axis(K, neighbors, axis=1), similarities)


def test_codes_of_bins_that_no_graph_of_the_page_has_are_stored(data, model):
    assert in_order(np.array([7, NO_BIN, 3, 7, 5, 3])).tolist() == [7, 3, 5]
    for graphs, is_training in [(data.graphs, True), (data.graphs[:5], False)]:
        (bins,) = carried_rule(model.rule_, graphs).bins
        stored = sum(len(array) // 2 for name, array in bins.arrays.items() if name.startswith("extra"))
        on_page = sum(int((columns >= 0).sum()) for columns in bins.columns)
        assert bins.are_those_of_training is is_training
        assert stored + on_page == sum(map(len, bins.vocabulary.codes))


def test_degrees_that_edits_may_reach_are_initial_labels():
    star = pk.check_graphs([np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])])
    assert start_values("degree", star) == tuple(range(2 * 2 + 64))
    assert start_values("degree", star.with_weights(np.full(4, 0.5))) == tuple(range(2 * 2 + 64))
    assert start_values(None, star) == (0,)
    with pytest.raises(NotLive, match="node labels are missing"):
        start_values("node", star)
    edges = np.array([[0, 0, 1, 1], [1, 1, 0, 0]])
    double = pk.GraphDatabase(coo_array((np.ones(4), edges)), [0, 2], edge_labels=["-", "=", "-", "="])
    with pytest.raises(NotLive, match="parallel edges"):
        start_values("degree", double)


def test_ranges_are_those_of_python(data):
    numbers = data.graphs.graph_sizes.astype(float) + 0.5
    page = pk.explore(data.graphs[:30], numbers[:30])
    shown = embedded(page.html, "ex-meta")["ranges"]
    np.testing.assert_allclose(shown, page.model.predict_interval(data.graphs[:30], 0.9))
    classes = pk.explore(data.graphs, data.target)
    sets = classes.model.predict_set(data.graphs, 0.9)
    assert embedded(classes.html, "ex-meta")["ranges"] == [np.flatnonzero(row).tolist() for row in sets]
    classes.model.conformal_ = None  # as of a model without held-out predictions
    assert embedded(pk.explore(data.graphs, data.target, classes.model).html, "ex-meta")["ranges"] is None


# names


def test_graphs_are_called_what_they_are(data):
    assert list(page_words(data.graphs, None).values()) == ["molecule", "atom", "bond"]
    assert page_words(data.graphs, 1)["node"] == "pixel"
    assert page_words(data.graphs.with_labels(np.arange(data.graphs.n_nodes)), None)["graph"] == "graph"
    crystal = pk.GraphDatabase(1 - np.eye(6), [0, 6], node_labels=["Na", "Cl"] * 3)
    assert page_words(crystal, None)["graph"] == "graph"


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


def test_patterns_are_named_in_words(data):
    graphs = pk.from_smiles(["CCCO"])
    shells = Bin(None, 2, 0.5, 9, None, None, neighborhood="N | C O | O")
    assert pattern_name(shells, graphs) == "N with C O, then O"
    path = Bin(None, 0, 0.5, 9, None, None, graph=0, node=0, nodes=(0, 3), neighborhood="C O")
    assert pattern_name(path, graphs) == "C and O, 3 apart"
    kernel = pk.WeisfeilerLehman(t_max=1, base_kernel="intersection")
    several = pk.PropagationClassifier(kernel=[kernel], C=1, random_state=0).fit(data.graphs, data.target)
    page = pk.explore(data.graphs, data.target, several).html
    names = [bin_["name"] for bin_ in embedded(page, "ex-meta")["bins"][0]["bins"]]
    assert any(name.startswith("at least ") for name in names)


# the map


def columns_of(graphs, further):
    """Columns of a page without a target, by name."""
    columns = map_columns(graphs, None, None, None, np.linspace(0, 1, len(graphs)), further, WORDS)
    return {column.name: (column, values) for column, values in columns}


def test_columns_of_sizes_words_and_numbers(data):
    n = len(data.graphs)
    columns = columns_of(data.graphs, {"word": ["a", "b"] * (n // 2), "number": np.arange(n) / 2})
    assert list(columns)[:3] == ["novelty", "number of nodes", "number of edges"]
    assert columns["number of nodes"][1].tolist() == data.graphs.graph_sizes.tolist()
    assert columns["number of edges"][1].sum() == data.graphs.n_edges
    column, values = columns["word"]
    assert column.described() == {"key": "c0", "name": "word", "kind": "class", "names": ["a", "b"]}
    assert values.tolist() == [0, 1] * (n // 2)
    column, values = columns["number"]
    assert column.names is None
    np.testing.assert_allclose([column.low, column.high], np.quantile(values, [0.01, 0.99]))


def test_rare_words_share_a_color(data):
    graphs = data.graphs[np.arange(60) % len(data.graphs)]
    column, values = columns_of(graphs, {"word": [f"w{i:02}" for i in range(50)] + ["w49"] * 10})["word"]
    assert len(column.names) == MOST_NAMES
    assert column.names[-1] == "all others"
    assert column.names[values[-1]] == "w49"


def test_coordinates_keep_their_shape():
    points = np.array([[0.0, 0.0], [2.0, 1.0], [1.0, 0.5]])
    found = quantized(points).reshape(-1, 2).astype(int)
    assert found[:, 0].tolist() == [0, 65535, 32768]
    assert np.ptp(found[:, 1]) == pytest.approx(65535 / 2, abs=1)
    start = points[:2]  # fewer than five graphs stay where they start
    assert embed(np.ones((2, 1)), np.array([[1], [0]]), start, 0) is start


def test_groups_are_named_by_class_or_by_parts_of_molecules():
    rng = np.random.default_rng(0)
    numbers = np.repeat([0, 1, 2], 20)
    points = rng.normal(scale=0.3, size=(60, 2)) + 5.0 * np.column_stack([numbers, numbers % 2])
    groups = map_groups(points, (numbers, ["a", "beta", "gamma"]), None)
    assert [group["name"] for group in groups] == ["class a", "beta", "gamma"]
    assert all(0 <= group["x"] <= 65535 for group in groups)
    chem = pytest.importorskip("rdkit.Chem")
    molecules = [chem.MolFromSmiles(text) for text in ["CC#N"] * 30 + ["c1ccccc1"] * 30]
    points[30:] += 9
    names = {group["name"] for group in map_groups(points, None, molecules)}
    assert names == {"nitrile", "benzene"}
    assert map_groups(points, None, None) == []
    assert map_groups(np.zeros((10, 2)), None, molecules[:10]) == []


# drawings


def test_hydrogens_charges_and_wedges(monkeypatch):
    pytest.importorskip("rdkit")
    graphs = pk.from_smiles(["C[N+](C)(C)CCO", "C[C@H](N)C(=O)O"])
    molecules = read_molecules(graphs, None)
    found = depictions(graphs, molecules)
    assert found["charges"].tolist()[:2] == [0, 1]
    assert found["hydrogens"].tolist()[:7] == [3, 0, 3, 3, 2, 2, 1]
    assert len(found["wedges"]) == graphs.n_edges
    assert np.count_nonzero(found["wedges"]) == 1
    assert len(found["places"]) == 2 * graphs.n_nodes
    assert all(molecule.GetNumConformers() == 0 for molecule in molecules), "molecules are not changed"
    assert read_molecules(pk.datasets.make_molecules(5, random_state=0).graphs, None) is None
    monkeypatch.setitem(sys.modules, "rdkit", None)
    assert read_molecules(graphs, None) is None, "a page of molecules needs no RDKit"


def test_molecules_with_several_labels_are_neither_pasted_nor_edited():
    pytest.importorskip("rdkit")
    smiles = ["CCO", "CCCO", "CCN", "c1ccccc1", "CC(=O)O", "CCCl", "C1CC1", "CCS", "CCBr", "CC#N"] * 3
    for labels in (None, "symbol"):
        options = {} if labels is None else {"node_labels": labels}
        page = pk.explore(pk.from_smiles(smiles, **options), np.arange(30) / 7, molecules=smiles)
        assert page.predictions.shape == (30,)
        assert embedded(page.html, "ex-meta")["fixed"] == (labels is None)
        assert ("Molecules cannot be pasted or edited here" in page.html) == (labels is None)
        assert ("Press Change" in page.html) == (labels is not None)


@pytest.mark.slow
def test_pictures_are_graphs_of_pixels():
    images = np.random.default_rng(0).integers(0, 3, (20, 4, 5))
    target, grids = np.arange(20) % 2, pk.GridDatabase(list(images))
    page = pk.explore(grids, target)
    assert embedded(page.html, "ex-meta")["pixels"] == 1
    places = unpacked(embedded(page.html, "ex-data")["graphs"])["places"].reshape(-1, 2)[:20]
    assert (places[:, 0].max(), places[:, 1].min()) == (4, -3)
    model = pk.PropagationClassifier(C=1, t_max=1, random_state=0).fit(grids, target)
    with pytest.raises(NotLive, match="Convolution"):
        pk.explore(grids, target, model)


def test_given_coordinates_and_molecules_are_drawn_there():
    pytest.importorskip("rdkit")
    smiles = ["CCO", "c1ccccc1", "CC(=O)O", "CCN", "CCCl", "C1CC1"]
    graphs = pk.from_smiles(smiles)
    layout = np.random.default_rng(0).normal(size=(graphs.n_nodes, 3))
    parts = np.split(layout, graphs.graph_ptr[1:-1])
    for options in ({"molecules": smiles}, {"layout": layout}, {"layout": parts}):
        places = unpacked(embedded(pk.explore(graphs, **options).html, "ex-data")["graphs"])["places"]
        assert len(places) == 2 * graphs.n_nodes
        assert np.abs(places).max() == 127
    points = np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 0.0], [40.0, 0.0]])  # each graph has its scale
    assert quantized_places(points, np.array([0, 2, 4])).tolist() == [-127, -64, 127, 64, -127, 0, 127, 0]
