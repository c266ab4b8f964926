"""Nodes and edges in order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from propkernels.datasets.tu.order import EdgeOrder, NodeOrder, adjacency_matrix, undirected


def test_sorted_nodes_stay() -> None:
    nodes = NodeOrder.of(np.array([0, 0, 2]), 3)
    assert nodes.sorting is None
    assert nodes.graph_ptr.tolist() == [0, 2, 2, 3]
    assert nodes.sort(np.array([7, 8, 9])).tolist() == [7, 8, 9]


def test_unsorted_nodes_move_and_keep_their_order_within_a_graph() -> None:
    nodes = NodeOrder.of(np.array([1, 0, 1, 0]), 2)
    assert nodes.sort(np.array(list("abcd"))).tolist() == ["b", "d", "a", "c"]
    assert nodes.new_numbers(np.array([0, 1, 2, 3])).tolist() == [2, 0, 3, 1]
    assert nodes.graph_ptr.tolist() == [0, 2, 4]


N_NODES = 6
EDGES = st.lists(st.tuples(st.integers(0, N_NODES - 1), st.integers(0, N_NODES - 1)))


@given(EDGES)
def test_matrix_has_a_one_for_each_listed_edge(edges: list[tuple[int, int]]) -> None:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    order = EdgeOrder.of(ends, N_NODES)
    matrix = adjacency_matrix(ends, order, N_NODES)
    reference = np.zeros((N_NODES, N_NODES))
    reference[ends[:, 0], ends[:, 1]] = 1
    np.testing.assert_array_equal(matrix.toarray(), reference)
    assert matrix.has_canonical_format
    row, column = matrix.tocoo().coords
    np.testing.assert_array_equal(ends[order.entries], np.stack([row, column], axis=1))


@given(EDGES)
def test_undirected_is_symmetric(edges: list[tuple[int, int]]) -> None:
    matrix = undirected(np.array(edges, dtype=np.int64).reshape(-1, 2), N_NODES).toarray()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert all(matrix[i, j] == 1 for i, j in edges)


def test_repeated_lines_are_compared() -> None:
    order = EdgeOrder.of(np.array([[0, 1], [1, 0], [0, 1]]), 2)
    assert order.entries.tolist() == [0, 1]
    ends = np.array([[0, 1], [1, 0], [0, 1]])
    assert EdgeOrder.of(ends, 2, [np.array([[5], [6], [5]])]).entries.tolist() == [0, 1]
    assert EdgeOrder.of(ends, 2, [np.array([[np.nan], [6], [np.nan]])]).entries.tolist() == [0, 1]
    assert EdgeOrder.of(ends, 2, [np.array([[5], [6], [7]])]).entries.tolist() == [0, 2, 1]
