from __future__ import annotations

import numpy as np
import pytest

from propkernels.datasets import make_synthetic


def attributes(data) -> np.ndarray:
    return data.graphs.node_attributes.reshape(len(data.graphs), -1)


def test_sizes_of_the_paper() -> None:
    data = make_synthetic(random_state=0)
    assert set(data.graphs.graph_sizes.tolist()) == {100}
    assert {graph.n_edges for graph in data.graphs[:10]} == {196}
    assert np.bincount(data.target).tolist() == [150, 150]
    assert data.graphs.node_labels is None
    assert not data.graphs.is_directed


def test_all_graphs_are_copies_of_one() -> None:
    graphs = make_synthetic(n_graphs=6, random_state=0).graphs
    first = graphs[0].adjacency.toarray()
    assert all(np.array_equal(graph.adjacency.toarray(), first) for graph in graphs)


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


def test_seeds() -> None:
    assert make_synthetic(4, random_state=1).graphs == make_synthetic(np.int64(4), random_state=1).graphs
    assert make_synthetic(4, random_state=1).graphs != make_synthetic(4, random_state=2).graphs


def test_small_ones() -> None:
    data = make_synthetic(n_graphs=3, n_nodes=2, n_edges=1, random_state=0)
    assert data.target.tolist() == [0, 0, 1]
    assert make_synthetic(n_graphs=1, n_nodes=1, n_edges=0).graphs.n_nodes == 1


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_graphs": 0}, ValueError, "n_graphs must be at least 1, got 0"),
        ({"n_nodes": 2.5}, TypeError, "n_nodes must be a whole number, got 2.5"),
        ({"n_nodes": 4, "n_edges": 7}, ValueError, "n_edges must be at most 6 for 4 nodes, got 7"),
    ],
)
def test_bad_arguments(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_synthetic(**arguments)
