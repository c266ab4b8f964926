"""Bins are described as a slow second implementation describes them."""

import networkx
import numpy as np
import pytest

import propkernels as pk
from propkernels.counts.bins import Bins, bin_text, nodes_around, smarts_of
from propkernels.kernels import ShortestPathFeatures

DATA = pk.datasets.make_molecules(30, random_state=1)
RICH = pk.from_networkx([networkx.cycle_graph(n) for n in (3, 4, 5)] + [networkx.lollipop_graph(4, 3)])
RICH = pk.GraphDatabase(
    RICH.adjacency * 2.0,
    RICH.graph_ptr,
    list("CNOC" * 9)[: RICH.n_nodes],
    np.arange(RICH.n_nodes),
    edge_labels=np.arange(RICH.adjacency.nnz) % 3,
).with_names({"C": "carbon"}, {0: "single"})
NUMBERS = np.arange(30.0) ** 2


def naive(features, column, graphs, numbers):
    """Graphs that have a bin, by transforming each alone; means of their numbers."""
    having = np.array([features.transform(graphs[[i]])[:, [column]].sum() > 0 for i in range(len(graphs))])
    return having, numbers[having].mean(), numbers[~having].mean() if (~having).any() else np.nan


@pytest.mark.slow
@pytest.mark.parametrize(
    "features",
    [
        pk.PropagationFeatures(t_max=2, random_state=0),
        pk.PropagationFeatures(t_max=2, random_state=0, n_hashes=2, bin_width=0.1),
        pk.PropagationFeatures(t_max=1, random_state=0, base_kernel="intersection"),
        pk.WeisfeilerLehmanFeatures(t_max=2),
        ShortestPathFeatures(),
    ],
    ids=["propagation", "hashes", "levels", "weisfeiler-lehman", "paths"],
)
def test_graphs_and_means_are_those_of_the_features(features):
    found = features.fit_transform(DATA.graphs)
    for column in range(0, found.shape[1], found.shape[1] // 7):
        (one,) = features.describe(column, DATA.graphs, NUMBERS)
        having, with_it, without_it = naive(features, column, DATA.graphs, NUMBERS)
        assert (one.column, one.n_graphs) == (column, having.sum())
        np.testing.assert_allclose([one.mean_with, one.mean_without], [with_it, without_it])
        sizes = DATA.graphs.graph_sizes
        assert having[one.graph]
        assert sizes[one.graph] == sizes[having].min()
        name = str(features.get_feature_names_out()[column])
        assert name.startswith(f"t{one.t}_")
        if "level" in name:
            assert name.endswith(f"level{one.level}")
            assert found[[one.graph]][:, [column]].sum() == 1


@pytest.mark.parametrize("graphs", [DATA.graphs, RICH], ids=["molecules", "all that graphs carry"])
def test_neighborhoods_are_those_of_networkx(graphs):
    features = pk.PropagationFeatures(t_max=3, random_state=0).fit(graphs)
    n_columns = len(features.get_feature_names_out())
    for column in range(0, n_columns, max(n_columns // 12, 1)):
        (one,) = features.describe(column, graphs)
        graph = graphs[one.graph]
        whole = networkx.from_scipy_sparse_array(graph.adjacency, create_using=networkx.DiGraph)
        distances = networkx.single_source_shortest_path_length(whole, one.node, cutoff=one.t)
        assert set(one.nodes) == set(distances)
        assert one.nodes[0] == one.node
        edges = {
            (u, v): w
            for u, v, w in whole.edges(data="weight")
            if min(distances.get(end, one.t) for end in (u, v)) < one.t
        }
        coo = one.subgraph.adjacency.tocoo()
        ends = [(one.nodes[i], one.nodes[j]) for i, j in zip(*coo.coords, strict=True)]
        assert dict(zip(ends, coo.data, strict=True)) == edges
        nodes, labels = list(one.nodes), graph.node_labels
        np.testing.assert_array_equal(one.subgraph.node_labels, labels[nodes])
        if graphs is RICH:
            np.testing.assert_array_equal(one.subgraph.node_attributes, graph.node_attributes[nodes])
            known = dict(zip(whole.edges, graph.edge_labels, strict=True))
            assert [known[pair] for pair in ends] == one.subgraph.edge_labels.tolist()
            assert one.subgraph.database.names == graphs.names
        names = np.array([graphs.names.labels.get(label, label) for label in labels])
        shells = [
            sorted(names[n] for n, d in distances.items() if d == r)
            for r in range(max(distances.values()) + 1)
        ]
        assert one.neighborhood == " | ".join(" ".join(shell) for shell in shells)


@pytest.mark.slow
def test_a_hashed_column_tells_all_bins_that_meet_in_it():
    plain = pk.PropagationFeatures(t_max=2, random_state=0).fit(DATA.graphs)
    hashed = pk.PropagationFeatures(t_max=2, random_state=0, n_features=16).fit(DATA.graphs)
    bins = [one for column in range(16) for one in hashed.describe(column, DATA.graphs)]
    reference = [
        one for c in range(len(plain.get_feature_names_out())) for one in plain.describe(c, DATA.graphs)
    ]
    assert len(bins) == len(reference)
    key = lambda one: (one.t, one.n_graphs, one.graph, one.node)
    assert sorted(map(key, bins)) == sorted(map(key, reference))


def test_a_bin_that_no_graph_has():
    features = pk.PropagationFeatures(t_max=1, random_state=0).fit(DATA.graphs)
    other = pk.GraphDatabase(np.zeros((1, 1)), [0, 1], node_labels=["unknown"])
    (one,) = absent = features.describe(3, other, [1.0])
    assert (one.n_graphs, one.graph, one.node, one.subgraph) == (0, None, None, None)
    assert str(absent).splitlines()[1].split() == ["3", "0", "0", "-", "1"]
    (known,) = features.describe(3, DATA.graphs)
    assert (one.stream, one.code) == (known.stream, known.code)
    assert np.isnan(one.mean_with)
    assert one.mean_without == 1.0


def test_tables_name_what_is_known():
    features = pk.PropagationFeatures(t_max=1, random_state=0).fit(DATA.graphs)
    bins = features.describe(
        0, DATA.graphs, NUMBERS, label_names={"C": "carbon", "N": "nitrogen", "O": "oxygen"}
    )
    head, row = str(bins).split("\n")
    names = ["column", "t", "n_graphs", "mean_with", "mean_without", "graph", "node", "neighborhood"]
    assert head.split() == names
    assert len(row.split()) == len(head.split())
    frame = bins.to_frame()
    assert frame.shape == (1, 8)
    assert frame.neighborhood[0] == bins[0].neighborhood
    assert frame.mean_with[0] == pytest.approx(bins[0].mean_with)
    long = features.describe(0, DATA.graphs, label_names=dict.fromkeys("CNOF", "x" * 60))
    assert str(long).endswith(f" {'x' * 45}...")
    weighted = Bins(bins, "for b")
    assert str(weighted[:1]) == str(weighted) == f"{bins}\n(weights for b)"
    assert ", weights for b" in weighted._repr_html_()
    assert ", weights" not in bins._repr_html_()
    assert all(f">{cell}<" in bins._repr_html_() for cell in row.split()[:2])
    plain = features.describe(0, DATA.graphs).records()[0]
    assert list(plain) == [name for name in names if not name.startswith("mean")]


def test_graphs_without_labels_are_described_by_stars():
    bare = RICH.with_labels(None)
    (one,) = pk.PropagationFeatures(t_max=1, random_state=0).fit(bare).describe(4, bare)
    assert one.subgraph.node_labels is None
    assert one.neighborhood == "* | * * *"


def test_bins_of_molecules_are_patterns():
    smiles = pytest.importorskip("rdkit.Chem").MolFromSmiles("CCO")
    graph = pk.from_smiles(["CCO"], node_labels="symbol")
    assert bin_text(graph, np.array([2, 0]), 1, ["O", "C"]) == "[#6]-[#8]"
    alanine = pk.from_smiles(["C[C@H](N)C(=O)O"])
    assert bin_text(alanine, np.array([1]), 0, ["C"]) == "[#6]", "kernels do not read stereochemistry"
    assert bin_text(graph.with_labels(list("CCO")), np.array([[0, 1]]), 0, ["C", "C"]) == "C, C"
    assert smarts_of(smiles, np.array([0, 1]), 0) == "[#6]-[#6]"
    assert smarts_of(smiles, np.array([0, 2]), 0) == "[#6].[#8]"


def test_nodes_around_several_roots():
    adjacency = networkx.to_scipy_sparse_array(networkx.cycle_graph(8), format="csr")
    nodes, distances = nodes_around(adjacency, np.array([0, 4]), 1)
    assert nodes.tolist() == [0, 4, 1, 3, 5, 7]
    assert distances.tolist() == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((-1, DATA.graphs), "column"), ((10**6, DATA.graphs), "column"), ((0, DATA.graphs, [1]), "y must hold")],
)
def test_bad_input_is_named(arguments, message):
    features = pk.PropagationFeatures(t_max=1, random_state=0).fit(DATA.graphs)
    with pytest.raises(ValueError, match=message):
        features.describe(*arguments)
