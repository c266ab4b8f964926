"""Contents of graphs as words, and what refinement can tell apart."""

from dataclasses import astuple

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import propkernels as pk
from propkernels.codes.contents import contents_by_value, everything, groups_by_step, labels_alone
from tests.strategies import databases
from tests.zoo import one


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


EDGE = {"labels": ["a", "b"], "attributes": [[1.0], [2.0]], "edge_labels": [7], "weights": 1.0}


@pytest.mark.parametrize(
    ("change", "of_nodes"),
    [
        ({"labels": ["a", "c"]}, True),
        ({"attributes": [[1.0], [-2.0]]}, True),
        ({"edge_labels": [8]}, False),
        ({"weights": 2.0}, False),
    ],
    ids=str,
)
def test_whatever_differs_is_told_apart(change, of_nodes):
    """Labels, attributes and weights; edges only where they are asked for, and nothing that is ignored."""
    same, other = one(2, [(0, 1)], **EDGE), one(2, [(0, 1)], **EDGE | change)
    graphs = pk.GraphDatabase.concat([same, other, same])
    assert groups_by_step(everything(graphs), 1)[1].tolist() == [0, 1, 0]
    assert groups_by_step(labels_alone(graphs), 1)[1].tolist() == [0, int(of_nodes), 0]
    assert groups_by_step(contents_by_value(graphs), 1)[1].tolist() == [0, 1, 0]
    (ignored,) = change
    assert groups_by_step(contents_by_value(graphs, ignored), 1)[1].tolist() == [0, 0, 0]


def test_attributes_of_edges_count_too():
    edges = [csr_with([first, 2.0]) for first in (1.0, 3.0)]
    graphs = pk.GraphDatabase.concat(edges)
    for contents in (everything(graphs), contents_by_value(graphs)):
        assert groups_by_step(contents, 1)[1].tolist() == [0, 1]
    assert groups_by_step(contents_by_value(graphs, "attributes"), 1)[1].tolist() == [0, 0]


def csr_with(edge_attributes):
    return pk.GraphDatabase(np.array([[0, 1], [1, 0]]), [0, 2], edge_attributes=edge_attributes)


@given(
    databases(labelled="any", partial=True, weighted=True, directed=True, edge_labels=True, n_attributes=1)
)
def test_words_by_value_are_those_of_each_graph_alone(graphs):
    whole = contents_by_value(graphs)
    for i in range(len(graphs)):
        alone, part = contents_by_value(graphs[[i]]), whole.take(np.array([i]))
        assert part.graphs == graphs[[i]]
        assert all(np.array_equal(a, b) for a, b in zip(astuple(part)[1:], astuple(alone)[1:], strict=True))
    values = zip(map(repr, graphs.node_labels), graphs.node_attributes[:, 0].tolist(), strict=True)
    pairs = set(zip(values, map(tuple, whole.nodes.tolist()), strict=True))
    assert len({value for value, _ in pairs}) == len({words for _, words in pairs}) == len(pairs)


def test_distributions_are_equal_whatever_the_order_of_their_labels():
    rows = np.array([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
    given = [(rows, "abc"), (rows[:, [2, 0, 1]], "cab"), (rows[::-1], "abc"), (rows[:, [1, 0, 2]], "abc")]
    given.append((np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]), "abc"))  # another uncertain distribution
    columns = [pk.LabelDistributions(table, tuple(names)) for table, names in given]
    graphs = [one(2, [(0, 1)], column) for column in columns]
    words = [contents_by_value(graph).nodes for graph in graphs]
    assert np.array_equal(words[0], words[1])
    assert np.array_equal(words[0], words[2][::-1])
    assert not np.array_equal(words[0], words[3])
    together = pk.GraphDatabase.concat(graphs)
    assert groups_by_step(everything(together), 1)[1].tolist() == [0, 0, 0, 1, 2]
    assert pk.similarity(graphs[0], graphs[1]) == 1 > pk.similarity(graphs[0], graphs[4])
    assert pk.graph_hash(graphs[0]) == pk.graph_hash(graphs[2]) != pk.graph_hash(graphs[4])
    observed = pk.LabelDistributions(rows, observed=np.array([True, True]))
    assert not np.array_equal(words[0], contents_by_value(one(2, [(0, 1)], observed)).nodes)
    unknown = pk.LabelDistributions(rows, known=np.array([False, True]))
    assert not np.array_equal(*contents_by_value(one(2, [(0, 1)], unknown)).nodes)
