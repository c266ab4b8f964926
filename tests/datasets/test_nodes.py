from __future__ import annotations

import numpy as np

from propkernels.datasets.nodes import NodeOrder


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
