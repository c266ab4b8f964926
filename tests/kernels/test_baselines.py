"""Baselines of the paper: each kernel against its naive twin, and label histograms in closed form."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array

import propkernels as pk
from propkernels.kernels import (
    AttributeKernel,
    GraphHopper,
    LabelHistogram,
    LabelHistogramFeatures,
    ShortestPathFeatures,
    SubgraphMatching,
)
from tests.kernels.test_pairs import attributed
from tests.naive_baselines import (
    attribute_kernel,
    gram_of,
    graph_hopper_kernel,
    node_kernel,
    plain_graphs,
    shortest_path_kernel,
    subgraph_matching,
    subtree_kernels,
)
from tests.strategies import databases
from tests.zoo import cycle_edges, labelled_zoo, one, path_edges

# label histograms and attributes

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
GRAPHS = [(PATH, ["C", "O", "C"]), (PATH, ["C", "C", "N"]), (PATH, ["N", None, "N"])]
COUNTS = np.array([[2, 1, 0, 0], [2, 0, 1, 0], [0, 0, 2, 1]])  # C, O, N, unobserved


@pytest.mark.parametrize("base_kernel", ["linear", "intersection"])
def test_kernel_and_features_count_labels(base_kernel):
    if base_kernel == "linear":
        expected = COUNTS @ COUNTS.T
    else:
        expected = np.minimum(COUNTS[:, None], COUNTS[None]).sum(axis=2)
    assert np.array_equal(LabelHistogram(base_kernel=base_kernel).fit_transform(GRAPHS), expected)
    phi = LabelHistogramFeatures(base_kernel=base_kernel).fit_transform(GRAPHS)
    assert np.array_equal((phi @ phi.T).toarray(), expected)


def test_degrees_of_nodes_are_labels():
    assert np.array_equal(LabelHistogram(labels="degree").fit_transform(GRAPHS), np.full((3, 3), 5.0))
    assert np.array_equal(LabelHistogram(labels=None).fit_transform(GRAPHS), np.full((3, 3), 9.0))


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=databases(labelled=True, n_attributes=2, min_nodes=0))
def test_attribute_kernels_equal_the_naive_twin(graphs):
    for attributes in ("gaussian", "linear", "truncated"):
        nodes = node_kernel(False, attributes, 0.5)
        reference = gram_of(lambda a, b, nodes=nodes: attribute_kernel(a, b, nodes), plain_graphs(graphs))
        kernel = AttributeKernel(attributes=attributes, standardize=False)
        np.testing.assert_allclose(kernel.fit_transform(graphs), reference, rtol=1e-9, atol=1e-12)


def test_standardized_by_the_training_graphs():
    graphs = attributed()
    kernel = AttributeKernel().fit(graphs)
    scaled = graphs.with_attributes(graphs.node_attributes * [3.0, 0.1] + [5.0, -7.0])
    other = AttributeKernel().fit(scaled)
    np.testing.assert_allclose(other.transform(scaled[:6]), kernel.transform(graphs[:6]), rtol=1e-9)


# shortest paths, and nodes on them

TWINS = {pk.ShortestPath: shortest_path_kernel, GraphHopper: graph_hopper_kernel}
every_twin = pytest.mark.parametrize("cls", TWINS)


def along_paths(cls, graphs, nodes, weighted=True):
    return gram_of(lambda a, b: TWINS[cls](a, b, nodes, weighted), plain_graphs(graphs))


@pytest.mark.slow
@every_twin
@settings(max_examples=20)
@given(graphs=databases(labelled="any", partial=True, directed=True, weighted=True, max_graphs=3))
def test_paths_equal_the_naive_twin(cls, graphs):
    for weighted in (True, False):
        reference = along_paths(cls, graphs, node_kernel(True, None), weighted)
        assert np.array_equal(cls(labels="node", weighted=weighted).fit_transform(graphs), reference)


@pytest.mark.slow
@every_twin
@settings(max_examples=15)
@given(graphs=databases(labelled=True, directed=True, weighted=True, n_attributes=2, max_graphs=3))
def test_attributes_along_paths_equal_the_naive_twin(cls, graphs):
    for attributes in ("gaussian", "linear", "truncated"):
        for labels in ("node", None):
            reference = along_paths(cls, graphs, node_kernel(labels == "node", attributes, 0.5))
            kernel = cls(labels=labels, attributes=attributes, standardize=False)
            np.testing.assert_allclose(kernel.fit_transform(graphs), reference, rtol=1e-9, atol=1e-9)


def test_weighted_and_unweighted_graphs_meet():
    """Lengths are numbers: two edges of weight 1 are as long as one of weight 2."""
    long = one(2, [(0, 1)], [5, 6], weights=2.0)
    short = one(3, path_edges(3), [5, 0, 6])
    kernel = pk.ShortestPath().fit(short)
    assert kernel.transform(long)[0, 0] == 2.0
    assert pk.ShortestPath().fit(long).transform(short)[0, 0] == 2.0


def test_edge_labels_along_the_path():
    def chain(names):
        return one(3, path_edges(3), [0, 1, 2], edge_labels=names)

    graphs = pk.GraphDatabase.concat([chain("ab"), chain("ab"), chain("ba"), chain("aa")])
    kernel = pk.ShortestPath(edge_labels=True).fit_transform(graphs)
    assert np.array_equal(kernel[0], [6, 6, 0, 2])
    square = one(4, cycle_edges(4), [0, 1, 2, 3], edge_labels="abab")
    turned = one(4, cycle_edges(4), [0, 1, 2, 3], edge_labels="abba")
    both = pk.GraphDatabase.concat([square, square, turned])
    kernel = pk.ShortestPath(edge_labels=True).fit_transform(both)
    assert kernel[0, 0] == kernel[0, 1] == 12
    assert kernel[0, 2] == 4


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("labels", [None, "node"])
def test_leaves_of_one_node_are_searched_from_once(labels, n_jobs):
    """Leaves share a parent and a label, or only one of them, or are each other's parent."""
    edges = [(0, 1), (1, 2), *((0, leaf) for leaf in range(3, 8)), (2, 8), (2, 9), (10, 11), (12, 12)]
    tree = one(14, edges, [0, 1, 0, 0, 0, 1, 0, None, 1, 1, 0, 0, 2, 2])
    alone = pk.ShortestPath(labels=labels, n_jobs=n_jobs).fit_transform(tree)
    together = pk.ShortestPath(labels=labels).fit_transform(pk.GraphDatabase.concat([tree, tree]))
    assert np.array_equal(together, np.full((2, 2), alone[0, 0]))


@pytest.mark.slow
def test_a_star_of_many_nodes_takes_two_searches():
    n = 50_000
    ends = np.concatenate([np.zeros(n, dtype=int), np.arange(1, n + 1)])
    star = csr_array((np.ones(2 * n), (ends, np.roll(ends, n))), shape=(n + 1, n + 1))
    found = ShortestPathFeatures(labels=None).fit_transform(pk.from_adjacency([star]))
    assert sorted(found.data.tolist()) == [2 * n, n * (n - 1)]


def test_searches_that_take_minutes_are_warned_of(monkeypatch):
    monkeypatch.setattr("propkernels.kernels.shortest_path.MANY_STEPS", 10)
    with pytest.warns(UserWarning, match="shortest paths from 4 nodes .* take minutes or more: Propagation"):
        pk.ShortestPath().fit(one(4, [(0, 1), (1, 2), (2, 3)]))


def test_edits_follow_an_entry_of_labels():
    graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    tuples = np.empty(graphs.n_nodes, dtype=object)
    tuples[:] = [(str(label), i % 2) for i, label in enumerate(graphs.node_labels)]
    graphs = graphs.with_labels(tuples)
    kernel = pk.ShortestPath(labels=0, base_kernel="intersection")
    model = pk.PropagationRegressor(kernel=kernel, C=1.0, random_state=0).fit(
        graphs, graphs.graph_sizes * 1.0
    )
    found = model.counterfactuals(graphs[0], max_edits=1, allowed={"labels": [("O", 1), ("C", 0)]})
    np.testing.assert_array_equal(found.decision, model.predict([one.graph for one in found]))


def test_transform_to_new_graphs_with_longer_paths():
    short, long = one(4, path_edges(4)), one(9, path_edges(9))
    both = pk.GraphDatabase.concat([short, long])
    for normalize in (False, True):
        reference = GraphHopper(normalize=normalize).fit_transform(both)
        computed = GraphHopper(normalize=normalize).fit(short).transform(long)
        np.testing.assert_allclose(computed[0, 0], reference[1, 0], rtol=1e-12)


def test_runs_of_graphs_count_the_same(monkeypatch):
    reference = GraphHopper().fit_transform(labelled_zoo())
    monkeypatch.setattr("propkernels.kernels.graph_hopper.PAIRS_IN_MEMORY", 5)
    np.testing.assert_array_equal(GraphHopper().fit_transform(labelled_zoo()), reference)


# subtrees


@pytest.mark.slow
@settings(max_examples=30)
@given(graphs=databases(labelled="any", partial=True, directed=True, weighted=True))
def test_subtrees_equal_the_naive_twin(graphs):
    reference = subtree_kernels(plain_graphs(graphs), 4)
    kernel = pk.WeisfeilerLehman(t_max=4, labels="node")
    assert np.array_equal(kernel.fit_transform_cumulative(graphs), reference)


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=databases(labelled=True, edge_labels=True, directed=True))
def test_subtrees_over_labeled_edges_equal_the_naive_twin(graphs):
    reference = subtree_kernels(plain_graphs(graphs), 3, edge_labels=True)
    kernel = pk.WeisfeilerLehman(t_max=3, labels="node", edge_labels=True)
    assert np.array_equal(kernel.fit_transform_cumulative(graphs), reference)


@pytest.mark.parametrize("labels", ["node", "degree", None])
def test_subtrees_of_the_zoo(labels):
    reference = subtree_kernels(plain_graphs(labelled_zoo(), labels), 5)[-1]
    computed = pk.WeisfeilerLehman(t_max=5, labels=labels).fit_transform(labelled_zoo())
    assert np.array_equal(computed, reference)


def test_weights_of_subtrees_matter_only_if_asked_for():
    edge = np.array([[0.0, 1.0], [1.0, 0.0]])
    graphs = [(edge, [0, 0]), (2 * edge, [0, 0])]
    ignored = pk.WeisfeilerLehman(t_max=1).fit_transform(graphs)
    told_apart = pk.WeisfeilerLehman(t_max=1, edge_weights=True).fit_transform(graphs)
    assert np.array_equal(ignored, [[8, 8], [8, 8]])
    assert np.array_equal(told_apart, [[8, 4], [4, 8]])


# subgraphs


def naive_matching(graphs, k, nodes, **options):
    """Cumulative kernels, (k, n, n)."""
    plain = plain_graphs(graphs)
    sizes = [
        gram_of(lambda a, b, s=s: subgraph_matching(a, b, k, nodes, **options)[s], plain) for s in range(k)
    ]
    return np.cumsum(sizes, axis=0)


@pytest.mark.slow
@settings(max_examples=12)
@given(graphs=databases(labelled=True, directed=True, max_graphs=2, max_nodes=5))
def test_subgraphs_equal_the_naive_twin(graphs):
    for connected in (True, False):
        reference = naive_matching(graphs, 4, node_kernel(True, None), connected=connected)
        kernel = SubgraphMatching(k=4, labels="node", connected=connected)
        assert np.array_equal(kernel.fit_transform_cumulative(graphs), reference)
        assert np.array_equal(kernel.fit_transform(graphs), reference[-1])


@pytest.mark.slow
@settings(max_examples=10)
@given(graphs=databases(labelled=True, edge_labels=True, n_attributes=2, max_graphs=2, max_nodes=4))
def test_subgraphs_with_edge_labels_and_attributes_equal_the_naive_twin(graphs):
    for attributes in ("gaussian", "linear", "truncated"):
        reference = naive_matching(graphs, 3, node_kernel(True, attributes, 0.5), edge_labels=True)
        kernel = SubgraphMatching(k=3, edge_labels=True, attributes=attributes, standardize=False)
        np.testing.assert_allclose(kernel.fit_transform_cumulative(graphs), reference, rtol=1e-9, atol=1e-9)


def test_lambdas_weigh_the_sizes():
    graphs = labelled_zoo()[:12]
    sizes = np.diff(SubgraphMatching(k=3).fit_transform_cumulative(graphs), axis=0, prepend=0)
    computed = SubgraphMatching(k=3, lambdas=[1, 0.5, 2]).fit_transform(graphs)
    np.testing.assert_allclose(computed, sizes[0] + 0.5 * sizes[1] + 2 * sizes[2])


@pytest.mark.parametrize("connected", [True, False], ids=["counted", "cliques"])
def test_weights_tell_edges_apart_if_asked_for(connected):
    """Two nodes without an edge match in both rings, if subgraphs need not be connected."""
    ring = [one(4, cycle_edges(4), [0] * 4, weights=w) for w in (1.0, 2.0)]
    graphs, apart = pk.GraphDatabase.concat(ring), 0 if connected else 8
    kernel = SubgraphMatching(k=2, connected=connected)
    assert kernel.fit_transform(graphs)[0, 1] == 16 + 32 + apart
    assert kernel.set_params(edge_weights=True).fit_transform(graphs)[0, 1] == 16 + apart


def test_words_of_edges_tell_directions_apart_and_every_pair_has_one():
    graphs = pk.check_graphs([np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])])  # 0 -> 1, 1 <-> 2
    prepared = SubgraphMatching(k=2, labels=None, connected=False).fit(graphs)._counts
    words = prepared.edges.reshape(3, 3)
    assert not words[[0, 1, 2, 0, 2], [0, 1, 2, 2, 0]].any()
    assert words[1, 2] == words[2, 1]
    assert len({int(words[0, 1]), int(words[1, 0]), int(words[1, 2])}) == 3
    prepared._check_parts()
    with pytest.raises(ValueError, match="every pair of nodes"):
        prepared._replace(edges=prepared.edges[:4], pair_ptr=np.array([0, 4]))._check_parts()
