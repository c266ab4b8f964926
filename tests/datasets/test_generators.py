"""Generated data sets."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propkernels.datasets import Dataset, make_molecules, make_synthetic


def label_counts(data: Dataset) -> np.ndarray:
    column = data.graphs.label_column
    assert column is not None
    counts = np.zeros((len(data.graphs), len(column.values)))
    np.add.at(counts, (data.graphs.graph_ids, column.ids), 1)
    return counts


def bonds(data: Dataset, first: str, second: str) -> np.ndarray:
    """Number of bonds between two kinds of atoms, one number per graph."""
    labels = data.graphs.node_labels
    assert labels is not None
    at_first = (data.graphs.adjacency @ (labels == second).astype(float)) * (labels == first)
    return np.bincount(data.graphs.graph_ids, at_first, minlength=len(data.graphs))


@given(st.integers(1, 20), st.integers(1, 60), st.integers(0, 1000))
def test_molecules_are_connected_and_of_degree_four_at_most(n_graphs: int, mean: int, seed: int) -> None:
    data = make_molecules(n_graphs, random_state=seed, mean_nodes=mean)
    assert len(data.graphs) == n_graphs
    assert data.graphs.degrees.max() <= 4
    assert data.graphs.is_unweighted
    assert not data.graphs.adjacency.diagonal().any()
    assert not data.graphs.is_directed
    assert all(nx.is_connected(graph.to_networkx()) for graph in data.graphs)


def test_some_have_rings_of_six() -> None:
    graphs = [graph.to_networkx() for graph in make_molecules(100, random_state=0).graphs]
    cycles = [len(cycle) for graph in graphs for cycle in nx.minimum_cycle_basis(graph)]
    assert set(cycles) == {6}
    assert 30 < len(cycles) < 300
    assert sum(nx.is_tree(graph) for graph in graphs) > 5


def test_classes_have_the_same_atoms_but_other_bonds() -> None:
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
    (make_synthetic, {"n_graphs": 0}, ValueError, "n_graphs must be at least 1, got 0"),
    (make_synthetic, {"n_nodes": 2.5}, TypeError, "n_nodes must be a whole number, got 2.5"),
    (make_synthetic, {"n_nodes": 4, "n_edges": 7}, ValueError, "at most 6 for 4 nodes, got 7"),
]


@pytest.mark.parametrize(("make", "arguments", "error", "message"), INVALID)
def test_bad_arguments(make, arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        make(**arguments)


def attributes(data) -> np.ndarray:
    return data.graphs.node_attributes.reshape(len(data.graphs), -1)


def test_sizes_of_the_paper() -> None:
    data = make_synthetic(random_state=0)
    assert set(data.graphs.graph_sizes.tolist()) == {100}
    assert {graph.n_edges for graph in data.graphs[:10]} == {196}
    first = data.graphs[0].adjacency.toarray()
    assert all(np.array_equal(graph.adjacency.toarray(), first) for graph in data.graphs[:6])
    assert np.bincount(data.target).tolist() == [150, 150]
    assert data.graphs.node_labels is None
    assert not data.graphs.is_directed


def test_ten_attributes_are_exchanged_in_class_a() -> None:
    data = make_synthetic(n_graphs=40, random_state=0)
    in_a = attributes(data)[data.target == 0]
    base = np.median(in_a, axis=0)
    assert set((in_a != base).sum(axis=1).tolist()) == {10}
    np.testing.assert_array_equal(np.sort(in_a, axis=1), np.sort(np.tile(base, (20, 1)), axis=1))


def test_noise_and_five_exchanged_attributes_in_class_b() -> None:
    data = make_synthetic(random_state=0)
    base = np.median(attributes(data)[data.target == 0], axis=0)
    difference = attributes(data)[data.target == 1] - base
    noise = np.median(np.abs(difference)) / 0.6745
    assert 0.43 < noise < 0.50
    # the variance of an exchanged attribute is that of a difference of two draws, 2 Var(base), on top
    expected = 0.45**2 + 0.05 * 2 * base.var()
    assert abs(difference.var() - expected) < 0.03
