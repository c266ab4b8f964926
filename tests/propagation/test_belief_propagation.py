"""Belief propagation: message by message, and exact marginals on trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import propkernels as pk
from propkernels.propagation import BeliefPropagation
from tests.propagation import dense
from tests.strategies import databases
from tests.zoo import one, path_edges

HOMOPHILY = np.array([[4.0, 1, 1], [1, 4, 1], [1, 1, 4]])
COMPATIBILITY = np.array([[1.0, 3, 0.5], [3, 1, 2], [0.5, 2, 0.1]])


def couplings_of(start, homophily=4.0):
    k = len(start.values)
    return np.ones((k, k)) + (homophily - 1) * np.eye(k)


def moderate(graphs):
    """Replace a weight that would take the compatibility to the power of a thousand."""
    adjacency = graphs.adjacency.copy()
    adjacency.data[adjacency.data == 1e3] = 1.5
    return pk.GraphDatabase(adjacency, graphs.graph_ptr, graphs.label_column)


# against messages sent one by one


@settings(max_examples=15)
@given(
    graphs=databases(partial=True, weighted=True, directed=True, max_graphs=3).map(moderate),
    homophily=st.sampled_from([0.5, 2.0, 10.0]),
    damping=st.sampled_from([0.0, 0.5]),
)
def test_dense_twin_on_generated_graphs(graphs, homophily, damping):
    if not graphs.label_values:
        return
    start = dense.start(graphs)
    reference = dense.beliefs(start, couplings_of(start, homophily), damping, 3)
    computed = dense.library_history(graphs, BeliefPropagation(homophily=homophily, damping=damping), 3)
    assert np.allclose(computed, reference, atol=1e-9)


def test_extreme_weights_and_long_paths_stay_distributions():
    computed = dense.library_history(dense.partial_zoo(), BeliefPropagation(homophily=1e6), 30)
    assert np.isfinite(computed).all()
    assert np.allclose(computed.sum(axis=2), 1)


# exact on trees


@st.composite
def forests(draw, max_nodes=5, k=3):
    """Random forests with arbitrary potentials: certain, uncertain, and some labels impossible."""
    n = draw(st.integers(1, max_nodes))
    parents = [draw(st.integers(-1, i - 1)) for i in range(1, n)]
    edges = [(i + 1, parent) for i, parent in enumerate(parents) if parent >= 0]
    weight = st.sampled_from([0.0, 1.0, 0.25, 3.0])
    rows = [draw(st.lists(weight, min_size=k, max_size=k).filter(any)) for _ in range(n)]
    weights = [draw(st.sampled_from([1.0, 0.5, 2.0])) for _ in edges]
    return one(n, edges, pk.LabelDistributions(np.array(rows)), weights=weights)


def tree_start(graphs):
    rows = graphs.label_column.probabilities.toarray()
    return dense.Start(graphs.adjacency.toarray(), rows, np.ones(len(rows), dtype=bool), [0, 1, 2])


def all_columns(graphs, scheme, t_max):
    """P_t over the labels 0, 1, 2, also those that no node can have."""
    missing = [value for value in range(3) if value not in graphs.label_values]
    history = dense.library_history(graphs, scheme, t_max)
    return np.insert(history, [m - i for i, m in enumerate(missing)], 0.0, axis=2)


@pytest.mark.slow
@settings(max_examples=20)
@given(graphs=forests(), compatibility=st.sampled_from([HOMOPHILY, COMPATIBILITY]))
def test_exact_marginals_on_trees(graphs, compatibility):
    reference = dense.marginals(tree_start(graphs), compatibility)
    computed = all_columns(graphs, BeliefPropagation(compatibility), graphs.n_nodes)[-1]
    assert np.allclose(computed, reference, atol=1e-9)


def test_contradictions_leave_what_was_observed():
    graphs = one(2, [(0, 1)], [0, 0])
    computed = dense.library_history(graphs, BeliefPropagation([[0.0, 1.0], [1.0, 0.0]]), 3)
    assert (computed == 1).all()


# labels and their order


def test_labels_name_rows_in_the_order_given():
    graphs = one(4, path_edges(4), ["b", None, None, "a"])
    reference = dense.library_history(
        one(4, path_edges(4), [0, None, None, 1]), BeliefPropagation([[1, 5], [5, 2]]), 3
    )
    for labels, compatibility in ((["b", "a"], [[1, 5], [5, 2]]), (["a", "b"], [[2, 5], [5, 1]])):
        computed = dense.library_history(graphs, BeliefPropagation(compatibility, labels=labels), 3)
        assert np.allclose(computed, reference)


def test_labels_without_a_row_go_with_everything_equally():
    graphs = one(4, [(0, 1), (1, 2)], ["a", None, "stranger", "b"])
    scheme = BeliefPropagation([[3.0, 1.0], [1.0, 2.0]], labels=["a", "b"])
    computed = dense.library_history(graphs, scheme, 1)[1]
    assert np.allclose(computed[1], [0.6, 0.2, 0.2])
