"""What edges carry: attributes, names, ids, and parallel edges."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array

import propkernels as pk
from propkernels.graphs import GraphDatabase
from propkernels.kernels import SubgraphMatching
from propkernels.propagation import Diffusion

ENTRY = st.tuples(
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(1, 3),
    st.sampled_from(["a", "b", None]),
    st.integers(0, 1),
)


def database(entries, n=4, attributes=True):
    rows, cols, weights, labels, values = zip(*entries, strict=True) if entries else ((),) * 5
    matrix = coo_array((np.array(weights, dtype=float), (rows, cols)), shape=(n, n))
    rows_of = np.array(values, dtype=float).reshape(-1, 1) if attributes else None
    return GraphDatabase(matrix, [0, n], np.arange(n), edge_labels=list(labels), edge_attributes=rows_of)


def contents(graphs):
    """Weights added up by what an edge is, from the database."""
    coo = graphs.adjacency.tocoo()
    attributes = np.zeros((coo.nnz, 1)) if graphs.edge_attributes is None else graphs.edge_attributes
    labels = [None if label == -1 else label for label in graphs.edge_labels.tolist()]
    keys = zip(*(axis.tolist() for axis in coo.coords), labels, attributes[:, 0], strict=True)
    return dict(zip(keys, coo.data.tolist(), strict=True))


@pytest.mark.slow
@given(st.lists(ENTRY, max_size=12), st.randoms(use_true_random=False))
def test_entries_that_agree_add_up_and_others_stay_apart(entries, random):
    expected = defaultdict(float)
    for row, col, weight, label, value in entries:
        expected[row, col, label, value] += weight
    graphs = database(entries)
    assert contents(graphs) == dict(expected)
    assert graphs.adjacency.nnz == len(expected)  # each key once
    shuffled = random.sample(entries, len(entries))
    assert database(shuffled) == graphs  # the order follows from the contents
    pairs = {key[:2] for key in expected}
    assert graphs.has_parallel_edges == (len(pairs) < len(expected))


def parallel():
    """Two nodes joined by a single and a double edge, and a third node."""
    entries = [(0, 1, 1.0, "a", 0), (0, 1, 2.0, "b", 1), (1, 2, 4.0, "a", 1)]
    return database(entries + [(c, r, w, label, a) for r, c, w, label, a in entries], 3)


@pytest.mark.parametrize(
    "scheme", ["diffusion", "label_propagation", "label_spreading", Diffusion(direction="both")]
)
def test_every_scheme_sees_the_sum_of_parallel_edges(scheme):
    graphs = parallel().with_labels(np.array([0, -1, 1]) if scheme == "label_propagation" else np.arange(3))
    apart = graphs.with_edge_labels(None)
    merged = apart.with_edge_attributes(None)
    assert [one.n_edges for one in (graphs, apart, merged)] == [3, 3, 2]
    assert graphs.degrees.tolist() == merged.degrees.tolist() == [3, 7, 4]
    assert apart.has_parallel_edges > merged.has_parallel_edges
    assert not graphs.is_directed
    kernel = pk.PropagationKernel(propagation=scheme, t_max=3, bin_width=1e-3, random_state=0)
    assert np.ptp(kernel.fit_transform([graphs[0], apart[0], merged[0]])) == 0


def test_shortest_paths_take_the_lightest_of_parallel_edges():
    from propkernels.codes.distances import path_lengths

    found = path_lengths(parallel(), weighted=True).distances.reshape(3, 3)
    assert found.tolist() == [[0, 1, 5], [1, 0, 4], [5, 4, 0]]


def test_weisfeiler_lehman_counts_each_parallel_edge():
    graphs = parallel()
    single = database([(0, 1, 1.0, "a", 0), (1, 0, 1.0, "a", 0), (1, 2, 4.0, "a", 1), (2, 1, 4.0, "a", 1)], 3)
    for edge_labels in (False, True):
        kernel = pk.WeisfeilerLehman(t_max=1, labels=None, edge_labels=edge_labels)
        gram = kernel.fit_transform([graphs[0], single[0]])
        assert gram[0, 1] < gram[1, 1]  # node 0 has two edges here and one there


def test_subgraph_matching_tells_parallel_edges_from_single_ones():
    graphs, twin = parallel(), parallel()
    single = graphs.with_edge_attributes(None).with_edge_labels(["a"] * graphs.adjacency.nnz)
    assert not single.has_parallel_edges
    for attributes in (None, np.ones((9, 1))):  # counted, and compared in pairs
        three = GraphDatabase.concat([graphs, twin, single]).with_attributes(attributes)
        gram = SubgraphMatching(k=2, edge_labels=True).fit_transform(three)
        assert gram[0, 0] == gram[0, 1] > gram[0, 2]


def test_weights_from_attributes_by_number_name_and_array():
    graphs = GraphDatabase(
        [[0, 1], [1, 0]],
        [0, 2],
        edge_attributes=[[1.5, 9.0], [1.5, 8.0]],
        edge_attribute_names=["length", "angle"],
    )
    assert graphs.with_weights("length").adjacency.data.tolist() == [1.5, 1.5]
    assert graphs.with_weights(1).adjacency.data.tolist() == [9.0, 8.0]
    assert graphs.with_weights([0.0, 2.0]).adjacency.data.tolist() == [2.0]  # no edge of weight 0
    assert graphs.with_weights(1).with_weights(None) == graphs
    assert graphs.with_weights("angle").edge_attribute_names == ("length", "angle")
