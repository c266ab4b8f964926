"""similar_because: shared bins, their nodes, and sums that are the kernel."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from sklearn.base import clone

import propkernels as pk
from propkernels.explain.rule import Rule, dual_members
from propkernels.kernels import LabelHistogram
from tests.strategies import databases
from tests.test_contract_discovery import cases, fitted_on_the_zoo, gram, the_zoo

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def pair(seed=0):
    """Two small graphs with labels and attributes, one of them with an isolated node."""
    data = pk.datasets.make_molecules(2, random_state=seed, mean_nodes=14)
    alone = (np.zeros((1, 1)), ["C"])
    graphs = pk.check_graphs([data.graphs[0], data.graphs[1], alone])
    joined = pk.GraphDatabase(graphs.adjacency, [0, graphs.graph_ptr[1], graphs.n_nodes], graphs.node_labels)
    rng = np.random.default_rng(seed)
    return joined.with_attributes(rng.integers(0, 3, (joined.n_nodes, 2)).astype(float))


@given(databases(2, 2, weighted=True, directed=True, edge_labels=True, n_attributes=1))
def test_without_a_kernel_contributions_add_up_to_the_similarity(graphs):
    why = pk.similar_because(graphs[0], graphs[1])
    assert why.value == pytest.approx(pk.similarity(graphs[0], graphs[1]) if why.bins else 0.0, rel=1e-12)
    for side in "gh":
        assert why.node_contributions(side).sum() == pytest.approx(why.value, rel=1e-12)
    assert str(why).startswith("similarity = ")


@pytest.mark.slow
@cases("kernel", "features")
def test_every_kernel_that_counts_on_the_zoo(cls, parameters):
    estimator, output = fitted_on_the_zoo(cls, parameters)
    graphs, matrix = the_zoo(), gram(cls, output)
    has_bins = any(getattr(estimator, name, None) is not None for name in ("_counter", "_counting"))
    if getattr(estimator, "n_features", None) is not None or not has_bins:
        with pytest.raises((TypeError, ValueError)):
            pk.similar_because(graphs[0], graphs[1], kernel=estimator)
        return
    for i, j in ((0, 1), (3, 3), (4, 9), (len(graphs) - 1, 2)):
        why = pk.similar_because(graphs[i], graphs[j], kernel=estimator)
        assert why.value == pytest.approx(matrix[i, j], rel=1e-9, abs=1e-12)
        added = [shared.contribution for shared in why.bins]
        assert added == sorted(added, reverse=True)
        nodes = [why.node_contributions(side) for side in "gh"]
        assert [len(part) for part in nodes] == [graphs[i].n_nodes, graphs[j].n_nodes]
        for parts in (added, why.by_iteration, *nodes):
            assert np.sum(parts) == pytest.approx(why.value, rel=1e-9, abs=1e-12)


def test_the_bins_of_label_counts_are_the_labels():
    graphs = pair()
    why = pk.similar_because(*graphs, kernel=LabelHistogram())
    counts = [Counter(graph.node_labels.tolist()) for graph in graphs]
    assert {b.labels[0]: b.contribution for b in why.bins} == {
        label: counts[0][label] * counts[1][label] for label in counts[0] if label in counts[1]
    }
    for shared in why.bins:
        assert set(graphs[0].node_labels[shared.nodes_g]) == set(shared.labels)
        assert np.array_equal(np.flatnonzero(graphs[1].node_labels == shared.labels[0]), shared.nodes_h)


def test_nodes_of_a_refined_bin_have_equal_neighbourhoods():
    graphs = pair()
    why = pk.similar_because(*graphs, kernel=pk.WeisfeilerLehman(t_max=1))

    def seen(graph, node):
        row = graph.adjacency[[node]]
        return graph.node_labels[node], tuple(sorted(graph.node_labels[row.indices]))

    refined = [b for b in why.bins if b.t == 1]
    assert refined
    for shared in refined:
        around = {seen(graphs[0], v) for v in shared.nodes_g} | {seen(graphs[1], v) for v in shared.nodes_h}
        assert len(around) == 1


def test_bins_of_several_hashes_with_the_same_nodes_are_one_entry():
    why = pk.similar_because(*pair(), kernel=pk.PropagationKernel(t_max=0, n_hashes=4, random_state=0))
    assert {b.n_hashes for b in why.bins} == {4}
    assert len({(b.t, tuple(b.nodes_g)) for b in why.bins}) == len(why.bins)


def test_shortest_paths_are_pairs_of_nodes():
    why = pk.similar_because((PATH, ["C", "O", "C"]), (PATH, ["C", "O", "N"]), kernel=pk.ShortestPath())
    found = {(tuple(map(tuple, b.nodes_g)), tuple(map(tuple, b.nodes_h))) for b in why.bins}
    assert found == {(((0, 1), (2, 1)), ((0, 1),)), (((1, 0), (1, 2)), ((1, 0),))}
    assert "0-1 2-1" in str(why)


def test_an_index_says_why_it_found_a_graph():
    graphs = pk.datasets.make_molecules(30, random_state=0).graphs
    index = pk.GraphIndex(random_state=0).fit(graphs[:25])
    similarities, ids = index.query(graphs[27], k=2)
    why = pk.similar_because(graphs[27], graphs[int(ids[1])], kernel=index)
    assert why.value == pytest.approx(similarities[1], rel=1e-9)


@pytest.mark.parametrize(
    ("kernel", "kind", "message"),
    [
        (pk.PropagationKernel(base_kernel="rbf"), TypeError, "not a dot product or a ratio of counts"),
        (pk.ShortestPath(attributes="gaussian"), TypeError, "not a dot product or a ratio of counts"),
        (pk.PropagationFeatures(n_features=64), ValueError, "n_features must be None"),
        (pk.PropagationKernel, TypeError, "got PropagationKernel"),
        (object(), TypeError, "got object"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused(kernel, kind, message):
    graphs = pair()
    with pytest.raises(kind, match=message):
        pk.similar_because(*graphs, kernel=kernel)


def test_a_mean_of_kernels_with_different_t_max_counts_each_up_to_its_own():
    """Members share the codes of the longest of them; each compares its own iterations only."""
    graphs = pk.datasets.make_molecules(12, random_state=0).graphs
    kernels = [pk.WeisfeilerLehman(t_max=n) for n in (0, 2)]
    members = [dual_members(clone(kernel).fit(graphs), np.ones((12, 1))) for kernel in kernels]
    model = pk.PropagationClassifier()
    model.rule_ = Rule.of([one.scaled(1 / len(members)) for several in members for one in several])
    assert len(model.rule_.vocabularies) == 1
    expected = sum(kernel.fit_transform(graphs[:2])[0, 1] for kernel in kernels)
    assert pk.similar_because(graphs[0], graphs[1], kernel=model).value == expected


def test_tables():
    why = pk.similar_because(*pair(), kernel=pk.PropagationKernel(t_max=3, random_state=0))
    frame = why.to_frame()
    assert len(frame) == len(why.bins)
    assert frame["share"].sum() == pytest.approx(1)
    assert list(frame["contribution"]) == sorted(frame["contribution"], reverse=True)
    text = why.table(2).splitlines()
    assert text[0].split()[:2] == ["t", "adds"]
    assert text[-1] == f"... and {len(why.bins) - 2} more"
    assert repr(why).startswith("Similarity(")
    html = why._repr_html_()
    assert html.count("<svg") == html.count("<figcaption") == 2
    assert html.count("<circle") == sum(len(why.node_contributions(side)) for side in "gh")
