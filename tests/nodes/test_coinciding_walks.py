"""The coinciding walk kernel equals the published algorithm with one absorbing node per label."""

import networkx as nx
import numpy as np
import pytest

import propkernels as pk
from propkernels.nodes import CoincidingWalkKernel

GRAPH = nx.gnp_random_graph(20, 0.2, seed=3)
LABELS = np.full(20, -1)
LABELS[[0, 4, 7, 11, 15]] = [0, 1, 2, 0, 1]


def naive(adjacency, labels, t_max, alpha):
    """Neumann, Garnett and Kersting (2013): labelled nodes lead to a pseudo node of their label."""
    n, classes = len(adjacency), np.unique(labels[labels >= 0])
    k = len(classes)
    degrees = adjacency.sum(axis=1)
    step = np.zeros((n + k, n + k))
    for i in range(n):
        step[i, :n] = adjacency[i] / degrees[i] if degrees[i] else np.eye(n)[i]
        if labels[i] >= 0 and degrees[i]:
            step[i] *= 1 - alpha
            step[i, n + labels[i]] = alpha
    step[n:, n:] = np.eye(k)
    current = np.vstack([np.full((n, k), 1 / k), np.eye(k)])
    for i in np.flatnonzero(labels >= 0):
        current[i] = np.eye(k)[labels[i]]
    kernel = np.zeros((n, n))
    for _ in range(t_max + 1):
        kernel += current[:n] @ current[:n].T
        current = step @ current
    return kernel / (t_max + 1)


@pytest.mark.parametrize("alpha", [1.0, 0.6])
@pytest.mark.parametrize("t_max", [0, 1, 5])
def test_the_kernel_is_the_published_one(alpha, t_max):
    reference = naive(nx.to_numpy_array(GRAPH), LABELS, t_max, alpha)
    computed = CoincidingWalkKernel(t_max=t_max, alpha=alpha).fit_transform(GRAPH, LABELS)
    np.testing.assert_allclose(computed, reference, atol=1e-13)


def test_features_give_the_kernel_and_other_graphs_are_compared():
    kernel = CoincidingWalkKernel(t_max=3).fit(GRAPH, LABELS)
    own = kernel.transform(GRAPH, LABELS)
    np.testing.assert_allclose(kernel.features_ @ kernel.features_.T, own, atol=1e-13)
    few = np.where(np.arange(20) < 5, LABELS, -1)
    assert kernel.transform(GRAPH, few).shape == (20, 20)


def test_node_labels_of_the_graph_are_the_default():
    labels = [None if v < 0 else int(v) for v in LABELS]
    graph = pk.check_graphs([(nx.to_numpy_array(GRAPH), labels)])
    expected = CoincidingWalkKernel().fit_transform(GRAPH, LABELS)
    assert (CoincidingWalkKernel().fit_transform(graph) == expected).all()


def test_a_new_label_is_refused():
    kernel = CoincidingWalkKernel().fit(GRAPH, LABELS)
    with pytest.raises(ValueError, match="the label 9, which did not occur in fit"):
        kernel.transform(GRAPH, np.where(LABELS == 2, 9, LABELS))
    with pytest.raises(ValueError, match="no node labels"):
        kernel.transform(GRAPH)


def test_a_subset_that_lists_labels_it_does_not_have():
    """Subsets of a database keep its list of labels."""
    path = np.array([[0, 1], [1, 0]])
    both = pk.check_graphs([(path, ["a", "b"]), (path, ["a", "c"])])
    kernel = CoincidingWalkKernel(t_max=2)
    expected = kernel.fit_transform(pk.check_graphs([(path, ["a", "b"])]))
    np.testing.assert_array_equal(kernel.fit_transform(both[:1]), expected)


def test_new_graphs_may_list_their_labels_in_another_order():
    """A column belongs to a label of fit, also where every node of the new graph is labeled."""
    path = np.array([[0, 1], [1, 0]])
    kernel = CoincidingWalkKernel(t_max=1).fit(pk.check_graphs([(path, ["b", "a"])]))
    again = kernel.transform(pk.check_graphs([(path, ["a", "b"])]))
    np.testing.assert_allclose(again, [[0, 1], [1, 0]], atol=1e-12)
