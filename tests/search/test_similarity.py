"""Similarity of two graphs: 1 for isomorphic ones, symmetric, a ratio of counts; what an index ranks by."""

import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import propkernels as pk
from tests.strategies import databases, permute_nodes

KINDS = {
    "labels": {"labelled": "any"},
    "gaps": {"partial": True},
    "structure": {"labelled": False},
    "edge labels": {"edge_labels": True},
    "directed": {"directed": True, "edge_labels": True},
    "weights": {"labelled": False, "weighted": True, "directed": True},
    "attributes": {"n_attributes": 2, "weighted": True},
}
SOME = st.sampled_from(sorted(KINDS)).flatmap(lambda kind: databases(2, 3, **KINDS[kind]))
quiet = pytest.mark.filterwarnings("ignore:graph . has no node labels")


def naive(graphs, t_max=3):
    """Ratio of smaller to larger counts of nested tuples, for two graphs."""
    views = [(lambda x: 0), _rounded, float]
    numbers = graphs.node_attributes is not None or (graphs.adjacency.data != 1).any()
    counts = [Counter(), Counter()]
    for number, view in enumerate(views if numbers else views[:1]):
        for i, count in enumerate(counts):
            graph = graphs[i]
            size, adjacency = graph.n_nodes, graph.adjacency.tocoo()
            labels = [None] * size
            if graphs.label_column is not None:
                ids = graphs.label_column.ids[slice(*graphs.graph_ptr[i : i + 2])].tolist()
                labels = [("known", graphs.label_column.values[k]) if k >= 0 else None for k in ids]
            edges = [None] * adjacency.nnz if graph.edge_labels is None else list(graph.edge_labels)
            degree = Counter(adjacency.coords[0].tolist())
            rows = np.zeros((size, 0)) if graph.node_attributes is None else graph.node_attributes
            codes = [(label or degree[v], *map(view, rows[v])) for v, label in enumerate(labels)]
            for t in range(t_max + 1):
                count.update((number, t, code) for code in codes)
                around = [[] for _ in codes]
                ends = zip(*(axis.tolist() for axis in adjacency.coords), adjacency.data, edges, strict=True)
                for u, v, weight, label in ends:
                    around[u].append(("out", view(weight), label, codes[v]))
                    around[v].append(("in", view(weight), label, codes[u]))
                codes = [
                    (code, frozenset(Counter(near).items())) for code, near in zip(codes, around, strict=True)
                ]
    shared = (counts[0] & counts[1]).total()
    return shared / union if (union := (counts[0] | counts[1]).total()) else 1.0


def _rounded(x):
    mantissa, exponent = math.frexp(x)
    return round(4 * mantissa) * 2.0 ** (exponent - 2)


@quiet
@given(SOME, st.integers(0, 9))
def test_isomorphic_graphs_have_similarity_one(graphs, seed):
    other = permute_nodes(graphs, np.random.default_rng(seed))
    assert [pk.similarity(g, h) for g, h in zip(graphs, other, strict=True)] == [1.0] * len(graphs)


@quiet
@given(SOME)
def test_it_is_the_ratio_that_an_index_ranks_by_whatever_the_other_graphs(graphs):
    matrix = pk.similarity(graphs)
    assert (matrix == matrix.T).all()
    assert ((matrix >= 0) & (matrix <= 1)).all()
    assert pk.similarity(graphs[0], graphs[1]) == matrix[0, 1] == naive(graphs[[0, 1]])
    found = pk.GraphIndex(similarity="jaccard").fit(graphs).query(graphs, k=len(graphs))
    for row, values, ids in zip(matrix, *found, strict=True):
        assert (row[ids] == np.where(graphs.graph_sizes[ids] == 0, row[ids], values)).all()


def changed(what):
    """Two networkx graphs that differ in one thing."""
    pair = []
    for i in (0, 1):
        kind = nx.DiGraph if what == "direction" else nx.Graph
        g = kind([(0, 1), (1, 2), (3, 2) if (what, i) == ("direction", 1) else (2, 3), (3, 4)])
        nx.set_node_attributes(g, {v: "N" if (what, i, v) == ("label", 1, 4) else "C" for v in g}, "label")
        if what == "attribute":
            nx.set_node_attributes(g, {v: [1.0 + 1e-9 * (i and v == 2)] for v in g}, "attributes")
        g.edges[1, 2]["weight"] = 1.0 + 1e-9 * (i and what == "weight")
        nx.set_edge_attributes(g, "single", "label")
        if (what, i) == ("edge label", 1):
            g.edges[0, 1]["label"] = "double"
        pair.append(g)
    return pair


@pytest.mark.parametrize("what", ["label", "attribute", "weight", "edge label", "direction"])
def test_everything_that_graphs_carry_counts(what):
    g, h = changed(what)
    assert pk.similarity(g, g) == 1.0
    assert 0.2 < pk.similarity(g, h) < 1.0


def test_nearer_numbers_are_more_similar():
    path = np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)
    near, far = (
        pk.similarity((path, None, np.full(10, 1.0)), (path, None, np.full(10, x))) for x in (1.1, 5)
    )
    assert 0 < far < near < 1


def test_kernels_that_do_not_count_are_normalized():
    graphs = pk.datasets.make_molecules(5, random_state=0).graphs
    kernel = pk.WeisfeilerLehman(t_max=2, base_kernel="rbf", normalize=True)
    assert pk.similarity(graphs, kernel=kernel) == pytest.approx(kernel.fit_transform(graphs))
    total = pk.SumKernel(normalize=True)
    assert pk.similarity(graphs, kernel=pk.SumKernel()) == pytest.approx(total.fit_transform(graphs))
    for wrong in (7, pk.WeisfeilerLehman, pk.WeisfeilerLehmanFeatures()):
        with pytest.raises(TypeError, match="kernel must be a kernel"):
            pk.similarity(graphs, kernel=wrong)


def test_a_graph_with_labels_and_one_without_share_nothing_and_a_sentence_says_so():
    path = nx.path_graph(3)
    labeled = nx.Graph(path)
    nx.set_node_attributes(labeled, "C", "label")
    with pytest.warns(UserWarning, match="graph 1 has no node labels and graph 0 has"):
        assert pk.similarity(labeled, path) == 0.0
    with pytest.warns(UserWarning, match="graph 1 has no node labels and graph 0 has"):
        assert pk.similar_because(labeled, path).value == 0.0
    with pytest.warns(UserWarning, match="graph 1 has no node labels and graph 0 has") as told:
        pk.GraphIndex().fit([labeled, path])
    assert told[0].filename == __file__
    several = nx.Graph(path)  # a label of two parts, of which the other graph has none
    nx.set_node_attributes(several, {v: {"color": "red", "size": "S"} for v in several})
    with pytest.warns(UserWarning, match="graph 1 has no node labels and graph 0 has"):
        assert pk.similarity(several, path) == 0.0
    blank = pk.check_graphs([path, path]).with_labels([None] * 6)
    assert pk.similarity(blank[0], blank[1]) == 1.0  # warnings are errors in tests
    assert pk.similarity(labeled, path, kernel=pk.WeisfeilerLehman(labels="degree")) == 1.0


def test_grids_and_graphs_without_nodes():
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 3, (6, 6)) for _ in range(2)]
    grids = pk.GridDatabase([images[0], images[0], images[1]])
    matrix = pk.similarity(grids)
    assert matrix[0, 1] == 1.0 > matrix[0, 2] > 0
    assert pk.similarity(nx.Graph(), nx.Graph()) == 1.0
    assert pk.similarity(nx.Graph(), nx.path_graph(2)) == 0.0
