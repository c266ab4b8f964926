"""Generated data sets."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.datasets import make_molecules


def label_counts(data):
    column = data.graphs.label_column
    assert column is not None
    counts = np.zeros((len(data.graphs), len(column.values)))
    np.add.at(counts, (data.graphs.graph_ids, column.ids), 1)
    return counts


def bonds(data, first, second):
    """Number of bonds between two kinds of atoms, one number per graph."""
    labels = data.graphs.node_labels
    assert labels is not None
    at_first = (data.graphs.adjacency @ (labels == second).astype(float)) * (labels == first)
    return np.bincount(data.graphs.graph_ids, at_first, minlength=len(data.graphs))


@given(st.integers(1, 20), st.integers(1, 60), st.integers(0, 1000))
def test_molecules_are_connected_and_of_degree_four_at_most(n_graphs, mean, seed):
    data = make_molecules(n_graphs, random_state=seed, mean_nodes=mean)
    assert len(data.graphs) == n_graphs
    assert data.graphs.degrees.max() <= 4
    assert data.graphs.is_unweighted
    assert not data.graphs.adjacency.diagonal().any()
    assert not data.graphs.is_directed
    assert all(nx.is_connected(graph.to_networkx()) for graph in data.graphs)


def test_some_have_rings_of_six():
    graphs = [graph.to_networkx() for graph in make_molecules(100, random_state=0).graphs]
    cycles = [len(cycle) for graph in graphs for cycle in nx.minimum_cycle_basis(graph)]
    assert set(cycles) == {6}
    assert 30 < len(cycles) < 300
    assert sum(nx.is_tree(graph) for graph in graphs) > 5


def test_classes_have_the_same_atoms_but_other_bonds():
    data = make_molecules(4000, random_state=0)
    assert np.bincount(data.target).tolist() == [2000, 2000]
    counts = label_counts(data)
    a, b = counts[data.target == 0], counts[data.target == 1]
    error = np.sqrt(a.var(axis=0) / len(a) + b.var(axis=0) / len(b))
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error).all()
    assert (counts.mean(axis=0) > 0).all()
    nitrogen_oxygen = bonds(data, "N", "O")
    assert nitrogen_oxygen[data.target == 1].mean() > 2 * nitrogen_oxygen[data.target == 0].mean()


INVALID = [
    (make_molecules, {"n_graphs": -1}, ValueError, "n_graphs must be at least 1, got -1"),
    (make_molecules, {"n_graphs": 3, "mean_nodes": True}, TypeError, "must be a whole number, got True"),
]


@pytest.mark.parametrize(("make", "arguments", "error", "message"), INVALID)
def test_bad_arguments(make, arguments, error, message):
    with pytest.raises(error, match=message):
        make(**arguments)
