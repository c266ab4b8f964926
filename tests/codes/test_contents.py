"""Contents of graphs as words, and what refinement can tell apart."""

import networkx as nx
import numpy as np

import propkernels as pk
from propkernels.codes.contents import bits, everything, groups_by_step, labels_alone


def test_equal_groups_are_equal_rows_of_the_exact_kernel():
    """At each t, graphs are alike where the exact Weisfeiler-Lehman kernel has the same counts."""
    graphs = pk.datasets.make_molecules(40, random_state=1).graphs
    groups = groups_by_step(everything(graphs), 2)
    for t, found in enumerate(groups):
        rows = pk.WeisfeilerLehmanFeatures(t_max=t).fit_transform(graphs).toarray()
        expected = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


def test_kernels_cannot_tell_apart_what_is_alike():
    graphs = pk.from_networkx([nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))])
    assert [row.tolist() for row in groups_by_step(everything(graphs), 3)] == [[0, 0]] * 4
    kernel = pk.PropagationKernel(t_max=3, normalize=True, random_state=0).fit_transform(graphs)
    np.testing.assert_allclose(kernel, 1.0)


def test_nodes_without_labels_start_with_their_degrees():
    graphs = pk.from_networkx([nx.path_graph(4), nx.star_graph(3)])
    assert groups_by_step(everything(graphs), 0)[0].tolist() == [0, 1]


def test_edges_count_only_where_they_are_asked_for():
    path = nx.path_graph(2)
    other = nx.path_graph(2)
    nx.set_edge_attributes(path, 1, "label")
    nx.set_edge_attributes(other, 2, "label")
    graphs = pk.from_networkx([path, other])
    assert groups_by_step(everything(graphs), 1)[1].tolist() == [0, 1]
    assert groups_by_step(labels_alone(graphs), 1)[1].tolist() == [0, 0]


def test_words_of_numbers():
    words = bits(np.array([[np.nan, -0.0, 1.0]]))
    assert words[0, 0] == bits(np.array([[np.float64("nan")]]))[0, 0]
    assert words[0, 1] == 0
    assert words[0, 2] != 0
